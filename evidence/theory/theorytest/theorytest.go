// Package theorytest plans runs and makes up records of runs that are measured against the
// minimizer, for tests of code that reads records.
package theorytest

import (
	"math"
	"testing"

	"polkrepro/evidence/theory"
	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/spec"
)

// Plan returns the runs of the named specs, by default of all embedded ones, in a profile.
func Plan(t testing.TB, profile string, names ...string) []spec.Planned {
	t.Helper()
	specs, err := harness.FindSpecs(names)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := harness.PlanAll(specs, profile, spec.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// Record makes up the record of a run that behaves as the theory predicts. The distance falls as
// 1/√t, to a floor of 0.5·√η for a constant learning rate. The model order grows as the logarithm
// of t, up to a limit for such a rate. The distances of two seeds differ by a hundredth.
func Record(p spec.Planned) *record.Record {
	r := &record.Record{Path: "records/" + p.ID + ".jsonl", Header: record.Header{ID: p.ID, Run: p.Run}}
	most, before := 0.0, 0
	for k := range 61 { // twenty points a decade, over three
		n := int(float64(p.Run.Samples) * math.Pow(10, float64(k-60)/20))
		distance, order := 8/math.Sqrt(1+float64(n)), 20*math.Log(float64(n))
		if p.Run.Params.Schedule == spec.ScheduleConstant {
			distance, order = max(distance, 0.5*math.Sqrt(p.Run.Params.LearningRate)), min(order, 100)
		}
		if n == before {
			continue
		}
		most, before = max(most, order), n
		r.Points = append(r.Points, record.Point{Samples: n, TrainRisk: 0.7, TestRisk: 0.75, TestError: 0.04, ModelOrder: int(order), Measured: map[string]float64{
			theory.Distance: distance * (1 + 0.01*float64(p.Run.Seed)), theory.Excess: 0.01 * distance * distance,
			theory.MeanOrder: order, theory.Norm: 8, theory.Gradient: 0.2,
			theory.Separation: 0.5, theory.Ratio: 0.9,
		}})
	}
	r.Final = record.Average(r.Points, p.Run.Samples)
	r.Final.Timing, r.Final.Measured = record.Timing{Wall: 2}, map[string]float64{
		theory.MaxOrder: most, theory.Ratio: 1, theory.Checked: 1000, theory.Direct: 0.999,
		theory.StarRisk: 0.7, theory.StarGap: 1e-12, theory.StarNorm: 8, theory.StartRisk: math.Log(5),
		theory.PlaneWidth: 4, theory.PlaneHeight: 6,
	}
	return r
}
