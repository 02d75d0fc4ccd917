package krls

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
)

// draw returns n points of the unit square and noisy values of a function there.
func draw(seed uint64, n int) (x []float32, y []float64) {
	r := rand.New(rand.NewPCG(seed, 7))
	for range n {
		a, b := r.Float64(), r.Float64()
		x = append(x, float32(a), float32(b))
		y = append(y, math.Sin(6*a)+b*b+0.1*r.NormFloat64())
	}
	return x, y
}

func config() Config {
	return Config{Kernel: kernel.Gaussian{Bandwidth: 0.3}, Dim: 2, Threshold: 0.02, Noise: 0.01, Forgetting: 1}
}

func mustNew(t testutil.T, c Config) *Learner {
	t.Helper()
	l, err := New(c)
	testutil.NoError(t, err)
	return l
}

// step lets l learn one sample and returns the score that it had before.
func step(t testing.TB, l *Learner, x []float32, y float64) float64 {
	t.Helper()
	scores, err := l.Step(t.Context(), 1, x, []float64{y})
	testutil.NoError(t, err)
	return scores[0]
}

func close(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*(1+math.Abs(b)) }

// gram returns κ of all pairs.
func gram(k kernel.Kernel, a, b [][]float32) *mat.Dense {
	m := mat.NewDense(len(a), len(b), nil)
	for i, x := range a {
		for j, y := range b {
			m.Set(i, j, k.Eval(x, y))
		}
	}
	return m
}

// A tracker runs the recursions as the papers have them, over values of f at the dictionary, with
// K⁻¹ by a dense solver at every step.
type tracker struct {
	c    Config
	dict [][]float32
	mu   *mat.VecDense
	s    *mat.Dense // Σ = σ²P
	gap  float64    // least distance of a γ² from ν, and of the two least errors of a removal
}

// inverse returns K⁻¹.
func (o *tracker) inverse() *mat.Dense {
	var q mat.Dense
	if err := q.Inverse(gram(o.c.Kernel, o.dict, o.dict)); err != nil {
		panic(err)
	}
	return &q
}

// step returns the prediction for x before it learns from y.
func (o *tracker) step(x []float32, y float64) float64 {
	n, lambda, noise := len(o.dict), o.c.Forgetting, o.c.Noise
	self := o.c.Kernel.Self(x)
	if n == 0 {
		o.dict = [][]float32{x}
		o.mu = mat.NewVecDense(1, []float64{y * self / (self + noise)})
		o.s = mat.NewDense(1, 1, []float64{self - self*self/(self+noise)})
		return 0
	}
	var q, h mat.VecDense
	k := gram(o.c.Kernel, o.dict, [][]float32{x}).ColView(0)
	q.MulVec(o.inverse(), k)
	before := mat.Dot(&q, o.mu)
	o.mu.ScaleVec(math.Sqrt(lambda), o.mu)
	o.s.Scale(lambda, o.s)
	prior := gram(o.c.Kernel, o.dict, o.dict)
	prior.Scale(1-lambda, prior)
	o.s.Add(o.s, prior)

	predicted := mat.Dot(&q, o.mu)
	gamma2 := self - mat.Dot(k, &q)
	h.MulVec(o.s, &q)
	variance := mat.Dot(&q, &h)
	o.gap = min(o.gap, math.Abs(gamma2-o.c.Threshold))
	if gamma2 > o.c.Threshold {
		variance += gamma2
		o.dict = append(o.dict, x)
		mu, s := mat.NewVecDense(n+1, nil), mat.NewDense(n+1, n+1, nil)
		for i := range n {
			mu.SetVec(i, o.mu.AtVec(i))
			s.Set(i, n, h.AtVec(i))
			s.Set(n, i, h.AtVec(i))
			for j := range n {
				s.Set(i, j, o.s.At(i, j))
			}
		}
		mu.SetVec(n, predicted)
		s.Set(n, n, variance)
		grown := mat.NewVecDense(n+1, nil)
		grown.CopyVec(&h)
		grown.SetVec(n, variance)
		o.mu, o.s, h = mu, s, *grown
	}
	o.mu.AddScaledVec(o.mu, (y-predicted)/(noise+variance), &h)
	o.s.RankOne(o.s, -1/(noise+variance), &h, &h)
	if o.c.Budget > 0 && len(o.dict) > o.c.Budget {
		o.prune()
	}
	return before
}

