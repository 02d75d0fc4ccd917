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

// A state is the model on the q points imported so far, with the derivatives
// of H there. D = C−1 is the number of contrasts.
type state struct {
	Config
	n int
	x []float32
	y []int32

	contrasts []float64 // C×D
	dict      *kernel.Points
	index     []int       // indices of the import points in the training set
	lower     [][]float64 // rows of the Cholesky factor of their kernel matrix
	phi       []float64   // q×N, the basis at the training points
	beta      []float64   // q×D, the coefficients of the contrasts
	f         []float64   // C×N, the scores contrasts·betaᵀ·phi

	objective float64
	gradient  []float64 // D×N, first derivatives of the mean loss with respect to the contrasts
	weight    []float64 // D(D+1)/2×N, second derivatives, for pairs a ≤ b of contrasts

	curvature curvature

	parts []float64 // sums over samples, by chunk
	work  []scratch // by goroutine
}

// scratch is the memory that a goroutine needs for a chunk.
type scratch struct {
	softmax softmax
	scores  []float64 // C×chunk
	means   []float64 // D×chunk
}

func newState(c Config, n int, x []float32, y []float64) *state {
	d := c.Classes - 1
	s := &state{
		Config: c, n: n, x: x, y: make([]int32, n),
		contrasts: contrasts(c.Classes),
		dict:      kernel.NewPoints(c.Dim),
		f:         make([]float64, c.Classes*n),
		gradient:  make([]float64, d*n),
		weight:    make([]float64, d*(d+1)/2*n),
		parts:     make([]float64, (n+chunk-1)/chunk),
		work:      make([]scratch, c.Threads),
	}
	for i, v := range y {
		s.y[i] = int32(v)
	}
	for w := range s.work {
		s.work[w].scores = make([]float64, c.Classes*chunk)
		s.work[w].means = make([]float64, d*chunk)
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
		for c := range s.Classes {
			copy(w.scores[c*chunk:], s.f[c*s.n+lo:c*s.n+hi])
		}
		loss := w.softmax.loss(w.scores, s.y[lo:hi])
		w.softmax.normalize(w.scores)
		s.deriveChunk(w, lo, hi)
		return loss
	})
	s.objective = loss/float64(s.n) + float64(s.Regularizer/2*gemm.Dot(s.beta, s.beta))
}

// deriveChunk computes the derivatives from the probabilities p in w.scores: with m = Bᵀp for the
// contrasts B, the derivatives are m − Bᵀe_y and Bᵀdiag(p)B − mmᵀ.
func (s *state) deriveChunk(w *scratch, lo, hi int) {
	d, n, share := s.dims(), hi-lo, 1/float64(s.n)
	pair := 0
	// All means come first, because the second derivatives use pairs of them.
	for a := range d {
		m := w.means[a*chunk : a*chunk+n]
		clear(m)
		for c := range s.Classes {
			gemm.Axpy(s.contrasts[c*d+a], w.scores[c*chunk:c*chunk+n], m)
		}
		for i, label := range s.y[lo:hi] {
			s.gradient[a*s.n+lo+i] = share * (m[i] - s.contrasts[int(label)*d+a])
		}
	}
	for a := range d {
		for b := a; b < d; b++ {
			v := s.weight[pair*s.n+lo : pair*s.n+hi]
			clear(v)
			for c := range s.Classes {
				gemm.Axpy(share*s.contrasts[c*d+a]*s.contrasts[c*d+b], w.scores[c*chunk:c*chunk+n], v)
			}
			// Σ_c B_ca B_cb p_c less the product of the means: the covariance of two
			// contrasts under p.
			for i := range v {
				v[i] -= float64(share * w.means[a*chunk+i] * w.means[b*chunk+i])
			}
			pair++
		}
	}
}

// scores returns the C×N scores of the function with the coefficients coef,
// q×D.
func (s *state) scores(coef []float64) []float64 {
	q, d := s.order(), s.dims()
	byClass := make([]float64, s.Classes*q)
	gemm.MulABT(s.Classes, q, d, 1, s.contrasts, d, coef, d, 0, byClass, q, 1)
	f := make([]float64, s.Classes*s.n)
	s.each(func(_ *scratch, lo, hi int) float64 {
		gemm.MulAB(s.Classes, hi-lo, q, 1, byClass, q, s.phi[lo:], s.n, 0, f[lo:], s.n, 1)
		return 0
	})
	return f
}

