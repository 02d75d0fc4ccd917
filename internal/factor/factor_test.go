package factor

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"polkrepro/internal/gemm"
)

const eps = 0x1p-53

// orders lie on both sides of the ends of one block and of several blocks.
var orders = []int{1, 2, 3, 7, blockSize - 1, blockSize, blockSize + 1, 2 * blockSize, 100, 145, 300}

// spectrum returns a random symmetric n×n matrix of row stride ld whose eigenvalues are
// values(0), …, values(n−1).
func spectrum(r *rand.Rand, n, ld int, values func(i int) float64) []float64 {
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, r.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q, scaled, a mat.Dense
	qr.QTo(&q)
	scaled.Apply(func(_, j int, v float64) float64 { return v * values(j) }, &q)
	a.Mul(&scaled, q.T())
	out := filled(n*ld, math.NaN())
	for i := range n {
		for j := range n {
			out[i*ld+j] = (a.At(i, j) + a.At(j, i)) / 2
		}
	}
	return out
}

// strided returns elements as a matrix of the given row stride.
func strided(rows, cols, stride int, data []float64) matrix {
	return gemm.Strided(rows, cols, stride, data)
}

func filled(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// lowerOf returns the lower triangle of a as a gonum matrix.
func lowerOf(n int, a []float64, ld int) *mat.Dense {
	l := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i + 1 {
			l.Set(i, j, a[i*ld+j])
		}
	}
	return l
}

func matrixOf(m, n int, a []float64, ld int) *mat.Dense {
	d := mat.NewDense(m, n, nil)
	for i := range m {
		d.SetRow(i, a[i*ld:i*ld+n])
	}
	return d
}

// difference returns the Frobenius norm of a − b.
func difference(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, 2)
}

// square returns a·aᵀ.
func square(a *mat.Dense) *mat.Dense {
	var product mat.Dense
	product.Mul(a, a.T())
	return &product
}

// condition returns n eigenvalues from 1 down to 1/k, with a constant ratio.
func condition(n int, k float64) func(int) float64 {
	return func(i int) float64 { return math.Pow(k, -float64(i)/float64(max(n-1, 1))) }
}

// TestCholesky checks that L·Lᵀ equals A to within a few n·ε of A's norm, whatever the
// condition of A, and that L equals gonum's factor as far as the condition allows. Elements
// beyond the triangle and between the rows have no influence.
func TestCholesky(t *testing.T) {
	for _, n := range orders {
		for _, k := range []float64{1, 1e4, 1e12} {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			ld := n + n%5
			a := spectrum(r, n, ld, condition(n, k))
			l := slices.Clone(a)
			for i := range n {
				for j := i + 1; j < n; j++ {
					l[i*ld+j] = math.NaN()
				}
			}
			if !Cholesky(strided(n, n, ld, l), 1) {
				t.Fatalf("n = %d, condition %g: no factor", n, k)
			}
			want := matrixOf(n, n, a, ld)
			size := mat.Norm(want, 2)
			lower := lowerOf(n, l, ld)
			if d := difference(square(lower), want); !(d <= 4*float64(n)*eps*size) {
				t.Errorf("n = %d, condition %g: residual %.2g ε", n, k, d/eps/size)
			}
			g, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: ld, Data: slices.Clone(a)})
			if d := difference(lower, lowerOf(n, g.Data, ld)); !ok || !(d <= 8*float64(n)*eps*k*math.Sqrt(size)) {
				t.Errorf("n = %d, condition %g: differs by %g from gonum's, ok %v", n, k, d, ok)
			}
		}
	}
}

