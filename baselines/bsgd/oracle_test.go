package bsgd

import (
	"math"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// oracle runs the algorithm as written: it takes kernel values from kernel.Eval, keeps weights
// without a common factor, searches every partner, and solves the projection as a dense linear
// system.
type oracle struct {
	c    Config
	t    int
	elem learnertest.Terms // oldest first
	cost float64           // ‖f − f'‖² of the last maintenance
}

type element = learnertest.Term

// norm returns ‖a‖² of an element's weights.
func norm(e element) float64 {
	var s float64
	for _, v := range e.W {
		s += v * v
	}
	return s
}

func (o *oracle) step(x []float32, y int) {
	o.t++
	o.cost = 0
	f := o.elem.Score(o.c.Kernel, x, o.c.Classes)
	rate := o.c.LearningRate.Rate(o.t - 1)
	o.elem.Scale(1 - rate*o.c.Regularizer)
	r := loss.Rival(f, y)
	if 1+f[r]-f[y] <= 0 {
		return
	}
	e := element{X: slices.Clone(x), W: make([]float64, o.c.Classes)}
	e.W[y], e.W[r] = rate, -rate
	o.elem = append(o.elem, e)
	if len(o.elem) > o.c.Budget {
		o.maintain()
	}
}

func (o *oracle) maintain() {
	before := clone(o.elem)
	p, least := -1, math.Inf(1)
	held := o.elem
	if o.c.Maintenance == KeepNewest {
		held = held[:len(held)-1]
	}
	for j, e := range held {
		if v := norm(e) * o.c.Kernel.Self(e.X); v < least*(1-1e-10) {
			p, least = j, v
		}
	}
	gone := o.elem[p]
	o.elem = append(o.elem[:p:p], o.elem[p+1:]...)
	switch o.c.Maintenance {
	case Projection, KeepNewest:
		o.project(gone)
	case Merging:
		o.merge(gone)
	}
	o.cost = distance(o.c.Kernel, before, o.elem)
}

func clone(f learnertest.Terms) learnertest.Terms {
	c := slices.Clone(f)
	for i := range c {
		c[i].W = slices.Clone(c[i].W)
	}
	return c
}

// distance returns ‖f − g‖² over all classes.
func distance(k kernel.Kernel, f, g learnertest.Terms) float64 {
	minus := clone(g)
	minus.Scale(-1)
	return append(minus, f...).NormSq(k)
}

func (o *oracle) project(gone element) {
	n := len(o.elem)
	gram, rhs := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i, d := range o.elem {
		rhs.SetVec(i, o.c.Kernel.Eval(d.X, gone.X))
		for j, e := range o.elem {
			gram.Set(i, j, o.c.Kernel.Eval(d.X, e.X))
		}
	}
	var q mat.VecDense
	if err := q.SolveVec(gram, rhs); err != nil {
		panic(err)
	}
	for i, e := range o.elem {
		for c := range e.W {
			e.W[c] += q.AtVec(i) * gone.W[c]
		}
	}
}

func (o *oracle) merge(gone element) {
	best, bestH, least := -1, 0.0, math.Inf(1)
	for j, e := range o.elem {
		h := o.search(gone, e)
		if d := o.degradation(gone, e, h); d < least {
			best, bestH, least = j, h, d
		}
	}
	n := o.elem[best]
	z := element{X: make([]float32, len(n.X)), W: make([]float64, len(n.W))}
	for i := range z.X {
		z.X[i] = float32(float64(bestH*float64(gone.X[i])) + float64((1-bestH)*float64(n.X[i])))
	}
	kp, kn := o.c.Kernel.Eval(gone.X, z.X), o.c.Kernel.Eval(n.X, z.X)
	for c := range z.W {
		z.W[c] = gone.W[c]*kp + n.W[c]*kn
	}
	o.elem = append(append(o.elem[:best:best], o.elem[best+1:]...), z)
}

// degradation is ‖α_p φ(x_p) + α_n φ(x_n) − α_z φ(z)‖² summed over classes.
func (o *oracle) degradation(p, n element, h float64) float64 {
	k := o.c.Kernel.Eval(p.X, n.X)
	kp, kn := math.Pow(k, (1-h)*(1-h)), math.Pow(k, h*h)
	var s float64
	for c, a := range p.W {
		b := n.W[c]
		z := a*kp + b*kn
		s += a*a + b*b + 2*a*b*k - z*z
	}
	return s
}

// search returns the best h. It tries h = 0, 1/1000, …, 1, then bisects the interval around the
// best of these: the sign of the degradation's derivative tells on which side the minimum lies.
func (o *oracle) search(p, n element) float64 {
	h, least := 0.0, math.Inf(1)
	for i := range 1001 {
		at := float64(i) / 1000
		if d := o.degradation(p, n, at); d < least*(1-1e-9) { // elements of equal weight have two mirrored minima
			h, least = at, d
		}
	}
	lo, hi := math.Max(0, h-1e-3), math.Min(1, h+1e-3)
	for range 60 {
		h = (lo + hi) / 2
		if o.slope(p, n, h) < 0 {
			lo = h
		} else {
			hi = h
		}
	}
	return math.Round(h*(1<<32)) / (1 << 32)
}

// slope is d/dh of the degradation, up to a positive factor.
func (o *oracle) slope(p, n element, h float64) float64 {
	k := o.c.Kernel.Eval(p.X, n.X)
	kp, kn := math.Pow(k, (1-h)*(1-h)), math.Pow(k, h*h)
	var s float64
	for c, a := range p.W {
		b := n.W[c]
		s -= (a*kp + b*kn) * (a*kp*(1-h) - b*kn*h)
	}
	return s
}

// elements returns the learner's model, oldest first.
func elements(l *Learner) learnertest.Terms {
	e := l.Expansion()
	index := make([]int, e.Order())
	for j := range index {
		index[j] = j
	}
	sort.Slice(index, func(a, b int) bool { return l.model.born[index[a]] < l.model.born[index[b]] })
	out := make(learnertest.Terms, e.Order())
	for i, j := range index {
		out[i] = element{X: slices.Clone(e.Dict.At(j)), W: slices.Clone(e.Weights(j))}
	}
	return out
}

// compare requires the same elements in the same order, with points and weights within tol.
func compare(t *testing.T, step int, got, want learnertest.Terms, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("step %d: order %d, want %d", step, len(got), len(want))
	}
	for j, w := range want {
		for i, v := range w.X {
			if !(math.Abs(float64(got[j].X[i])-float64(v)) <= tol) {
				t.Fatalf("step %d: element %d is %v, want %v", step, j, got[j].X, w.X)
			}
		}
		for c, v := range w.W {
			if !(math.Abs(got[j].W[c]-v) <= tol*(1+math.Abs(v))) {
				t.Fatalf("step %d: weights of element %d are %v, want %v", step, j, got[j].W, w.W)
			}
		}
	}
}
