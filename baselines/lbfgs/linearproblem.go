package lbfgs

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
	"polkrepro/internal/portable"
	"polkrepro/loss"
)

const (
	// linearRows is the number of samples that are processed at a time, so that their features
	// are read from memory once.
	linearRows = 128

	// segments is the number of parts of the training set that are summed separately. Their sums
	// are added up in order, so that no result depends on the number of goroutines.
	segments = 16
)

// A linearProblem evaluates P with ℓ_μ for ℓ. It keeps its latest evaluation.
type linearProblem struct {
	n, outputs, threads int
	lambda              float64
	smooth              softmax
	phi                 gemm.Matrix[float32] // N×P
	y                   []float64

	w        []float64    // C×P, weights of the latest evaluation
	mu       float64      // μ of the latest evaluation, 0 before the first
	total    linearTotals // means over the samples
	gradient []float64    // C×P, of the mean of ℓ_μ

	w32   gemm.Matrix[float32] // w
	parts []segment
	work  []scratch // by goroutine
}

type segment struct {
	total    linearTotals
	gradient []float64
}

type scratch struct {
	scores gemm.Matrix[float32] // linearRows×C
	u      gemm.Matrix[float32] // C×linearRows: gradients of the losses
	g      gemm.Matrix[float32] // C×P: their sum over the features
	f      []float64            // C
}

func newLinearProblem(c Config, n, p int, phi []float32, y []float64) *linearProblem {
	s := softmax{mu: 1}
	if (c.Loss == loss.MultiHinge{}) {
		s = softmax{margin: 1, mu: linearMu}
	}
	q := &linearProblem{
		n: n, outputs: c.Classes, threads: c.Threads, lambda: c.Regularizer, smooth: s, phi: gemm.MatrixOf(n, p, phi), y: y,
		gradient: make([]float64, c.Classes*p), w32: gemm.NewMatrix[float32](c.Classes, p),
		parts: make([]segment, segments), work: make([]scratch, c.Threads),
	}
	for i := range q.parts {
		q.parts[i].gradient = make([]float64, c.Classes*p)
	}
	for i := range q.work {
		q.work[i] = scratch{
			scores: gemm.NewMatrix[float32](linearRows, c.Classes), u: gemm.NewMatrix[float32](c.Classes, linearRows),
			g: gemm.NewMatrix[float32](c.Classes, p), f: make([]float64, c.Classes),
		}
	}
	return q
}

// value returns P at w with ℓ_μ for ℓ.
func (q *linearProblem) value(w []float64) float64 {
	q.evaluate(w)
	return q.total.smooth + float64(q.lambda/2*gemm.Dot(w, w))
}

// gradientAt writes the gradient of value at w to g.
func (q *linearProblem) gradientAt(g, w []float64) {
	q.evaluate(w)
	copy(g, q.gradient)
	gemm.Axpy(q.lambda, w, g)
}

// exact returns P at the latest evaluation.
func (q *linearProblem) exact() float64 {
	return q.total.exact + float64(q.lambda/2*gemm.Dot(q.w, q.w))
}

// dual returns the dual point of the latest evaluation. It shares the problem's gradient.
func (q *linearProblem) dual() dualPoint {
	return dualPoint{q.gradient, q.total.dual, q.total.entropy}
}

// residual returns ‖∇‖²/(2λ) at the latest evaluation: a bound on the distance of P, with ℓ_μ for
// ℓ, from its minimum.
func (q *linearProblem) residual() float64 {
	g := make([]float64, len(q.w))
	q.gradientAt(g, q.w)
	return gemm.Dot(g, g) / (2 * q.lambda)
}

// evaluate computes the sums at w, unless the latest evaluation has them.
func (q *linearProblem) evaluate(w []float64) {
	if q.mu == q.smooth.mu && slices.Equal(w, q.w) {
		return
	}
	q.w, q.mu = append(q.w[:0], w...), q.smooth.mu
	gemm.Convert(q.w32.Data(), w)
	parallel.Do(q.threads, segments, func(worker, k int) {
		q.segment(&q.work[worker], &q.parts[k], k*q.n/segments, (k+1)*q.n/segments)
	})
	q.total = linearTotals{}
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
func (q *linearProblem) segment(w *scratch, s *segment, lo, hi int) {
	s.total = linearTotals{}
	clear(s.gradient)
	for ; lo < hi; lo += linearRows {
		n := min(linearRows, hi-lo)
		phi, scores := q.phi.Rows(lo, lo+n), w.scores.Rows(0, n)
		gemm.MulABT(1, phi, q.w32, 0, scores, 1)
		for i := range n {
			gemm.Convert(w.f, scores.Row(i))
			s.total.add(q.smooth.sample(w.f, int(q.y[lo+i])))
			for c, u := range w.f {
				w.u.Set(c, i, float32(u))
			}
		}
		gemm.MulAB(1, w.u.Cols(0, n), phi, 0, w.g, 1)
		for i, v := range w.g.Data() {
			s.gradient[i] += float64(v)
		}
	}
}

// A softmax is ℓ_μ with a margin of 1, or of 0 for the logistic loss.
type softmax struct{ margin, mu float64 }

// linearTotals are the sums of one pass over the samples.
type linearTotals struct {
	smooth  float64 // Σ ℓ_μ
	exact   float64 // Σ ℓ
	dual    float64 // Σ h(p)
	entropy float64 // Σ_i −Σ_c p_ic log p_ic
}

func (t *linearTotals) add(u linearTotals) {
	t.smooth += u.smooth
	t.exact += u.exact
	t.dual += u.dual
	t.entropy += u.entropy
}

// sample evaluates the loss at scores f and replaces them by the gradient u of
// ℓ_μ.
func (s softmax) sample(f []float64, y int) linearTotals {
	top := math.Inf(-1)
	label := f[y]
	for c, v := range f {
		v -= label
		if c != y {
			v += s.margin
		}
		f[c] = v
		top = max(top, v)
	}
	var sum, mean float64
	for c, v := range f {
		e := (v - top) / s.mu
		f[c] = portable.Exp(e)
		sum += f[c]
		if f[c] > 0 {
			mean += float64(f[c] * e)
		}
	}
	log := portable.Log(sum)
	// log p_c is e_c − log Σ exp(e), and Σ p = 1.
	t := linearTotals{smooth: top + float64(s.mu*log), exact: top, entropy: log - mean/sum}
	for c := range f {
		f[c] /= sum
		if c != y {
			t.dual += float64(s.margin * f[c])
		}
	}
	if s.margin == 0 {
		t.exact, t.dual = t.smooth, t.entropy
	}
	f[y]--
	return t
}
