package polk

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

// gram holds the Gram matrix K = K_DD of a dictionary and P = K⁻¹, both
// symmetric and stored in full, in the leading m×m part of row-major buffers
// with row stride ld.
type gram struct {
	m, ld int
	k, p  []float64
}

func (g *gram) rowK(i int) []float64 { return g.k[i*g.ld : i*g.ld+g.m] }
func (g *gram) rowP(i int) []float64 { return g.p[i*g.ld : i*g.ld+g.m] }

// reserve makes room for n elements.
func (g *gram) reserve(n int) {
	if n <= g.ld {
		return
	}
	ld := (n + n/2 + 64) &^ 7
	g.k, g.p = restride(g.k, g.m, g.ld, ld), restride(g.p, g.m, g.ld, ld)
	g.ld = ld
}

func restride(a []float64, m, from, to int) []float64 {
	b := make([]float64, to*to)
	for i := range m {
		copy(b[i*to:i*to+m], a[i*from:i*from+m])
	}
	return b
}

// remove deletes row and column j of both matrices; the last ones take their
// place.
func (g *gram) remove(j int) {
	last := g.m - 1
	for _, a := range [][]float64{g.k, g.p} {
		copy(a[j*g.ld:j*g.ld+g.m], a[last*g.ld:last*g.ld+g.m])
		for i := range last {
			a[i*g.ld+j] = a[i*g.ld+last]
		}
		a[j*g.ld+j] = a[last*g.ld+last]
	}
	g.m = last
}

// appendK adds a row and column to K; P's new row and column are the caller's
// to fill. row holds κ between the new element and the m old ones.
func (g *gram) appendK(row []float64, self float64) {
	g.reserve(g.m + 1)
	m := g.m
	copy(g.k[m*g.ld:], row[:m])
	for i := range m {
		g.k[i*g.ld+m] = row[i]
	}
	g.k[m*g.ld+m] = self
	g.m++
}

// invert computes P from K by a Cholesky factorization. It reports false, and
// leaves P as it was, if a pivot is below tol times its diagonal element: then
// K is numerically singular.
func (g *gram) invert(tol float64) bool {
	m := g.m
	if m == 0 {
		return true
	}
	a := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: make([]float64, m*m)}
	for i := range m {
		copy(a.Data[i*m:(i+1)*m], g.rowK(i))
	}
	t, ok := lapack64.Potrf(a)
	if !ok {
		return false
	}
	for i := range m {
		if d := t.Data[i*m+i]; !(d*d >= tol*g.rowK(i)[i]) {
			return false
		}
	}
	lapack64.Potri(t)
	for i := range m {
		for j := i; j < m; j++ {
			v := t.Data[i*m+j]
			g.p[i*g.ld+j], g.p[j*g.ld+i] = v, v
		}
	}
	return true
}

// dependent returns the elements that a Cholesky factorization with diagonal
// pivoting leaves over at tolerance tol: the squared distance of each to the
// span of the others is at most tol times the largest diagonal element.
func (g *gram) dependent(tol float64) []int {
	a := mat.NewSymDense(g.m, nil)
	var largest float64
	for i := range g.m {
		largest = max(largest, g.rowK(i)[i])
	}
	for i := range g.m {
		for j := i; j < g.m; j++ {
			a.SetSym(i, j, g.rowK(i)[j])
		}
	}
	var c mat.PivotedCholesky
	c.Factorize(a, tol*largest)
	return c.ColumnPivots(nil)[c.Rank():]
}

// coefficients returns the c that minimizes ‖κ(x, ·) − Σ c_i κ(d_i, ·)‖² and
// that minimum, for a point with kernel values v to the dictionary and
// self = κ(x, x). It is for an ill-conditioned K: the solution with P is
// refined by its residual, which P alone would leave as large as the condition.
func (g *gram) coefficients(v []float64, self float64) (c []float64, dist2 float64) {
	c = make([]float64, g.m)
	res := slices.Clone(v)
	for range 4 {
		for i := range c {
			c[i] += gemm.Dot(g.rowP(i), res)
		}
		for i := range res {
			res[i] = v[i] - gemm.Dot(g.rowK(i), c)
		}
	}
	return c, max(self-dot(c, v)-dot(c, res), 0)
}

// load computes K and P for the dictionary of k.f.
func (k *komp) load() {
	m, dim := k.f.Order(), k.f.Dict.Dim()
	k.g = gram{}
	k.g.reserve(m)
	k.g.m = m
	x := make([]float64, dim)
	for i := range m {
		kernel.Widen(x, k.f.Dict.At(i))
		k.f.Dict.Block64(k.f.Kernel, 1, x, k.g.rowK(i), m, 1)
		k.g.k[i*k.g.ld+i] = k.f.Kernel.Self(k.f.Dict.At(i))
	}
	k.probe, k.fresh = 0, 0
	k.repair(&batch{})
}
