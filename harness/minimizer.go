package harness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"polkrepro/baselines/fsgd"
	"polkrepro/baselines/lbfgs"
	"polkrepro/data"
	"polkrepro/evidence/theory"
	"polkrepro/internal/gemm"
	"polkrepro/internal/portable"
	"polkrepro/kernel"
	"polkrepro/polk"
	"polkrepro/spec"
)

// gapTolerance is the requested duality gap of f*, relative to R(f*). With this gap
// ‖f − f*‖ is known to 1e-5 on multidist.
const gapTolerance = 1e-12

// A minimizer is f*, the minimizer of the risk R on N training points.
type minimizer struct {
	Problem
	x     []float64          // N×Dim, the points in float64
	best  []float64          // N×C, the weights of f*
	facts map[string]float64 // facts of R and f* for the last line of a record
}

// newMinimizer computes f* for the training points of a run.
func newMinimizer(ctx context.Context, run spec.Run, set *data.Set, threads int) (*minimizer, error) {
	p, err := newProblem(run, set)
	if err != nil {
		return nil, err
	}
	if err := p.checkMemory("lbfgs", p.Train.N, "samples"); err != nil {
		return nil, fmt.Errorf("minimizer of the risk: %w", err)
	}
	p.Train = p.Train.Dense()
	s := p.Train
	c := configLBFGS(p, threads)
	c.Tolerance = gapTolerance
	result, err := lbfgs.Train(ctx, c, s.N, s.X, s.Y)
	if err != nil {
		return nil, fmt.Errorf("minimizer of the risk: %w", err)
	}
	if result.Expansion.Order() != s.N {
		return nil, fmt.Errorf("minimizer of the risk: weights on %d of %d points, want all of them", result.Expansion.Order(), s.N)
	}
	m := &minimizer{Problem: p, x: make([]float64, len(s.X)), best: result.Expansion.W}
	kernel.Widen(m.x, s.X)
	m.facts = map[string]float64{
		theory.StarRisk:  result.Objective,
		theory.StarGap:   result.Gap,
		theory.StarNorm:  math.Sqrt(result.Expansion.NormSq(threads)),
		theory.StartRisk: portable.Log(float64(p.Classes)),
	}
	if s.Dim == 2 {
		m.facts[theory.PlaneWidth], m.facts[theory.PlaneHeight] = extent(s, 0), extent(s, 1)
	}
	return m, nil
}

// extent returns the range of feature q over all points: its maximum minus its minimum.
func extent(s *data.Split, q int) float64 {
	var v []float64
	for i := range s.N {
		v = append(v, float64(s.Row(i)[q]))
	}
	return slices.Max(v) - slices.Min(v)
}

// distances returns the measurements that follow from the values of f at the training
// points, N×C, and from Σ‖f_c‖²: the distance to f*, excess risk, norm and gradient.
func (m *minimizer) distances(values []float64, normSq float64) map[string]float64 {
	c, lambda := m.Classes, m.Params.Regularizer
	grad := make([]float64, c)
	var cross, risk, square float64
	for i, y := range m.Train.Y {
		f := values[i*c : (i+1)*c]
		risk += m.Loss.Gradient(grad, f, y)
		self := m.Kernel.Self(m.Train.Row(i))
		for q, g := range grad {
			cross += float64(m.best[i*c+q] * f[q])
			square += float64(g*g*self) + float64(2*lambda*g*f[q])
		}
	}
	n, norm := float64(m.Train.N), m.facts[theory.StarNorm]
	return map[string]float64{
		theory.Distance: math.Sqrt(max(0, normSq-2*cross+float64(norm*norm))),
		theory.Excess:   risk/n + float64(lambda/2*normSq) - m.facts[theory.StarRisk],
		theory.Norm:     math.Sqrt(normSq),
		theory.Gradient: square/n + float64(lambda*lambda*normSq),
	}
}

