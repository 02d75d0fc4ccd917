package learnertest

import "math/rand/v2"

const (
	classes = 3
	dim     = 4
)

// separated draws training sets of classes that are well apart: cubes of side
// 1 whose centres are 3√2 from each other.
func separated(seed uint64) Task { return draw(seed, 120, 3, 1) }

// overlapping draws training sets of n samples and classes that no function tells apart.
func overlapping(seed uint64, n int) Task { return draw(seed, n, 1, 2) }

// draw returns n points from cubes with sides of length width. The cube of class k has its centre
// on axis k, at the given distance from the origin.
func draw(seed uint64, n int, distance, width float64) Task {
	r := rand.New(rand.NewPCG(seed, 0))
	s := Task{
		Seed: 1, Threads: 1, Classes: classes, N: n, Dim: dim,
		X: make([]float32, n*dim), Y: make([]float64, n),
	}
	for i := range n {
		k := r.IntN(classes)
		s.Y[i] = float64(k)
		for q := range dim {
			s.X[i*dim+q] = float32(width * (r.Float64() - 0.5))
		}
		s.X[i*dim+k] += float32(distance)
	}
	return s
}

// rotated returns s with feature q moved to position q+1, and the last feature to position 0.
func (s Task) rotated() Task {
	x := make([]float32, len(s.X))
	for i := range s.N {
		for q, v := range s.X[i*s.Dim : (i+1)*s.Dim] {
			x[i*s.Dim+(q+1)%s.Dim] = v
		}
	}
	s.X = x
	return s
}
