package polk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/literal"
	"polkrepro/polk/prune"
)

// muted is a loss with no gradient at samples of class 0.
type muted struct{ loss.Loss }

func (l muted) Gradient(g, f []float64, y float64) float64 {
	v := l.Loss.Gradient(g, f, y)
	if y == 0 {
		clear(g)
	}
	return v
}

// A viewer is a pruner that compares all quantities that it is shown with their definitions. It
// removes elements at random until ten are left, or seven in a step without a gradient.
type viewer struct {
	t       *testing.T
	name    string
	kernel  kernel.Kernel
	inverse bool
	ridge   float64
	near    bool      // near-duplicates among the samples
	x       []float32 // of the mini-batch
	y       []float64
	entered map[string]int // step in which each point entered

	left *kernel.Expansion // expected model after the step
}

// order returns the number of elements to leave in a step.
func (v *viewer) order(s prune.Elements) int {
	if s.Old() == s.Step().Len {
		return 7
	}
	return 10
}

// elements checks the quantities that pruners are shown with and without the inverse.
func (v *viewer) elements(s prune.Elements) {
	step, total := s.Step(), s.Total()
	if step.N != len(v.y) || !slices.Equal(step.X, v.x) || !slices.Equal(step.Y, v.y) || step.Outputs != 3 {
		v.t.Errorf("%s: step %+v", v.name, step)
	}
	present, before := 0, -1
	for j := range total {
		x, w, sample, age := s.Point(j), s.Weights(j), s.Sample(j), s.Age(j)
		switch entered, ok := v.entered[fmt.Sprint(x)]; {
		case j < s.Old():
			if !ok || sample != -1 || age != step.T-entered {
				v.t.Errorf("%s, step %d: element %d of step %d has sample %d and age %d", v.name, step.T, j, entered, sample, age)
			}
		case j < step.Len:
			if age != 0 || sample <= before || !slices.Equal(x, v.x[sample*len(x):(sample+1)*len(x)]) || v.y[sample] == 0 {
				v.t.Errorf("%s, step %d: new element %d has sample %d and age %d", v.name, step.T, j, sample, age)
			}
			before = sample
			v.entered[fmt.Sprint(x)] = step.T
		default:
			if sample != -1 || age != 0 {
				v.t.Errorf("%s, step %d: added element %d has sample %d and age %d", v.name, step.T, j, sample, age)
			}
			v.entered[fmt.Sprint(x)] = step.T
		}
		if s.Norm2(j) != float64(w[0]*w[0])+float64(w[1]*w[1])+float64(w[2]*w[2]) || s.Present(j) && s.Self(j) != v.kernel.Self(x) {
			v.t.Errorf("%s, step %d: element %d with weights %v has squared norms %v and %v", v.name, step.T, j, w, s.Norm2(j), s.Self(j))
		}
		for i, got := range slices.Concat(s.Row(j), s.Values(x)) {
			if want := v.kernel.Eval(x, s.Point(i%total)); !(math.Abs(got-want) <= 1e-12) {
				v.t.Errorf("%s, step %d: κ of elements %d and %d is %v, want %v", v.name, step.T, j, i%total, got, want)
			}
		}
		if s.Present(j) {
			present++
		}
	}
	if s.Len() != present || step.Len > total || s.Old() > step.Len {
		v.t.Errorf("%s, step %d: %d elements, %d present, %d old; Len is %d", v.name, step.T, total, present, s.Old(), s.Len())
	}
}

// A viewerWithoutInverse also adds an element.
type viewerWithoutInverse struct{ *viewer }

func (v viewerWithoutInverse) Prune(_ context.Context, s prune.State) error {
	v.elements(s)
	total := s.Total()
	if j := s.Add([]float32{9, float32(s.Step().T)}, []float64{1, 2, 3}); j != total || s.Total() != total+1 || !s.Present(j) {
		v.t.Errorf("%s: added element %d to %d", v.name, j, total)
	}
	for s.Len() > v.order(s) {
		if j := s.Step().Rand.IntN(s.Total()); s.Present(j) {
			s.Drop(j)
		}
	}
	v.elements(s)
	for j := range s.Total() {
		if s.Present(j) {
			v.left.Append(s.Point(j), s.Weights(j))
		}
	}
	return nil
}

type viewerWithInverse struct{ *viewer }

