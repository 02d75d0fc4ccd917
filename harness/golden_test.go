package harness

import (
	"os"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/spec"
)

// goldenPlan returns the runs of the quick profile with seed 1 that learn from a stream: those on
// generated data, with only the figures' draw of multidist, and those of POLK with the hinge loss
// on MNIST and Brodatz. 'make agree' compares all runs of the profile. The batch methods have
// separate golden tests, and TestCheckTable1 covers the runs measured against the minimizer.
func goldenPlan(t *testing.T) []spec.Planned {
	specs, err := FindSpecs(nil)
	testutil.NoError(t, err)
	plan, err := PlanAll(specs, spec.ProfileQuick, spec.PlanOptions{})
	testutil.NoError(t, err)
	return slices.DeleteFunc(spec.Distinct(plan), func(p spec.Planned) bool {
		r := p.Run
		switch {
		case r.Seed != 1 || r.Batch() || r.Evaluation.Minimizer:
			return true
		case r.Data.Name == "mnist" || r.Data.Name == "brodatz":
			return r.Method != spec.MethodPOLK || r.Task != spec.TaskKSVM || strings.HasSuffix(r.Data.Variant, "-disjoint")
		}
		return r.Data.Name == "multidist" && r.Data.Draw != data.FigureDraw().Seed
	})
}

// TestGoldenFigures compares risks, errors and model orders of the main experiments with the
// records of results/reference, within the tolerances of package record. It leaves out MNIST and
// Brodatz if their files are missing, unless POLK_REQUIRE_DATA is set, as in .ci/run.
func TestGoldenFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it minutes")
	}
	plan, dir := goldenPlan(t), t.TempDir()
	out, err := Reproduce(t.Context(), plan, Options{Results: dir, RequireData: os.Getenv("POLK_REQUIRE_DATA") != ""})
	testutil.NoError(t, err)
	for _, u := range out.Unavailable {
		t.Logf("left out, data not available: %v", u)
	}
	have := readAll(t, dir)
	want := make(map[string]*record.Record)
	for id := range have.Records {
		if want[id], err = record.Read(RecordsDir("../results/reference") + "/" + id + ".jsonl.gz"); err != nil {
			t.Fatal(err)
		}
	}
	a := record.Agree(have.Records, want)
	for _, d := range a.Differing {
		t.Errorf("%s, %s, %s: %v", d.Data, d.Task, d.Method, d.Differences)
	}
	if a.Compared < 16 || len(out.Unavailable) == 0 && a.Compared != len(plan) {
		t.Errorf("%d of %d runs compared; want all, or the 16 on generated data", a.Compared, len(plan))
	}
}
