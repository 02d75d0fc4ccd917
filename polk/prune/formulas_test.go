package prune_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/internal/literal"
	"polkrepro/polk/prune"
)

// A function is f̃ with the data that tests need.
type function struct {
	x    [][]float32
	w    [][]float64
	age  []int
	old  int
	step prune.Step
}

var (
	gaussian   = kernel.Gaussian{Bandwidth: 1}
	polynomial = kernel.Polynomial{Offset: 0.5, Degree: 2} // κ(x, x) depends on x
)

// draw returns a random function of old elements of the dictionary and fresh ones of the step.
func draw(seed uint64, old, fresh int) *function {
	r := rand.New(rand.NewPCG(seed, 1))
	f := &function{old: old}
	for j := range old + fresh {
		f.x = append(f.x, []float32{3 * r.Float32(), 3 * r.Float32()})
		f.w = append(f.w, []float64{r.Float64() - 0.5, r.Float64() - 0.5})
		f.age = append(f.age, (7*j)%23+1)
	}
	f.step = prune.Step{
		T: 30, Len: old + fresh, N: fresh, Rate: 2, Epsilon: 0.1, Kernel: gaussian, Loss: loss.MultiLogistic{},
		Outputs: 2, Rand: rand.New(rand.NewPCG(seed, 2)),
	}
	for i := range fresh {
		f.step.X = append(f.step.X, f.x[old+i]...)
		f.step.Y = append(f.step.Y, float64(i%2))
	}
	return f
}

// find returns a heuristic's pruner.
func find(t *testing.T, name string, p prune.Params) *prune.Instance {
	t.Helper()
	i, err := prune.Find(name, p)
	testutil.NoError(t, err)
	return i
}

// state returns the function as a pruner gets it.
func (f *function) state(i *prune.Instance) literal.State {
	return literal.NewState(i, f.step, f.old, f.x, f.w, f.age)
}

// prune returns the state that a heuristic leaves.
func (f *function) prune(t *testing.T, name string, p prune.Params) literal.State {
	t.Helper()
	return f.pruneBy(t, find(t, name, p))
}

func (f *function) pruneBy(t *testing.T, i *prune.Instance) literal.State {
	t.Helper()
	s := f.state(i)
	if p, ok := i.Pruner().(prune.InversePruner); ok {
		testutil.NoError(t, p.Prune(t.Context(), s))
	} else {
		testutil.NoError(t, i.Pruner().(prune.Pruner).Prune(t.Context(), s))
	}
	return s
}

// left returns the elements that are present.
func left(s prune.Elements) []int {
	var out []int
	for j := range s.Total() {
		if s.Present(j) {
			out = append(out, j)
		}
	}
	return out
}

func (f *function) all() []int {
	var out []int
	for j := range f.x {
		out = append(out, j)
	}
	return out
}

// k returns κ between two elements.
func (f *function) k(i, j int) float64 { return f.step.Kernel.Eval(f.x[i], f.x[j]) }

// gram returns K between two lists of elements.
func (f *function) gram(a, b []int, ridge float64) *mat.Dense {
	k := mat.NewDense(len(a), len(b), nil)
	for i, p := range a {
		for j, q := range b {
			v := gaussian.Eval(f.x[p], f.x[q])
			if p == q {
				v += ridge
			}
			k.Set(i, j, v)
		}
	}
	return k
}

// project returns the squared error of the best approximation of f on the elements is,
// and its weights, len(is)×2.
func (f *function) project(is []int, ridge float64) (err2 float64, weights *mat.Dense) {
	all := f.all()
	p := &literal.Pursuit{K: f.gram(all, all, ridge), WTilde: mat.NewDense(len(all), 2, nil), Exact: true}
	for j, v := range f.w {
		p.WTilde.SetRow(j, v)
	}
	gamma, w := p.Approximate(is)
	weights = mat.NewDense(len(is), 2, nil)
	for a, i := range is {
		weights.SetRow(a, w.RawRowView(i))
	}
	return gamma * gamma, weights
}

