package harness

import (
	"os"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/internal/testutil"
	"polkrepro/record"
)

// goldenPlan returns seed 1 of the quick profile's streams on generated data, multidist on
// the figures' draw, and of POLK's hinge on MNIST and Brodatz. 'make agree' compares all runs
// of the profile; the batch methods have golden tests of their own, and TestCheckTable1 is
// about the runs that are measured against the minimizer.
func goldenPlan(t *testing.T) []experiments.Planned {
	specs, err := FindSpecs(nil)
	testutil.NoError(t, err)
	plan, err := PlanAll(specs, experiments.ProfileQuick, experiments.PlanOptions{})
	testutil.NoError(t, err)
	return slices.DeleteFunc(experiments.Distinct(plan), func(p experiments.Planned) bool {
		r := p.Run
		switch {
		case r.Seed != 1 || r.Batch() || r.Evaluation.Minimizer:
			return true
		case r.Data.Name == "mnist" || r.Data.Name == "brodatz":
			return r.Method != experiments.MethodPOLK || r.Task != experiments.TaskKSVM || strings.HasSuffix(r.Data.Variant, "-disjoint")
		}
		return r.Data.Name == "multidist" && r.Data.Draw != data.FigureDraw().Seed
	})
}

// TestGoldenFigures holds risks, errors and model orders of the main experiments against the
// records of results/reference, within record's tolerances. MNIST and Brodatz are left out
// where their files are missing, unless POLK_REQUIRE_DATA is set, as .ci/run does.
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