// TestNotDefinite checks that a matrix has no factor if it has a clearly negative eigenvalue,
// whichever pivot shows it, or elements that are not finite. A singular matrix has no factor
// or an accurate factor.
func TestNotDefinite(t *testing.T) {
	for _, n := range orders {
		for _, at := range []int{0, n / 2, n - 1} {
			for _, bad := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
				a := make([]float64, n*n)
				for i := range n {
					a[i*n+i] = 1
				}
				a[at*n+at] = bad
				if Cholesky(strided(n, n, n, a), 1) {
					t.Errorf("n = %d: a factor with %v at %d", n, bad, at)
				}
			}
		}
		r := rand.New(rand.NewPCG(uint64(n), 2))
		if Cholesky(strided(n, n, n, spectrum(r, n, n, func(i int) float64 { return 1 - 1.01*float64(i+1)/float64(n) })), 1) {
			t.Errorf("n = %d: a factor of a matrix that is not definite", n)
		}
		a := spectrum(r, n, n, func(i int) float64 { return float64(min(i, 1)) })
		l := slices.Clone(a)
		if !Cholesky(strided(n, n, n, l), 1) {
			continue
		}
		if d := difference(square(lowerOf(n, l, n)), matrixOf(n, n, a, n)); !(d <= 4*float64(n)*eps*math.Sqrt(float64(n))) {
			t.Errorf("n = %d, singular: residual %g", n, d)
		}
	}
}

// TestSolve: the residuals of both triangular solves and of the inverse are a few n·ε of
// the product of the norms, for factors of any condition: substitution is backward stable.
func TestSolve(t *testing.T) {
	for _, n := range orders {
		for _, k := range []float64{1, 1e12} {
			for _, m := range []int{1, 3, 60} {
				r := rand.New(rand.NewPCG(uint64(n), uint64(m)))
				ldl, ldb := n+3, n+m%2
				l := spectrum(r, n, ldl, condition(n, k))
				if !Cholesky(strided(n, n, ldl, l), 1) {
					t.Fatalf("n = %d: no factor", n)
				}
				lower := lowerOf(n, l, ldl)
				rhs := filled(m*ldb, math.NaN())
				for i := range m {
					for j := range n {
						rhs[i*ldb+j] = r.NormFloat64()
					}
				}
				check := func(what string, solve func(l, b matrix, threads int), times mat.Matrix) {
					t.Helper()
					x := slices.Clone(rhs)
					solve(strided(n, n, ldl, l), strided(m, n, ldb, x), 1)
					solution := matrixOf(m, n, x, ldb)
					var product mat.Dense
					product.Mul(solution, times)
					bound := 4 * float64(n) * eps * mat.Norm(solution, 2) * mat.Norm(lower, 2)
					if d := difference(&product, matrixOf(m, n, rhs, ldb)); !(d <= bound) {
						t.Errorf("%s, n = %d, m = %d, condition %g: residual %g, want %g", what, n, m, k, d, bound)
					}
				}
				check("SolveLower", SolveLower, lower.T())
				check("SolveLowerT", SolveLowerT, lower)
			}
			l := spectrum(rand.New(rand.NewPCG(uint64(n), 3)), n, n, condition(n, k))
			if !Cholesky(strided(n, n, n, l), 1) {
				t.Fatalf("n = %d: no factor", n)
			}
			ldi := n + 2
			inv := filled(n*ldi, math.NaN())
			InvertLower(strided(n, n, n, l), strided(n, n, ldi, inv), 1)
			inverse, lower := matrixOf(n, n, inv, ldi), lowerOf(n, l, n)
			var product mat.Dense
			product.Mul(lower, inverse)
			identity := mat.NewDiagDense(n, filled(n, 1))
			if d := difference(&product, identity); !(d <= 4*float64(n)*eps*mat.Norm(inverse, 2)*mat.Norm(lower, 2)) {
				t.Errorf("InvertLower, n = %d, condition %g: residual %g", n, k, d)
			}
			if d := difference(inverse, lowerOf(n, inv, ldi)); d != 0 {
				t.Errorf("InvertLower, n = %d: not lower triangular by %g", n, d)
			}
		}
	}
}

