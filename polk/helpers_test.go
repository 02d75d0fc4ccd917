package polk

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"polkrepro/internal/gemm"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/internal/literal"
	"polkrepro/polk/prune"
)

var (
	hinge    loss.Loss = loss.MultiHinge{}
	logistic loss.Loss = loss.MultiLogistic{}
)

// testConfig returns a small problem, the default of the tests.
func testConfig(l loss.Loss) Config {
	return Config{
		Kernel:       kernel.Gaussian{Bandwidth: 0.8},
		Loss:         l,
		Classes:      3,
		Dim:          2,
		Regularizer:  1e-4,
		LearningRate: Constant(2),
		Budget:       Parsimony(0.05),
	}
}

// A budget is a BudgetRule given by a function. It ignores the learning rate.
type budget func() float64

func (b budget) Epsilon(float64) float64 { return b() }

func mustNew(t testing.TB, cfg Config) *Learner {
	t.Helper()
	l, err := New(cfg)
	testutil.NoError(t, err)
	return l
}

// instance returns a pruner of h, a heuristic that a test defines.
func instance(t testing.TB, h prune.Heuristic) *prune.Instance {
	t.Helper()
	h.Name, h.About = "own", "for tests"
	i, err := prune.New(h, nil)
	testutil.NoError(t, err)
	return i
}

// A pruning is a pruner given by a function of a prune.State or a prune.InverseState.
type pruning[State any] func(s State) error

func (p pruning[State]) Prune(_ context.Context, s State) error { return p(s) }

// withInverse is instance for a pruner that uses the inverse.
func withInverse(t testing.TB, p prune.InversePruner) *prune.Instance {
	t.Helper()
	return instance(t, prune.Heuristic{NewInverse: func(prune.Params) prune.InversePruner { return p }})
}

// pick returns a random element that is present.
func pick(s prune.Elements) int {
	for {
		if j := s.Step().Rand.IntN(s.Total()); s.Present(j) {
			return j
		}
	}
}

func mustStep(t testing.TB, l *Learner, n int, x []float32, y []float64) {
	t.Helper()
	if _, err := l.Step(t.Context(), n, x, y); err != nil {
		t.Fatalf("step %d: %v", l.Steps(), err)
	}
}

// A mixture draws samples of one Gaussian cluster per class.
type mixture struct {
	r       *rand.Rand
	dim     int
	classes int
	means   [][]float64
	spread  float64
}

func newMixture(r *rand.Rand, dim, classes int) *mixture {
	m := &mixture{r: r, dim: dim, classes: classes, spread: 0.7}
	for range classes {
		mean := make([]float64, dim)
		for i := range mean {
			mean[i] = 2 * (2*r.Float64() - 1)
		}
		m.means = append(m.means, mean)
	}
	return m
}

func (m *mixture) batch(n int) (x []float32, y []float64) {
	for range n {
		c := m.r.IntN(m.classes)
		for i := range m.dim {
			x = append(x, float32(m.means[c][i]+m.spread*m.r.NormFloat64()))
		}
		y = append(y, float64(c))
	}
	return x, y
}

// signs turns classes into the targets ±1 of a loss with one function.
func signs(y []float64) {
	for i := range y {
		y[i] = float64(2*(int(y[i])%2) - 1)
	}
}

// step takes a step of each learner on the same n samples.
func (m *mixture) step(t testing.TB, n int, learners ...*Learner) {
	t.Helper()
	x, y := m.batch(n)
	for _, l := range learners {
		mustStep(t, l, n, x, y)
	}
}

// A tilde is f̃_{t+1} of Algorithm 2, built from f_t by the formula: the
// dictionary with its weights times 1 − ηλ, then the samples of the batch with
// −(η/n)·ℓ'.
type tilde struct {
	f     *kernel.Expansion
	eps   float64
	old   int   // elements of f_t
	index []int // number of element i of f among the old elements and the whole batch
	idle  int   // element with zero gradient in f, or −1
	kink  bool  // rounding may decide a subgradient of the hinge
}

// newTilde builds f̃ for the learner's next step. Of the samples with zero
// gradient, which may leave in any order at no cost, it keeps the first.
func newTilde(l *Learner, n int, x []float32, y []float64) tilde {
	f, cfg := l.Expansion(), l.cfg
	rate := cfg.LearningRate.Rate(l.Steps())
	u := tilde{f: f.Clone(), eps: cfg.Budget.Epsilon(rate), old: f.Order(), idle: -1}
	all := literal.Algorithm2(f, cfg.Loss, rate, cfg.Regularizer, n, x, y)
	copy(u.f.W, all.W)
	for i := range all.Order() {
		if i < u.old {
			u.index = append(u.index, i)
			continue
		}
		xi, w, yi := all.Dict.At(i), all.Weights(i), y[i-u.old]
		if cfg.Loss == hinge {
			scores := testutil.Score(f, xi)
			u.kink = u.kink || nearKink(scores, int(yi), cfg.Loss.Value(scores, yi))
		}
		if sumSquares(w) == 0 {
			if u.idle >= 0 {
				continue
			}
			u.idle = u.f.Order()
		}
		u.f.Append(xi, w)
		u.index = append(u.index, i)
	}
	return u
}

