package convergence

import (
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/experiments"
)

// TestPlans: every profile has valid runs, each once, and in its study every
// rate of POLK without projection too where it is judged over rates.
func TestPlans(t *testing.T) {
	for _, profile := range experiments.Profiles() {
		plan, err := Plan(profile)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, run := range plan {
			if err := run.Validate(); err != nil {
				t.Errorf("%s: %+v: %v", profile, run, err)
			}
			if seen[run.ID()] {
				t.Errorf("%s: %+v is planned twice", profile, run)
			}
			seen[run.ID()] = true
		}
	}
}

func TestValidate(t *testing.T) {
	good := Run{Method: POLK, Regime: Constant, Regularizer: 0.01, Bandwidth: 1, Rate: 0.1, Parsimony: 1, Samples: 1000}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Run){
		"method":        func(r *Run) { r.Method = "sgd" },
		"regime":        func(r *Run) { r.Regime = "" },
		"samples":       func(r *Run) { r.Samples = 999 },
		"regularizer":   func(r *Run) { r.Regularizer = 0 },
		"not below 1/λ": func(r *Run) { r.Rate = 100 },
		"parsimony":     func(r *Run) { r.Parsimony = 0 },
		"bandwidth":     func(r *Run) { r.Bandwidth = math.NaN() },
		"horizon":       func(r *Run) { r.Regime = Diminishing },
	} {
		r := good
		change(&r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one about the %s", r, err, want)
		}
	}
}

// TestMarks: ascending, the last at the end, eight a decade and twenty-one
// evenly over the last half.
func TestMarks(t *testing.T) {
	for _, n := range []int{1000, 3001, 1_000_000} {
		marks := Run{Samples: n}.Marks()
		if !slices.IsSorted(marks) || len(slices.Compact(slices.Clone(marks))) != len(marks) || marks[len(marks)-1] != n || marks[0] != 10 {
			t.Errorf("%d samples: marks %v", n, marks)
		}
		half := 0
		for _, m := range marks {
			if 2*m >= n {
				half++
			}
		}
		if half < 20 || half > 26 {
			t.Errorf("%d samples: %d marks in the last half", n, half)
		}
	}
}

// TestStatistics: of a record whose values are known.
func TestStatistics(t *testing.T) {
	run := Run{Method: POLK, Regime: Diminishing, Samples: 10_000}
	r := &Record{Header: Header{Run: run}}
	for _, n := range run.Marks() {
		order := 40.0
		if n > 7500 {
			order = 44
		}
		r.Points = append(r.Points, Point{Samples: n, Distance: 3 * math.Pow(float64(n), -0.7), Order: n / 100, MeanOrder: order})
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"exponent":      {r.Exponent(), -0.7},
		"floor":         {r.Floor(), 3 * math.Pow(10_000, -0.7)},
		"order growth":  {r.OrderGrowth(), 1.1},
		"decade growth": {r.DecadeGrowth(), 10},
		"rate exponent": {rateExponent([]float64{1, 0.25, 0.01}, []float64{4, 2, 0.4}), 0.5},
	} {
		if math.Abs(c.got-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s %v, want %v", name, c.got, c.want)
		}
	}
}
