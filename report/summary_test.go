package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"polkrepro/experiments"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
)

// fixtureSummary returns the summary of a fixture.
func fixtureSummary(t *testing.T, in Input) Summary {
	t.Helper()
	in.Assessment = judged(t, in)
	return Summary{
		Report: built(in), Command: func(args ...string) string { return "bin/runall " + strings.Join(args, " ") },
		StandIns: map[string]string{"mnist": "glyphs", "brodatz": "weaves"},
		Page:     "results/report/report.html", Index: "results/report/index.md",
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

// standInShapes returns runs of n series on stand-ins. The series' names have numbers.
func standInShapes(n int, series string) (out []shape) {
	for i := range n {
		data := []string{"glyphs", "weaves"}[i%2]
		out = append(out, shape{data, "ksvm", "polk", fmt.Sprintf(series, i/2+1), "", "", nil, 1, 40000, 1600, 0.1, 0.03, 800, 1.2, 0.03})
	}
	return out
}

// withoutData removes the records of a data set, as if the data were not available.
func withoutData(in Input, name string) Input {
	in.Unavailable[name] = name + ": data not available"
	for _, p := range in.Planned {
		if p.Run.Data.Name == name {
			delete(in.Records, p.ID)
		}
	}
	return in
}

func TestSummary(t *testing.T) {
	missing := withRuns(withoutData(mixedInput(), "mnist"), "standins", standInShapes(12, "POLK, K = 0.%02d")...)
	missing.Unavailable["brodatz"] = "brodatz: data not available"
	lacking := fixtureSummary(t, missing)
	lacking.Damaged = 2

	own := fixtureSummary(t, withRuns(fixtureInput(), "mine",
		shape{"multidist", "ksvm", "polk", "POLK, K = 0.04", "", "", nil, 3, 40000, 1600, 0.1, 0.03, 18, 1.2, 0.03},
		shape{"multidist", "ksvm", "csvc", "C-SVC", "", "", nil, 1, 20000, 20000, 0.1, 0.01, 800, 1, 0}))
	own.Names, own.Specs = []string{"mine.yaml"}, []string{"mine"}

	quick := fixtureInput()
	quick.Profile = experiments.ProfileQuick
	named := fixtureSummary(t, quick)
	named.Names, named.Specs = []string{"mnist-ksvm"}, []string{"mnist-ksvm"}
	named.Page, named.Index = "", ""

	some := withRuns(fixtureInput(), "other", shape{"multidist", "klr", "fsgd", "FSGD", "", "", nil, 1, 40000, 1600, 0.1, 0.03, 40000, 1, 0.03})
	some.Profile = experiments.ProfileSmoke
	for id, r := range some.Records { // of the tables' runs, those of two methods on one data set stay
		if run := r.Header.Run; run.Data.Name != "multidist" || run.Task != "ksvm" && run.Method != "fsgd" || run.Method == "lbfgs" || run.Method == "csvc" {
			delete(some.Records, id)
		}
	}

	all, many := everythingMissing(), standInShapes(40, "POLK with a very long name and even more words, K = %d")
	long := fixtureSummary(t, withRuns(all, "standins", many...))
	long.Damaged = 3
	longOwn := fixtureSummary(t, withRuns(all, "mine", many...))
	longOwn.Names, longOwn.Specs = own.Names, own.Specs

	for name, in := range map[string]Summary{
		"long": long, "long own": longOwn, // too much for a summary, which must keep its size
		"whole": fixtureSummary(t, fixtureInput()), "mixed": fixtureSummary(t, mixedInput()), "lacking": lacking, "own": own, "named": named, "smoke": fixtureSummary(t, some),
	} {
		var b bytes.Buffer
		testutil.NoError(t, in.Text(&b))
		text := b.String()
		if n := strings.Count(text, "\n"); n > SummaryLines || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: %d lines", name, n)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(line) - 1; n > SummaryWidth {
				t.Errorf("%s: a line of %d columns, want at most %d: %s", name, n, SummaryWidth, line)
			}
		}
		for _, want := range []string{"more, see tables/runs.txt", "results/report/report.html\n", "mnist data", "failed run", "not started yet", "incomplete or corrupt"} {
			if name == "long" && !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		if !strings.HasPrefix(name, "long") {
			golden.Check(t, "testdata/summary-"+name+".txt", text)
		}
	}
}

// everythingMissing returns the fixture with unavailable data and with failed, missing and diverged
// runs.
func everythingMissing() Input {
	in := withoutData(fixtureInput(), "mnist")
	in.Profile = experiments.ProfileQuick
	in.Unavailable["brodatz"] = "brodatz: data not available"
	for i, p := range in.Planned {
		switch {
		case p.Run.Data.Name != "multidist":
		case i%7 == 0:
			delete(in.Records, p.ID)
			in.Failed[p.ID] = strings.Repeat("ünbelievably long ", 30) + "\nand in two lines"
		case i%7 == 1:
			delete(in.Records, p.ID)
		case i%7 == 2:
			in.Records[p.ID].Final.TrainRisk = math.NaN()
		}
	}
	return in
}
