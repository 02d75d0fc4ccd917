package krls

import (
	"context"
	"fmt"
	"math"
	"slices"

	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/dataset"
	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk"
)

const (
	// singular is the squared distance from the span, relative to κ(x, x), below which a sample
	// counts as lying in the span.
	singular = 1e-8

	// leastNoise keeps 1/σ² and its products finite.
	leastNoise = 1e-100

	// probeEvery is the number of removals between two comparisons of L·Lᵀ with K.
	probeEvery = 64
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel     kernel.Kernel // κ
	Dim        int           // p ≥ 1, features of a sample
	Threshold  float64       // ν ≥ 0: a sample enters if its squared distance from the span is larger; +Inf: none does
	Noise      float64       // σ² > 0, the variance of the targets' noise; the ridge of the least squares
	Budget     int           // M, the largest number of elements; 0 for no limit
	Forgetting float64       // λ in (0, 1]; 1 forgets nothing
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "krls"}
	p.If(c.Dim < 1, "Dim", c.Dim, "at least 1")
	p.Kernel(c.Kernel)
	p.If(!(c.Threshold >= 0), "Threshold", c.Threshold, "at least 0")
	p.If(!(c.Noise >= leastNoise && c.Noise <= math.MaxFloat64), "Noise", c.Noise, fmt.Sprintf("a variance of at least %v", leastNoise))
	p.If(c.Budget < 0, "Budget", c.Budget, "at least 1, or 0 for no limit")
	p.If(!(c.Forgetting > 0 && c.Forgetting <= 1), "Forgetting", c.Forgetting, "above 0 and at most 1, which forgets nothing")
	return p.Err()
}

// A Learner runs kernel recursive least squares and holds its current function f.
type Learner struct {
	m      *stream.Model
	cfg    Config
	counts []float64 // weights of the samples of this step that come next; nil for 1

	// Element i is the dictionary's point place[i]: the rows of L keep the order of entry, and the
	// dictionary does not.
	place []int
	l, p  square    // L; P in the coordinates v, with both triangles
	v     []float64 // the posterior mean is L·v
	diag  []float64 // diagonal of K⁻¹, if there is a budget

	phi, h, buf, before  []float64 // of a step: φ, Pφ, a solution, diag before x entered
	cos, sin             []float64 // rotations
	next                 int       // the element whose diag is computed afresh next
	stale                bool      // F.W is not that of v
	entered, left, spare int       // counters of Health
	negative             int
	drift                float64
}

// New returns a learner with f = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Learner{cfg: c}
	l.m = stream.NewModel("krls", c.Kernel, 1, c.Dim, l.learn)
	return l, nil
}

// NewFitted returns a learner whose dictionary holds the points of dict, of p features each, and
// which has learned n samples with targets y in one batch: f is the minimizer of
// Σ_i (y_i − f(x_i))² + σ²·‖f‖² over the span of the dictionary. Points of dict that lie in the
// span of those before them are left out. With n = 0, f is 0. It fails if the configuration or a
// sample is invalid, or if the points exceed the budget.
func NewFitted(c Config, dict []float32, n int, x []float32, y []float64) (*Learner, error) {
	l, err := New(c)
	if err != nil {
		return nil, err
	}
	points := len(dict) / c.Dim
	if err := dataset.Check(points, c.Dim, 1, dict, make([]float64, points)); err != nil {
		return nil, fmt.Errorf("krls: dictionary: %w", err)
	}
	for i := range points {
		point := dict[i*c.Dim : (i+1)*c.Dim]
		if self, gamma2 := l.project(point); gamma2 > singular*self {
			l.enter(point, gamma2)
		}
	}
	if order := l.m.F.Order(); c.Budget > 0 && order > c.Budget {
		return nil, fmt.Errorf("krls: a dictionary of %d elements, and the budget is %d", order, c.Budget)
	}
	if n == 0 {
		return l, nil
	}
	if err := dataset.Check(n, c.Dim, 1, x, y); err != nil {
		return nil, fmt.Errorf("krls: %w", err)
	}
	return l, l.fit(n, x, y)
}