// nearKink reports whether the margin, or a difference between the strongest wrong class and
// another one, is within 1e-9 of a jump of the subgradient.
func nearKink(scores []float64, y int, value float64) bool {
	r := loss.Rival(scores, y)
	if value < 1e-9 && math.Abs(1+scores[r]-scores[y]) < 1e-9 {
		return true
	}
	for c, v := range scores {
		if c != y && c != r && v != scores[r] && scores[r]-v < 1e-9 {
			return true
		}
	}
	return false
}

// distance returns ‖f − u‖ for an f on a subset of u's dictionary, the norm over
// all C functions computed without cancellation, and ‖u‖.
func distance(u, f *kernel.Expansion) (dist, norm float64) {
	p := literal.NewPursuit(u, true)
	d := mat.DenseCopyOf(p.WTilde.T())
	norm = p.Norm(d)
	for j := range f.Order() {
		i := find(u, f.Dict.At(j))
		if i < 0 {
			return math.NaN(), 0
		}
		for c, w := range f.Weights(j) {
			d.Set(c, i, d.At(c, i)-w)
		}
	}
	return p.Norm(d), norm
}

// inverseResidual returns max |P·K − I| over all entries, for the P that the
// learner keeps and a K computed here.
func inverseResidual(l *Learner) float64 {
	K := literal.NewPursuit(l.f, true).K
	var res float64
	p := make([]float64, l.f.Order())
	for i := range p {
		l.komp.dict.inverse.column(p, i)
		for j := range p {
			v := gemm.Dot(p, K.RawRowView(j))
			if i == j {
				v--
			}
			res = max(res, math.Abs(v))
		}
	}
	return res
}

// checkFinite fails unless weights, P, error and health are finite numbers and
// the step kept its budget.
func checkFinite(t rapid.TB, l *Learner) {
	t.Helper()
	for _, v := range l.f.W {
		if v-v != 0 {
			t.Fatalf("step %d: weight %v", l.Steps(), v)
		}
	}
	if !l.komp.dict.finite() {
		t.Fatalf("step %d: P is not finite", l.Steps())
	}
	if h := l.Health(); h.Residual-h.Residual != 0 || min(h.Residual, float64(h.Refinements), float64(h.Repairs), float64(h.Folded), float64(h.Dropped)) < 0 {
		t.Fatalf("step %d: health %+v", l.Steps(), h)
	}
	// Dependent elements are folded regardless of the budget, at √dependence times their weight.
	if s := l.Last(); !(s.Error <= s.Budget*(1+1e-12)+10*math.Sqrt(dependence)*s.Rate) {
		t.Fatalf("step %d: error %v over a budget of %v", l.Steps(), s.Error, s.Budget)
	}
	if l.komp.dict.inverse.order() != l.f.Order() || len(l.f.W) != l.f.Order()*l.f.Outputs {
		t.Fatalf("step %d: order %d, P of order %d, %d weights", l.Steps(), l.f.Order(), l.komp.dict.inverse.order(), len(l.f.W))
	}
}

// modelBytes returns the saved functions. Equal bytes mean equal functions, bit for bit.
func modelBytes(t testing.TB, f *kernel.Expansion) []byte {
	t.Helper()
	var b bytes.Buffer
	testutil.NoError(t, f.Write(&b, nil))
	return b.Bytes()
}

// sameState fails unless two learners have the same number of steps, functions, K and P, bit for
// bit.
func sameState(t testing.TB, name string, a, b *Learner) {
	t.Helper()
	if a.Steps() != b.Steps() {
		t.Fatalf("%s: %d steps and %d", name, a.Steps(), b.Steps())
	}
	if !bytes.Equal(modelBytes(t, a.f), modelBytes(t, b.f)) {
		t.Fatalf("%s: the functions differ after %d steps", name, a.Steps())
	}
	p, q := make([]float64, a.f.Order()), make([]float64, a.f.Order())
	for i := range p {
		a.komp.dict.inverse.column(p, i)
		b.komp.dict.inverse.column(q, i)
		if !slices.Equal(p, q) || !slices.Equal(a.komp.dict.inverse.gram.Row(i), b.komp.dict.inverse.gram.Row(i)) {
			t.Fatalf("%s: K or P differ after %d steps", name, a.Steps())
		}
	}
}

// tie returns the smallest relative difference that decided a removal or the stop of Algorithm 1:
// between the squared errors of the two best candidates of an iteration, or between the squared
// error of the best one and ε².
func tie(seen [][]float64, eps float64) float64 {
	least := 1.0
	between := func(a, b float64) {
		if largest := max(a, b); largest > 0 {
			least = min(least, math.Abs(a*a-b*b)/(largest*largest))
		} else {
			least = 0
		}
	}
	for _, turn := range seen {
		γ := slices.Sorted(slices.Values(turn))
		between(γ[0], eps)
		if γ[0] <= eps && len(γ) > 1 {
			between(γ[0], γ[1])
		}
	}
	return least
}