// greedily removes the element with the least score until order elements are left.
func (f *function) greedily(order int, score func(is []int, j int) float64) []int {
	is := f.all()
	for len(is) > order {
		best, least := -1, math.Inf(1)
		for _, j := range is {
			if v := score(is, j); v < least {
				best, least = j, v
			}
		}
		is = literal.Without(is, best)
	}
	return is
}

func check(t *testing.T, what string, s prune.Elements, want []int) {
	t.Helper()
	if got := left(s); !slices.Equal(got, want) {
		t.Errorf("%s leaves %v, want %v", what, got, want)
	}
}

// Heuristics that keep an order agree with brute force.
func TestOrders(t *testing.T) {
	const order = 6
	p := prune.Params{"order": order}
	for seed := range uint64(5) {
		f := draw(seed, 8, 5)
		check(t, "none", f.prune(t, "none", nil), f.all())
		pursued := f.greedily(order, func(is []int, j int) float64 {
			e, _ := f.project(literal.Without(is, j), 0)
			return e
		})
		check(t, "komp-order", f.prune(t, "komp-order", p), pursued)
		// With a budget of 0, komp-capped leaves as many elements as its order allows. With an
		// order that allows all elements, it leaves the same ones as komp.
		f.step.Epsilon = 0
		check(t, "komp-capped", f.prune(t, "komp-capped", p), pursued)
		f.step.Epsilon = 0.1
		within := f.prune(t, "komp-capped", prune.Params{"order": 13})
		check(t, "komp-capped", within, left(f.prune(t, "komp", nil)))
		check(t, "smallest-weight", f.prune(t, "smallest-weight", p), f.greedily(order, func(_ []int, j int) float64 {
			return norm(f.w[j])
		}))
		check(t, "oldest", f.prune(t, "oldest", p), f.greedily(order, func(_ []int, j int) float64 {
			if j >= f.old {
				return 0
			}
			return -float64(f.age[j])
		}))
		// The score is ‖Σ w_i κ_i‖² over j and the elements removed before.
		check(t, "one-step", f.prune(t, "one-step", p), f.greedily(order, func(is []int, j int) float64 {
			gone := kernel.NewExpansion(gaussian, 2, 2)
			for i := range f.x {
				if i == j || !slices.Contains(is, i) {
					gone.Append(f.x[i], f.w[i])
				}
			}
			return gone.NormSq(1)
		}))
		check(t, "komp-age", f.prune(t, "komp-age", prune.Params{"order": order, "memory": 10}),
			f.greedily(order, func(is []int, j int) float64 {
				before, _ := f.project(is, 0)
				e, _ := f.project(literal.Without(is, j), 0)
				age := f.age[j]
				if j >= f.old {
					age = 0
				}
				return (e - before) * math.Exp(-float64(age)/10)
			}))
		check(t, "leverage", f.prune(t, "leverage", prune.Params{"order": order, "ridge": 0.3}),
			f.greedily(order, func(is []int, j int) float64 {
				_, w := f.project(is, 0.3)
				return norm(w.RawRowView(slices.Index(is, j))) * f.leverage(is, j, 0.3)
			}))
	}
}

// leverage returns [K(K+γI)⁻¹]_jj for the elements is.
func (f *function) leverage(is []int, j int, ridge float64) float64 {
	var inv, k mat.Dense
	if err := inv.Inverse(f.gram(is, is, ridge)); err != nil {
		panic(err)
	}
	k.Mul(f.gram(is, is, 0), &inv)
	a := slices.Index(is, j)
	return k.At(a, a)
}

// KOMP's budget is inclusive: with a budget of 0, an element that costs nothing leaves.
func TestKOMPWithoutBudget(t *testing.T) {
	f := draw(2, 5, 3)
	f.step.Epsilon, f.w[3] = 0, []float64{0, 0}
	check(t, "komp", f.prune(t, "komp", nil), literal.Without(f.all(), 3))
	check(t, "komp-capped", f.prune(t, "komp-capped", prune.Params{"order": 8}), literal.Without(f.all(), 3))
}

