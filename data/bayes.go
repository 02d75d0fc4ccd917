package data

import (
	"math"

	"polkrepro/data/internal/portable"
)

// The grid on which bayesError integrates: its usual step and the reach of a mode,
// in standard deviations.
const (
	bayesStep  = 1.0 / 16
	bayesReach = 6.0
)

// A bayesAxis is a mode's factor exp(−(t−μ)²/2σ²) along one axis, from grid index lo on.
type bayesAxis struct {
	lo     int
	values []float64
}

// bayesError returns the least error rate any classifier can have when classes
// are equally likely and class y is an even mixture of the isotropic Gaussians
// N(means[y][j], variance·I) in the plane: the integral of Σ_y q_y − max_y q_y
// over the plane, q_y being the class's density over the number of classes.
//
// The integral is a sum over a grid of step·σ; modes further than 6σ from a
// point are left out. It is deterministic, the same bits on every platform,
// and accurate to 1e-4 with bayesStep: the worst case is a boundary between
// classes that runs along the grid (8e-5); on multidist's draws it is within
// 1e-5. The variance is positive, and the means are finite.
func bayesError(means [][][2]float64, variance, step float64) float64 {
	sigma := math.Sqrt(variance)
	// In units of σ, with the grid's origin at the least mean less the reach.
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
