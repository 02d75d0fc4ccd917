package online

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// A Scale says how features are scaled, from what the head shows of each one.
type Scale string

const (
	ScaleNone     Scale = "none"
	ScaleStandard Scale = "standard" // mean 0, standard deviation 1
	ScaleUnit     Scale = "unit"     // smallest value 0, largest 1
)

// Scales returns all ways to scale.
func Scales() []string {
	return []string{string(ScaleNone), string(ScaleStandard), string(ScaleUnit)}
}

func (s Scale) known() bool { return slices.Contains(Scales(), string(s)) }

// A scaling maps feature q of x to (x_q − shift_q)·factor_q. The zero value
// leaves x as it is.
type scaling struct {
	shift, factor []float64
}

// newScaling returns the scaling of n rows of dim features, and how many
// features are the same in all of them: those get the factor 0, because what
// they would do when they change can't be known.
func newScaling(s Scale, n, dim int, x []float32) (out scaling, constant int) {
	if s == ScaleNone {
		return scaling{}, 0
	}
	out = scaling{make([]float64, dim), make([]float64, dim)}
	column := make([]float64, n)
	for q := range dim {
		for i := range column {
			column[i] = float64(x[i*dim+q])
		}
		shift, spread := spreadOf(s, column)
		out.shift[q] = shift
		if spread > 0 {
			out.factor[q] = 1 / spread
		} else {
			constant++
		}
	}
	return out, constant
}

// spreadOf returns what is subtracted from a column and what it is divided by.
func spreadOf(s Scale, column []float64) (shift, spread float64) {
	least, most := slices.Min(column), slices.Max(column)
	if least == most || s == ScaleUnit {
		return least, most - least
	}
	return stat.PopMeanStdDev(column, nil)
}

// apply scales rows of features in place.
func (s *scaling) apply(x []float32) {
	dim := len(s.shift)
	if dim == 0 {
		return
	}
	for i, v := range x {
		q := i % dim
		x[i] = float32((float64(v) - s.shift[q]) * s.factor[q])
	}
}

// medianPairs bounds the arithmetic of the median heuristic.
const medianPairs = 1 << 29

// medianDistance returns the median of the distances between n rows of dim
// features (the median heuristic for a kernel's bandwidth), or of the distances
// that are not 0 if the median is; 0 if all rows are the same. Where there are
// many features, fewer rows are looked at.
func medianDistance(n, dim int, x []float32) float64 {
	n = min(n, max(2, int(math.Sqrt(2*medianPairs/float64(dim)))))
	d2 := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		a := x[i*dim : (i+1)*dim]
		for j := range i {
			b := x[j*dim : (j+1)*dim]
			var s float64
			for q, v := range a {
				d := float64(v) - float64(b[q])
				s += float64(d * d)
			}
			d2 = append(d2, s)
		}
	}
	slices.Sort(d2)
	first, _ := slices.BinarySearch(d2, math.SmallestNonzeroFloat64)
	switch {
	case first == len(d2):
		return 0
	case d2[len(d2)/2] == 0:
		d2 = d2[first:]
	}
	return math.Sqrt(d2[len(d2)/2])
}