// values returns f at the training points, N×C.
func (m *minimizer) values(f *kernel.Expansion) []float64 {
	n, order, c := m.Train.N, f.Order(), f.Outputs
	out := make([]float64, n*c)
	if order == 0 {
		return out
	}
	k := gemm.NewMatrix[float64](n, order)
	f.Dict.Block64(f.Kernel, gemm.MatrixOf(n, f.Dict.Dim(), m.x), k, 1)
	gemm.MulAB(1, k, gemm.MatrixOf(order, c, f.W), 0, gemm.MatrixOf(n, c, out), 1)
	return out
}

// minimizers computes every minimizer once.
type minimizers struct {
	mu    sync.Mutex
	known map[minimizerKey]*minimizer
}

type minimizerKey struct {
	data        *data.Set
	task        string
	kernel      string // its Spec
	regularizer float64
}

// of returns the minimizer of a run's risk. Callers wait while a minimizer is computed,
// so that its kernel matrix is not computed twice.
func (m *minimizers) of(ctx context.Context, run spec.Run, set *data.Set, threads int) (*minimizer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := minimizerKey{set, run.Task, fmt.Sprint(run.Params.Kernel), run.Params.Regularizer}
	if known := m.known[key]; known != nil {
		return known, nil
	}
	made, err := newMinimizer(ctx, run, set, threads)
	if err != nil {
		return nil, err
	}
	if m.known == nil {
		m.known = make(map[minimizerKey]*minimizer)
	}
	m.known[key] = made
	return made, nil
}

// Steps of POLK whose projection error is recomputed: the first checkFirst steps of a
// run, where every element is new, and then each checkEvery-th step. checkEvery is a
// prime, so that it does not coincide with another period.
const (
	checkFirst = 500
	checkEvery = 499
)

// measured wraps a learner that takes steps of one sample and measures it against f* at
// the points of the run and in every step.
type measured struct {
	Learner
	star *minimizer
	polk *polk.Learner // the learner if it is POLK, otherwise nil
	fsgd *fsgd.Learner // the learner if it is FSGD, otherwise nil

	steps  int     // steps since the last point
	orders float64 // sum of M over these steps
	since  float64 // largest ratio in these steps

	maxOrder, ratio, checked, direct, disagree float64 // over all steps
}

func newMeasured(l Learner, star *minimizer) (*measured, error) {
	m := &measured{Learner: l, star: star}
	switch l := l.(type) {
	case polkLearner:
		m.polk = l.Learner
	case *fsgd.Learner:
		m.fsgd = l
	default:
		return nil, fmt.Errorf("a learner of type %T can't be measured against the minimizer: want POLK or FSGD", l)
	}
	return m, nil
}

// Step takes a step and records the model order and the projection error.
func (m *measured) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	step := m.Learner.Step
	if m.polk != nil {
		step = m.project
	}
	scored, err := step(ctx, n, x, y)
	if err != nil {
		return scored, err
	}
	m.steps++
	order := float64(m.order())
	m.orders += order
	m.maxOrder = max(m.maxOrder, order)
	return scored, nil
}

// order returns M. For FSGD it does so without making an expansion.
func (m *measured) order() int {
	if m.fsgd != nil {
		return m.fsgd.Order()
	}
	return m.polk.Expansion().Order()
}

// project takes a step of POLK and compares ‖∇̃ − ∇̂‖ = ‖f̃ − f‖/η_t with ε_t/η_t.
func (m *measured) project(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	if n != 1 {
		return nil, fmt.Errorf("a step of %d samples can't be measured against the minimizer: want 1", n)
	}
	var tilde *kernel.Expansion
	if t := m.polk.Steps(); t < checkFirst || t%checkEvery == 0 {
		tilde = m.unprojected(x, y[0])
	}
	scored, err := m.polk.Step(ctx, n, x, y)
	if err != nil {
		return scored, err
	}
	last := m.polk.Last()
	m.note(last.Error / last.Budget)
	if tilde != nil {
		// The step's rate is known only after the step.
		scale(tilde, m.star.Params.Regularizer, last.Rate)
		direct := math.Sqrt(max(0, difference(tilde, m.polk.Expansion()).NormSq(1))) // rounding can make it negative
		m.checked++
		m.direct = max(m.direct, direct/last.Budget)
		m.disagree = max(m.disagree, math.Abs(direct-last.Error)/last.Budget)
	}
	return scored, nil
}