// fitRows bounds the rows that fit maps at a time.
const fitRows = 256

// fit sets P = (ΦᵀΦ + σ²I)⁻¹ and v = PΦᵀy, where the rows of Φ are the samples' φ.
func (l *Learner) fit(n int, x []float32, y []float64) error {
	m, dim := l.l.n, l.cfg.Dim
	rows := min(n, fitRows)
	wide, allPhi, allColumns := make([]float64, rows*dim), make([]float64, rows*m), make([]float64, rows*m)
	a, sum := gemm.NewMatrix[float64](m, m), gemm.RowOf(l.v)
	for lo := 0; lo < n; lo += rows {
		rows := min(rows, n-lo)
		kernel.Widen(wide, x[lo*dim:(lo+rows)*dim])
		phi, columns := gemm.MatrixOf(rows, m, allPhi), gemm.MatrixOf(m, rows, allColumns)
		l.m.F.Dict.Block64(l.m.F.Kernel, gemm.MatrixOf(rows, dim, wide), phi, l.m.Threads)
		factor.SolveLower(l.l.view(), phi, l.m.Threads)
		gemm.Transpose(phi, columns)
		gemm.MulABT(1, columns, columns, 1, a, l.m.Threads)
		for i := range rows {
			gemm.Axpy(y[lo+i], phi.Row(i), l.v)
		}
	}
	l.m.Evals += int64(n) * int64(m)
	for i := range m {
		a.Row(i)[i] += l.cfg.Noise
	}
	if !factor.Cholesky(a, l.m.Threads) {
		return fmt.Errorf("krls: the least squares of %d samples have no solution in float64: a larger noise than %v is needed", n, l.cfg.Noise)
	}
	factor.SolveLower(a, sum, l.m.Threads)
	factor.SolveLowerT(a, sum, l.m.Threads)
	inverse := gemm.NewMatrix[float64](m, m)
	factor.InvertLower(a, inverse, l.m.Threads)
	gemm.Transpose(inverse, a)
	gemm.MulABT(1, a, a, 0, l.p.view(), l.m.Threads)
	return nil
}

// Step learns from n samples, one after another: x is n×Dim in row-major order, y holds n targets.
// It returns the score of each sample, computed before learning from that sample; they are valid until
// the next Step. If a sample is invalid, Step learns from none. If a score or κ(x, x) is not finite, or
// ctx ends, it fails at that sample, has learned from those before it, and can go on.
func (l *Learner) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	return l.m.Step(ctx, n, x, y)
}

// SetThreads sets the number of goroutines that a step may use, at least 1, which is the default.
// The results do not depend on it.
func (l *Learner) SetThreads(n int) { l.m.SetThreads(n) }

// KernelEvals returns the number of evaluations of κ in steps so far.
func (l *Learner) KernelEvals() int64 { return l.m.Evals }

// StepWeighted is Step with a positive weight for each sample, over which its noise has the variance σ².
// A weight of 2 counts as two equal samples. No weights are weights of 1.
func (l *Learner) StepWeighted(ctx context.Context, n int, x []float32, y, weights []float64) ([]float64, error) {
	l.counts = weights
	defer func() { l.counts = nil }()
	return l.Step(ctx, n, x, y)
}

// Score returns f(x). It costs M·p + M²/2 multiply-adds and is no step.
func (l *Learner) Score(x []float32) float64 {
	l.project(x)
	return gemm.Dot(l.phi, l.v)
}