// komp-each removes the cheapest element while its removal adds at most δ² to the squared error,
// whatever has been spent before.
func TestEach(t *testing.T) {
	further := 0
	for seed := range uint64(20) {
		f := draw(seed, 5, 4)
		const most = 0.2
		f.step.Epsilon = most
		is := f.all()
		for len(is) > 1 {
			before, _ := f.project(is, 0)
			best, least := 0, math.Inf(1)
			for _, j := range is {
				after, _ := f.project(literal.Without(is, j), 0)
				if added := after - before; added < least {
					best, least = j, added
				}
			}
			if least > most*most {
				break
			}
			is = literal.Without(is, best)
		}
		check(t, "komp-each", f.prune(t, "komp-each", prune.Params{"error": most}), is)
		if f.prune(t, "komp", nil).Len() > len(is) {
			further++
		}
	}
	if further == 0 {
		t.Error("it never removes more than komp: the test shows nothing")
	}
}

// A pair's joint cost is the squared error of the best approximation without both, minus the
// squared error spent before.
func TestJointCost(t *testing.T) {
	for seed := range uint64(20) {
		f := draw(seed, 5, 4)
		s := f.state(find(t, "komp-order", prune.Params{"order": 3}))
		column := make([]float64, s.Total())
		for range 2 { // of all elements, and after a removal
			before, _ := f.project(left(s), 0)
			for _, a := range left(s) {
				s.Column(column, a)
				for _, b := range literal.Without(left(s), a) {
					after, _ := f.project(literal.Without(literal.Without(left(s), a), b), 0)
					got, want := prune.JointCost(s, a, b, column[b]), after-before
					if !(math.Abs(got-want) <= 1e-7*want+1e-12) {
						t.Fatalf("seed %d: the pair %d, %d costs %v, and its removal leaves %v more", seed, a, b, got, want)
					}
				}
			}
			s.Remove(left(s)[seed%5])
		}
	}
}

// rejects returns the elements that stay when admit decides on the new ones one by one.
func (f *function) rejects(admit func(before []int, j int) bool) []int {
	is := f.all()[:f.old]
	for j := f.old; j < len(f.x); j++ {
		if admit(is, j) {
			is = append(is, j)
		}
	}
	return is
}

// distance2 returns κ(x, x) + γ − kᵀ(K + γI)⁻¹k.
func (f *function) distance2(is []int, j int, ridge float64) float64 {
	k := f.gram(is, []int{j}, 0)
	var sol, q mat.Dense
	if err := sol.Solve(f.gram(is, is, ridge), k); err != nil {
		panic(err)
	}
	q.Mul(k.T(), &sol)
	return 1 + ridge - q.At(0, 0)
}

func TestAdmission(t *testing.T) {
	for seed := range uint64(8) {
		f := draw(seed, 6, 12)
		gradient := func(j int) float64 { return math.Hypot(f.w[j][0], f.w[j][1]) * float64(f.step.N) / f.step.Rate }

		s := f.prune(t, "ald", prune.Params{"threshold": 0.1})
		check(t, "ald", s, f.rejects(func(is []int, j int) bool { return f.distance2(is, j, 0) > 0.1 }))
		// Rejected elements are projected on the admitted ones.
		_, w := f.project(left(s), 0)
		for a, j := range left(s) {
			for c, v := range s.Weights(j) {
				if !(math.Abs(v-w.At(a, c)) <= 1e-9) {
					t.Fatalf("ald: weights %v, want %v", s.Weights(j), w.RawRowView(a))
				}
			}
		}
		check(t, "surprise", f.prune(t, "surprise", prune.Params{"abnormal": 15, "redundant": 2, "ridge": 0.2}),
			f.rejects(func(is []int, j int) bool {
				r, e := f.distance2(is, j, 0.2), gradient(j)
				surprise := math.Log(r)/2 + e*e/(2*r)
				return 2 <= surprise && surprise <= 15
			}))
		for _, k := range []kernel.Kernel{gaussian, polynomial} {
			f.step.Kernel = k
			check(t, "coherence", f.prune(t, "coherence", prune.Params{"threshold": 0.8}),
				f.rejects(func(is []int, j int) bool {
					return !slices.ContainsFunc(is, func(i int) bool { return f.k(i, j)/math.Sqrt(f.k(i, i)*f.k(j, j)) > 0.8 })
				}))
			check(t, "novelty", f.prune(t, "novelty", prune.Params{"distance": 0.7, "error": 1.5}),
				f.rejects(func(is []int, j int) bool {
					near := slices.ContainsFunc(is, func(i int) bool { return math.Sqrt(f.k(i, i)+f.k(j, j)-2*f.k(i, j)) <= 0.7 })
					return !near && gradient(j) > 1.5
				}))
		}
	}
}

