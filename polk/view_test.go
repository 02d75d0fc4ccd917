package polk

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/internal/literal"
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

// A viewer is a pruner that changes the state of a step at random until ten elements are left, or
// seven in a step without a gradient. It makes the same changes to the state by definition and
// compares the two.
type viewer struct {
	t       *testing.T
	name    string
	kernel  kernel.Kernel
	inverse bool
	ridge   float64
	near    bool // near-duplicates among the samples
	pruner  *prune.Instance

	entered int               // number of elements entered or added so far
	births  map[uint64]birth  // of all elements so far, by ID
	left    *kernel.Expansion // expected model after the step
}

// A birth is the step in which an element entered, and its point.
type birth struct {
	step int
	x    []float32
}

// follow checks that an ID stays with its element, and that a new one has a larger ID than all
// earlier elements.
func (v *viewer) follow(s prune.Elements) {
	earlier := uint64(len(v.births))
	for j := range s.Total() {
		was, old := v.births[s.ID(j)]
		now := birth{s.Step().T - s.Age(j), slices.Clone(s.Point(j))}
		if old != (j < s.Old()) || old && (was.step != now.step || !slices.Equal(was.x, now.x)) || !old && s.ID(j) < earlier {
			v.t.Errorf("%s, step %d: element %d has ID %d, of %+v: now %+v", v.name, s.Step().T, j, s.ID(j), was, now)
		}
		v.births[s.ID(j)] = now
	}
}

func (v *viewer) prune(s prune.Elements) error {
	defer v.follow(s)
	step, order := s.Step(), 10
	if s.Old() == step.Len {
		order = 7
	}
	var all []int
	for j := range s.Total() {
		all = append(all, j)
		if i := s.Sample(j); (i >= 0) != (j >= s.Old()) || i >= 0 && (step.Y[i] == 0 || !slices.Equal(step.X[2*i:2*i+2], s.Point(j))) {
			v.t.Errorf("%s, step %d: element %d is sample %d", v.name, step.T, j, i)
		}
	}
	want := literal.Copy(v.pruner, s, all, nil)
	v.compare(s, want)
	fast, _ := s.(prune.InverseState)
	for s.Len() > order {
		j, drop, add := pick(s), step.Rand.IntN(2) == 0, step.Rand.IntN(4) == 0
		if v.near { // the weights of near-duplicates are known to eight digits once one has been removed
			drop, add = s.Len() > order+3, false
		}
		switch {
		case add && v.inverse:
			a, b := s.Point(j), s.Point(pick(s))
			points := [][]float32{{(a[0] + b[0]) / 2, (a[1]+b[1])/2 + 0.25}, {9, float32(3 * v.entered)}}
			numbers := want.Enter(points...)
			if got := fast.Enter(points...); !slices.Equal(got, numbers) {
				v.t.Errorf("%s, step %d: elements %v entered, want %v", v.name, step.T, got, numbers)
			}
			v.entered++
		case add:
			z := []float32{9, float32(v.entered)}
			if got, number := s.(prune.State).Add(z, []float64{1, 2, 3}), want.Add(z, []float64{1, 2, 3}); got != number {
				v.t.Errorf("%s, step %d: element %d added, want %d", v.name, step.T, got, number)
			}
			v.entered++
		case drop || !v.inverse:
			s.Drop(j)
			want.Drop(j)
		default:
			fast.Remove(j)
			want.Remove(j)
		}
		v.compare(s, want)
	}
	for j := range want.Total() {
		if want.Present(j) {
			v.left.Append(want.Point(j), want.Weights(j))
		}
	}
	return nil
}

