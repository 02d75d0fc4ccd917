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

// maxRank bounds the vectors by which P is ahead of its base: adding 32 of
// them at once is bound by arithmetic, one or two by memory.
const maxRank = 32

// gram holds the Gram matrix K = K_DD of a dictionary and P = K⁻¹. Both are
// symmetric. P is kept as base + Σ_i sign_i·v_i·v_iᵀ: the few vectors of a step
// are added to the base many steps at a time.
type gram struct {
	m, ld int
	k     []float64 // m×m, row stride ld
	base  []float64 // m×m, row stride ld
	self  []float64 // diagonal of K
	diag  []float64 // diagonal of P

	rank int
	sign [maxRank]float64
	v    []float64 // rank×m, row stride ld
	vt   []float64 // m×rank, row stride maxRank: the transpose of v
	coef []float64 // scratch
}

func (g *gram) rowK(i int) []float64 { return g.k[i*g.ld : i*g.ld+g.m] }
func (g *gram) rowB(i int) []float64 { return g.base[i*g.ld : i*g.ld+g.m] }
func (g *gram) rowV(i int) []float64 { return g.v[i*g.ld : i*g.ld+g.m] }

// column writes column j of P to dst, m long.
func (g *gram) column(dst []float64, j int) {
	copy(dst, g.rowB(j))
	for i := range g.rank {
		gemm.Axpy(g.sign[i]*g.v[i*g.ld+j], g.rowV(i), dst)
	}
}

// mulP sets dst = beta·dst + a·P for a and dst of n×m.
func (g *gram) mulP(n int, a []float64, beta float64, dst []float64, threads int) {
	m, r := g.m, g.rank
	gemm.MulABT(n, m, m, 1, a, m, g.base, g.ld, beta, dst, m, threads)
	if r == 0 {
		return
	}
	g.coef = grow(g.coef, n*r)
	gemm.MulABT(n, r, m, 1, a, m, g.v, g.ld, 0, g.coef, r, threads)
	for i, v := range g.coef {
		g.coef[i] = v * g.sign[i%r]
	}
	gemm.MulABT(n, m, r, 1, g.coef, r, g.vt, maxRank, 1, dst, m, threads)
}

// add returns room for the next vector v, to be filled by the caller and made
// part of P by added.
func (g *gram) add(sign float64, threads int) []float64 {
	if g.rank == maxRank {
		g.flush(threads)
	}
	g.sign[g.rank] = sign
	g.rank++
	return g.rowV(g.rank - 1)
}

func (g *gram) added() {
	i := g.rank - 1
	for j, v := range g.rowV(i) {
		g.vt[j*maxRank+i] = v
		g.diag[j] += g.sign[i] * v * v
	}
}

// settle flushes where waiting for more vectors does not pay: every product
// with P costs as much more as the vectors are to the order.
func (g *gram) settle(threads int) {
	if 16*g.rank > g.m || g.rank > maxRank/2 {
		g.flush(threads)
	}
}

// flush adds the vectors to the base.
func (g *gram) flush(threads int) {
	m, r := g.m, g.rank
	if r > 0 && m > 0 {
		g.coef = grow(g.coef, m*r)
		for j := range m {
			for i, s := range g.sign[:r] {
				g.coef[j*r+i] = s * g.vt[j*maxRank+i]
			}
		}
		gemm.MulABT(m, m, r, 1, g.coef, r, g.vt, maxRank, 1, g.base, g.ld, threads)
		g.readDiagonal()
	}
	g.rank = 0
}

func (g *gram) readDiagonal() {
	for j := range g.m {
		g.diag[j] = g.base[j*g.ld+j]
	}
}

// reserve makes room for n elements.
func (g *gram) reserve(n int) {
	if n > g.ld {
		g.resize((n + n/2 + 64) &^ 7)
	}
}

