package theory

import (
	"maps"
	"math"
	"slices"
	"testing"

	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/spec"
)

// TestStatistics checks the statistics of a record with known values.
func TestStatistics(t *testing.T) {
	run := constantRun(0.04, 0.3, 0.01)
	run.Samples, run.Evaluation.Minimizer = 10_000, true
	r := &record.Record{Header: record.Header{Run: run}, Final: record.Final{Measured: map[string]float64{
		StarNorm: 4, StarRisk: 0.5, StartRisk: 1.5, MaxOrder: 80, PlaneWidth: 3, PlaneHeight: 2, Ratio: 0.9, Direct: 0.8,
	}}}
	for n := 250; n <= 10_000; n += 250 {
		order := 40.0
		if n > 7500 {
			order = 44
		}
		r.Points = append(r.Points, record.Point{Samples: n, ModelOrder: n / 250, Measured: map[string]float64{
			Distance: 3 * math.Pow(float64(n), -0.7), Excess: 20 / float64(n), MeanOrder: order, Norm: 5 + float64(n)/1000, Separation: 1000 / float64(n), Gradient: 2,
		}})
	}
	delete(r.Points[39].Measured, Separation)
	floor := 3 * math.Pow(10_000, -0.7)
	want := map[string]float64{
		paper.MeasuredSlope:        -0.7,
		paper.MeasuredDistance:     floor / 4,
		paper.MeasuredExcess:       0.002,
		paper.MeasuredDecadeGrowth: 10,
		paper.MeasuredFloor:        floor,
		paper.MeasuredFloorRadius:  floor / Radius(run, Variance(r)),
		paper.MeasuredGrowth:       1.1,
		paper.MeasuredOrder:        80 / OrderBound(run, 3, 2),
		paper.MeasuredSeparation:   1000. / 9750 / SeparationBound(run),
		paper.MeasuredRatio:        0.9,
		paper.MeasuredDirect:       0.8,
		paper.MeasuredNorm:         15 / IterateBound(run),
	}
	if got := slices.Sorted(maps.Keys(paper.Measured)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) || len(statistics) != len(got) {
		t.Errorf("statistics %v, %d of them computed", got, len(statistics))
	}
	for name, v := range want {
		if got := Value(r, name); !(math.Abs(got-v) <= 1e-12*math.Abs(v)) {
			t.Errorf("%s is %v, want %v", name, got, v)
		}
		if got := Value(&record.Record{Header: r.Header}, name); got == v {
			t.Errorf("%s of a record without points is %v", name, got)
		}
	}
	if got := Exponent([]float64{1, 0.25, 0.01}, []float64{4, 2, 0.4}); !(math.Abs(got-0.5) <= 1e-12) {
		t.Errorf("exponent %v, want 0.5", got)
	}
	r.Header.Run.Evaluation.Minimizer = false
	if got := Value(r, paper.MeasuredRatio); !math.IsNaN(got) {
		t.Errorf("ratio of a run that was not measured: %v", got)
	}
}

// TestTooShort checks that a limit needs 4/(ηλ) samples, or twenty times the horizon.
func TestTooShort(t *testing.T) {
	constant := constantRun(0.1, 0.3, 0.01)
	inverse := constant
	inverse.Params.Schedule, inverse.Params.Horizon = spec.ScheduleInverse, 200
	for _, run := range []spec.Run{constant, inverse} {
		for samples, short := range map[int]bool{3999: true, 4001: false} {
			run.Samples = samples
			if got := TooShort(run, paper.MeasuredFloor); (got != "") != short {
				t.Errorf("%d samples, %s: %q", samples, run.Params.Schedule, got)
			}
			if got := TooShort(run, paper.MeasuredNorm); got != "" {
				t.Errorf("what holds at every step: %q", got)
			}
		}
	}
}
