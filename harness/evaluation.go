package harness

import (
	"math"
	"slices"

	"polkrepro/internal/portable"
	"polkrepro/spec"
)

// EvaluationPoints returns the numbers of samples after which a run is evaluated, in
// ascending order without duplicates: every ev.Every samples, at ev.Tail points spread
// evenly over the last 5 % of the samples, and always at the end. A point inside a
// mini-batch is evaluated at the end of that mini-batch. A run that is measured against
// the minimizer is also evaluated eight times a decade from ten samples on, and twenty
// times, evenly spread, in the last half.
func EvaluationPoints(total int, ev spec.Evaluation) []int {
	points := []int{total}
	if ev.Minimizer {
		for i := 8; ; i++ {
			s := int(math.Round(portable.Pow(10, float64(i)/8)))
			if s >= total {
				break
			}
			points = append(points, s)
		}
		for i := range 21 {
			points = append(points, total-total/40*i)
		}
	}
	if ev.Every > 0 {
		for s := ev.Every; s < total; s += ev.Every {
			points = append(points, s)
		}
	}
	for k := 1; k < ev.Tail; k++ {
		if s := total - int(int64(total)*int64(k)/(20*int64(ev.Tail))); s > 0 {
			points = append(points, s)
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}
