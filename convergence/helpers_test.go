package convergence

import (
	"maps"
	"math"
	"testing"

	"polkrepro/experiments"
)

// theoretical is a record of the run as the theory has it: a distance that
// falls as 1/√t to a floor of 0.5·√η for constant rates, and an order that
// grows as the logarithm of t, up to a limit for constant rates.
func theoretical(run Run) *Record {
	r := &Record{Header: Header{Run: run, ID: run.ID(), Problem: Problem{
		Points: 5000, Width: 4, Height: 6, Objective: 0.7, Gap: 1e-12, Norm: 8, Start: math.Log(Classes)}}}
	for _, n := range run.Marks() {
		distance, order := 8/math.Sqrt(1+float64(n)), 20*math.Log(float64(n))
		if run.Regime == Constant {
			distance, order = max(distance, 0.5*math.Sqrt(run.Rate)), min(order, 100)
		}
		r.Points = append(r.Points, Point{
			Samples: n, Distance: distance, Excess: 0.01 * distance * distance, Order: int(order), MeanOrder: order,
			Norm: 8, Gradient: 0.2, Separation: 0.5, Ratio: 0.9,
		})
	}
	r.Summary = Summary{MaxOrder: r.last().Order, Ratio: 1, Checked: 1000, Direct: 0.999}
	return r
}

// fullRecords are theoretical records of all runs of the full profile.
func fullRecords(t *testing.T) map[string]*Record {
	t.Helper()
	plan, err := Plan(experiments.ProfileFull)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*Record{}
	for _, run := range plan {
		out[run.ID()] = theoretical(run)
	}
	return out
}

// judged returns the claims of the full profile by records that were changed.
func judged(t *testing.T, records map[string]*Record, change func(*Record)) map[string]Assessed {
	t.Helper()
	for r := range maps.Values(records) {
		if change != nil {
			change(r)
		}
	}
	s, err := newStudy(experiments.ProfileFull, records)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Assessed{}
	for _, c := range s.Claims {
		out[c.ID] = c
	}
	return out
}
