package lbfgs

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A featureSet is a training set of explicit features.
type featureSet struct {
	Config
	n, p int
	phi  []float32
	y    []float64
}

// features draws n points whose classes overlap.
func features(seed uint64, n, p, classes int, l loss.Loss) *featureSet {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &featureSet{Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: l, Classes: classes, Dim: p, Regularizer: 1e-2, Tolerance: 1e-2, MaxIterations: 500}, n, p, make([]float32, n*p), make([]float64, n)}
	for i := range n {
		k := r.IntN(classes)
		s.y[i] = float64(k)
		for j := range p {
			s.phi[i*p+j] = float32(2*r.Float64() - 1)
		}
		s.phi[i*p+k%p]++
	}
	return s
}

func (s *featureSet) fit(t *testing.T) *Linear {
	t.Helper()
	r, err := TrainLinear(context.Background(), s.Config, s.n, s.p, s.phi, s.y)
	testutil.NoError(t, err)
	return r
}

func (s *featureSet) problem() *linearProblem {
	return newLinearProblem(s.Config.withDefaults(), s.n, s.p, s.phi, s.y)
}

// objective returns P(w) by its definition.
func (s *featureSet) objective(w []float64) float64 {
	f := make([]float64, s.Classes)
	var sum, norm float64
	for i, y := range s.y {
		for c := range f {
			f[c] = 0
			for j, v := range s.phi[i*s.p : (i+1)*s.p] {
				f[c] += float64(v) * w[c*s.p+j]
			}
		}
		sum += s.Loss.Value(f, y)
	}
	for _, v := range w {
		norm += v * v
	}
	return sum/float64(s.n) + s.Regularizer/2*norm
}

func drawLabelled(t *rapid.T) (f []float64, y int) {
	f = rapid.SliceOfN(rapid.Float64Range(-3, 3), 2, 6).Draw(t, "scores")
	return f, rapid.IntRange(0, len(f)-1).Draw(t, "y")
}

// TestSoftmax: ℓ is exact, ℓ_μ is within its bounds, and the gradient is that of ℓ_μ.
func TestSoftmax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, y := drawLabelled(t)
		mu := rapid.SampledFrom([]float64{0.01, 0.25, 1}).Draw(t, "mu")
		hinge, logistic := softmax{1, mu}, softmax{0, 1}
		h := hinge.sample(slices.Clone(f), y)
		if want := (loss.MultiHinge{}).Value(f, float64(y)); !(math.Abs(h.exact-want) <= 1e-12) {
			t.Fatalf("hinge %v, want %v", h.exact, want)
		}
		if !(h.smooth >= h.exact-1e-12) || h.smooth > h.exact+mu*math.Log(float64(len(f)))+1e-12 {
			t.Fatalf("smooth hinge %v of %v with μ = %v", h.smooth, h.exact, mu)
		}
		p := slices.Clone(f)
		if got, want := hinge.sample(p, y).entropy, entropy(p, y); !(math.Abs(got-want) <= 1e-12) {
			t.Fatalf("entropy %v, want %v", got, want)
		}
		l := logistic.sample(slices.Clone(f), y)
		if want := (loss.MultiLogistic{}).Value(f, float64(y)); !(math.Abs(l.exact-want) <= 1e-12) || l.smooth != l.exact {
			t.Fatalf("logistic loss %v and %v, want %v", l.exact, l.smooth, want)
		}
		for _, s := range []softmax{hinge, logistic} {
			u := slices.Clone(f)
			s.sample(u, y)
			for c := range f {
				const e = 1e-6
				up, down := slices.Clone(f), slices.Clone(f)
				up[c] += e
				down[c] -= e
				slope := (s.sample(up, y).smooth - s.sample(down, y).smooth) / (2 * e)
				if !(math.Abs(slope-u[c]) <= 1e-6) {
					t.Fatalf("%+v: derivative %v, differences %v", s, u[c], slope)
				}
			}
		}
	})
}

