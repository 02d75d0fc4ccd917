package theory_test

import (
	"testing"

	"polkrepro/evidence/theory"
	"polkrepro/evidence/theory/theorytest" // imports the package that registers the methods that specs name
	"polkrepro/spec"
)

// TestSchedule checks that the diminishing rates are those of the theorem. t·η_t tends to
// η₀·t₀ from below, so that Σ η_t diverges as Σ 1/t; and Σ η_t² is at most η₀²
// more than ∫ η₀²/(1 + t/t₀)² dt = η₀²·t₀.
func TestSchedule(t *testing.T) {
	run := theorytest.Plan(t, spec.ProfileFull, "table1")[0].Run
	rates, err := run.Params.Rates()
	if err != nil || run.Params.Schedule != spec.ScheduleInverse {
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