func (l *Learner) learn(x []float32, y float64) error {
	noise := 1.0 // over σ²
	if len(l.counts) > 0 {
		noise, l.counts = min(1/l.counts[0], 1e100), l.counts[1:]
	}
	self, gamma2 := l.project(x)
	score := gemm.Dot(l.phi, l.v)
	l.m.Scores[0] = score
	l.m.Saw(l.m.Scores)
	if !stream.Finite(l.m.Scores) || math.IsInf(y-score, 0) {
		return polk.ErrDiverged
	}
	if !(self >= 0) || math.IsInf(self, 1) {
		return fmt.Errorf("κ(x, x) = %v", self)
	}
	if lambda := l.cfg.Forgetting; lambda < 1 {
		l.forget(lambda)
		score = gemm.Dot(l.phi, l.v)
	}
	m := l.p.n
	l.h = grow(l.h, m)
	gemm.MulABT(1, gemm.RowOf(l.phi), l.p.view(), 0, gemm.RowOf(l.h), l.m.Threads)
	s := gemm.Dot(l.phi, l.h)
	if s < 0 { // lost to rounding: y says nothing about a direction without variance
		l.negative++
		s = 0
	}
	if !(gamma2 > max(l.cfg.Threshold, singular*self)) {
		l.condition(y-score, s, noise)
		return nil
	}
	l.enter(x, gamma2)
	l.entered++
	prior := 1 / l.cfg.Noise
	l.phi = append(l.phi, math.Sqrt(gamma2))
	l.h = append(l.h, l.phi[m]*prior)
	with := s + float64(gamma2*prior)
	l.condition(y-score, with, noise)
	l.p.row(m)[m] = prior * ((noise + s) / (noise + with)) // the difference that condition takes would lose digits
	if l.cfg.Budget > 0 && l.l.n > l.cfg.Budget {
		l.prune()
	}
	return nil
}

// project sets φ to L⁻¹k and returns κ(x, x) and γ² = κ(x, x) − ‖φ‖².
func (l *Learner) project(x []float32) (self, gamma2 float64) {
	k := l.m.Row(x)
	l.phi = grow(l.phi, len(k))
	for i, at := range l.place {
		l.phi[i] = k[at]
	}
	l.l.solve(0, l.phi)
	self = l.m.F.Kernel.Self(x)
	return self, self - gemm.Dot(l.phi, l.phi)
}

// forget moves the posterior back to the prior.
func (l *Learner) forget(lambda float64) {
	root, prior := math.Sqrt(lambda), (1-lambda)/l.cfg.Noise
	for i := range l.v {
		l.v[i] *= root
		row := l.p.row(i)
		for j := range row {
			row[j] *= lambda
		}
		row[i] += prior
	}
}

// condition conditions the posterior on a target, given its residual, φ, h = Pφ, s = φᵀh and the
// variance r·σ² of its noise:
//
//	v ← v + h·residual/(r + s),  P ← P − hhᵀ/(r + s).
//
// The vector is scaled before the product with itself, so that P stays symmetric bit for bit.
func (l *Learner) condition(residual, s, r float64) {
	gemm.Axpy(residual/(r+s), l.h, l.v)
	root := math.Sqrt(r + s)
	for i := range l.h {
		l.h[i] /= root
	}
	for i, h := range l.h {
		gemm.Axpy(-h, l.h, l.p.row(i))
	}
	l.stale = true
}

// enter adds x, whose φ is set, to the dictionary. The posterior of its coordinate is the prior.
func (l *Learner) enter(x []float32, gamma2 float64) {
	m, gamma := l.l.n, math.Sqrt(gamma2)
	l.place = append(l.place, m)
	l.m.F.Append(x, l.m.Scores) // Expansion sets the weight
	l.l.enlarge(l.cfg.Budget)
	l.p.enlarge(l.cfg.Budget)
	copy(l.l.row(m), l.phi)
	l.l.row(m)[m] = gamma
	l.p.row(m)[m] = 1 / l.cfg.Noise
	l.v = append(l.v, 0)
	l.stale = true
	if l.cfg.Budget == 0 {
		return
	}
	// (K⁻¹)_ii grows by q_i²/γ².
	l.before = append(l.before[:0], l.diag...)
	l.buf = append(l.buf[:0], l.phi...)
	l.l.solveT(l.buf)
	for i, q := range l.buf {
		l.diag[i] += float64((q / gamma) * (q / gamma))
	}
	l.diag = append(l.diag, 1/gamma2)
}

