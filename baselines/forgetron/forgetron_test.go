package forgetron

import (
	"math"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
)

func config(budget int) Config {
	return Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: 3, Dim: 2, Budget: budget}
}

// An oracle runs the paper's algorithm for two classes ±1, whose examples may be of any kind. Here
// they are those of Kesler's construction, with the kernel κ(x, x')·<e_y − e_r, e_y' − e_r'>/2 and
// the label +1.
type oracle struct {
	c      Config
	active []example // I_t, oldest first
	m, q   float64
}

type example struct {
	x     []float32
	y, r  int
	sigma float64
}

func (o *oracle) kernel(a, b example) float64 {
	equal := func(i, j int) float64 {
		if i == j {
			return 0.5
		}
		return 0
	}
	return o.c.Kernel.Eval(a.x, b.x) * (equal(a.y, b.y) - equal(a.y, b.r) - equal(a.r, b.y) + equal(a.r, b.r))
}

func (o *oracle) f(e example) float64 {
	var sum float64
	for _, a := range o.active {
		sum += a.sigma * o.kernel(a, e)
	}
	return sum
}

// terms returns the model with a weight for each class.
func (o *oracle) terms() (out learnertest.Terms) {
	for _, e := range o.active {
		w := make([]float64, o.c.Classes)
		w[e.y], w[e.r] = e.sigma/math.Sqrt2, -e.sigma/math.Sqrt2
		out = append(out, learnertest.Term{X: e.x, W: w})
	}
	return out
}

func (o *oracle) step(x []float32, y int) {
	e := example{x: x, y: y, r: loss.Rival(o.terms().Score(o.c.Kernel, x, o.c.Classes), y), sigma: 1}
	if o.f(e) > 0 {
		return
	}
	o.m++
	o.active = append(o.active, e)
	if len(o.active) <= o.c.Budget {
		return
	}
	r := o.active[0]
	mu := o.f(r)
	psi := func(phi float64) float64 {
		return math.Pow(r.sigma*phi, 2) + 2*r.sigma*phi*(1-phi*mu)
	}
	fits := func(phi float64) bool { return psi(phi)+o.q <= 15.0/32*o.m }
	phi := 1.0
	if !fits(1) { // the largest phi that fits, by a descending grid and bisection
		high := 1.0
		for low := 1 - 1e-3; ; low -= 1e-3 {
			if low = math.Max(low, 0); fits(low) {
				for range 60 {
					if phi = (low + high) / 2; fits(phi) {
						low = phi
					} else {
						high = phi
					}
				}
				break
			}
			high = low
		}
	}
	o.q += psi(phi)
	for i := range o.active {
		o.active[i].sigma *= phi
	}
	o.active = o.active[1:]
}

func TestEqualsThePaper(t *testing.T) {
	shrunk := false
	for seed := range uint64(6) {
		c := config(3 + 5*int(seed))
		c.Classes = 2 + int(seed)%3
		const n = 300
		x, y := learnertest.Blobs(seed, n, c.Dim, c.Classes)
		l, o := learnertest.New(t, New, c), &oracle{c: c}
		for i := range n {
			x := x[i*c.Dim : (i+1)*c.Dim]
			learnertest.Step(t, l, x, y[i:i+1])
			o.step(x, int(y[i]))
			o.terms().Hold(t, i, l.Expansion(), 1e-8)
		}
		h := l.Health()
		if h["mistakes"] != o.m || !(math.Abs(h["deviation"]-o.q) <= 1e-8) || h["removals"] < 10 {
			t.Errorf("seed %d: %v, want %v mistakes and deviation %v", seed, h, o.m, o.q)
		}
		shrunk = shrunk || h["shrinking"] < 0.99
	}
	if !shrunk {
		t.Error("nothing was ever shrunk: the test shows little")
	}
}
