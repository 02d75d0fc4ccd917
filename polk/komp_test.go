package polk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/kernel"
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

// incremental projects the problem as a learner's step does.
func (p problem) incremental() (*kernel.Expansion, []int, *komp) {
	f := p.f.Clone()
	k := &komp{f: f, threads: 1}
	k.load()
	n, m := len(p.x), f.Order()
	b := &batch{n: n, toDict: make([]float64, (n+1)*m), gram: make([]float64, n*n)}
	K := newPursuit(p.union(), true).K
	for i := range n {
		b.points = append(b.points, p.x[i]...)
		b.weights = append(b.weights, p.w[i]...)
		b.samples = append(b.samples, i)
		copy(b.toDict[i*m:(i+1)*m], K.RawRowView(m + i)[:m])
		copy(b.gram[i*n:(i+1)*n], K.RawRowView(m + i)[m:])
	}
	k.project(b, 0, p.eps*p.eps)
	return f, slices.Clone(k.removed), k
}

// TestOracle: on 1,000 random problems over dimension, order, classes, budget
// and near-duplicates, both entry points remove what the printed Algorithm 1
// removes, in the same order, and leave the same weights to 1e-8. Problems
// whose outcome hangs on a relative difference below 1e-9 (ties) are drawn
// again. (The race detector gets a tenth of them.)
func TestOracle(t *testing.T) {
	problems := 1000
	if raceEnabled {
		problems = 100 // the others are for the run without the race detector
	}
	r := rand.New(rand.NewPCG(1, 2))
	ties, singularOnes, removals, worst := 0, 0, 0, 0.0
	for done := 0; done < problems; {
		p := randomProblem(r)
		u := p.union()
		if separation(u) < 1e-10 {
			singularOnes++
			continue
		}
		stays, weights, want, seen := newPursuit(u, true).algorithm1(p.eps)
		if tie(seen, p.eps) < 1e-9 {
			ties++
			continue
		}
		done++
		removals += len(want)
		approx, removed, _ := Project(u, p.eps)
		worst = max(worst, compare(t, fmt.Sprintf("problem %d, Project", done), u, approx, removed, want, stays, weights))
		f, removed, _ := p.incremental()
		worst = max(worst, compare(t, fmt.Sprintf("problem %d, step", done), u, f, removed, want, stays, weights))
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d problems, %d removals, %d ties and %d nearly singular ones redrawn, largest relative difference of weights %.1e", problems, removals, ties, singularOnes, worst)
	if ties > problems/10 {
		t.Errorf("%d of the problems were ties", ties)
	}
}

// separation returns the smallest squared distance of an element to the span
// of the others, 1/max_j [K⁻¹]_jj.
func separation(u *kernel.Expansion) float64 {
	k := komp{f: u, threads: 1}
	k.load()
	d := 1.0
	for j := range k.inverse.order {
		d = min(d, 1/k.inverse.diag[j])
	}
	if k.health.Dropped > 0 {
		return 0
	}
	return d
}

// compare checks removals and weights and returns the largest difference of
// weights relative to the largest weight.
func compare(t *testing.T, name string, u, f *kernel.Expansion, got, want, stays []int, weights *mat.Dense) float64 {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: removed %v, the printed algorithm %v", name, got, want)
		return 0
	}
	if f.Order() != len(stays) {
		t.Errorf("%s: %d elements stay, want %d", name, f.Order(), len(stays))
		return 0
	}
	var diff, scale float64
	for _, p := range stays {
		j := find(f, u.Dict.At(p))
		if j < 0 {
			t.Errorf("%s: element %d is gone", name, p)
			return 0
		}
		for q, v := range weights.RawRowView(p) {
			diff = max(diff, math.Abs(v-f.Weights(j)[q]))
			scale = max(scale, math.Abs(v))
		}
	}
	if diff > 1e-8*scale {
		t.Errorf("%s: weights differ by %.2e of the largest", name, diff/scale)
	}
	if scale == 0 {
		return 0
	}
	return diff / scale
}

func find(f *kernel.Expansion, x []float32) int {
	for j := range f.Order() {
		if slices.Equal(f.Dict.At(j), x) {
			return j
		}
	}
	return -1
}