// TestEigen checks that the eigenvalues equal gonum's and those that the matrix was made
// from, that the eigenvectors are orthonormal, and that A·v = λ·v, all to within a few n·ε of
// the norm. The spectra have clusters, zeros, negative values and very large and small scales.
func TestEigen(t *testing.T) {
	spectra := map[string]func(n int) func(int) float64{
		"one value":  func(int) func(int) float64 { return func(int) float64 { return 3 } },
		"zero":       func(int) func(int) float64 { return func(int) float64 { return 0 } },
		"two values": func(int) func(int) float64 { return func(i int) float64 { return float64(i%2) - 0.25 } },
		"condition":  func(n int) func(int) float64 { return condition(n, 1e14) },
		"even":       func(n int) func(int) float64 { return func(i int) float64 { return float64(n/2 - i) } },
		"large":      func(n int) func(int) float64 { return func(i int) float64 { return 1e300 / float64(n+i) } },
		"small":      func(n int) func(int) float64 { return func(i int) float64 { return 1e-290 * float64(i+1) } },
	}
	for name, values := range spectra {
		for _, n := range orders {
			if n > 150 {
				continue
			}
			a := spectrum(rand.New(rand.NewPCG(uint64(n), 4)), n, n+1, values(n))
			checkEigen(t, name, n, a, n+1, values(n))
		}
	}
}

func checkEigen(t *testing.T, name string, n int, a []float64, lda int, want func(int) float64) {
	t.Helper()
	unit := 1.0 // so that gonum's norms neither overflow nor vanish
	for i := range n {
		for _, v := range a[i*lda : i*lda+n] {
			unit = max(unit, math.Abs(v))
		}
	}
	if name == "small" {
		unit = 1e-290
	}
	values, vectors, ok := Eigen(strided(n, n, lda, slices.Clone(a)))
	if !ok {
		t.Errorf("%s, n = %d: no convergence", name, n)
		return
	}
	descending := func(x, y float64) int { return cmp.Compare(y, x) }
	if !slices.IsSortedFunc(values, descending) {
		t.Errorf("%s, n = %d: values in the order %v", name, n, values)
	}
	made := make([]float64, n)
	var size float64
	for i := range made {
		made[i] = want(i) / unit
		size = max(size, math.Abs(made[i]))
	}
	slices.SortFunc(made, descending)
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			scaled.SetSym(i, j, a[i*lda+j]/unit)
		}
	}
	var g mat.EigenSym
	g.Factorize(scaled, false)
	peer := g.Values(nil) // from the least to the largest
	bound := 8 * float64(n) * eps * size
	for i, v := range values {
		v /= unit
		if !(math.Abs(v-made[i]) <= bound) || !(math.Abs(v-peer[n-1-i]) <= bound) {
			t.Errorf("%s, n = %d: value %d is %v, made of %v, gonum %v", name, n, i, v, made[i], peer[n-1-i])
		}
		values[i] = v
	}
	v := mat.NewDense(n, n, vectors.Data())
	var image, stretched mat.Dense
	if d := difference(square(v), mat.NewDiagDense(n, filled(n, 1))); !(d <= 8*float64(n)*eps) {
		t.Errorf("%s, n = %d: vectors are off orthonormal by %g", name, n, d)
	}
	image.Mul(v, scaled)
	stretched.Mul(mat.NewDiagDense(n, values), v)
	if d := difference(&image, &stretched); !(d <= 8*float64(n)*eps*size) {
		t.Errorf("%s, n = %d: residual %g of %g", name, n, d, size)
	}
}

func TestEigenNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, n := range []int{1, 2, 5} {
			a := make([]float64, n*n)
			a[n*n-1] = bad
			if _, _, ok := Eigen(strided(n, n, n, a)); ok {
				t.Errorf("n = %d: eigenvalues of a matrix with %v", n, bad)
			}
		}
	}
}

