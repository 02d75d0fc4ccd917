package polk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/internal/gemm"
	"polkrepro/internal/race"
	"polkrepro/kernel"
	"polkrepro/polk/internal/literal"
	"polkrepro/polk/prune"
)

// A problem is a random f̃: M old elements, m new ones, weights, and a budget.
type problem struct {
	f   *kernel.Expansion // the old elements
	x   [][]float32       // the new ones
	w   [][]float64
	eps float64
}

func randomProblem(r *rand.Rand) problem {
	dim, c := 1+r.IntN(6), 1+r.IntN(6)
	m, n := r.IntN(16), r.IntN(9)
	if m+n == 0 {
		n = 1
	}
	width := 0.4 + 1.6*r.Float64()
	p := problem{f: kernel.NewExpansion(kernel.Gaussian{Bandwidth: width}, dim, c)}
	var all [][]float32
	point := func() []float32 {
		x := make([]float32, dim)
		for i := range x {
			x[i] = float32(4 * r.Float64())
		}
		if len(all) > 0 && r.IntN(3) == 0 { // a near-duplicate
			copy(x, all[r.IntN(len(all))])
			x[r.IntN(dim)] += float32(math.Pow(10, -1-2.5*r.Float64()))
		}
		all = append(all, x)
		return x
	}
	weights := func(scale float64) []float64 {
		w := make([]float64, c)
		for i := range w {
			w[i] = scale * (2*r.Float64() - 1)
		}
		return w
	}
	for range m {
		p.f.Append(point(), weights(1))
	}
	for range n {
		p.x = append(p.x, point())
		p.w = append(p.w, weights(0.2))
	}
	p.eps = math.Pow(10, -3+3.5*r.Float64()) * math.Sqrt(float64(c))
	return p
}

// union returns f̃ with all M+m elements.
func (p problem) union() *kernel.Expansion {
	f := p.f.Clone()
	for i, x := range p.x {
		f.Append(x, p.w[i])
	}
	return f
}

// atLeast is KOMP of a budget that keeps a number of elements.
type atLeast struct {
	order int
	eps   float64
}

func (p atLeast) Prune(ctx context.Context, s prune.InverseState) error {
	return prune.Pursue(ctx, s, p.order, func(j int) bool { return s.Spent()+s.Cost(j) <= p.eps*p.eps })
}

// incremental projects the problem as a learner's step does, but keeps at least minOrder
// elements.
func (p problem) incremental(minOrder int) (*kernel.Expansion, []int, *komp) {
	f := p.f.Clone()
	k := &komp{dict: dictionary{f: f, threads: 1}, in: newEntering(f.Dict.Dim())}
	k.dict.load()
	n, m, in := len(p.x), f.Order(), &k.in
	in.clear(f.Outputs)
	in.toDict, in.gram = gemm.NewMatrix[float64](n, m), gemm.NewMatrix[float64](n, n)
	K := literal.NewPursuit(p.union(), true).K
	for i := range n {
		copy(in.append(i, p.x[i]), p.w[i])
		copy(in.toDict.Row(i), K.RawRowView(m + i)[:m])
		copy(in.gram.Row(i), K.RawRowView(m + i)[m:])
	}
	k.begin()
	k.project(context.Background(), atLeast{minOrder, p.eps})
	return f, slices.Clone(k.removed), k
}

