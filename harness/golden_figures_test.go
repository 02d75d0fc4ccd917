//go:build golden

package harness

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

var update = flag.Bool("update", false, "write testdata/golden.json from this run")

// goldenFile is written by
//
//	POLK_DATA_DIR=… go test -tags golden ./harness -run GoldenFigures -update
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
// their own. Only the largest series, KLR
// with K = 0.008 on MNIST, stops after 9,600 samples.
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
		return r.Seed != 1 || r.Batch() || r.Data.Name == "multidist" && r.Data.Draw != data.FigureDraw().Seed
	})
	for i := range plan {
		if r := &plan[i].Run; r.Task == experiments.TaskKLR && r.Params.Parsimony == 0.008 {
			r.Samples = 9600
			plan[i].ID = experiments.ID(*r)
		}
	}
	return plan
}

// TestGoldenFigures trains the plan and holds risk, error and model order
// against the committed figures. MNIST and Brodatz are left out where their files are not
// to be had, unless POLK_REQUIRE_DATA is set, as .ci/run does.
func TestGoldenFigures(t *testing.T) {
	plan := goldenPlan(t)
	dir := t.TempDir()
	out, err := Reproduce(context.Background(), plan, Options{Results: dir, RequireData: os.Getenv("POLK_REQUIRE_DATA") != ""})
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
	want := readGolden(t)
	var got []golden
	for _, p := range plan {
		r := have.Records[p.ID]
		if r == nil {
			continue
		}
		f := r.Final
		g := golden{p.Spec + ", " + p.Series, float64(f.TrainRisk), float64(f.TestRisk), float64(f.TestError), float64(f.ModelOrder)}
		got = append(got, g)
		if *update {
			continue
		}
		i := slices.IndexFunc(want, func(w golden) bool { return w.Name == g.Name })
		if i < 0 {
			t.Errorf("%s: no golden figures", g.Name)
			continue
		}
		compareGolden(t, g, want[i])
	}
	if *update {
		writeGolden(t, got)
		return
	}
	if len(out.Unavailable) == 0 && len(got) != len(want) || len(got) < 14 {
		t.Errorf("%d runs for %d golden figures, of which fourteen need no data", len(got), len(want))
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

func readGolden(t *testing.T) []golden {
	b, err := os.ReadFile(goldenFile)
	if err != nil {
		if *update {
			return nil
		}
		t.Fatal(err)
	}
	var want []golden
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

func writeGolden(t *testing.T, got []golden) {
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(goldenFile), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenFile, append(b, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
}