// A value equal to a threshold is on the defined side. The values are free of rounding.
func TestAdmissionAtTheThreshold(t *testing.T) {
	one := func() *function { // a new element at distance 1 from the empty dictionary, with gradient 0
		f := draw(1, 0, 1)
		f.w[0] = []float64{0, 0}
		return f
	}
	check(t, "ald, δ = ν", one().prune(t, "ald", prune.Params{"threshold": 1}), nil)
	check(t, "novelty, the gradient is e", one().prune(t, "novelty", prune.Params{"distance": 0.1, "error": 0}), nil)
	surprise := math.Log(2) / 2 // of a variance λ + κ(x, x) = 2
	check(t, "surprise, S = T₁", one().prune(t, "surprise", prune.Params{"abnormal": surprise, "redundant": 0, "ridge": 1}), []int{0})
	check(t, "surprise, S = T₂", one().prune(t, "surprise", prune.Params{"abnormal": 9, "redundant": surprise, "ridge": 1}), []int{0})
	twice := draw(1, 1, 1)
	twice.x[1] = twice.x[0]
	check(t, "coherence, |κ| = μ₀", twice.prune(t, "coherence", prune.Params{"threshold": 1}), []int{0, 1})
	check(t, "novelty, the distance is δ", twice.prune(t, "novelty", prune.Params{"distance": 0, "error": 0}), []int{0})
}

// A rejected sample that the dictionary doesn't reach, κ = 0, changes no weights.
func TestSpreadOutOfReach(t *testing.T) {
	f := draw(1, 3, 1)
	f.x[3] = []float32{1e3, 1e3}
	s := f.prune(t, "novelty", prune.Params{"distance": 0.1, "error": 1e3})
	check(t, "novelty", s, []int{0, 1, 2})
	for _, j := range left(s) {
		if !slices.Equal(s.Weights(j), f.w[j]) {
			t.Errorf("weights %v of element %d became %v", f.w[j], j, s.Weights(j))
		}
	}
}

// Rejecting a sample does not change the function's values at the sample.
func TestSpreadKeepsTheValue(t *testing.T) {
	f := draw(3, 9, 1)
	f.step.Kernel = polynomial
	s := f.prune(t, "coherence", prune.Params{"threshold": 0})
	for c := range 2 {
		var before, after float64
		for j := range f.x {
			k := f.k(9, j)
			before += k * f.w[j][c]
			if s.Present(j) {
				after += k * s.Weights(j)[c]
			}
		}
		if !(math.Abs(before-after) <= 1e-12) || s.Len() != 9 {
			t.Errorf("value %v became %v, %d elements", before, after, s.Len())
		}
	}
}

// Every element stays equally often: 3 of 10 in 3,000 draws, to five standard deviations.
func TestRandomIsUniform(t *testing.T) {
	count := make([]int, 10)
	for seed := range uint64(3000) {
		for _, j := range left(draw(seed, 6, 4).prune(t, "random", prune.Params{"order": 3})) {
			count[j]++
		}
	}
	sd := math.Sqrt(3000 * 0.3 * 0.7)
	for j, n := range count {
		if !(math.Abs(float64(n)-900) <= 5*sd) {
			t.Errorf("element %d stays %d times in 3000, want 900", j, n)
		}
	}
}

// A sample is admitted with a probability proportional to its ridge leverage score.
func TestLeverageSampling(t *testing.T) {
	f := draw(4, 9, 1)
	tau := 0.8 * f.leverage(f.all(), 9, 0.1)
	const n = 3000
	admitted := 0
	for seed := range uint64(n) {
		f.step.Rand = rand.New(rand.NewPCG(seed, 9))
		admitted += f.prune(t, "rls", prune.Params{"sampling": 0.8, "ridge": 0.1}).Len() - 9
	}
	if sd := math.Sqrt(n * tau * (1 - tau)); !(math.Abs(float64(admitted)-n*tau) <= 5*sd) {
		t.Errorf("admitted %d times in %d, want %v", admitted, n, n*tau)
	}
}

