//go:build check

package experiment

import (
	"testing"

	"polkrepro/convergence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
)

// TestCheckTable1: the runs of the quick profile, on multidist, reproduce
// every claim of Table 1.
func TestCheckTable1(t *testing.T) {
	plan, err := convergence.Plan(experiments.ProfileQuick)
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	if err := Carry(t.Context(), plan, Options{Results: results}); err != nil {
		t.Fatal(err)
	}
	s, err := convergence.Read(results)
	if err != nil {
		t.Fatal(err)
	}
	if s.Profile != experiments.ProfileQuick || s.Missing() > 0 {
		t.Errorf("profile %s, %d runs missing", s.Profile, s.Missing())
	}
	for _, c := range s.Claims {
		if c.Verdict != stats.Reproduced {
			t.Errorf("%s: %v: %+v", c.ID, c.Verdict, c.Tests)
		}
	}
	if radius := s.Problem.Gap / convergence.Regularizer; !(radius < 1e-9) {
		t.Errorf("‖f − f*‖² is known to %v only", 2*radius)
	}
}