// TestOracle: on 1,000 random problems over dimension, order, classes, budget and near-duplicates,
// both entry points remove the same elements as the printed Algorithm 1, in the same order, and
// leave the same weights to 1e-8. Problems whose outcome depends on a relative difference below
// 1e-9 (ties) are redrawn. A least order, which ends the removals early and so leaves
// near-duplicates, is tested only where the squared distance of each element to the span of the
// others is above 1e-7. (The race detector gets a tenth of the problems.)
func TestOracle(t *testing.T) {
	problems := 1000
	if race.Enabled {
		problems = 100 // the others are for the run without the race detector
	}
	r := rand.New(rand.NewPCG(1, 2))
	ties := 0
	for done := 0; done < problems; {
		p := randomProblem(r)
		u := p.union()
		apart := separation(u)
		if apart < 1e-10 {
			continue
		}
		stays, weights, want, seen := literal.NewPursuit(u, true).Algorithm1(p.eps)
		if tie(seen, p.eps) < 1e-9 {
			ties++
			continue
		}
		done++
		approx, removed, _ := Project(u, p.eps)
		compare(t, fmt.Sprintf("problem %d, Project", done), u, approx, removed, want, stays, weights)
		f, removed, _ := p.incremental(0)
		compare(t, fmt.Sprintf("problem %d, step", done), u, f, removed, want, stays, weights)
		if apart > 1e-7 {
			least := r.IntN(u.Order() + 1)
			want = want[:min(len(want), u.Order()-least)]
			stays, weights = lessRemoved(literal.NewPursuit(u, true), want)
			f, removed, _ = p.incremental(least)
			compare(t, fmt.Sprintf("problem %d, step to order %d", done, least), u, f, removed, want, stays, weights)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if ties > problems/10 {
		t.Errorf("%d of the problems were ties", ties)
	}
}

// lessRemoved returns the elements and weights that Algorithm 1 leaves after the given removals.
func lessRemoved(p *literal.Pursuit, removed []int) (I []int, w *mat.Dense) {
	for k := range p.WTilde.RawMatrix().Rows {
		if !slices.Contains(removed, k) {
			I = append(I, k)
		}
	}
	_, w = p.Approximate(I)
	return I, w
}

// TestOrthogonalElements: for K = I the removals, their order and their cost are known without
// rounding, also for equal weights and for budgets and orders that are met exactly. The smallest
// weight leaves first, the first element of equals, while the sum of the squares is at most ε² and
// more elements than the least order are left. The other elements keep their weights.
func TestOrthogonalElements(t *testing.T) {
	below := func(v float64) float64 { return math.Nextafter(v, 0) }
	for _, c := range []struct {
		weights []float64
		budgets []float64 // in addition to 0 and +Inf
	}{
		{[]float64{12, 3, 84, 4}, []float64{below(3), 3, below(5), 5, below(13), 13, below(85), 85}},
		{[]float64{4, -3, -12}, []float64{below(3), 3, below(5), 5, below(13), 13}},
		{[]float64{1, 1, 1, 1}, []float64{below(1), 1, below(2), 2}},
		{[]float64{2, 2, 1, 4}, []float64{below(3), 3, below(5), 5}},
	} {
		total := len(c.weights)
		for old := range total + 1 {
			p := problem{f: kernel.NewExpansion(kernel.Polynomial{Degree: 1}, total, 1)}
			for i, w := range c.weights {
				x := make([]float32, total)
				x[i] = 1
				if i < old {
					p.f.Append(x, []float64{w})
				} else {
					p.x, p.w = append(p.x, x), append(p.w, []float64{w})
				}
			}
			for _, eps := range append(c.budgets, 0, math.Inf(1)) {
				for least := range total + 1 {
					var want []int
					var spent float64
					for len(want) < total-least {
						j := -1
						for i, w := range c.weights {
							if !slices.Contains(want, i) && (j < 0 || math.Abs(w) < math.Abs(c.weights[j])) {
								j = i
							}
						}
						if spent+c.weights[j]*c.weights[j] > eps*eps {
							break
						}
						spent += c.weights[j] * c.weights[j]
						want = append(want, j)
					}
					p.eps = eps
					u := p.union()
					f, removed, k := p.incremental(least)
					if !slices.Equal(removed, want) || k.squaredError != spent || f.Order() != total-len(want) {
						t.Errorf("weights %v, %d old, ε = %v, order at least %d: removed %v at %v, want %v at %v", c.weights, old, eps, least, removed, k.squaredError, want, spent)
					}
					for i, w := range c.weights {
						if j := find(f, u.Dict.At(i)); (j < 0) != slices.Contains(want, i) || j >= 0 && f.Weights(j)[0] != w {
							t.Errorf("weights %v, %d old, ε = %v, order at least %d: element %d", c.weights, old, eps, least, i)
						}
					}
				}
			}
		}
	}
}

// TestCostsNearDependence: the diagonal of K_II⁻¹ after removals, which determines the next one, is
// one over the squared distance to the span of the others. This holds even after the removal of a
// near-duplicate that made the diagonal 10⁸ to 10¹⁰ times as large, where a subtraction would
// leave at most seven digits. The resulting function is the best approximation to eleven digits,
// where K⁻¹ has as few as seven, also for a dictionary without new elements.
func TestCostsNearDependence(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	checked := 0
	for trial := range 50 {
		p := problem{f: kernel.NewExpansion(kernel.Gaussian{Bandwidth: 0.7}, 2, 1), eps: 0.5 * r.Float64()}
		for i := range 5 {
			x := []float32{float32(2*i) + 0.5*r.Float32(), r.Float32()}
			if w := []float64{1 + r.Float64()}; r.IntN(2) == 0 {
				p.f.Append(x, w)
			} else {
				p.x, p.w = append(p.x, x), append(p.w, w)
			}
			p.x = append(p.x, []float32{x[0] + float32(math.Pow(10, -4-0.5*r.Float64())), x[1]})
			p.w = append(p.w, []float64{1 + r.Float64()})
		}
		if trial%5 == 0 { // all of them are old, and the kernel is a million times as large
			p.f, p.x, p.w, p.eps = p.union(), nil, nil, 1000*p.eps
			g := p.f.Kernel
			p.f.Kernel = function(func(x, y []float32) float64 { return 1e6 * g.Eval(x, y) })
		}
		u := p.union()
		f, removed, k := p.incremental(0)
		if len(removed) == 0 {
			t.Error("nothing was removed")
		}
		best := kernel.NewExpansion(p.f.Kernel, 2, 1)
		stay, weights := lessRemoved(literal.NewPursuit(u, true), removed)
		for _, j := range stay {
			best.Append(u.Dict.At(j), weights.RawRowView(j))
		}
		if d, _ := distance(best, f); !(d <= 1e-11*size(best)) {
			t.Errorf("trial %d: ‖f − f*‖ is %v, of weights of %v", trial, d, size(best))
		}
		for j, on := range k.present {
			if !on || j < p.f.Order() && len(p.x) == 0 { // without new elements, R̂ is empty and Q_jj is a difference, which cancels
				continue
			}
			at := find(f, u.Dict.At(j))
			one := literal.NewPursuit(f, true)
			one.WTilde.Zero()
			one.WTilde.Set(at, 0, 1)
			others, _ := lessRemoved(one, []int{at})
			dist, _ := one.Approximate(others)
			if d := k.invDiag[j] * dist * dist; !(math.Abs(d-1) <= 1e-10) {
				t.Errorf("element %d of %d: [K⁻¹]_jj times the squared distance is 1 %+.1e", j, len(k.present), d-1)
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("only %d elements were checked", checked)
	}
}

// TestFolding: of new elements that are copies of others, exactly or to rounding, one of each kind
// stays; of exact copies, the first. The removed elements are listed. The function changes by at
// most the sum of ‖w_i‖ times the distance of each to the span of the elements that stay, and this
// sum is the reported cost, as far as rounding permits. The kernel's scale does not affect which
// elements count as copies.
func TestFolding(t *testing.T) {
	g := kernel.Gaussian{Bandwidth: 0.7}
	r := rand.New(rand.NewPCG(9, 9))
	for _, scale := range []float64{1, 1e-6, 1e6} {
		for _, old := range []int{0, 3} {
			p := problem{f: kernel.NewExpansion(function(func(x, y []float32) float64 { return scale * g.Eval(x, y) }), 2, 2)}
			weights := func() []float64 { return []float64{r.NormFloat64(), r.NormFloat64()} }
			add := func(x []float32) { p.x, p.w = append(p.x, x), append(p.w, weights()) }
			var all [][]float32
			for i := range 6 {
				x := []float32{float32(i % 3), float32(i/3) + 0.5*r.Float32()}
				all = append(all, x)
				if i < old {
					p.f.Append(x, weights())
				} else {
					add(x)
				}
			}
			exact, near := 6-old, 8-old // indices of the copies below among the new elements
			add(all[1])
			add(all[4])
			add([]float32{all[2][0], all[2][1] + 4e-7})
			add([]float32{all[5][0], all[5][1] + 4e-7})
			u := p.union()
			f, removed, k := p.incremental(0)
			if len(removed) != 4 || f.Order() != 6 || !slices.Contains(removed, old+exact) || !slices.Contains(removed, old+exact+1) || k.dict.health.Folded != 4 {
				t.Errorf("scale %v, %d old: order %d, removed %v, folded %d", scale, old, f.Order(), removed, k.dict.health.Folded)
				continue
			}
			for i, first := range []int{2, 5} {
				copied := old + near + i
				if slices.Contains(removed, copied) == slices.Contains(removed, first) || first < old && slices.Contains(removed, first) {
					t.Errorf("scale %v, %d old: removed %v, want one of %d and %d", scale, old, removed, first, copied)
				}
			}
			one := literal.NewPursuit(u, true)
			stay, _ := lessRemoved(one, removed)
			var want float64
			for _, j := range removed {
				one.WTilde.Zero()
				one.WTilde.Set(j, 0, math.Sqrt(sumSquares(u.Weights(j))))
				d, _ := one.Approximate(stay)
				want += d
			}
			dist, _ := distance(u, f)
			if got := math.Sqrt(k.squaredError); !(math.Abs(got-want) <= 0.1*want) || !(dist <= 1.1*want) {
				t.Errorf("scale %v, %d old: an error of %v is said to be %v, at most %v", scale, old, dist, got, want)
			}
		}
	}
}

// TestFoldingNextToZero: an element with κ(x, x) = 0, or nearly 0, is the only one that is lost.
func TestFoldingNextToZero(t *testing.T) {
	for _, c := range []struct {
		x      [][]float32
		folded int
	}{
		{[][]float32{{0, 0}, {1, 0}, {0, 1}}, 1},
		{[][]float32{{1, 0}, {0, 0}, {0, 1}}, 1},
		{[][]float32{{1, 0}, {0, 1}, {0, 0}}, 1},
		{[][]float32{{1e-21, 0}, {0, 1e-21}, {1, 1}}, 0},
	} {
		p := problem{f: kernel.NewExpansion(kernel.Polynomial{Degree: 4}, 2, 1), x: c.x, w: [][]float64{{1}, {-2}, {3}}, eps: 1e-9}
		u := p.union()
		f, _, k := p.incremental(0)
		if !(k.squaredError <= p.eps*p.eps) || k.dict.health.Folded != c.folded {
			t.Errorf("%v: the error is said to be %v, folded %d", c.x, math.Sqrt(k.squaredError), k.dict.health.Folded)
		}
		for _, x := range c.x {
			if got, want := f.Score(x)[0], u.Score(x)[0]; !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("%v: f(%v) = %v, want %v", c.x, x, got, want)
			}
		}
	}
}

// TestCholeskyOfSingular: a squared pivot of 0 becomes 1e-15 of its diagonal element, and the
// upper triangle is not read.
func TestCholeskyOfSingular(t *testing.T) {
	a := []float64{
		4, math.NaN(), math.NaN(),
		6, 9, math.NaN(),
		2, 3, 26,
	}
	cholesky(gemm.MatrixOf(3, 3, a), new(komp).ended)
	if !(math.Abs(a[4]*a[4]-9e-15) <= 1e-27) || !slices.Equal([]float64{a[0], a[3], a[6], a[7], a[8]}, []float64{2, 3, 1, 0, 5}) {
		t.Errorf("%v", a)
	}
}

// separation returns the smallest squared distance of an element to the span
// of the others, 1/max_j [K⁻¹]_jj.
func separation(u *kernel.Expansion) float64 {
	dict := dictionary{f: u, threads: 1}
	dict.load()
	d := 1.0
	for _, p := range dict.inverse.diag[:dict.inverse.order()] {
		d = min(d, 1/p)
	}
	if dict.health.Dropped > 0 {
		return 0
	}
	return d
}

// compare checks removals, and weights to 1e-8 of the largest.
func compare(t *testing.T, name string, u, f *kernel.Expansion, got, want, stays []int, weights *mat.Dense) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: removed %v, the printed algorithm %v", name, got, want)
		return
	}
	if f.Order() != len(stays) {
		t.Errorf("%s: %d elements stay, want %d", name, f.Order(), len(stays))
		return
	}
	var diff, scale float64
	for _, p := range stays {
		j := find(f, u.Dict.At(p))
		if j < 0 {
			t.Errorf("%s: element %d is gone", name, p)
			return
		}
		for q, v := range weights.RawRowView(p) {
			diff = max(diff, math.Abs(v-f.Weights(j)[q]))
			scale = max(scale, math.Abs(v))
		}
	}
	if !(diff <= 1e-8*scale) {
		t.Errorf("%s: weights differ by %.2e of the largest", name, diff/scale)
	}
}

func find(f *kernel.Expansion, x []float32) int {
	for j := range f.Order() {
		if slices.Equal(f.Dict.At(j), x) {
			return j
		}
	}
	return -1
}