// entropy returns −Σ p log p for p = u + e_y.
func entropy(u []float64, y int) (h float64) {
	for c, p := range u {
		if c == y {
			p++
		}
		if p > 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}

// TestLinearProblem: summed over several segments, the objective and the gradient agree with their
// definitions to float32 accuracy, and the bound is below the objective.
func TestLinearProblem(t *testing.T) {
	for _, l := range bothLosses {
		s := features(1, 2500, 5, 3, l)
		q := s.problem()
		r := rand.New(rand.NewPCG(2, 1))
		w := make([]float64, 3*5)
		for i := range w {
			w[i] = 2*r.Float64() - 1
		}
		g := make([]float64, len(w))
		q.gradientAt(g, w)
		exact := q.exact()
		if want := s.objective(w); !(math.Abs(exact-want) <= 1e-6*want) {
			t.Errorf("%s: P = %v, want %v", l.Name(), exact, want)
		}
		if d := q.dual(); !(d.bound(q.lambda) < exact) {
			t.Errorf("%s: bound %v of %v", l.Name(), d.bound(q.lambda), exact)
		}
		for i := range w {
			const e = 1e-2
			up, down := slices.Clone(w), slices.Clone(w)
			up[i] += e
			down[i] -= e
			if slope := (q.value(up) - q.value(down)) / (2 * e); !(math.Abs(slope-g[i]) <= 1e-4) {
				t.Errorf("%s: derivative %v, differences %v", l.Name(), g[i], slope)
			}
		}
	}
}

// TestWeakDuality: no W has an objective below the bound of joined dual points of other W. The
// bound after a join is the largest between the two points, so it is at least that of either.
func TestWeakDuality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := features(rapid.Uint64().Draw(t, "seed"), 40, 3, 3, rapid.SampledFrom(bothLosses).Draw(t, "loss"))
		s.Regularizer = rapid.SampledFrom([]float64{1e-3, 0.1, 1}).Draw(t, "lambda")
		weights := rapid.SliceOfN(rapid.Float64Range(-2, 2), 9, 9)
		q := s.problem()
		at := func(name string) dualPoint {
			q.smooth.mu = rapid.SampledFrom([]float64{0.01, 0.25, 1}).Draw(t, "mu of "+name)
			if q.smooth.margin == 0 {
				q.smooth.mu = 1
			}
			q.evaluate(weights.Draw(t, name))
			d := q.dual()
			d.gradient = slices.Clone(d.gradient)
			return d
		}
		p := s.objective(weights.Draw(t, "v"))
		var joined dualPoint
		joined.join(at("first"), s.Regularizer)
		for _, name := range []string{"second", "third"} {
			before, e := joined, at(name)
			before.gradient = slices.Clone(before.gradient)
			joined.join(e, s.Regularizer)
			best := math.Inf(-1)
			for i := range 101 {
				u := float64(i) / 100
				d := dualPoint{make([]float64, 9), (1-u)*before.value + u*e.value, 0}
				for k := range d.gradient {
					d.gradient[k] = (1-u)*before.gradient[k] + u*e.gradient[k]
				}
				best = max(best, d.bound(s.Regularizer))
			}
			lower := joined.bound(s.Regularizer)
			if !(lower >= best-1e-9*(1+math.Abs(best))) {
				t.Fatalf("bound %v, %v between the points joined", lower, best)
			}
			if !(p >= lower-1e-6) {
				t.Fatalf("P = %v below %v", p, lower)
			}
		}
	})
}

// TestLinear: the gap meets the tolerance, and the reported P is that of W.
func TestLinear(t *testing.T) {
	for _, l := range bothLosses {
		for seed := range uint64(5) {
			s := features(seed, 300, 6, 4, l)
			s.Tolerance = 1e-3
			r := s.fit(t)
			if !r.Converged || !(r.Gap <= 1e-3*r.Objective) || !(r.Gap >= -1e-6) {
				t.Errorf("%s: gap %v of %v after %d iterations", l.Name(), r.Gap, r.Objective, r.Iterations)
			}
			if want := s.objective(r.W); !(math.Abs(r.Objective-want) <= 1e-5*want) {
				t.Errorf("%s: P = %v, want %v", l.Name(), r.Objective, want)
			}
		}
	}
}

func TestLinearStops(t *testing.T) {
	s := features(4, 100, 4, 3, loss.MultiLogistic{})
	boom := errors.New("boom")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	calls := 0
	once := s.Config
	once.MaxIterations = 1
	first, err := TrainLinear(ctx, once, s.n, s.p, s.phi, s.y)
	if err != nil || first.Iterations != 1 || first.Converged {
		t.Fatalf("%+v, %v", first, err)
	}
	s.Trace = func(objective, gap float64) error {
		calls++
		if want := s.objective(first.W); !(math.Abs(objective-want) <= 1e-5*want) || gap != first.Gap {
			t.Errorf("call %d: P = %v, gap %v, want %v and %v", calls, objective, gap, want, first.Gap)
		}
		return boom
	}
	_, err = TrainLinear(ctx, s.Config, s.n, s.p, s.phi, s.y)
	if err != boom || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	s.Trace = func(float64, float64) error { cancel(); return nil }
	if _, err := TrainLinear(ctx, s.Config, s.n, s.p, s.phi, s.y); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
