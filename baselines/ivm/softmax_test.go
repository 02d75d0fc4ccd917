package ivm

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/gemm"
	"polkrepro/loss"
)

// TestSoftmax: the loss and the probabilities are those of package loss.
func TestSoftmax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(2, 5).Draw(t, "classes")
		n := rapid.IntRange(1, chunk).Draw(t, "n")
		size := rapid.SampledFrom([]float64{1, 30, 1e4}).Draw(t, "size")
		values := rapid.SliceOfN(rapid.Float64Range(-size, size), 7, 7).Draw(t, "scores")
		f := gemm.NewMatrix[float64](classes, n)
		y := make([]int32, n)
		scores, p := make([]float64, classes), make([]float64, classes*n)
		var want float64
		for i := range n {
			y[i] = int32(i % classes)
			for c := range scores {
				scores[c] = values[(3*i+c*(1+i))%7]
				f.Set(c, i, scores[c])
			}
			want += loss.MultiLogistic{}.Value(scores, float64(y[i]))
			loss.MultiLogistic{}.Probabilities(p[i*classes:(i+1)*classes], scores)
		}
		var s softmax
		if got := s.loss(f, y); !(math.Abs(got-want) <= 1e-12*(float64(n)*size+want)) {
			t.Fatalf("loss %v, want %v", got, want)
		}
		s.normalize(f)
		for i := range n {
			for c := range classes {
				if got, want := f.At(c, i), p[i*classes+c]; !(math.Abs(got-want) <= 1e-13) {
					t.Fatalf("probability %v, want %v", got, want)
				}
			}
		}
	})
}

func TestContrasts(t *testing.T) {
	for c := 2; c < 12; c++ {
		b, d := contrasts(c), c-1
		for u := range d {
			for v := range d {
				var dot, sum float64
				for q := range c {
					dot += b.At(q, u) * b.At(q, v)
					sum += b.At(q, u)
				}
				want := 0.0
				if u == v {
					want = 1
				}
				if !(math.Abs(dot-want) <= 1e-14) || !(math.Abs(sum) <= 1e-14) {
					t.Fatalf("%d classes: columns %d and %d have the product %v, the first one's sum is %v", c, u, v, dot, sum)
				}
			}
		}
	}
}
