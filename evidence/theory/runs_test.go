package theory_test

import (
	"math"
	"testing"

	"polkrepro/evidence/theory"
	"polkrepro/evidence/theory/theorytest" // imports the package that registers the methods that specs name
	"polkrepro/experiments"
)

// TestVacuousRadius checks that Δ exceeds every possible ‖f*‖ at the λ of the paper's
// experiments, for each Multi-Logistic run of POLK that feeds a table and any σ²:
// Δ ≥ 2K√η/λ, and (λ/2)‖f*‖² ≤ R(f*) ≤ R(0) = log C. (The hinge is not differentiable, so
// the theorem does not cover it.) So f = 0 has the distance that the theorem promises.
func TestVacuousRadius(t *testing.T) {
	least := math.Inf(1)
	for name, classes := range map[string]float64{"multidist-klr": 5, "mnist-klr": 10, "brodatz-klr": 13} {
		judged := 0
		for _, p := range theorytest.Plan(t, experiments.ProfileFull, name) {
			if p.Run.Method != experiments.MethodPOLK || len(p.Cells) == 0 {
				continue
			}
			judged++
			bound := math.Sqrt(2 * math.Log(classes) / p.Run.Params.Regularizer)
			least = min(least, theory.Radius(p.Run, 0)/bound)
		}
		if judged == 0 {
			t.Errorf("%s: no run of POLK", name)
		}
	}
	if !(least >= 2.7) || least > 2.8 { // docs/results.md
		t.Errorf("the least Δ is %v times the largest ‖f*‖", least)
	}
}

// TestSchedule checks that the diminishing rates are those of the theorem. t·η_t tends to
// η₀·t₀ from below, so that Σ η_t diverges as Σ 1/t; and Σ η_t² is at most η₀²
// more than ∫ η₀²/(1 + t/t₀)² dt = η₀²·t₀.
func TestSchedule(t *testing.T) {
	run := theorytest.Plan(t, experiments.ProfileFull, "table1")[0].Run
	rates, err := run.Params.Rates()
	if err != nil || run.Params.Schedule != experiments.ScheduleInverse {
		t.Fatalf("the first run is %+v, error %v", run, err)
	}
	rate, initial, horizon := rates.Rate, run.Params.LearningRate, run.Params.Horizon
	if got := rate(1e9) * 1e9; !(got <= initial*horizon) || got < 0.99*initial*horizon {
		t.Errorf("t·η_t at 1e9 is %v", got)
	}
	var squares float64
	for step := range 100_000 {
		squares += rate(step) * rate(step)
	}
	if bound := initial * initial * (1 + horizon); !(squares <= bound) || squares < 0.9*bound {
		t.Errorf("Σ η² = %v, bound %v", squares, bound)
	}
	if got, want := theory.GradientBound(run, 100), rate(100); got != want {
		t.Errorf("ε/η = %v for ε = η², η = %v", got, want)
	}
}
