package ivm

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/internal/portable"
)

// contrasts returns an orthonormal basis of the vectors of length c whose sum is 0, the Helmert
// contrasts, as columns of a c×(c−1) matrix.
func contrasts(c int) matrix {
	b := gemm.NewMatrix[float64](c, c-1)
	for a := range c - 1 {
		norm := math.Sqrt(float64((a + 1) * (a + 2)))
		for q := range a + 1 {
			b.Set(q, a, 1/norm)
		}
		b.Set(a+1, a, -float64(a+1)/norm)
	}
	return b
}

// A softmax evaluates the multinomial logistic loss, as loss.MultiLogistic does, on many samples
// at a time. Scores have one row per class.
type softmax struct{ top, sum []float64 }

// loss returns Σ_i log Σ_c exp(f_ci) − f_{y_i i} over the samples y. It leaves
// exp(f_ci − max_c f_ci) in f and the sums of those in s.sum.
func (s *softmax) loss(f matrix, y []int32) float64 {
	classes, n := f.Dims()
	s.top = append(s.top[:0], f.Row(0)...)
	for c := 1; c < classes; c++ {
		gemm.Largest(f.Row(c), s.top) // it skips a NaN, which makes the loss NaN below
	}
	var total float64
	for i, label := range y {
		total += s.top[i] - f.At(int(label), i)
	}
	s.sum = grow(s.sum, n)
	clear(s.sum)
	for c := range classes {
		row := f.Row(c)
		gemm.Axpy(-1, s.top, row)
		gemm.Exp(row, row)
		gemm.Axpy(1, row, s.sum)
	}
	return total + logs(s.sum)
}

// logs returns Σ log v_i for v_i ≥ 1. Taking the logarithm of a product of many values costs a
// tenth of taking their logarithms.
func logs(v []float64) float64 {
	var sum float64
	product := 1.0
	// A factor is at most C, so that the product stays below 1e308.
	for _, w := range v {
		product = float64(product * w)
		if product > 1e200 {
			sum += portable.Log(product)
			product = 1
		}
	}
	return sum + portable.Log(product)
}

// normalize turns the values that loss left in f into probabilities.
func (s *softmax) normalize(f matrix) {
	classes := f.Len()
	for c := range classes {
		row := f.Row(c)
		for i, v := range s.sum {
			row[i] /= v
		}
	}
}

func grow[T any](b []T, n int) []T { return slices.Grow(b[:0], n)[:n] }