// add imports training point l, whose part orthogonal to the basis has the
// values row at the training points and norm r.
func (s *state) add(l int, r float64, row []float64) {
	// κ(x_l, ·) = Σ_t φ_t(x_l)·φ_t + r·φ_new: the coefficients are the new row of the
	// Cholesky factor of the import points' kernel matrix.
	lower := make([]float64, s.order()+1)
	for t := range s.order() {
		lower[t] = s.phi[t*s.n+l]
	}
	lower[s.order()] = r
	s.lower = append(s.lower, lower)
	s.phi = append(s.phi, row...)
	s.curvature.add(row)
	s.dict.Append(s.x[l*s.Dim : (l+1)*s.Dim])
	s.index = append(s.index, l)
	s.beta = append(s.beta, make([]float64, s.dims())...)
}

// leastStep is the step length below which the search for a lower objective stops.
const leastStep = 0x1p-30

// move adds to f the function with coefficients dir, q×D, times the first t = 1, 1/2, 1/4, … that
// lowers the objective. It reports whether there is such a t.
func (s *state) move(dir []float64) bool {
	// Scores are linear in t, so a trial costs no kernel values. H is convex and dir
	// a direction of descent: a small enough t lowers H, except for rounding.
	df := s.scores(dir)
	for t := 1.0; t >= leastStep; t /= 2 {
		if s.objectiveAt(t, dir, df) < s.objective {
			gemm.Axpy(t, dir, s.beta)
			gemm.Axpy(t, df, s.f)
			s.derive()
			return true
		}
	}
	return false
}

// objectiveAt returns H(f + t·g) for the function g of coefficients dir and
// scores df.
func (s *state) objectiveAt(t float64, dir, df []float64) float64 {
	loss := s.each(func(w *scratch, lo, hi int) float64 {
		for c := range s.Classes {
			row := w.scores[c*chunk : c*chunk+hi-lo]
			copy(row, s.f[c*s.n+lo:c*s.n+hi])
			gemm.Axpy(t, df[c*s.n+lo:c*s.n+hi], row)
		}
		return w.softmax.loss(w.scores, s.y[lo:hi])
	})
	var normSq float64
	for i, b := range s.beta {
		b += float64(t * dir[i])
		normSq += float64(b * b)
	}
	return loss/float64(s.n) + float64(s.Regularizer/2*normSq)
}

// spanGradient returns the gradient of H with respect to beta, D×q.
func (s *state) spanGradient() []float64 {
	q, d := s.order(), s.dims()
	g := make([]float64, d*q)
	gemm.MulABT(d, q, s.n, 1, s.gradient, s.n, s.phi, s.n, 0, g, q, s.Threads)
	for t := range q {
		for a := range d {
			g[a*q+t] += float64(s.Regularizer * s.beta[t*d+a])
		}
	}
	return g
}

// expansion returns the model as an expansion on its import points. With L the Cholesky factor of
// their kernel matrix, the weights are L⁻ᵀ·beta·contrastsᵀ.
func (s *state) expansion() *kernel.Expansion {
	q, d := s.order(), s.dims()
	e := &kernel.Expansion{Kernel: s.Kernel, Dict: s.dict.Clone(), Outputs: s.Classes, W: make([]float64, q*s.Classes)}
	if q == 0 {
		return e
	}
	lower := make([]float64, q*q)
	for t, row := range s.lower {
		copy(lower[t*q:], row)
	}
	byContrast, alpha := make([]float64, d*q), make([]float64, q*d)
	gemm.Transpose(q, d, s.beta, d, byContrast, q)
	factor.SolveLowerT(d, q, lower, q, byContrast, q, 1)
	gemm.Transpose(d, q, byContrast, q, alpha, d)
	gemm.MulABT(q, s.Classes, d, 1, alpha, d, s.contrasts, d, 0, e.W, s.Classes, 1)
	return e
}

// norm returns the Euclidean norm.
func norm(v []float64) float64 { return math.Sqrt(gemm.Dot(v, v)) }
