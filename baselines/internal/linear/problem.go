package linear

import (
	"slices"

	"polkrepro/baselines/internal/parallel"
	"polkrepro/internal/gemm"
	"polkrepro/loss"
)

const (
	// rows is the samples that are worked on at a time, so that their features
	// are read from memory once.
	rows = 128

	// segments is the parts of the training set that have sums of their own,
	// added up in order: no result depends on the number of goroutines.
	segments = 16
)

// A problem evaluates P with ℓ_μ for ℓ. It keeps its latest evaluation.
type problem struct {
	n, p, outputs, threads int
	lambda                 float64
	smooth                 smooth
	phi                    []float32
	y                      []float64

	w        []float64 // C×P, of the evaluation
	mu       float64   // of the evaluation, 0 before the first
	total    total     // means over the samples
	gradient []float64 // C×P, of the mean of ℓ_μ

	w32   []float32
	parts []segment
	work  []scratch // by goroutine
}

type segment struct {
	total    total
	gradient []float64
}

type scratch struct {
	scores, u, g []float32
	f            []float64
}

func newProblem(c Config, n, p int, phi []float32, y []float64) *problem {
	s := smooth{mu: 1}
	if (c.Loss == loss.MultiHinge{}) {
		s = smooth{margin: 1, mu: firstMu}
	}
	q := &problem{
		n: n, p: p, outputs: c.Classes, threads: c.Threads, lambda: c.Regularizer, smooth: s, phi: phi, y: y,
		gradient: make([]float64, c.Classes*p), w32: make([]float32, c.Classes*p),
		parts: make([]segment, segments), work: make([]scratch, c.Threads),
	}
	for i := range q.parts {
		q.parts[i].gradient = make([]float64, c.Classes*p)
	}
	for i := range q.work {
		q.work[i] = scratch{
			scores: make([]float32, rows*c.Classes), u: make([]float32, rows*c.Classes),
			g: make([]float32, c.Classes*p), f: make([]float64, c.Classes),
		}
	}
	return q
}

// value returns P at w with ℓ_μ for ℓ.
func (q *problem) value(w []float64) float64 {
	q.evaluate(w)
	return q.total.smooth + float64(q.lambda/2*gemm.Dot(w, w))
}

// gradientAt writes the gradient of value.
func (q *problem) gradientAt(g, w []float64) {
	q.evaluate(w)
	copy(g, q.gradient)
	gemm.Axpy(q.lambda, w, g)
}

// exact returns P at the latest evaluation.
func (q *problem) exact() float64 {
	return q.total.exact + float64(q.lambda/2*gemm.Dot(q.w, q.w))
}

// dual returns the dual point of the latest evaluation. Its gradient is the problem's.
func (q *problem) dual() dualPoint {
	return dualPoint{q.gradient, q.total.dual, q.total.entropy}
}

// residual returns ‖∇‖²/(2λ) at the latest evaluation: a bound of how far P, with ℓ_μ for
// ℓ, is above its minimum.
func (q *problem) residual() float64 {
	g := slices.Clone(q.gradient)
	gemm.Axpy(q.lambda, q.w, g)
	return gemm.Dot(g, g) / (2 * q.lambda)
}

// evaluate computes the sums at w, unless they are there.
func (q *problem) evaluate(w []float64) {
	if q.mu == q.smooth.mu && slices.Equal(w, q.w) {
		return
	}
	q.w, q.mu = append(q.w[:0], w...), q.smooth.mu
	for i, v := range w {
		q.w32[i] = float32(v)
	}
	parallel.Do(q.threads, segments, func(worker, k int) {
		q.segment(&q.work[worker], &q.parts[k], k*q.n/segments, (k+1)*q.n/segments)
	})
	q.total = total{}
	clear(q.gradient)
	for _, s := range q.parts {
		q.total.add(s.total)
		gemm.Axpy(1/float64(q.n), s.gradient, q.gradient)
	}
	q.total.smooth /= float64(q.n)
	q.total.exact /= float64(q.n)
	q.total.dual /= float64(q.n)
	q.total.entropy /= float64(q.n)
}

// segment sums over the samples lo … hi−1.
func (q *problem) segment(w *scratch, s *segment, lo, hi int) {
	s.total = total{}
	clear(s.gradient)
	for ; lo < hi; lo += rows {
		n := min(rows, hi-lo)
		phi := q.phi[lo*q.p : (lo+n)*q.p]
		gemm.MulABT(n, q.outputs, q.p, 1, phi, q.p, q.w32, q.p, 0, w.scores, q.outputs, 1)
		for i := range n {
			for c, v := range w.scores[i*q.outputs : (i+1)*q.outputs] {
				w.f[c] = float64(v)
			}
			s.total.add(q.smooth.sample(w.f, int(q.y[lo+i])))
			for c, u := range w.f {
				w.u[c*rows+i] = float32(u)
			}
		}
		gemm.MulAB(q.outputs, q.p, n, 1, w.u, rows, phi, q.p, 0, w.g, q.p, 1)
		for i, v := range w.g {
			s.gradient[i] += float64(v)
		}
	}
}
