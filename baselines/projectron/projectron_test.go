package projectron

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/baselines/learnertest"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
)

func config(eta float64, budget int) Config {
	return Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: 3, Dim: 2, Error: eta, Budget: budget}
}

// An oracle runs the paper's algorithm with Δ = κ(x, ·)⊗(e_y − e_r). It projects Δ by solving a
// dense linear system at every step, and computes norms from expansions.
type oracle struct {
	c    Config
	s    learnertest.Terms
	last string // outcome of the last step
}

// projection returns PΔ over the dictionary.
func (o *oracle) projection(delta learnertest.Term) learnertest.Terms {
	n := len(o.s)
	if n == 0 {
		return nil
	}
	gram, k := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i, a := range o.s {
		k.SetVec(i, o.c.Kernel.Eval(a.X, delta.X))
		for j, b := range o.s {
			gram.Set(i, j, o.c.Kernel.Eval(a.X, b.X))
		}
	}
	var d mat.VecDense
	if err := d.SolveVec(gram, k); err != nil {
		panic(err)
	}
	var out learnertest.Terms
	for i, a := range o.s {
		w := make([]float64, len(delta.W))
		for c, v := range delta.W {
			w[c] = d.AtVec(i) * v
		}
		out = append(out, learnertest.Term{X: a.X, W: w})
	}
	return out
}

// add adds τ·terms to the function; the points of terms are the dictionary's.
func (o *oracle) add(tau float64, terms learnertest.Terms) {
	for i, e := range terms {
		for c, v := range e.W {
			o.s[i].W[c] += tau * v
		}
	}
}

// step returns ‖Δ − PΔ‖.
func (o *oracle) step(x []float32, y int) float64 {
	f := o.s.Score(o.c.Kernel, x, o.c.Classes)
	r := loss.Rival(f, y)
	margin := f[y] - f[r]
	if o.last = "nothing"; margin >= 1 {
		return 0
	}
	delta := learnertest.Term{X: x, W: make([]float64, o.c.Classes)}
	delta.W[y], delta.W[r] = 1, -1
	p := o.projection(delta)
	difference := learnertest.Terms{delta}
	for _, e := range p {
		w := make([]float64, len(e.W))
		for c, v := range e.W {
			w[c] = -v
		}
		difference = append(difference, learnertest.Term{X: e.X, W: w})
	}
	size := math.Sqrt(math.Max(0, difference.NormSq(o.c.Kernel)))
	switch {
	case margin > 0:
		if l := 1 - margin; l-size/o.c.Error > 0 {
			norm := p.NormSq(o.c.Kernel)
			o.add(math.Min(math.Min(l/norm, 2*(l-size/o.c.Error)/norm), 1), p)
			o.last = "margin"
		}
	case size <= o.c.Error:
		o.add(1, p)
		o.last = "projected"
	case o.c.Budget > 0 && len(o.s) == o.c.Budget:
		o.add(1, p)
		o.last = "forced"
	default:
		o.s = append(o.s, delta)
		o.last = "added"
	}
	return size
}

// TestEqualsThePaper: the model after every step and the counters equal the oracle's. No unforced
// projection has an error above η, and the reported largest error is the oracle's.
func TestEqualsThePaper(t *testing.T) {
	for seed, c := range []Config{config(0.1, 0), config(0.3, 0), config(0.6, 0), config(0.1, 8)} {
		c.Classes = 2 + seed%3
		const n = 400
		x, y := learnertest.Blobs(uint64(seed), n, c.Dim, c.Classes)
		l, o := learnertest.New(t, New, c), &oracle{c: c}
		count := make(map[string]float64)
		var worst float64
		for i := range n {
			x := x[i*c.Dim : (i+1)*c.Dim]
			learnertest.Step(t, l, x, y[i:i+1])
			size := o.step(x, int(y[i]))
			if count[o.last]++; o.last == "projected" {
				worst = math.Max(worst, size)
			}
			o.s.Hold(t, i, l.Expansion(), 1e-6)
		}
		h := l.Health()
		if h["projected"] != count["projected"] || h["forced"] != count["forced"] || h["margin_updates"] != count["margin"] ||
			!(math.Abs(h["projection_error"]-worst) <= 1e-6) || h["projection_error"] > c.Error {
			t.Errorf("η = %v: %v, want %v and error %v", c.Error, h, count, worst)
		}
		for _, what := range []string{"margin", "projected", "added"} {
			if count[what] == 0 {
				t.Errorf("η = %v: %v: the test shows little", c.Error, count)
			}
		}
		if (c.Budget > 0) != (count["forced"] > 0) || c.Budget > 0 && l.Expansion().Order() != c.Budget {
			t.Errorf("budget %d: order %d, %v", c.Budget, l.Expansion().Order(), count)
		}
	}
}

// TestInverse: the projection of an element has the element's values, with K⁻¹ grown element by element.
// With a small η, where K⁻¹ would soon be off by 1e20, the factor of K takes its place.
func TestInverse(t *testing.T) {
	for _, eta := range []float64{0.05, 1e-3, 1e-9} {
		for _, bandwidth := range []float64{0.3, 1, 3} {
			projectsElements(t, eta, bandwidth)
		}
	}
}

func projectsElements(t *testing.T, eta, bandwidth float64) {
	t.Helper()
	c := config(eta, 0)
	c.Kernel = kernel.Gaussian{Bandwidth: bandwidth}
	const n = 1000
	x, y := learnertest.Blobs(8, n, c.Dim, c.Classes)
	l := learnertest.New(t, New, c)
	learnertest.Step(t, l, x, y)
	m := l.Expansion().Order()
	if m < 10 || (l.Health()["factored"] == 1) != (eta < 0.01) {
		t.Fatalf("%d elements, %v: the test shows little", m, l.Health())
	}
	var gram [][]float64
	for i := range m {
		gram = append(gram, slices.Clone(l.m.Row(l.m.F.Dict.At(i))))
	}
	for i, k := range gram {
		l.project(k)
		for j := range m {
			if got := gemm.Dot(gram[j], l.d); !(math.Abs(got-k[j]) <= 1e-6) {
				t.Fatalf("η = %v, c = %v: the projection of element %d is %v at element %d, want %v", eta, bandwidth, i, got, j, k[j])
			}
		}
	}
}
