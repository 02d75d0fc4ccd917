package harness

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

var update = flag.Bool("update", false, "write the golden figures of the test that is run")

// goldenFile is written by
//
//	POLK_DATA_DIR=… go test -tags check ./harness -run CheckGoldenFigures -update
const goldenFile = "testdata/golden.json"

// A golden is what a run of fixed seed left, as the tables show it.
type golden struct {
	Name       string  `json:"name"`
	TrainRisk  float64 `json:"train_risk"`
	TestRisk   float64 `json:"test_risk"`
	TestError  float64 `json:"test_error"`
	ModelOrder float64 `json:"model_order"`
}

// goldenPlan returns seed 1 of every stream of the quick profile, multidist on
// the figures' draw, at full length; the batch methods have golden tests of
// their own, and TestCheckTable1 is about the runs that are measured against the
// minimizer. Only the largest series, KLR with K = 0.008 on MNIST, stops after 9,600
// samples.
func goldenPlan(t *testing.T) []experiments.Planned {
	specs, err := FindSpecs(nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := PlanAll(specs, experiments.ProfileQuick, experiments.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plan = slices.DeleteFunc(dedupe(plan), func(p experiments.Planned) bool {
		r := p.Run
		return r.Seed != 1 || r.Batch() || r.Evaluation.Minimizer || r.Data.Name == "multidist" && r.Data.Draw != data.FigureDraw().Seed
	})
	for i := range plan {
		if r := &plan[i].Run; r.Task == experiments.TaskKLR && r.Params.Parsimony == 0.008 {
			r.Samples = 9600
			plan[i].ID = experiments.ID(*r)
		}
	}
	return plan
}

// inMakeTest reports whether a run of the golden plan belongs to 'make test':
// all generated data, and POLK's hinge on MNIST and Brodatz. The others take
// minutes and are left to 'make check'.
func inMakeTest(p experiments.Planned) bool {
	r := p.Run
	if r.Data.Name != "mnist" && r.Data.Name != "brodatz" {
		return true
	}
	return r.Method == experiments.MethodPOLK && r.Task == experiments.TaskKSVM &&
		!strings.HasSuffix(r.Data.Variant, "-disjoint")
}

// TestGoldenFigures holds risk, error and model order of the main experiments
// against the committed figures.
func TestGoldenFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it minutes")
	}
	plan := slices.DeleteFunc(goldenPlan(t), func(p experiments.Planned) bool { return !inMakeTest(p) })
	got, complete := trainGolden(t, plan)
	holdGolden(t, got)
	if complete && len(got) != len(plan) || len(got) < 16 {
		t.Errorf("%d of %d runs have figures; want all, or the 16 on generated data", len(got), len(plan))
	}
}

// trainGolden trains a plan and returns the figures of its runs, and whether
// all data sets were available. MNIST and Brodatz are left out where their
// files are missing, unless POLK_REQUIRE_DATA is set, as .ci/run does.
func trainGolden(t *testing.T, plan []experiments.Planned) (got []golden, complete bool) {
	dir := t.TempDir()
	out, err := Reproduce(t.Context(), plan, Options{Results: dir, RequireData: os.Getenv("POLK_REQUIRE_DATA") != ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range out.Unavailable {
		t.Logf("left out, data not available: %v", u)
	}
	have, err := record.ReadDir(RecordsDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan {
		if r := have.Records[p.ID]; r != nil {
			f := r.Final
			got = append(got, golden{p.Spec + ", " + p.Series, float64(f.TrainRisk), float64(f.TestRisk), float64(f.TestError), float64(f.ModelOrder)})
		}
	}
	return got, len(out.Unavailable) == 0
}

// holdGolden compares figures with the committed ones.
func holdGolden(t *testing.T, got []golden) {
	b, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var want []golden
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	for _, g := range got {
		i := slices.IndexFunc(want, func(w golden) bool { return w.Name == g.Name })
		if i < 0 {
			t.Errorf("%s: no golden figures", g.Name)
			continue
		}
		compareGolden(t, g, want[i])
	}
}

func compareGolden(t *testing.T, got, want golden) {
	t.Helper()
	figures := func(g golden) record.Figures {
		return record.Figures{TrainRisk: g.TrainRisk, TestRisk: g.TestRisk, TestError: g.TestError, ModelOrder: g.ModelOrder}
	}
	t.Run(got.Name, func(t *testing.T) {
		for _, c := range figures(got).Compare(figures(want)) {
			t.Logf("%v, difference %+.2g", c, c.Got-c.Want)
			if !c.Agrees() {
				t.Error(c)
			}
		}
	})
}