func (v viewerWithInverse) Prune(_ context.Context, s prune.InverseState) error {
	v.elements(s)
	u := kernel.NewExpansion(v.kernel, 2, 3)
	for j := range s.Total() {
		u.Append(s.Point(j), s.Weights(j))
	}
	p := literal.NewPursuit(u, true)
	if u.Order() == 0 {
		return nil
	}
	var present []int
	for j := range u.Order() {
		p.K.Set(j, j, p.K.At(j, j)+v.ridge)
		present = append(present, j)
	}
	distance2 := func(j int, others []int) float64 {
		one := &literal.Pursuit{K: p.K, WTilde: mat.NewDense(u.Order(), 1, nil), Exact: true}
		one.WTilde.Set(j, 0, 1)
		d, _ := one.Approximate(others)
		return d * d
	}
	near := func(what string, j int, got, want float64) {
		if !(math.Abs(got-want) <= 1e-6*math.Abs(want)+1e-7) {
			v.t.Errorf("%s, step %d: %s of element %d of %d is %v, want %v", v.name, s.Step().T, what, j, s.Total(), got, want)
		}
	}
	spent, oldGone, column := 0.0, false, make([]float64, u.Order())
	for len(present) > v.order(s) {
		j := present[s.Step().Rand.IntN(len(present))]
		others := literal.Without(present, j)
		d2 := distance2(j, others)
		near("distance", j, s.Distance(j)/d2, 1)
		near("cost", j, s.Cost(j), sumSquares(p.WTilde.RawRowView(j))*d2)
		if !v.near {
			s.Column(column, j)
			for i, entry := range column {
				switch {
				case i == j:
					near("K·column", i, dot(p.K.RawRowView(i), column), 1)
				case s.Present(i):
					near("K·column", i, dot(p.K.RawRowView(i), column), 0)
				case entry != 0:
					v.t.Errorf("%s: element %d is absent and has %v in a column", v.name, i, entry)
				}
			}
		}
		for at, i := range present {
			if i >= s.Old() && !oldGone {
				near("distance to those before", i, s.DistanceBefore(i)/distance2(i, present[:at]), 1)
			}
		}
		drop := s.Step().Rand.IntN(2) == 0
		if v.near { // the weights of near-duplicates are known to eight digits once one has been removed
			drop = len(present) > v.order(s)+3
		}
		if drop {
			s.Drop(j)
			clear(p.WTilde.RawRowView(j))
		} else {
			spent += sumSquares(p.WTilde.RawRowView(j)) * d2
			s.Remove(j)
			_, p.WTilde = p.Approximate(others)
		}
		present, oldGone = others, oldGone || j < s.Old()
		near("spent", j, s.Spent(), spent)
		if s.Present(j) || s.Len() != len(present) {
			v.t.Errorf("%s: element %d is present, %d are", v.name, j, s.Len())
		}
		for _, i := range present {
			near("weight", i, s.Weights(i)[2], p.WTilde.At(i, 2))
		}
	}
	for _, j := range present {
		v.left.Append(s.Point(j), p.WTilde.RawRowView(j))
	}
	return nil
}

// TestView: the quantities that pruners are shown agree with their definitions, for elements that
// are far apart and for near-duplicates, and in steps without a gradient. The elements that a
// pruner leaves are the model after the step, to eleven digits where the inverse has eight.
func TestView(t *testing.T) {
	gaussian := kernel.Gaussian{Bandwidth: 0.8}
	scaled := function(func(x, y []float32) float64 { // κ(x, x) depends on x
		return float64(1+x[0]/8) * gaussian.Eval(x, y) * float64(1+y[0]/8)
	})
	for _, v := range []*viewer{
		{name: "without inverse", kernel: scaled},
		{name: "inverse", kernel: scaled, inverse: true},
		{name: "ridge", kernel: gaussian, inverse: true, ridge: 0.01},
		{name: "near-duplicates", kernel: gaussian, inverse: true, near: true},
		{name: "near-duplicates and a ridge", kernel: gaussian, inverse: true, near: true, ridge: 1e-7},
	} {
		cfg := testConfig(muted{logistic})
		cfg.Kernel = v.kernel
		v.t, v.entered = t, make(map[string]int)
		var h prune.Heuristic
		if v.inverse {
			h.NewInverse = func(prune.Params) prune.InversePruner { return viewerWithInverse{v} }
			h.Ridge = func(prune.Params) float64 { return v.ridge }
		} else {
			h.New = func(prune.Params) prune.Pruner { return viewerWithoutInverse{v} }
		}
		cfg.Pruner = instance(t, h)
		l := mustNew(t, cfg)
		r := rand.New(rand.NewPCG(7, 7))
		for step := range 9 {
			v.x, v.y, v.left = nil, nil, kernel.NewExpansion(cfg.Kernel, 2, 3)
			for i := range 10 {
				x := []float32{2 * float32(i%4), float32(step) + 2*r.Float32()}
				if v.near && i%2 == 1 {
					x = []float32{v.x[2*i-2] + 2e-4, v.x[2*i-1]}
				}
				v.x, v.y = append(v.x, x...), append(v.y, float64((i+step)%3*min(1, step%3)))
			}
			mustStep(t, l, 10, v.x, v.y)
			if l.f.Order() != v.left.Order() || len(l.entries) != l.f.Order() {
				t.Fatalf("%s, step %d: order %d, ages of %d, want %d", v.name, step, l.f.Order(), len(l.entries), v.left.Order())
			}
			if d, _ := distance(v.left, l.f); !(d <= 1e-11*size(v.left)) {
				t.Errorf("%s, step %d: ‖f − f'‖ is %v, of weights of %v", v.name, step, d, size(v.left))
			}
		}
	}
}