// The chosen pair and point are as good as the best of a fine grid over all partners.
func TestMerging(t *testing.T) {
	for seed := range uint64(30) {
		f := draw(seed, 12, 3) // more partners than h is searched for
		s := f.prune(t, "merging", prune.Params{"order": 14})
		p := f.greedily(14, func(_ []int, j int) float64 { return norm(f.w[j]) })
		light := slices.DeleteFunc(f.all(), func(j int) bool { return slices.Contains(p, j) })[0]
		best := math.Inf(1)
		for _, q := range p {
			for i := range 2001 {
				best = min(best, f.mergeError(light, q, float64(i)/2000))
			}
		}
		if got := f.errorOf(s); !(math.Abs(got-best) <= 1e-6) {
			t.Errorf("seed %d: the squared error is %v, the least is %v", seed, got, best)
		}
	}
}

// mergeError returns the squared error of merging p and q at h.
func (f *function) mergeError(p, q int, h float64) float64 {
	k := gaussian.Eval(f.x[p], f.x[q])
	kp, kq := math.Pow(k, (1-h)*(1-h)), math.Pow(k, h*h)
	var e float64
	for c := range 2 {
		a, b := f.w[p][c], f.w[q][c]
		z := a*kp + b*kq
		e += a*a + b*b + 2*a*b*k - z*z
	}
	return e
}

// errorOf returns ‖f̃ − f‖² for the function that s holds.
func (f *function) errorOf(s prune.Elements) float64 {
	diff := kernel.NewExpansion(gaussian, 2, 2)
	for j := range f.x {
		diff.Append(f.x[j], f.w[j])
	}
	for _, j := range left(s) {
		diff.Append(s.Point(j), []float64{-s.Weights(j)[0], -s.Weights(j)[1]})
	}
	return diff.NormSq(1)
}

// The weights of a removed element go to its nearest neighbour. The pair has the least error of
// all pairs.
func TestNearest(t *testing.T) {
	const order = 3
	for seed := range uint64(10) {
		for _, k := range []kernel.Kernel{gaussian, polynomial} {
			f := draw(seed, 5, 3)
			f.step.Kernel = k
			s := f.prune(t, "nearest", prune.Params{"order": order})
			is, w := f.all(), mat.NewDense(len(f.x), 2, slices.Concat(f.w...))
			for len(is) > order {
				from, to, best := -1, -1, math.Inf(1)
				for _, j := range is {
					for _, i := range literal.Without(is, j) {
						rest := f.k(j, j) - f.k(i, j)*f.k(i, j)/f.k(i, i)
						if e := rest * mat.Dot(w.RowView(j), w.RowView(j)); e < best {
							from, to, best = j, i, e
						}
					}
				}
				share := f.k(from, to) / f.k(to, to)
				w.SetRow(to, []float64{w.At(to, 0) + share*w.At(from, 0), w.At(to, 1) + share*w.At(from, 1)})
				is = literal.Without(is, from)
			}
			check(t, "nearest", s, is)
			for _, j := range is {
				if got, want := s.Weights(j), w.RawRowView(j); !(math.Hypot(got[0]-want[0], got[1]-want[1]) <= 1e-12) {
					t.Errorf("seed %d, %s: weights %v of element %d, want %v", seed, k.Name(), got, j, want)
				}
			}
		}
	}
}

// Of equal elements the first leaves, and of equal neighbours the first gets its weights.
func TestEquals(t *testing.T) {
	f := draw(1, 5, 3)
	for _, j := range []int{1, 3, 5} {
		f.w[j] = []float64{0, 0} // its removal costs nothing
	}
	for _, name := range []string{"nearest", "komp-order", "komp-loss"} {
		check(t, name, f.prune(t, name, prune.Params{"order": 6}), []int{0, 2, 4, 5, 6, 7})
	}
	// Three points on a line; the one in the middle is the lightest.
	f = draw(1, 3, 0)
	f.x, f.w = [][]float32{{0, 0}, {1, 0}, {-1, 0}}, [][]float64{{0.1, 0}, {1, 0}, {1, 0}}
	check(t, "merging", f.prune(t, "merging", prune.Params{"order": 2}), []int{2, 3})
	s := f.prune(t, "nearest", prune.Params{"order": 2})
	if check(t, "nearest", s, []int{1, 2}); s.Weights(1)[0] == 1 || s.Weights(2)[0] != 1 {
		t.Errorf("nearest: weights %v and %v, want those of the first changed", s.Weights(1), s.Weights(2))
	}
}