// TestProperties checks the contracts of the factorizations for kernel matrices with
// duplicate and close points.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "n")
		checkKernel(t, rapid.SliceOfN(rapid.Float64Range(0, rapid.SampledFrom([]float64{0.01, 1, 100}).Draw(t, "range")), n, n).Draw(t, "x"))
	})
	// Points so far from the others that squares of their kernel values underflow.
	checkKernel(t, append(filled(22, 1), 20.3, 44.5, 32.5, 70.5))
	checkKernel(t, append([]float64{20.3, 44.5}, filled(22, 1)...))
}

func checkKernel(t rapid.TB, x []float64) {
	t.Helper()
	n := len(x)
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			a[i*n+j] = math.Exp(-(x[i] - x[j]) * (x[i] - x[j]))
		}
	}
	values, vectors, ok := Eigen(strided(n, n, n, slices.Clone(a)))
	if !ok {
		t.Fatal("no convergence")
	}
	var trace float64
	for _, v := range values {
		trace += v
	}
	bound := 8 * float64(n) * eps * float64(n)
	if !(math.Abs(trace-float64(n)) <= bound) || !(values[n-1] >= -bound) {
		t.Errorf("trace %v of %d, least value %v", trace, n, values[n-1])
	}
	v := mat.NewDense(n, n, vectors.Data())
	var rebuilt, half mat.Dense
	half.Mul(mat.NewDiagDense(n, values), v)
	rebuilt.Mul(v.T(), &half)
	if d := difference(&rebuilt, mat.NewDense(n, n, a)); !(d <= 2*bound) {
		t.Errorf("off A by %g", d)
	}
	for i := range n {
		a[i*n+i] += 1e-6
	}
	l := slices.Clone(a)
	if !Cholesky(strided(n, n, n, l), 1) {
		t.Fatal("no factor")
	}
	b := slices.Clone(a) // K·L⁻ᵀ·L⁻¹ = I
	SolveLower(strided(n, n, n, l), strided(n, n, n, b), 1)
	SolveLowerT(strided(n, n, n, l), strided(n, n, n, b), 1)
	if d := difference(mat.NewDense(n, n, b), mat.NewDiagDense(n, filled(n, 1))); !(d <= 8*float64(n)*eps*float64(n)/1e-6) {
		t.Errorf("A·A⁻¹ is off the identity by %g", d)
	}
}

// TestThreads: neither the number of threads nor strides change a bit.
func TestThreads(t *testing.T) {
	const n, m = 300, 150
	results := func(ld, threads int) []float64 {
		l := spectrum(rand.New(rand.NewPCG(5, 5)), n, ld, condition(n, 1e6))
		if !Cholesky(strided(n, n, ld, l), threads) {
			t.Fatal("no factor")
		}
		out := lowerOf(n, l, ld).RawMatrix().Data
		inv := make([]float64, n*ld)
		InvertLower(strided(n, n, ld, l), strided(n, n, ld, inv), threads)
		out = append(out, matrixOf(n, n, inv, ld).RawMatrix().Data...)
		b := slices.Clone(inv[:m*ld])
		SolveLower(strided(n, n, ld, l), strided(m, n, ld, b), threads)
		SolveLowerT(strided(n, n, ld, l), strided(m, n, ld, b), threads)
		return append(out, matrixOf(m, n, b, ld).RawMatrix().Data...)
	}
	want := results(n, 1)
	for _, ld := range []int{n, n + 5} {
		for _, threads := range []int{1, 2, 3} {
			if !slices.Equal(results(ld, threads), want) {
				t.Errorf("%d threads, stride %d: other bits", threads, ld)
			}
		}
	}
}