// prune removes the element whose removal has the least squared error. The last element has
// entered in this step.
func (l *Learner) prune() {
	last := l.l.n - 1
	weights := l.weights()
	r, least := last, math.Inf(1)
	for i, w := range weights {
		if e := w * w / l.diag[i]; e < least {
			r, least = i, e
		}
	}
	l.left++
	if r == last {
		l.spare++
		copy(l.diag, l.before) // exactly as it was
	} else {
		l.shrinkDiag(r)
	}
	l.diag = slices.Delete(l.diag, r, r+1)
	l.remove(r)
	l.refresh()
}

// shrinkDiag updates diag for the removal of element r: with c the column r of K⁻¹,
// (K⁻¹)_ii decreases by c_i²/c_r, and never below 1/K_ii.
func (l *Learner) shrinkDiag(r int) {
	c := l.unit(r)
	norm := gemm.Dot(c, c)
	l.l.solveT(c)
	for i, v := range c {
		row := l.l.row(i)[:i+1]
		l.diag[i] = max(l.diag[i]-float64(v/norm*v), 1/gemm.Dot(row, row))
	}
}

// unit sets buf to column r of L⁻¹.
func (l *Learner) unit(r int) []float64 {
	l.buf = grow(l.buf, l.l.n)
	clear(l.buf)
	l.buf[r] = 1
	l.l.solve(r, l.buf)
	return l.buf
}

// remove removes element r from the dictionary and from the posterior. Without row r, L has one
// column more than rows. Plane rotations G of its columns make it triangular again, L·G = (L' 0);
// then v' = Gᵀv and P' = GᵀPG without their last coordinate.
func (l *Learner) remove(r int) {
	at := l.place[r]
	l.m.F.Remove(at) // the last point takes its place
	if moved := slices.Index(l.place, l.m.F.Order()); moved >= 0 {
		l.place[moved] = at
	}
	l.place = slices.Delete(l.place, r, r+1)

	last := l.l.n - 1
	l.cos, l.sin = l.cos[:0], l.sin[:0]
	for i := r; i < last; i++ { // invariant: the rows before i are those of L'
		row := l.l.row(i + 1)
		a, b := l.rotate(row[r:i+1]), row[i+1]
		norm := math.Sqrt(float64(a*a) + float64(b*b))
		copy(l.l.row(i)[:i], row[:i])
		l.l.row(i)[i] = norm
		l.cos, l.sin = append(l.cos, a/norm), append(l.sin, b/norm)
	}
	for i := range l.l.n {
		l.rotate(l.p.row(i)[r:])
	}
	for j, c := range l.cos {
		rotateRows(c, l.sin[j], l.p.row(r + j)[r:], l.p.row(r + j + 1)[r:])
	}
	for i := range last { // what was computed once holds for both triangles
		for j := max(r, i+1); j < last; j++ {
			l.p.row(j)[i] = l.p.row(i)[j]
		}
	}
	l.rotate(l.v[r:])
	l.v = l.v[:last]
	l.l.n, l.p.n = last, last
	l.stale = true
}

// rotate applies the rotations to the columns of a row: x_j, x_{j+1} ← c·x_j + s·x_{j+1},
// c·x_{j+1} − s·x_j. It returns the last element that it has changed.
func (l *Learner) rotate(x []float64) float64 {
	carried := x[0]
	for j, c := range l.cos[:min(len(l.cos), len(x)-1)] {
		s, b := l.sin[j], x[j+1]
		x[j] = float64(c*carried) + float64(s*b)
		carried = float64(c*b) - float64(s*carried)
	}
	last := min(len(l.cos), len(x)-1)
	x[last] = carried
	return carried
}

