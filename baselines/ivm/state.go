package ivm

import (
	"math"

	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
	"polkrepro/kernel"
)

// chunk is the number of samples that are processed at a time, few enough for their basis
// functions and scores to stay in cache. Sums over samples are taken chunk by chunk, so that no
// result depends on the number of goroutines.
const chunk = 512

// A matrix is a view of float64 elements.
type matrix = gemm.Matrix[float64]

// A state is the model on the q points imported so far, with the derivatives
// of H there. D = C−1 is the number of contrasts.
type state struct {
	Config
	n int
	x []float32
	y []int32

	contrasts matrix // C×D
	dict      *kernel.Points
	index     []int       // indices of the import points in the training set
	lower     [][]float64 // rows of the Cholesky factor of their kernel matrix
	phi       matrix      // q×N, the basis at the training points
	beta      matrix      // q×D, the coefficients of the contrasts
	f         matrix      // C×N, the scores contrasts·betaᵀ·phi

	objective float64
	gradient  matrix // D×N, first derivatives of the mean loss with respect to the contrasts
	weight    matrix // D(D+1)/2×N, second derivatives, for pairs a ≤ b of contrasts

	curvature curvature

	parts []float64 // sums over samples, by chunk
	work  []scratch // by goroutine
}

// scratch is the memory that a goroutine needs for a chunk.
type scratch struct {
	softmax softmax
	scores  matrix // C×chunk
	means   matrix // D×chunk
}

func newState(c Config, n int, x []float32, y []float64) *state {
	d := c.Classes - 1
	s := &state{
		Config: c, n: n, x: x, y: make([]int32, n),
		contrasts: contrasts(c.Classes),
		dict:      kernel.NewPoints(c.Dim),
		phi:       gemm.NewMatrix[float64](0, n),
		beta:      gemm.NewMatrix[float64](0, d),
		f:         gemm.NewMatrix[float64](c.Classes, n),
		gradient:  gemm.NewMatrix[float64](d, n),
		weight:    gemm.NewMatrix[float64](d*(d+1)/2, n),
		parts:     make([]float64, (n+chunk-1)/chunk),
		work:      make([]scratch, c.Threads),
	}
	for i, v := range y {
		s.y[i] = int32(v)
	}
	for w := range s.work {
		s.work[w].scores = gemm.NewMatrix[float64](c.Classes, chunk)
		s.work[w].means = gemm.NewMatrix[float64](d, chunk)
	}
	s.curvature = newCurvature(s)
	s.derive()
	return s
}

// dims returns D.
func (s *state) dims() int { return s.Classes - 1 }

// order returns q.
func (s *state) order() int { return len(s.index) }

// each calls do for every chunk lo … hi−1 of the samples, and returns the sum of its results.
func (s *state) each(do func(w *scratch, lo, hi int) float64) float64 {
	parallel.Do(s.Threads, len(s.parts), func(worker, u int) {
		s.parts[u] = do(&s.work[worker], u*chunk, min((u+1)*chunk, s.n))
	})
	var sum float64
	for _, p := range s.parts {
		sum += p
	}
	return sum
}

// derive computes the objective and the derivatives at f.
func (s *state) derive() {
	loss := s.each(func(w *scratch, lo, hi int) float64 {
		scores := w.scores.Cols(0, hi-lo)
		scores.Copy(s.f.Cols(lo, hi))
		loss := w.softmax.loss(scores, s.y[lo:hi])
		w.softmax.normalize(scores)
		s.deriveChunk(scores, w.means.Cols(0, hi-lo), lo, hi)
		return loss
	})
	s.objective = loss/float64(s.n) + float64(s.Regularizer/2*gemm.Dot(s.beta.Data(), s.beta.Data()))
}

// deriveChunk computes the derivatives from the probabilities p: with m = Bᵀp for the contrasts B,
// in means, the derivatives are m − Bᵀe_y and Bᵀdiag(p)B − mmᵀ.
func (s *state) deriveChunk(p, means matrix, lo, hi int) {
	d, share := s.dims(), 1/float64(s.n)
	pair := 0
	// All means come first, because the second derivatives use pairs of them.
	for a := range d {
		m, gradient := means.Row(a), s.gradient.Row(a)[lo:hi]
		clear(m)
		for c := range s.Classes {
			gemm.Axpy(s.contrasts.At(c, a), p.Row(c), m)
		}
		for i, label := range s.y[lo:hi] {
			gradient[i] = share * (m[i] - s.contrasts.At(int(label), a))
		}
	}
	for a := range d {
		for b := a; b < d; b++ {
			v := s.weight.Row(pair)[lo:hi]
			clear(v)
			for c := range s.Classes {
				gemm.Axpy(share*s.contrasts.At(c, a)*s.contrasts.At(c, b), p.Row(c), v)
			}
			// Σ_c B_ca B_cb p_c less the product of the means: the covariance of two
			// contrasts under p.
			ma, mb := means.Row(a), means.Row(b)
			for i := range v {
				v[i] -= float64(share * ma[i] * mb[i])
			}
			pair++
		}
	}
}

