package data

import (
	"math"

	"polkrepro/data/internal/portable"
)

// The grid of bayesError, in standard deviations: the default step, and the distance beyond
// which a mode is ignored.
const (
	bayesStep  = 1.0 / 16
	bayesReach = 6.0
)

// A bayesAxis is a mode's factor exp(−(t−μ)²/2σ²) along one axis, from grid index lo on.
type bayesAxis struct {
	lo     int
	values []float64
}

// bayesError returns the Bayes error rate, the least that any classifier can have, of
// equally likely classes in the plane. Class y is an even mixture of the isotropic
// Gaussians N(means[y][j], variance·I). The error rate is the integral of
// Σ_y q_y − max_y q_y over the plane, where q_y is the density of class y divided by the
// number of classes.
//
// The integral is a sum over a grid of spacing step·σ that ignores modes further than 6σ
// from a point. The result is deterministic, with the same bits on every platform, and
// accurate to 1e-4 with bayesStep. The worst case is a boundary between classes that runs
// along the grid (8e-5); on multidist's draws the result is within 1e-5. The variance must
// be positive and the means finite.
func bayesError(means [][][2]float64, variance, step float64) float64 {
	sigma := math.Sqrt(variance)
	// Lengths are in units of σ. The grid's origin is the least mean minus bayesReach.
	low := [2]float64{math.Inf(1), math.Inf(1)}
	high := [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, class := range means {
		for _, m := range class {
			for a := range m {
				low[a] = min(low[a], m[a]/sigma)
				high[a] = max(high[a], m[a]/sigma)
			}
		}
	}
	axis := func(mean, low float64) bayesAxis {
		centre := mean/sigma - low + bayesReach
		lo := int(math.Ceil((centre - bayesReach) / step))
		hi := int(math.Floor((centre + bayesReach) / step))
		v := make([]float64, hi-lo+1)
		for i := range v {
			d := float64(float64(lo+i)*step) - centre
			v[i] = portable.Exp(float64(float64(d*d) * -0.5))
		}
		return bayesAxis{lo, v}
	}
	type mode struct {
		class  int
		weight float64
		x, y   bayesAxis
	}
	var modes []mode
	rows := 0
	for c, class := range means {
		for _, m := range class {
			md := mode{c, 1 / float64(len(class)), axis(m[0], low[0]), axis(m[1], low[1])}
			rows = max(rows, md.y.lo+len(md.y.values))
			modes = append(modes, md)
		}
	}
	width := int((high[0]-low[0]+2*bayesReach)/step) + 2
	q := make([][]float64, len(means))
	for c := range q {
		q[c] = make([]float64, width)
	}
	var total float64
	for r := range rows {
		first, last := width, 0
		for c := range q {
			clear(q[c])
		}
		for _, md := range modes {
			j := r - md.y.lo
			if j < 0 || j >= len(md.y.values) {
				continue
			}
			f := float64(md.weight * md.y.values[j])
			row := q[md.class][md.x.lo : md.x.lo+len(md.x.values)]
			for i, v := range md.x.values {
				row[i] += float64(f * v)
			}
			first = min(first, md.x.lo)
			last = max(last, md.x.lo+len(md.x.values))
		}
		var sum float64
		for i := first; i < last; i++ {
			var all, best float64
			for c := range q {
				v := q[c][i]
				all += v
				best = max(best, v)
			}
			sum += all - best
		}
		total += sum
	}
	// Each density is exp(…)/(2π) in units of σ; each cell has area step².
	return float64(total*step) * step / (2 * math.Pi * float64(len(means)))
}