// rotateRows applies one rotation to two rows.
func rotateRows(c, s float64, x, y []float64) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		x[i] = float64(c*a) + float64(s*b)
		y[i] = float64(c*b) - float64(s*a)
	}
}

// refresh computes one diagonal element of K⁻¹ afresh, so that none is older than M removals, and
// now and then compares a row of L·Lᵀ with K.
func (l *Learner) refresh() {
	l.next = (l.next + 1) % l.l.n
	c := l.unit(l.next)
	l.diag[l.next] = gemm.Dot(c, c)
	if l.left%probeEvery != 0 {
		return
	}
	row := l.l.row(l.next)[:l.next+1]
	k := l.m.Row(l.m.F.Dict.At(l.place[l.next]))
	for i := range l.next {
		l.drift = max(l.drift, math.Abs(gemm.Dot(row[:i+1], l.l.row(i)[:i+1])-k[l.place[i]]))
	}
}

// weights returns K⁻¹μ = L⁻ᵀv, valid until buf is used again.
func (l *Learner) weights() []float64 {
	l.buf = append(l.buf[:0], l.v...)
	l.l.solveT(l.buf)
	return l.buf
}

// Expansion returns the current f. It is not a copy: later steps change it.
func (l *Learner) Expansion() *kernel.Expansion {
	if l.stale {
		for i, w := range l.weights() {
			l.m.F.W[l.place[i]] = w
		}
		l.stale = false
	}
	return l.m.F
}

// Model returns the current f, whose scores are computed in float64.
func (l *Learner) Model() kernel.Model { return model{l} }

type model struct{ l *Learner }

func (m model) Order() int         { return m.l.m.F.Order() }
func (m model) NormSq(int) float64 { return gemm.Dot(m.l.v, m.l.v) }

func (m model) Scores(n int, x []float32, dst []float64, threads int) {
	new(kernel.Scorer).Scores64(m.l.Expansion(), n, x, dst, threads)
}

// Health returns counters: entered (samples that became elements), left (elements that the budget
// has removed), spare (those that left in the step in which they came), negative (variances of a
// prediction that were lost to rounding), and drift (the largest error of L·Lᵀ that a probe found).
func (l *Learner) Health() map[string]float64 {
	return map[string]float64{
		"entered": float64(l.entered), "left": float64(l.left), "spare": float64(l.spare),
		"negative": float64(l.negative), "drift": l.drift,
	}
}

// A square is an n×n matrix with room to grow.
type square struct {
	a         []float64
	n, stride int
}

func (q *square) view() gemm.Matrix[float64] { return gemm.Strided(q.n, q.n, q.stride, q.a) }

func (q *square) row(i int) []float64 { return q.a[i*q.stride : i*q.stride+q.n] }

// enlarge adds a row and a column of zeros, to at most one more than the budget, if that is not 0.
func (q *square) enlarge(budget int) {
	if q.n == q.stride {
		stride := max(16, 2*q.n)
		if budget > 0 && stride > budget {
			stride = budget + 1
		}
		larger := make([]float64, stride*stride)
		for i := range q.n {
			copy(larger[i*stride:], q.row(i))
		}
		q.a, q.stride = larger, stride
	}
	q.n++
	clear(q.row(q.n - 1))
	for i := range q.n {
		q.row(i)[q.n-1] = 0
	}
}

// solve overwrites x with L⁻¹·x. The elements of x before the first are 0.
func (q *square) solve(first int, x []float64) {
	for i := first; i < len(x); i++ {
		row := q.row(i)
		x[i] = (x[i] - gemm.Dot(row[first:i], x[first:i])) / row[i]
	}
}

// solveT overwrites x with L⁻ᵀ·x.
func (q *square) solveT(x []float64) {
	for i := len(x) - 1; i >= 0; i-- {
		row := q.row(i)
		x[i] /= row[i]
		gemm.Axpy(-x[i], row[:i], x[:i])
	}
}

func grow(b []float64, n int) []float64 { return slices.Grow(b[:0], n)[:n] }
