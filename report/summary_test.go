package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// fixtureSummary returns the summary of a fixture.
func fixtureSummary(t *testing.T, in Input) Summary {
	t.Helper()
	in.Assessment = judged(t, in)
	return Summary{
		Report: built(in), Command: func(args ...string) string { return "bin/runall " + strings.Join(args, " ") },
		StandIns: map[string]string{"glyphs": "mnist", "weaves": "brodatz"}, Page: "results/report/report.html",
	}
}

// withRuns adds runs of a spec that feed no cell.
func withRuns(in Input, spec string, shapes ...shape) Input {
	for _, s := range shapes {
		for seed := range uint64(s.seeds) {
			p := s.planned(0, seed+1)
			p.Spec, p.Cells, p.Figures = spec, nil, nil
			in.Planned = append(in.Planned, p)
			in.Records[p.ID] = s.record(p)
		}
	}
	return in
}

// TestSummary compares summaries with golden files: of a folder that lacks data and runs, of the
// user's own spec, of a named spec of the paper whose report was not written, and of profile smoke.
func TestSummary(t *testing.T) {
	var standIns []shape
	for i, data := range []string{"glyphs", "weaves", "glyphs"} {
		standIns = append(standIns, shape{data, "ksvm", "polk", fmt.Sprintf("POLK, K = 0.0%d", i+1), "", "", nil, 1, 40000, 1600, 0.1, 0.03, 800, 1.2, 0.03})
	}
	missing := withRuns(mixedInput(), "standins", standIns...)
	missing.Unavailable["brodatz"] = "brodatz: data not available"
	lacking := fixtureSummary(t, missing)
	lacking.Input.Damaged = 2

	own := fixtureSummary(t, withRuns(fixtureInput(), "mine",
		shape{"multidist", "ksvm", "polk", "POLK, K = 0.04", "", "", nil, 3, 40000, 1600, 0.1, 0.03, 18, 1.2, 0.03},
		shape{"multidist", "ksvm", "csvc", "C-SVC", "", "", nil, 1, 20000, 20000, 0.1, 0.01, 800, 1, 0}))
	own.Names, own.Specs = []string{"mine.yaml"}, []string{"mine"}

	quick := fixtureInput()
	quick.Profile = spec.ProfileQuick
	named := fixtureSummary(t, quick)
	named.Names, named.Specs, named.Page = []string{"mnist-ksvm"}, []string{"mnist-ksvm"}, ""

	some := fixtureInput()
	some.Profile = spec.ProfileSmoke
	for id, r := range some.Records { // those of two methods on one data set stay
		if run := r.Header.Run; run.Data.Name != "multidist" || run.Task != "ksvm" || run.Method == "lbfgs" || run.Method == "csvc" {
			delete(some.Records, id)
		}
	}
	for name, s := range map[string]Summary{"lacking": lacking, "own": own, "named": named, "smoke": fixtureSummary(t, some)} {
		var b bytes.Buffer
		testutil.NoError(t, s.Text(&b))
		golden.Check(t, "testdata/summary-"+name+".txt", b.String())
	}
}
