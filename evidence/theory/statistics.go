package theory

import (
	"fmt"
	"math"
	"slices"

	"polkrepro/internal/portable"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/spec"
)

// Names of the quantities that a record has at every point of a run.
const (
	Distance   = "distance"   // ‖f_t − f*‖
	Excess     = "excess"     // R(f_t) − R(f*)
	Norm       = "norm"       // ‖f_t‖
	Gradient   = "gradient"   // E‖∇̂‖² at f_t
	MeanOrder  = "mean_order" // mean of M over the steps since the last point
	Separation = "separation" // least ‖φ(d_j) − φ(d_k)‖ of the dictionary; missing for one element, and for FSGD
	Ratio      = "ratio"      // largest ‖∇̃ − ∇̂‖/(ε_t/η_t) of the steps since the last point, as the projection reports it; for POLK
)

// Names of the quantities in the last line of a record, about all steps and about f*. The Ratio
// there is the largest of all steps.
const (
	MaxOrder    = "max_order"  // largest M_t
	Checked     = "checked"    // number of POLK steps whose error was also computed from f̃ and f alone
	Direct      = "direct"     // the largest ratio by that computation
	Disagree    = "disagree"   // the largest difference of the two, in units of ε_t
	StarRisk    = "star_risk"  // R(f*), as far as known
	StarGap     = "star_gap"   // upper bound of the excess of StarRisk over the minimum
	StarNorm    = "star_norm"  // ‖f*‖
	StartRisk   = "start_risk" // R(0)
	PlaneWidth  = "width"      // width of the smallest rectangle that contains the training points, in the plane
	PlaneHeight = "height"     // height of the same rectangle
)

// classes is the number of classes of multidist, and of functions f_c.
const classes = 5

// A statistic is a number of a record that the claims of Table 1 are about.
type statistic struct {
	of func(*record.Record) float64

	// limit marks a statistic about t → ∞. A run that is too short says nothing about it.
	limit bool
}

// statistics holds the statistics that paper.Measured names.
var statistics = map[string]statistic{
	paper.MeasuredSlope: {slope, true},
	paper.MeasuredDistance: {func(r *record.Record) float64 {
		return last(r).Measured[Distance] / r.Final.Measured[StarNorm]
	}, true},
	paper.MeasuredExcess: {func(r *record.Record) float64 {
		f := r.Final.Measured
		return last(r).Measured[Excess] / (f[StartRisk] - f[StarRisk])
	}, true},
	paper.MeasuredDecadeGrowth: {DecadeGrowth, true},
	paper.MeasuredFloor:        {Floor, true},
	paper.MeasuredFloorRadius: {func(r *record.Record) float64 {
		return Floor(r) / Radius(r.Header.Run, Variance(r))
	}, true},
	paper.MeasuredGrowth: {OrderGrowth, true},
	paper.MeasuredOrder: {func(r *record.Record) float64 {
		f := r.Final.Measured
		return f[MaxOrder] / OrderBound(r.Header.Run, f[PlaneWidth], f[PlaneHeight])
	}, false},
	paper.MeasuredSeparation: {func(r *record.Record) float64 {
		return least(r.Points, Separation) / SeparationBound(r.Header.Run)
	}, false},
	paper.MeasuredRatio:  {func(r *record.Record) float64 { return r.Final.Measured[Ratio] }, false},
	paper.MeasuredDirect: {func(r *record.Record) float64 { return r.Final.Measured[Direct] }, false},
	paper.MeasuredNorm: {func(r *record.Record) float64 {
		most := math.Inf(-1)
		for _, p := range r.Points {
			most = max(most, p.Measured[Norm])
		}
		return most / IterateBound(r.Header.Run)
	}, false},
}

// Value returns a statistic of a record by its name in paper.Measured. It is
// NaN if the run was not measured against f*, or never.
func Value(r *record.Record, name string) float64 {
	s, ok := statistics[name]
	if !ok || !r.Header.Run.Evaluation.Minimizer || len(r.Points) == 0 {
		return math.NaN()
	}
	return s.of(r)
}

// TooShort returns why a run is too short for a statistic about t → ∞, or "". After 4/(ηλ) samples,
// 2 % of the start's influence remains. A diminishing rate must have diminished, to a twentieth at
// least.
func TooShort(run spec.Run, name string) string {
	t, p := float64(run.Samples), run.Params
	long := p.LearningRate*p.Regularizer*t >= 4
	if p.Schedule == spec.ScheduleInverse {
		long = t >= 20*p.Horizon
	}
	if long || !statistics[name].limit {
		return ""
	}
	return fmt.Sprintf("%d samples are too few for η = %v", run.Samples, p.LearningRate)
}

// Vacuous returns why a statistic that satisfies its bound proves nothing, or "".
func Vacuous(r *record.Record, name string) string {
	if name == paper.MeasuredFloorRadius && Radius(r.Header.Run, Variance(r)) >= r.Final.Measured[StarNorm] {
		return "Δ is above ‖f*‖: f = 0 would pass"
	}
	return ""
}

// Floor returns the least ‖f_t − f*‖ of the points in the last half of the
// run: the lim inf as far as the run goes.
func Floor(r *record.Record) float64 {
	return least(between(r, 0.5, 1), Distance)
}

// least returns the least value of a quantity over the points that have it.
func least(points []record.Point, quantity string) float64 {
	out := math.Inf(1)
	for _, p := range points {
		if v, ok := p.Measured[quantity]; ok {
			out = min(out, v)
		}
	}
	return out
}

// last returns the last point.
func last(r *record.Record) record.Point { return r.Points[len(r.Points)-1] }

// between returns the points between the fractions from and to of the samples, inclusive.
func between(r *record.Record, from, to float64) []record.Point {
	n := float64(r.Header.Run.Samples)
	return slices.DeleteFunc(slices.Clone(r.Points), func(p record.Point) bool {
		return float64(p.Samples) < from*n || float64(p.Samples) > to*n
	})
}

// slope returns the slope of log ‖f_t − f*‖ over log t in the last decade.
func slope(r *record.Record) float64 {
	var x, y []float64
	for _, p := range between(r, 0.1, 1) {
		x = append(x, float64(p.Samples))
		y = append(y, p.Measured[Distance])
	}
	return Exponent(x, y)
}

// OrderGrowth returns the mean model order over the steps of the last quarter
// of the run, relative to that of the quarter before.
func OrderGrowth(r *record.Record) float64 {
	return meanOrder(between(r, 0.75, 1)) / meanOrder(between(r, 0.5, 0.75))
}

// DecadeGrowth returns the model order at the end, relative to that at the
// first point of the last decade.
func DecadeGrowth(r *record.Record) float64 {
	decade := between(r, 0.1, 1)
	if len(decade) == 0 {
		return math.NaN()
	}
	return float64(last(r).ModelOrder) / float64(decade[0].ModelOrder)
}

// meanOrder returns the mean model order over the steps from the first of the points to the last,
// or NaN for fewer than two points.
func meanOrder(points []record.Point) float64 {
	if len(points) < 2 {
		return math.NaN()
	}
	var sum float64
	for i, p := range points[1:] {
		sum += float64(p.Measured[MeanOrder] * float64(p.Samples-points[i].Samples))
	}
	return sum / float64(points[len(points)-1].Samples-points[0].Samples)
}

// Exponent returns the slope of log y over log x, or NaN for fewer than two points.
func Exponent(x, y []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		lx[i], ly[i] = portable.Log(x[i]), portable.Log(y[i])
	}
	return portable.Slope(lx, ly)
}
