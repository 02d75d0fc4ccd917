package evidence

import (
	"slices"
	"testing"

	"polkrepro/spec"
)

// TestExponents checks that each seed has the exponent 0.5 if its values are proportional to η^0.5.
// A seed that lacks a learning rate has no exponent, nor has any seed with a single rate.
func TestExponents(t *testing.T) {
	run := func(seed uint64, rate, value float64) (o Observation) {
		o.Run.Seed, o.Run.Params.LearningRate, o.Value = seed, rate, value
		return o
	}
	s := Side{Runs: []Observation{run(1, 0.01, 0.3), run(2, 0.01, 0.7), run(3, 0.01, 1)}}
	if got := s.exponents(); len(got) > 0 {
		t.Errorf("one rate: %v", got)
	}
	s.Runs = append(s.Runs, run(1, 0.04, 0.6), run(2, 0.04, 1.4))
	if got := s.exponents(); len(got) != 2 || !near(got[0], 0.5) || !near(got[1], 0.5) {
		t.Errorf("two rates: %v", got)
	}
	s.Missing = []spec.Planned{{}}
	s.Missing[0].Run.Params.LearningRate = 0.1
	if got := s.exponents(); len(got) > 0 {
		t.Errorf("a third rate that no seed has: %v", got)
	}
}

// TestInPlaceOf checks that inPlaceOf returns only the runs with the draws and orders of others, or
// all runs if one of these is missing or if there are no others.
func TestInPlaceOf(t *testing.T) {
	run := func(draw, seed uint64) (p spec.Planned) {
		p.Run.Data.Draw, p.Run.Seed = draw, seed
		return p
	}
	both, one := []spec.Planned{run(1, 1), run(1, 2)}, []spec.Planned{run(1, 2)}
	for _, c := range []struct {
		runs, others, want []spec.Planned
	}{
		{both, one, one}, {both, both, both}, {one, both, one}, {both, []spec.Planned{run(2, 2)}, both},
		{both, []spec.Planned{run(1, 2), run(2, 2)}, both}, {nil, one, nil}, {both, nil, both},
	} {
		same := func(a, b spec.Planned) bool {
			return a.Run.Data.Draw == b.Run.Data.Draw && a.Run.Seed == b.Run.Seed
		}
		if got := inPlaceOf(c.runs, c.others); !slices.EqualFunc(got, c.want, same) {
			t.Errorf("%d runs in place of %d: %d", len(c.runs), len(c.others), len(got))
		}
	}
}
