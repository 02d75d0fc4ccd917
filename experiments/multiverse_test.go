package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
)

// multiverse returns the plan of a multiverse spec in the profile full.
func multiverse(t *testing.T, name string) []Planned {
	t.Helper()
	return planOfSpec(t, "multiverse-"+name, ProfileFull)
}

// TestMultiverseReadings compares what the multiverse specs give as numbers with
// the algebra that they are from.
func TestMultiverseReadings(t *testing.T) {
	const rate = 6.0 // as printed
	parsimony := map[string]float64{"ksvm": 0.04, "ksvm-large": 1e-4, "klr": 0.03, "klr-large": 0.001}
	seen := make(map[string]bool)
	for _, task := range []string{"ksvm", "klr"} {
		for _, p := range multiverse(t, "multidist-"+task) {
			kind, large, _ := strings.Cut(p.Label, "-")
			k := parsimony[task]
			if large == "large" {
				k = parsimony[task+"-large"]
			}
			budget := k * math.Pow(rate, 1.5)
			mine := p.Run.Params.Parsimony * math.Pow(p.Run.Params.LearningRate, 1.5)
			ok := true
			switch kind {
			case "sum":
				ok = p.Run.Params.LearningRate == 32*rate && math.Abs(mine/budget-1) < 1e-14
			case "squared":
				ok = p.Run.Params.LearningRate == rate && math.Abs(mine*mine/budget-1) < 1e-14
			case "bandwidth":
				ok = math.Abs(p.Run.Params.Kernel.Bandwidth*p.Run.Params.Kernel.Bandwidth-0.6) < 1e-15
			case "cost":
				ok = p.Run.Params.Cost == 10
			case "early":
				ok = p.Run.Params.Iterations == 15
			case "each":
				ok = math.Abs(p.Run.Params.PrunerParams["error"]/budget-1) < 1e-14
			case "keep":
				ok = p.Run.Params.Maintenance == "keep-newest"
			case "one":
				ok = p.Run.Params.Multiclass == MulticlassRest
			default:
				ok = false
			}
			if !ok {
				t.Errorf("%s: %+v", p.Series, p.Run.Params)
			}
			seen[kind] = true
		}
	}
	if len(seen) != 8 {
		t.Errorf("readings %v, want 8", seen)
	}
}

// TestTextureReadings is the same for the entries on Brodatz.
func TestTextureReadings(t *testing.T) {
	const rate = 24.0 // as printed
	parsimony := map[string]float64{"ksvm": 0.01, "ksvm-small": 0.02, "klr": 0.005, "klr-small": 0.015}
	seen := 0
	for _, task := range []string{"ksvm", "klr"} {
		for _, p := range multiverse(t, "brodatz-"+task) {
			if p.Run.Method != MethodPOLK {
				continue
			}
			kind, small, _ := strings.Cut(p.Label, "-")
			k := parsimony[strings.TrimSuffix(task+"-"+small, "-")]
			budget := k * math.Pow(rate, 1.5)
			ok := false
			switch kind {
			case "sum":
				mine := p.Run.Params.Parsimony * math.Pow(p.Run.Params.LearningRate, 1.5)
				ok = p.Run.Params.LearningRate == 32*rate && math.Abs(mine/budget-1) < 1e-14
			case "each":
				ok = math.Abs(p.Run.Params.PrunerParams["error"]/budget-1) < 1e-14
			}
			if !ok {
				t.Errorf("%s: %+v", p.Series, p.Run.Params)
			}
			seen++
		}
	}
	if seen != 6 {
		t.Errorf("%d runs, want 6", seen)
	}
}

// TestMultiverseDraws: the printed variance goes with the means of the tables
// and of the figures, any draws with the first ones.
func TestMultiverseDraws(t *testing.T) {
	orders := func(plan []Planned, method string, budget int) (out []string) {
		for _, p := range plan {
			if p.Run.Method == method && p.Run.Params.Budget == budget {
				out = append(out, fmt.Sprint(p.Run.Data.Draw, p.Run.Seed))
			}
		}
		slices.Sort(out)
		return slices.Compact(out) // of several entries
	}
	want := orders(planOfSpec(t, "multidist-ksvm", ProfileFull), "bsgd", 16)
	for _, name := range []string{"as-printed-ksvm", "multidist-ksvm", "multidist-one-pass-ksvm", "multidist-ten-passes-ksvm"} {
		if got := orders(multiverse(t, name), "bsgd", 16); !slices.Equal(got, want) {
			t.Errorf("%s: draws and seeds %v, want %v", name, got, want)
		}
	}
	for _, p := range multiverse(t, "as-printed-klr") {
		if p.Run.Data.Variant != data.AsPrinted {
			t.Errorf("variant %s", p.Run.Data.Variant)
		}
	}
	for i, p := range multiverse(t, "any-draw-ksvm")[:20] {
		if p.Run.Data.Draw != uint64(i+1) || p.Run.Data.Variant != data.Calibrated {
			t.Errorf("draw %d of %s, want %d", p.Run.Data.Draw, p.Run.Data.Variant, i+1)
		}
	}
}