// prune removes the element with the least squared error.
func (o *tracker) prune() {
	q := o.inverse()
	var w mat.VecDense
	w.MulVec(q, o.mu)
	var errors []float64
	for i := range o.dict {
		errors = append(errors, w.AtVec(i)*w.AtVec(i)/q.At(i, i))
	}
	r := slices.Index(errors, slices.Min(errors))
	slices.Sort(errors)
	o.gap = min(o.gap, errors[1]-errors[0])
	mu, s := mat.NewVecDense(len(o.dict)-1, nil), mat.NewDense(len(o.dict)-1, len(o.dict)-1, nil)
	old := func(i int) int {
		if i < r {
			return i
		}
		return i + 1
	}
	for i := range mu.Len() {
		mu.SetVec(i, o.mu.AtVec(old(i)))
		for j := range mu.Len() {
			s.Set(i, j, o.s.At(old(i), old(j)))
		}
	}
	o.dict, o.mu, o.s = slices.Delete(o.dict, r, r+1), mu, s
}

// TestAgainstPapers: predictions, dictionary and posterior are those of the papers' recursions,
// with and without budget and forgetting, for near-duplicates too. The tolerances allow for the
// condition of K, which is at most 1e6 here and enters the oracle's K⁻¹.
func TestAgainstPapers(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"KRLS":                nil,
		"budget":              func(c *Config) { c.Budget = 12 },
		"forgetting":          func(c *Config) { c.Forgetting = 0.97 },
		"budget, forgetting":  func(c *Config) { c.Budget, c.Forgetting, c.Threshold = 10, 0.99, 1e-3 },
		"small noise":         func(c *Config) { c.Noise, c.Threshold = 1e-6, 1e-3 },
		"budget of one":       func(c *Config) { c.Budget = 1 },
		"polynomial":          func(c *Config) { c.Kernel = kernel.Polynomial{Offset: 1, Degree: 3} },
		"nothing ever enters": func(c *Config) { c.Threshold = 10 },
	} {
		c := config()
		if change != nil {
			change(&c)
		}
		x, y := draw(1, 400)
		l, o := mustNew(t, c), &tracker{c: c, gap: 1}
		if c.Threshold >= 10 { // the oracle's first sample always enters
			for i := range 20 {
				if s := step(t, l, x[2*i:2*i+2], y[i]); s != 0 || l.Expansion().Order() != 0 {
					t.Errorf("%s: score %v, order %d", name, s, l.Expansion().Order())
				}
			}
			continue
		}
		for i := range y {
			point := x[2*i : 2*i+2]
			if got, want := step(t, l, point, y[i]), o.step(point, y[i]); !close(got, want, 1e-7) {
				t.Fatalf("%s, sample %d: predicted %v, want %v", name, i, got, want)
			}
			hold(t, name, l, o)
		}
		if o.gap < 1e-9 {
			t.Errorf("%s: decisions were within %v of a tie: the test needs other data", name, o.gap)
		}
		if h := l.Health(); c.Budget > 1 && !(h["left"] > h["spare"] && h["spare"] > 0) || h["negative"] > 0 || !(h["drift"] <= 1e-14) {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// hold fails unless l has the dictionary of o, in order of entry, and its posterior.
func hold(t *testing.T, name string, l *Learner, o *tracker) {
	t.Helper()
	m := l.l.n
	if m != len(o.dict) || l.m.F.Order() != m {
		t.Fatalf("%s: order %d, want %d", name, m, len(o.dict))
	}
	lower, p := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil)
	for i := range m {
		if !slices.Equal(l.m.F.Dict.At(l.place[i]), o.dict[i]) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, l.m.F.Dict.At(l.place[i]), o.dict[i])
		}
		copy(lower.RawRowView(i), l.l.row(i)[:i+1])
		copy(p.RawRowView(i), l.p.row(i))
	}
	var mu mat.VecDense
	mu.MulVec(lower, mat.NewVecDense(m, l.v))
	p.Product(lower, p, lower.T())
	for i := range m {
		if !close(mu.AtVec(i), o.mu.AtVec(i), 1e-7) {
			t.Fatalf("%s: mean %v, want %v", name, mu.AtVec(i), o.mu.AtVec(i))
		}
		for j := range m {
			if want := o.s.At(i, j) / o.c.Noise; !close(p.At(i, j), want, 1e-5) {
				t.Fatalf("%s: P is %v, want %v", name, p.At(i, j), want)
			}
		}
	}
	if l.cfg.Budget == 0 {
		return
	}
	q := o.inverse()
	for i, d := range l.diag {
		if !(math.Abs(d/q.At(i, i)-1) <= 1e-7) {
			t.Fatalf("%s: diagonal of K⁻¹ %v, want %v", name, d, q.At(i, i))
		}
	}
}