// resize makes ld, larger than it is, the row stride.
func (g *gram) resize(ld int) {
	g.k, g.base = restride(g.k, g.m, g.m, g.ld, ld, ld), restride(g.base, g.m, g.m, g.ld, ld, ld)
	g.v = restride(g.v, g.rank, g.m, g.ld, maxRank, ld)
	g.vt = append(g.vt, make([]float64, ld*maxRank-len(g.vt))...)
	g.self = append(g.self, make([]float64, ld-len(g.self))...)
	g.diag = append(g.diag, make([]float64, ld-len(g.diag))...)
	g.ld = ld
}

// restride copies a rows×cols matrix of row stride from to a zero one of size
// size×to.
func restride(a []float64, rows, cols, from, size, to int) []float64 {
	b := make([]float64, size*to)
	for i := range rows {
		copy(b[i*to:i*to+cols], a[i*from:i*from+cols])
	}
	return b
}

// remove deletes row and column j; the last ones take their place.
func (g *gram) remove(j int) {
	last := g.m - 1
	for _, a := range [][]float64{g.k, g.base} {
		copy(a[j*g.ld:j*g.ld+g.m], a[last*g.ld:last*g.ld+g.m])
		for i := range last {
			a[i*g.ld+j] = a[i*g.ld+last]
		}
		a[j*g.ld+j] = a[last*g.ld+last]
	}
	g.self[j], g.diag[j] = g.self[last], g.diag[last]
	for i := range g.rank {
		g.v[i*g.ld+j] = g.v[i*g.ld+last]
	}
	copy(g.vt[j*maxRank:(j+1)*maxRank], g.vt[last*maxRank:])
	g.m = last
}

// append adds a row and column to K, and zeros to P: the new element enters P
// with vectors. row holds κ between the new element and the m old ones.
func (g *gram) append(row []float64, self float64) {
	g.reserve(g.m + 1)
	m := g.m
	copy(g.k[m*g.ld:], row[:m])
	clear(g.base[m*g.ld : m*g.ld+m+1])
	for i := range m {
		g.k[i*g.ld+m] = row[i]
		g.base[i*g.ld+m] = 0
	}
	g.k[m*g.ld+m] = self
	g.self[m], g.diag[m] = self, 0
	for i := range g.rank {
		g.v[i*g.ld+m] = 0
	}
	clear(g.vt[m*maxRank : (m+1)*maxRank])
	g.m++
}

// invert computes P from K by a Cholesky factorization. It reports false, and
// leaves P as it was, if a pivot is below tol times its diagonal element: then
// K is numerically singular.
func (g *gram) invert(tol float64) bool {
	m := g.m
	g.rank = 0
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
			g.base[i*g.ld+j], g.base[j*g.ld+i] = v, v
		}
	}
	g.readDiagonal()
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
		g.mulP(1, res, 1, c, 1)
		for i := range res {
			res[i] = v[i] - gemm.Dot(g.rowK(i), c)
		}
	}
	return c, max(self-dot(c, v)-dot(c, res), 0)
}

// load computes K and P for the dictionary of k.f.
func (k *komp) load() {
	k.g = gram{}
	k.g.reserve(k.f.Order())
	k.computeK()
	k.probe, k.settled, k.residual, k.wait = 0, 0, 0, 0
	k.repair(&batch{})
}

// computeK computes K for the dictionary of k.f, a few rows at a time: the bits
// of a value depend on the two elements alone. P is left to be filled in, and k.g
// has room.
func (k *komp) computeK() {
	const rows = 64
	m, dim := k.f.Order(), k.f.Dict.Dim()
	k.g.m = m
	x := make([]float64, min(m, rows)*dim)
	for lo := 0; lo < m; lo += rows {
		n := min(rows, m-lo)
		for i := range n {
			kernel.Widen(x[i*dim:(i+1)*dim], k.f.Dict.At(lo+i))
		}
		k.f.Dict.Block64(k.f.Kernel, n, x, k.g.k[lo*k.g.ld:], k.g.ld, k.threads)
	}
	for i := range m {
		k.g.self[i] = k.f.Kernel.Self(k.f.Dict.At(i)) + k.ridge
		k.g.k[i*k.g.ld+i] = k.g.self[i]
	}
}
