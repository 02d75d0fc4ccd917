package online

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"polkrepro/data/rows"
	"polkrepro/internal/gemm"
)

// A scaledSample is the sample under one scaling.
type scaledSample struct {
	model  *Model         // untrained, for its settings and its scaling
	metric *learnedMetric // nil unless the scaling is learned
	dim    int            // features of x
	x      []float32
	y, w   []float64 // targets and weights
	own    []float64 // weights without those of the classes, and not relative to their mean
	median float64   // distance between rows; 1 if the bandwidth is given
}

// row returns a row, scaled.
func (b *scaledSample) row(j int) []float32 { return b.x[j*b.dim : (j+1)*b.dim] }

// addSample adds the sample under the given scaling.
func (t *tuner) addSample(s *survey, scale rows.Scale) error {
	set := t.set
	set.Scale = scale
	choose := set.Bandwidth == 0
	if choose {
		set.Bandwidth = 1
	}
	sc, err := s.complete(&set, func(string, ...any) {})
	if err != nil {
		return err
	}
	b := scaledSample{median: 1}
	if b.model, err = newModel(set, sc); err != nil {
		return err
	}
	for _, row := range slices.Concat(s.head, s.judged) {
		if b.x, err = b.model.append(b.x, &row); err != nil {
			return s.source.at(&row, err)
		}
		y, err := b.model.target(&row)
		if err != nil {
			return s.source.at(&row, err)
		}
		b.y, b.w = append(b.y, y), append(b.w, set.weight(&row))
		b.own = append(b.own, cmp.Or(row.Weight, 1))
	}
	if b.dim = set.Dim; b.dim > wide*len(b.y) {
		b.x, b.dim = rotated(b.x, len(b.y), b.dim), len(b.y)
	}
	if choose {
		if b.median = b.distance(min(len(s.head), medianRows)); b.median == 0 {
			b.median = b.distance(len(s.head))
		}
		if b.median == 0 {
			return errSameRows
		}
	}
	t.samples = append(t.samples, b)
	return nil
}

// distance returns the median distance between the first n rows.
func (b *scaledSample) distance(n int) float64 { return MedianDistance(n, b.dim, b.x) }

// wide is the number of features per row above which the sample is rotated.
const wide = 4

// rotated returns n rows of n features that have the inner products of the n rows of x: a
// Cholesky factor of their Gram matrix. A kernel depends only on the inner products. The
// component of a row outside the span of the rows before is dropped if it is so small that
// rounding decides it.
func rotated(x []float32, n, dim int) []float32 {
	gram, out := make([]float32, n*n), make([]float32, n*n)
	rows := gemm.MatrixOf(n, dim, x)
	gemm.MulABT(1, rows, rows, 0, gemm.MatrixOf(n, n, gram), runtime.GOMAXPROCS(0))
	for i := range n {
		for j := range i + 1 {
			left := float64(gram[i*n+j])
			for k := range j {
				left -= float64(float64(out[i*n+k]) * float64(out[j*n+k]))
			}
			switch pivot := float64(out[j*n+j]); {
			case i == j && left > 1e-5*float64(gram[i*n+i]):
				out[i*n+i] = float32(math.Sqrt(left))
			case i != j && pivot > 0:
				out[i*n+j] = float32(left / pivot)
			}
		}
	}
	return out
}