// komp-loss decides by the loss of the projected function on the previous mini-batch.
func TestLossLookAhead(t *testing.T) {
	for seed := range uint64(10) {
		f, before := draw(seed, 6, 2), draw(seed+100, 0, 9)
		before.x, before.w = before.x[:5], before.w[:5] // the others had no gradient
		i := find(t, "komp-loss", prune.Params{"order": 2})
		before.pruneBy(t, i)
		s := f.pruneBy(t, i)
		best := f.greedily(2, func(is []int, j int) float64 {
			_, w := f.project(literal.Without(is, j), 0)
			return f.lossOf(literal.Without(is, j), w, before)
		})
		check(t, "komp-loss", s, best)

		// Removing an element with zero weights does not change the loss: the first one leaves.
		for j := range f.w {
			f.w[j] = []float64{0, 0}
		}
		i = find(t, "komp-loss", prune.Params{"order": 7})
		before.pruneBy(t, i)
		check(t, "komp-loss of equals", f.pruneBy(t, i), literal.Without(f.all(), 0))
	}
}

// lossOf returns the loss on the samples of another function's step.
func (f *function) lossOf(is []int, w *mat.Dense, on *function) float64 {
	var sum float64
	for i, y := range on.step.Y {
		score := make([]float64, 2)
		for a, j := range is {
			k := gaussian.Eval(on.step.X[2*i:2*i+2], f.x[j])
			score[0] += k * w.At(a, 0)
			score[1] += k * w.At(a, 1)
		}
		sum += loss.MultiLogistic{}.Value(score, y)
	}
	return sum
}

// After one removal, komp-merge leaves the cheaper of two projections of f̃: on all elements but
// one, or on all but two and a point between these. The test solves the normal equations.
func TestKOMPMerge(t *testing.T) {
	merged := 0
	for seed := range uint64(30) {
		f := draw(seed, 6, 3) // 9, so that all others are tried as partners
		order := prune.Params{"order": 8}
		cheapest, single := -1, math.Inf(1)
		for j := range f.x {
			if e, _ := f.project(literal.Without(f.all(), j), 0); e < single {
				cheapest, single = j, e
			}
		}
		s := f.prune(t, "komp-merge-order", order)
		if s.Len() != 8 {
			t.Fatalf("seed %d: %d elements are left", seed, s.Len())
		}
		if !(s.Spent() <= single+1e-9) {
			t.Errorf("seed %d: it spends %v, and %v is enough", seed, s.Spent(), single)
		}
		is := left(s)
		if is[len(is)-1] < 9 { // nothing has entered, or it has left again
			check(t, "komp-merge-order", s, literal.Without(f.all(), cheapest))
			continue
		}
		merged++
		g := *f
		g.x, g.w = append(slices.Clone(f.x), s.Point(9)), append(slices.Clone(f.w), []float64{0, 0})
		e, w := g.project(is, 0)
		if !(math.Abs(e-s.Spent()) <= 1e-9) {
			t.Errorf("seed %d: it spends %v, and the best approximation has an error of %v", seed, s.Spent(), e)
		}
		for a, i := range is {
			for c, v := range s.Weights(i) {
				if !(math.Abs(v-w.At(a, c)) <= 1e-6) {
					t.Errorf("seed %d: element %d has weights %v", seed, i, s.Weights(i))
				}
			}
		}
		if s.Present(cheapest) {
			t.Errorf("seed %d: %v left, and %d is the cheapest", seed, is, cheapest)
		}
	}
	if merged < 5 || merged > 25 {
		t.Errorf("%d of 30 are merged: the test shows little", merged)
	}
}

func norm(w []float64) float64 { return w[0]*w[0] + w[1]*w[1] }
