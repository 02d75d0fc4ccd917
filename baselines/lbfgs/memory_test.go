package lbfgs

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/kernel"
)

// TestDirectionAgainstDenseBFGS compares with the pairs' inverse Hessian, built as a matrix. In
// the coordinates β = Lᵀα, with K = LLᵀ, the Hilbert space's inner product is Euclidean. Plain
// vectors have the Euclidean inner product in their own coordinates.
func TestDirectionAgainstDenseBFGS(t *testing.T) {
	for _, plain := range []bool{false, true} {
		directionAgainstDenseBFGS(t, plain)
	}
}

func directionAgainstDenseBFGS(t *testing.T, plain bool) {
	t.Helper()
	const n, dim, size = 12, 2, 4
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, n*dim)
	for i := range x {
		x[i] = float32(10 * r.Float64())
	}
	gram := denseGram(kernel.Gaussian{Bandwidth: 0.6}, x, dim)
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		t.Fatal("K is singular")
	}
	random := func() element {
		if plain {
			return element{w: uniform(r, n)}
		}
		e := element{uniform(r, n), make([]float64, n)}
		mat.NewVecDense(n, e.kw).MulVec(gram, mat.NewVecDense(n, e.w))
		return e
	}
	var l mat.TriDense
	chol.LTo(&l)
	whiten := func(e element) *mat.VecDense {
		if plain {
			return mat.NewVecDense(n, e.w)
		}
		var b mat.VecDense
		b.MulVec(l.T(), mat.NewVecDense(n, e.w))
		return &b
	}
	m := &memory{vectors: vectors{threads: 2}, size: size, plain: plain}
	var kept []pair
	for range size + 3 {
		p := m.take(n)
		s, y := random(), random()
		if m.inner(s, y) < 0 {
			m.scale(s, -1, s)
		}
		m.scale(p.s, 1, s)
		m.scale(p.y, 1, y)
		m.push(p)
		kept = append(kept, pair{s: s, y: y})
	}
	if len(m.pairs) != size {
		t.Fatalf("%d pairs kept, want %d", len(m.pairs), size)
	}
	kept = kept[len(kept)-size:]
	g, d := random(), newElement(n)
	if plain {
		d.kw = nil
	}
	m.direction(d, g)
	h := denseBFGS(n, kept, whiten)
	var want mat.VecDense
	want.MulVec(h, whiten(g))
	got := whiten(d)
	for i := range n {
		if !(math.Abs(got.AtVec(i)+want.AtVec(i)) <= 1e-9*(1+math.Abs(want.AtVec(i)))) {
			t.Fatalf("direction %d is %v, want %v", i, got.AtVec(i), -want.AtVec(i))
		}
	}
	if plain {
		return
	}
	image := make([]float64, n)
	mat.NewVecDense(n, image).MulVec(gram, mat.NewVecDense(n, d.w))
	compare(t, "the direction's image under K", d.kw, image, 1e-9)
}

// denseBFGS applies H ← (I − ρsyᵀ) H (I − ρysᵀ) + ρssᵀ for each pair, starting from
// H = ⟨s, y⟩/⟨y, y⟩·I of the last pair.
func denseBFGS(n int, pairs []pair, whiten func(element) *mat.VecDense) *mat.Dense {
	h := mat.NewDense(n, n, nil)
	last := pairs[len(pairs)-1]
	s, y := whiten(last.s), whiten(last.y)
	for i := range n {
		h.Set(i, i, mat.Dot(s, y)/mat.Dot(y, y))
	}
	for _, p := range pairs {
		s, y := whiten(p.s), whiten(p.y)
		rho := 1 / mat.Dot(s, y)
		var left, outer, next mat.Dense
		left.Outer(-rho, s, y)
		for i := range n {
			left.Set(i, i, left.At(i, i)+1)
		}
		next.Mul(&left, h)
		next.Mul(&next, left.T())
		outer.Outer(rho, s, s)
		h.Add(&next, &outer)
	}
	return h
}

// TestMemoryRefusesNegativeCurvature: a pair with ⟨s, y⟩ ≤ 0 would make H
// indefinite.
func TestMemoryRefusesNegativeCurvature(t *testing.T) {
	m := &memory{vectors: vectors{threads: 1}, size: 2}
	p := m.take(1)
	p.s.w[0], p.s.kw[0], p.y.w[0], p.y.kw[0] = 1, 1, -1, -1
	m.push(p)
	if len(m.pairs) != 0 {
		t.Errorf("%d pairs", len(m.pairs))
	}
	// A refused pair takes no other pair's place.
	for _, y := range []float64{1, 2, -3, 4} {
		p := m.take(1)
		p.s.w[0], p.s.kw[0], p.y.w[0], p.y.kw[0] = 1, 1, y, y
		m.push(p)
		if y == -3 && (len(m.pairs) != 2 || m.pairs[0].y.w[0] != 1 || m.pairs[1].y.w[0] != 2) {
			t.Errorf("after a refusal: %v", m.pairs)
		}
	}
	if len(m.pairs) != 2 || m.pairs[0].y.w[0] != 2 || m.pairs[1].y.w[0] != 4 {
		t.Errorf("of four pairs, one refused: %v", m.pairs)
	}
}