// scores returns the C×N scores of the function with the coefficients coef,
// q×D.
func (s *state) scores(coef matrix) matrix {
	byClass, f := gemm.NewMatrix[float64](s.Classes, s.order()), gemm.NewMatrix[float64](s.Classes, s.n)
	gemm.MulABT(1, s.contrasts, coef, 0, byClass, 1)
	s.each(func(_ *scratch, lo, hi int) float64 {
		gemm.MulAB(1, byClass, s.phi.Cols(lo, hi), 0, f.Cols(lo, hi), 1)
		return 0
	})
	return f
}

// add imports training point l, whose part orthogonal to the basis has the
// values row at the training points and norm r.
func (s *state) add(l int, r float64, row []float64) {
	// κ(x_l, ·) = Σ_t φ_t(x_l)·φ_t + r·φ_new: the coefficients are the new row of the
	// Cholesky factor of the import points' kernel matrix.
	q := s.order()
	lower := make([]float64, q+1)
	for t := range q {
		lower[t] = s.phi.At(t, l)
	}
	lower[q] = r
	s.lower = append(s.lower, lower)
	s.phi, s.beta = s.phi.Reshaped(q+1, s.n), s.beta.Reshaped(q+1, s.dims())
	copy(s.phi.Row(q), row)
	s.curvature.add(row)
	s.dict.Append(s.x[l*s.Dim : (l+1)*s.Dim])
	s.index = append(s.index, l)
}

// leastStep is the step length below which the search for a lower objective stops.
const leastStep = 0x1p-30

// move adds to f the function with coefficients dir, q×D, times the first t = 1, 1/2, 1/4, … that
// lowers the objective. It reports whether there is such a t.
func (s *state) move(dir matrix) bool {
	// Scores are linear in t, so a trial costs no kernel values. H is convex and dir
	// a direction of descent: a small enough t lowers H, except for rounding.
	df := s.scores(dir)
	for t := 1.0; t >= leastStep; t /= 2 {
		if s.objectiveAt(t, dir, df) < s.objective {
			gemm.Axpy(t, dir.Data(), s.beta.Data())
			gemm.Axpy(t, df.Data(), s.f.Data())
			s.derive()
			return true
		}
	}
	return false
}

// objectiveAt returns H(f + t·g) for the function g of coefficients dir and
// scores df.
func (s *state) objectiveAt(t float64, dir, df matrix) float64 {
	loss := s.each(func(w *scratch, lo, hi int) float64 {
		scores := w.scores.Cols(0, hi-lo)
		scores.Copy(s.f.Cols(lo, hi))
		for c := range s.Classes {
			gemm.Axpy(t, df.Row(c)[lo:hi], scores.Row(c))
		}
		return w.softmax.loss(scores, s.y[lo:hi])
	})
	var normSq float64
	changes := dir.Data()
	for i, b := range s.beta.Data() {
		b += float64(t * changes[i])
		normSq += float64(b * b)
	}
	return loss/float64(s.n) + float64(s.Regularizer/2*normSq)
}

// spanGradient returns the gradient of H with respect to beta, D×q.
func (s *state) spanGradient() []float64 {
	q, d := s.order(), s.dims()
	g := gemm.NewMatrix[float64](d, q)
	gemm.MulABT(1, s.gradient, s.phi, 0, g, s.Threads)
	for a := range d {
		row := g.Row(a)
		for t := range row {
			row[t] += float64(s.Regularizer * s.beta.At(t, a))
		}
	}
	return g.Data()
}

// expansion returns the model as an expansion on its import points. With L the Cholesky factor of
// their kernel matrix, the weights are L⁻ᵀ·beta·contrastsᵀ.
func (s *state) expansion() *kernel.Expansion {
	q, d := s.order(), s.dims()
	e := &kernel.Expansion{Kernel: s.Kernel, Dict: s.dict.Clone(), Outputs: s.Classes, W: make([]float64, q*s.Classes)}
	if q == 0 {
		return e
	}
	lower := gemm.NewMatrix[float64](q, q)
	for t, row := range s.lower {
		copy(lower.Row(t), row)
	}
	byContrast, alpha := gemm.NewMatrix[float64](d, q), gemm.NewMatrix[float64](q, d)
	gemm.Transpose(s.beta, byContrast)
	factor.SolveLowerT(lower, byContrast, 1)
	gemm.Transpose(byContrast, alpha)
	gemm.MulABT(1, alpha, s.contrasts, 0, gemm.MatrixOf(q, s.Classes, e.W), 1)
	return e
}

// norm returns the Euclidean norm.
func norm(v []float64) float64 { return math.Sqrt(gemm.Dot(v, v)) }