// TestBits checks that the bits are the recorded bits, on every architecture and with every
// backend of gemm. They were recorded on amd64 with AVX-512. A change of the algorithms
// changes the bits.
func TestBits(t *testing.T) {
	const n, m, want = 150, 30, uint64(0xf7e14d4f72abb721)
	a := make([]float64, n*n)
	state := uint64(1)
	for i := range n {
		for j := range i + 1 {
			state = state*6364136223846793005 + 1442695040888963407
			v := float64(int64(state)>>11) / (1 << 53)
			a[i*n+j], a[j*n+i] = v, v
		}
		a[i*n+i] += 10
	}
	h := fnv.New64a()
	add := func(v []float64) {
		for _, x := range v {
			binary.Write(h, binary.LittleEndian, math.Float64bits(x))
		}
	}
	l, inverse := slices.Clone(a), make([]float64, n*n)
	if !Cholesky(strided(n, n, n, l), 2) {
		t.Fatal("no factor")
	}
	InvertLower(strided(n, n, n, l), strided(n, n, n, inverse), 2)
	add(inverse)
	b := slices.Clone(a[:m*n])
	SolveLower(strided(n, n, n, l), strided(m, n, n, b), 2)
	add(b)
	SolveLowerT(strided(n, n, n, l), strided(m, n, n, b), 2)
	add(b)
	values, vectors, ok := Eigen(strided(n, n, n, a))
	if !ok {
		t.Fatal("no eigenvalues")
	}
	add(values)
	add(vectors.Data())
	if got := h.Sum64(); got != want {
		t.Errorf("hash %#x, want %#x", got, want)
	}
}

func BenchmarkFactor(b *testing.B) {
	for _, n := range []int{100, 500, 1800} {
		a := make([]float64, n*n)
		for i := range n {
			for j := range n {
				d := float64(i - j)
				a[i*n+j] = math.Exp(-d * d / 8)
			}
			a[i*n+i] += 1e-3
		}
		l, rhs := slices.Clone(a), make([]float64, 500*n)
		Cholesky(strided(n, n, n, l), 1)
		for i := range rhs {
			rhs[i] = float64(i % 7)
		}
		lower := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: n, Data: l}
		work := make([]float64, len(rhs)+len(a))
		for _, c := range []struct {
			name string
			of   []float64 // contents of work before each iteration
			do   func()
		}{
			{"cholesky", a, func() { Cholesky(strided(n, n, n, work), 1) }},
			{"cholesky-gonum", a, func() {
				lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: work[:n*n]})
			}},
			{"solve-500", rhs, func() { SolveLower(strided(n, n, n, l), strided(500, n, n, work), 1) }},
			{"solve-500-gonum", rhs, func() {
				blas64.Trsm(blas.Right, blas.Trans, 1, lower, blas64.General{Rows: 500, Cols: n, Stride: n, Data: work[:len(rhs)]})
			}},
			{"invert", nil, func() { InvertLower(strided(n, n, n, l), strided(n, n, n, work), 1) }},
			{"invert-gonum", l, func() {
				lapack64.Trtri(blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: n, Data: work[:n*n]})
			}},
			{"eigen", a, func() { Eigen(strided(n, n, n, work)) }},
			{"eigen-gonum", a, func() {
				var e mat.EigenSym
				e.Factorize(mat.NewSymDense(n, work[:n*n]), true)
				e.VectorsTo(new(mat.Dense))
			}},
		} {
			if n > 1000 && strings.HasPrefix(c.name, "eigen") {
				continue
			}
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					copy(work, c.of)
					c.do()
				}
			})
		}
	}
}

// TestPivots: the order and the rank are those of gonum's factorization with diagonal
// pivoting.
func TestPivots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		rank := rapid.IntRange(1, n).Draw(t, "rank")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		b := mat.NewDense(n, rank, nil)
		for i := range n {
			for j := range rank {
				b.Set(i, j, r.NormFloat64())
			}
		}
		a := mat.NewSymDense(n, nil)
		a.SymOuterK(1, b)
		const tol = 1e-6
		var want mat.PivotedCholesky
		want.Factorize(a, tol)
		order, got := Pivots(strided(n, n, n, mat.DenseCopyOf(a).RawMatrix().Data), tol, nil)
		if got != want.Rank() || !slices.Equal(order[:got], want.ColumnPivots(nil)[:got]) {
			t.Fatalf("%d pivots %v, want %d %v", got, order, want.Rank(), want.ColumnPivots(nil))
		}
	})
}