// compare compares all quantities of a state with those by definition.
func (v *viewer) compare(got prune.Elements, want literal.State) {
	near := func(what string, j int, got, wanted float64) {
		if !(math.Abs(got-wanted) <= 1e-6*math.Abs(wanted)+1e-7) {
			v.t.Errorf("%s, step %d: %s of element %d of %d is %v, want %v", v.name, want.Step().T, what, j, want.Total(), got, wanted)
		}
	}
	if got.Total() != want.Total() || got.Len() != want.Len() {
		v.t.Fatalf("%s, step %d: %d elements of %d, want %d of %d", v.name, want.Step().T, got.Len(), got.Total(), want.Len(), want.Total())
	}
	fast, inverse := got.(prune.InverseState)
	oldGone := false
	column, exact := make([]float64, want.Total()), make([]float64, want.Total())
	for j := range want.Total() {
		oldGone = oldGone || j < want.Old() && !want.Present(j)
		x := want.Point(j)
		if got.Present(j) != want.Present(j) || !slices.Equal(got.Point(j), x) || got.Age(j) != want.Age(j) || got.Sample(j) != want.Sample(j) {
			v.t.Errorf("%s, step %d: element %d is at %v, age %d, want %v and %d", v.name, want.Step().T, j, got.Point(j), got.Age(j), x, want.Age(j))
		}
		row := want.Row(j)
		for i, k := range slices.Concat(got.Row(j), got.Values(x)) {
			if !(math.Abs(k-row[i%len(row)]) <= 1e-12) {
				v.t.Errorf("%s, step %d: κ of elements %d and %d is %v, want %v", v.name, want.Step().T, j, i%len(row), k, row[i%len(row)])
			}
		}
		if !want.Present(j) {
			continue
		}
		near("norm", j, got.Norm2(j), want.Norm2(j))
		near("κ(x, x)", j, got.Self(j), want.Self(j))
		for c, w := range want.Weights(j) {
			near("weight", j, got.Weights(j)[c], w)
		}
		if !inverse {
			continue
		}
		near("distance", j, fast.Distance(j)/want.Distance(j), 1)
		near("cost", j, fast.Cost(j), want.Cost(j))
		if j >= want.Old() && !oldGone {
			near("distance to those before", j, fast.DistanceBefore(j)/want.DistanceBefore(j), 1)
		}
		if v.near {
			continue
		}
		fast.Column(column, j)
		want.Column(exact, j)
		for i, p := range exact {
			near("column", j, column[i], p)
		}
	}
	if inverse {
		near("spent", -1, fast.Spent(), want.Spent())
		if j := fast.Cheapest(); j >= 0 {
			near("least cost", j, fast.Cost(j), fast.Cost(prune.Least(fast, fast.Cost)))
		}
	}
}

// TestView: the quantities that pruners are shown are those of the definition, for elements that
// are far apart and for near-duplicates, and in steps without a gradient. The elements that a
// pruner leaves are the model after the step, to ten digits where the inverse has eight.
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
		v.births = make(map[uint64]birth)
		v.t, v.pruner = t, instance(t, prune.Heuristic{New: func(prune.Params) prune.Pruner {
			return pruning[prune.State](func(s prune.State) error { return v.prune(s) })
		}})
		if v.inverse {
			v.pruner = instance(t, prune.Heuristic{
				Ridge: func(prune.Params) float64 { return v.ridge },
				NewInverse: func(prune.Params) prune.InversePruner {
					return pruning[prune.InverseState](func(s prune.InverseState) error { return v.prune(s) })
				},
			})
		}
		cfg := testConfig(muted{logistic})
		cfg.Kernel, cfg.Pruner = v.kernel, v.pruner
		l := mustNew(t, cfg)
		r := rand.New(rand.NewPCG(7, 7))
		for step := range 9 {
			v.left = kernel.NewExpansion(cfg.Kernel, 2, 3)
			var xs []float32
			var y []float64
			for i := range 10 {
				x := []float32{2 * float32(i%4), float32(step) + 2*r.Float32()}
				if v.near && i%2 == 1 {
					x = []float32{xs[2*i-2] + 2e-4, xs[2*i-1]}
				}
				xs, y = append(xs, x...), append(y, float64((i+step)%3*min(1, step%3)))
			}
			mustStep(t, l, 10, xs, y)
			if l.f.Order() != v.left.Order() || len(l.entries) != l.f.Order() {
				t.Fatalf("%s, step %d: order %d, ages of %d, want %d", v.name, step, l.f.Order(), len(l.entries), v.left.Order())
			}
			if d, _ := distance(v.left, l.f); !(d <= 1e-10*size(v.left)) {
				t.Errorf("%s, step %d: ‖f − f'‖ is %v, of weights of %v", v.name, step, d, size(v.left))
			}
		}
		if !v.near && v.entered < 5 {
			t.Errorf("%s: only %d elements entered", v.name, v.entered)
		}
	}
}