// TestLimit: with little noise, predictions, μ = Kα and P = (AᵀA)⁻¹ are those of KRLS without any
// (Engel, Mannor, Meir 2004, Table I), whose recursions stand here as printed.
func TestLimit(t *testing.T) {
	c := config()
	c.Noise = 1e-14
	x, y := draw(10, 200)
	l := mustNew(t, c)
	var dict [][]float32
	inverse, p, alpha := new(mat.Dense), new(mat.Dense), new(mat.VecDense)
	for i, target := range y {
		point := x[2*i : 2*i+2]
		var k mat.Vector = new(mat.VecDense)
		var a mat.VecDense
		predicted, delta := 0.0, 1.0
		if i > 0 {
			k = gram(c.Kernel, dict, [][]float32{point}).ColView(0)
			a.MulVec(inverse, k)
			predicted, delta = mat.Dot(k, alpha), 1-mat.Dot(k, &a)
		}
		if got := step(t, l, point, target); !close(got, predicted, 1e-8) {
			t.Fatalf("sample %d: predicted %v, want %v", i, got, predicted)
		}
		if delta > c.Threshold {
			m := len(dict)
			dict = append(dict, point)
			inverse, p = inverse.Grow(1, 1).(*mat.Dense), p.Grow(1, 1).(*mat.Dense)
			p.Set(m, m, 1)
			row := append(slices.Clone(a.RawVector().Data), -1)
			inverse.RankOne(inverse, 1/delta, mat.NewVecDense(m+1, row), mat.NewVecDense(m+1, row))
			weights := mat.NewVecDense(m+1, nil)
			copy(weights.RawVector().Data, alpha.RawVector().Data)
			weights.AddScaledVec(weights, -(target-predicted)/delta, mat.NewVecDense(m+1, row))
			alpha = weights
		} else {
			var pa, q mat.VecDense
			pa.MulVec(p, &a)
			q.ScaleVec(1/(1+mat.Dot(&a, &pa)), &pa)
			p.RankOne(p, -1, &q, &pa)
			q.MulVec(inverse, &q)
			alpha.AddScaledVec(alpha, target-predicted, &q)
		}
		mu := new(mat.VecDense)
		mu.MulVec(gram(c.Kernel, dict, dict), alpha)
		s := new(mat.Dense)
		s.Scale(c.Noise, p)
		hold(t, "KRLS", l, &tracker{c: c, dict: dict, mu: mu, s: s})
	}
}

