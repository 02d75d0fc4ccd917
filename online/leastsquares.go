package online

import (
	"math"
	"runtime"

	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

// leastSquares finds the weights W, M×C, of a given dictionary D that minimize
//
//	‖K_XD·W − Y‖² + σ²·tr(Wᵀ·K_DD·W)
//
// exactly, from sums over the rows X with their targets Y, so that memory does not grow with the
// number of rows. One row in ridgeEvery chooses the ridge σ²: it is left out of the fits that are
// compared, and joins the last one.
//
// A row with a weight counts as so many equal rows: its squared error has the weight as a factor.
//
// With K_DD = L·Lᵀ, Φ = K_XD·L⁻ᵀ and W = L⁻ᵀ·B this is ridge regression, ‖Φ·B − Y‖² + σ²·‖B‖². The
// sums are of Φ: of K_XD they would lose as many digits as K_DD has dependent elements.
//
// In the terms of Gaussian processes σ² is the variance of the noise over that of the function, so
// the σ² that suits a sample of the rows suits all of them.
type leastSquares struct {
	f    *kernel.Expansion    // its dictionary and kernel; its weights are written by solve
	l    gemm.Matrix[float64] // L, M×M
	rows int
	sums [2]normalEquations // of the rows that are fitted, and of those that choose σ²
}

const (
	ridgeEvery    = 5                   // few rows suffice to choose one number
	ridgeMost     = 10                  // largest ridge, for targets of variance 1: little is learned with it
	ridgeStep     = 0.31622776601683794 // each ridge over the one before: the minimum is flat
	ridgeSteps    = 19                  // ridges, down to ridgeMost/10⁹, below which rounding decides the weights
	ridgeWorse    = 3                   // ridges in a row that do not help, after which no smaller one is tried
	jitterLeast   = 1e-8                // added to the diagonal of K_DD, which is 1; tenfold until K_DD has a Cholesky factor
	scoreRounding = 0x1p-24             // of float32, in which scores are computed: each weight adds so much of itself as noise
	gramRows      = 64                  // rows of a block of ΦᵀΦ: more compute more of its upper half in vain
	lsRows        = 256                 // rows of a block: its kernel values stay in the cache
)

// normalEquations are sums over rows, and the rows that wait for their block to fill.
type normalEquations struct {
	gram    []float64 // ΦᵀΦ, M×M
	right   []float64 // YᵀΦ, C×M
	squares float64   // ‖Y‖²

	x    []float32
	y    []float64
	root []float64 // of their weights
	rows int
}

// newLeastSquares returns the sums of no rows. The dictionary of f must not change afterwards.
func newLeastSquares(f *kernel.Expansion) *leastSquares {
	s := &leastSquares{f: f, l: dictionaryFactor(f)}
	for i := range s.sums {
		s.sums[i] = normalEquations{gram: make([]float64, f.Order()*f.Order()), right: make([]float64, f.Outputs*f.Order())}
	}
	return s
}

// dictionaryFactor returns the Cholesky factor of K_DD, with a jitter on its diagonal.
func dictionaryFactor(f *kernel.Expansion) gemm.Matrix[float64] {
	m, threads := f.Order(), runtime.GOMAXPROCS(0)
	l := gemm.NewMatrix[float64](m, m)
	for jitter := jitterLeast; ; jitter = float64(10 * jitter) {
		f.Dict.Block64(f.Kernel, f.Dict.Rows64(0, m), l, threads)
		for j := range m {
			l.Set(j, j, 1+jitter)
		}
		if factor.Cholesky(l, threads) {
			return l
		}
	}
}

// add adds a row with p features, C targets and a weight.
func (s *leastSquares) add(x []float32, y []float64, weight float64) {
	part := &s.sums[0]
	if s.rows++; s.rows%ridgeEvery == 0 {
		part = &s.sums[1]
	}
	part.x, part.y, part.root = append(part.x, x...), append(part.y, y...), append(part.root, math.Sqrt(weight))
	if part.rows++; part.rows == lsRows {
		part.sum(s.f, s.l)
	}
}

// sum adds the waiting rows to the sums.
func (e *normalEquations) sum(f *kernel.Expansion, l gemm.Matrix[float64]) {
	n, m, c, threads := e.rows, f.Order(), f.Outputs, runtime.GOMAXPROCS(0)
	x, phi := make([]float64, len(e.x)), gemm.NewMatrix[float64](n, m)
	phiT, yT := gemm.NewMatrix[float64](m, n), gemm.NewMatrix[float64](c, n)
	kernel.Widen(x, e.x)
	f.Dict.Block64(f.Kernel, gemm.MatrixOf(n, f.Dict.Dim(), x), phi, threads)
	factor.SolveLower(l, phi, threads)
	for i, root := range e.root {
		if root != 1 {
			scale(phi.Row(i), root)
			scale(e.y[i*c:(i+1)*c], root)
		}
	}
	gemm.Transpose(phi, phiT)
	gemm.Transpose(gemm.MatrixOf(n, c, e.y), yT)
	gram := gemm.MatrixOf(m, m, e.gram)
	for lo, hi := 0, 0; lo < m; lo = hi { // on and below the diagonal; solve mirrors them
		if hi = lo + gramRows; hi+gramRows > m {
			hi = m
		}
		gemm.MulABT(1, phiT.Rows(lo, hi), phiT.Rows(0, hi), 1, gram.Rows(lo, hi).Cols(0, hi), threads)
	}
	gemm.MulABT(1, yT, phiT, 1, gemm.MatrixOf(c, m, e.right), threads)
	e.squares += gemm.Dot(e.y, e.y)
	e.x, e.y, e.root, e.rows = e.x[:0], e.y[:0], e.root[:0], 0
}

// scale multiplies values by a factor.
func scale(values []float64, factor float64) {
	for i := range values {
		values[i] *= factor
	}
}

// solve writes the weights to f and returns the ridge that was chosen. It uses up the sums.
func (s *leastSquares) solve() (ridge float64) {
	m, c, threads := s.f.Order(), s.f.Outputs, runtime.GOMAXPROCS(0)
	fit, out := &s.sums[0], &s.sums[1]
	fit.sum(s.f, s.l)
	out.sum(s.f, s.l)
	mirror(m, out.gram)
	ridge = ridgeMost
	best, worse, tried := math.Inf(1), 0, ridge
	for i := 0; i < ridgeSteps && worse < ridgeWorse; i++ {
		worse++
		if total := s.judge(tried); total < best {
			best, ridge, worse = total, tried, 0
		}
		tried = float64(tried * ridgeStep)
	}
	gemm.Axpy(1, out.gram, fit.gram)
	gemm.Axpy(1, out.right, fit.right)
	b := fit.weights(m, c, ridge)
	factor.SolveLowerT(s.l, gemm.MatrixOf(c, m, b), threads)
	gemm.Transpose(gemm.MatrixOf(c, m, b), gemm.MatrixOf(m, c, s.f.W))
	return ridge
}

// mirror copies the lower triangle of an m×m matrix to its upper one.
func mirror(m int, a []float64) {
	for i := range m {
		for j := range i {
			a[j*m+i] = a[i*m+j]
		}
	}
}

// judge returns the squared error of a ridge on the rows that are left out, with the error that is
// to be expected from scores in float32: the weights of nearly dependent elements are large, and
// their sum cancels.
func (s *leastSquares) judge(ridge float64) float64 {
	m, c := s.f.Order(), s.f.Outputs
	b := s.sums[0].weights(m, c, ridge)
	if b == nil {
		return math.Inf(1)
	}
	squares := s.sums[1].error(m, c, b)
	factor.SolveLowerT(s.l, gemm.MatrixOf(c, m, b), runtime.GOMAXPROCS(0))
	return squares + float64(float64(s.rows/ridgeEvery)*(scoreRounding*scoreRounding)*gemm.Dot(b, b))
}

// weights returns B, C×M, that minimizes the error of the rows plus σ²·‖B‖², or nil if rounding
// leaves no solution.
func (e *normalEquations) weights(m, c int, ridge float64) []float64 {
	threads := runtime.GOMAXPROCS(0)
	l, b := gemm.MatrixOf(m, m, e.gram).Clone(), gemm.MatrixOf(c, m, e.right).Clone()
	for j := range m {
		l.Row(j)[j] += ridge
	}
	if !factor.Cholesky(l, threads) {
		return nil
	}
	factor.SolveLower(l, b, threads)
	factor.SolveLowerT(l, b, threads)
	return b.Data()
}

// error returns ‖K·W − Y‖² = tr(B·G·Bᵀ) − 2·tr(B·R) + ‖Y‖² of the rows.
func (e *normalEquations) error(m, c int, b []float64) float64 {
	product := make([]float64, c*m)
	gemm.MulAB(1, gemm.MatrixOf(c, m, b), gemm.MatrixOf(m, m, e.gram), 0, gemm.MatrixOf(c, m, product), runtime.GOMAXPROCS(0))
	return gemm.Dot(product, b) - 2*gemm.Dot(b, e.right) + e.squares
}