// note updates the largest ratios with a step's ratio of error to budget.
func (m *measured) note(ratio float64) {
	m.since = max(m.since, ratio)
	m.ratio = max(m.ratio, ratio)
}

// unprojected returns f_t with x appended as its last element, of weights −ℓ'(f_t(x), y).
// scale turns the result into f̃_{t+1}.
func (m *measured) unprojected(x []float32, y float64) *kernel.Expansion {
	f := m.polk.Expansion()
	scores, grad := make([]float64, f.Outputs), make([]float64, f.Outputs)
	for j := range f.Order() {
		k := f.Kernel.Eval(f.Dict.At(j), x)
		for q, w := range f.Weights(j) {
			scores[q] += float64(k * w)
		}
	}
	m.star.Loss.Gradient(grad, scores, y)
	for q := range grad {
		grad[q] = -grad[q]
	}
	tilde := f.Clone()
	tilde.Append(x, grad)
	return tilde
}

// scale turns the result of unprojected into f̃ = (1 − ηλ)·f_t − η·ℓ'·κ(x, ·) (eq.
// param_tilde).
func scale(f *kernel.Expansion, lambda, rate float64) {
	last := len(f.W) - f.Outputs
	for i := range f.W {
		if i < last {
			f.W[i] *= 1 - float64(rate*lambda)
		} else {
			f.W[i] *= rate
		}
	}
}

// difference returns a − b as an expansion over the elements of a, which must include
// the elements of b.
func difference(a, b *kernel.Expansion) *kernel.Expansion {
	d := a.Clone()
	at := make(map[uint64]int, b.Order())
	for j := range b.Order() {
		at[b.Dict.ID(j)] = j
	}
	matched := 0
	for j := range d.Order() {
		if k, ok := at[d.Dict.ID(j)]; ok {
			gemm.Axpy(-1, b.Weights(k), d.Weights(j))
			matched++
		}
	}
	if matched < b.Order() { // the new sample was kept, under a new ID
		gemm.Axpy(-1, b.Weights(b.Order()-1), d.Weights(d.Order()-1))
	}
	return d
}

// point returns the measurements of f_t and of the steps since the last point.
func (m *measured) point() map[string]float64 {
	var out map[string]float64
	if m.fsgd != nil {
		out = m.star.distances(m.fsgd.Values())
	} else {
		f := m.polk.Expansion()
		out = m.star.distances(m.star.values(f), f.NormSq(1))
		out[theory.Ratio] = m.since
		if f.Order() > 1 {
			out[theory.Separation] = separation(f)
		}
	}
	out[theory.MeanOrder] = m.orders / float64(m.steps)
	m.orders, m.steps, m.since = 0, 0, 0
	return out
}

// separation returns the minimum of ‖κ(d_j, ·) − κ(d_k, ·)‖ over all pairs of elements.
func separation(f *kernel.Expansion) float64 {
	least := math.Inf(1)
	for j := range f.Order() {
		x := f.Dict.At(j)
		for k := range j {
			y := f.Dict.At(k)
			least = min(least, f.Kernel.Self(x)+f.Kernel.Self(y)-2*f.Kernel.Eval(x, y))
		}
	}
	return math.Sqrt(max(0, least))
}

// final returns the measurements over all steps and the facts of f*.
func (m *measured) final() map[string]float64 {
	out := map[string]float64{theory.MaxOrder: m.maxOrder}
	if m.polk != nil {
		out[theory.Ratio] = m.ratio
		out[theory.Checked], out[theory.Direct], out[theory.Disagree] = m.checked, m.direct, m.disagree
	}
	for name, v := range m.star.facts {
		out[name] = v
	}
	return out
}