// TestBatch: without budget and forgetting, f is the minimizer of Σ(y_i − a_iᵀμ)² + σ²μᵀK⁻¹μ,
// where a_i has the weights of the projection of sample i on the elements before it.
func TestBatch(t *testing.T) {
	c := config()
	x, y := draw(2, 300)
	l := mustNew(t, c)
	var dict [][]float32
	var rows [][]float64
	for i, target := range y {
		point := x[2*i : 2*i+2]
		var q mat.VecDense
		entered := len(dict) == 0
		if !entered {
			k := gram(c.Kernel, dict, [][]float32{point}).ColView(0)
			testutil.NoError(t, q.SolveVec(gram(c.Kernel, dict, dict), k))
			entered = 1-mat.Dot(k, &q) > c.Threshold
		}
		if entered {
			dict = append(dict, point)
			rows = append(rows, append(make([]float64, len(dict)-1), 1))
		} else {
			rows = append(rows, slices.Clone(q.RawVector().Data))
		}
		step(t, l, point, target)
	}
	m := len(dict)
	a := mat.NewDense(len(y), m, nil)
	for i, row := range rows {
		copy(a.RawRowView(i), row)
	}
	var normal, inverse mat.Dense
	var b, mu, w mat.VecDense
	testutil.NoError(t, inverse.Inverse(gram(c.Kernel, dict, dict)))
	normal.Mul(a.T(), a)
	inverse.Scale(c.Noise, &inverse)
	normal.Add(&normal, &inverse)
	b.MulVec(a.T(), mat.NewVecDense(len(y), y))
	testutil.NoError(t, mu.SolveVec(&normal, &b))
	testutil.NoError(t, w.SolveVec(gram(c.Kernel, dict, dict), &mu))
	e := l.Expansion()
	if e.Order() != m {
		t.Fatalf("order %d, want %d", e.Order(), m)
	}
	for i := range m {
		if got := e.Weights(l.place[i])[0]; !close(got, w.AtVec(i), 1e-9) {
			t.Errorf("weight %v, want %v", got, w.AtVec(i))
		}
	}
}

// TestFitted: a fitted learner has the ridge weights of its samples. Steps on further samples
// lead to those of all samples, exactly, and to the P of all.
func TestFitted(t *testing.T) {
	c := config()
	c.Threshold = math.Inf(1)
	x, y := draw(3, 700)
	dict := append(slices.Clone(x[:60]), x[:4]...) // with two duplicates
	whole, err := NewFitted(c, dict, len(y), x, y)
	testutil.NoError(t, err)
	half, err := NewFitted(c, dict, 300, x[:600], y[:300])
	testutil.NoError(t, err)
	none, err := NewFitted(c, dict, 0, nil, nil)
	testutil.NoError(t, err)
	if _, err := half.Step(t.Context(), 400, x[600:], y[300:]); err != nil {
		t.Fatal(err)
	}
	if _, err := none.Step(t.Context(), 700, x, y); err != nil {
		t.Fatal(err)
	}

	var points, all [][]float32
	for i := range whole.l.n {
		points = append(points, whole.m.F.Dict.At(i))
	}
	for i := range y {
		all = append(all, x[2*i:2*i+2])
	}
	k := gram(c.Kernel, all, points)
	var normal mat.Dense
	var b, w mat.VecDense
	normal.Mul(k.T(), k)
	ridge := gram(c.Kernel, points, points)
	ridge.Scale(c.Noise, ridge)
	normal.Add(&normal, ridge)
	b.MulVec(k.T(), mat.NewVecDense(len(y), y))
	testutil.NoError(t, w.SolveVec(&normal, &b))
	if whole.KernelEvals() != none.KernelEvals() {
		t.Errorf("%d kernel evaluations all at once, %d in steps", whole.KernelEvals(), none.KernelEvals())
	}
	for name, l := range map[string]*Learner{"all at once": whole, "half, then steps": half, "steps": none} {
		if order := l.Expansion().Order(); order > 30 || order < 10 {
			t.Fatalf("%s: order %d", name, order)
		}
		for i := range points {
			// The oracle's normal equations have the square of K's condition number.
			if got := l.Expansion().Weights(i)[0]; !close(got, w.AtVec(i), 1e-3) {
				t.Errorf("%s: weight %v, want %v", name, got, w.AtVec(i))
			}
			if got, want := l.Score(all[i]), whole.Score(all[i]); !close(got, want, 1e-11) {
				t.Errorf("%s: f = %v, want %v", name, got, want)
			}
			for j := range points {
				if got, want := l.p.row(i)[j], whole.p.row(i)[j]; !close(got, want, 1e-9) {
					t.Errorf("%s: P is %v, want %v", name, got, want)
				}
			}
		}
	}
}
