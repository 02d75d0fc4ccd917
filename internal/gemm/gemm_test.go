package gemm

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"polkrepro/internal/race"
)

func use(b backend) { active = b }

// eachBackend runs f with every backend that this machine has.
func eachBackend(t *testing.T, f func(t *testing.T)) {
	for _, b := range backends() {
		t.Run(b.k64.name, func(t *testing.T) {
			use(b)
			defer use(backends()[0])
			f(t)
		})
	}
}

// eachType runs the tests of both types of elements with every backend.
func eachType(t *testing.T, f32, f64 func(t *testing.T)) {
	eachBackend(t, func(t *testing.T) {
		t.Run("float32", f32)
		t.Run("float64", f64)
	})
}

// matrix is a row-major matrix whose padding holds NaN, so that reading the padding
// shows.
type matrix[T Float] struct {
	rows, cols, ld int
	data           []T
}

func newMatrix[T Float](rows, cols, pad int) matrix[T] {
	m := matrix[T]{rows, cols, cols + pad, nil}
	if rows > 0 {
		m.data = make([]T, (rows-1)*m.ld+cols)
	}
	for i := range m.data {
		m.data[i] = T(math.NaN())
	}
	return m
}

func randMatrix[T Float](rnd *rand.Rand, rows, cols, pad int) matrix[T] {
	m := newMatrix[T](rows, cols, pad)
	for i := range rows {
		for j := range cols {
			m.data[i*m.ld+j] = T(2*rnd.Float64() - 1)
		}
	}
	return m
}

// view returns m, and part its first rows and columns, as arguments of a product.
func (m matrix[T]) view() Matrix[T]               { return m.part(m.rows, m.cols) }
func (m matrix[T]) part(rows, cols int) Matrix[T] { return Strided(rows, cols, m.ld, m.data) }

func (m matrix[T]) row(i int) []T { return m.data[i*m.ld : i*m.ld+m.cols] }
func (m matrix[T]) at(i, j int) T { return m.data[i*m.ld+j] }
func (m matrix[T]) clone() matrix[T] {
	m.data = slices.Clone(m.data)
	return m
}

// sameBits reports whether two values are equal or both NaN.
func sameBits[T Float](x, y T) bool { return x == y || x != x && y != y }

// gonumABT is the oracle, C ← α·A·Bᵀ + β·C.
func gonumABT[T Float](alpha T, a, b matrix[T], beta T, c matrix[T]) {
	switch x := any(c.data).(type) {
	case []float32:
		blas32.Gemm(blas.NoTrans, blas.Trans, float32(alpha),
			blas32.General{Rows: a.rows, Cols: a.cols, Stride: a.ld, Data: any(a.data).([]float32)},
			blas32.General{Rows: b.rows, Cols: b.cols, Stride: b.ld, Data: any(b.data).([]float32)},
			float32(beta), blas32.General{Rows: c.rows, Cols: c.cols, Stride: c.ld, Data: x})
	case []float64:
		blas64.Gemm(blas.NoTrans, blas.Trans, float64(alpha),
			blas64.General{Rows: a.rows, Cols: a.cols, Stride: a.ld, Data: any(a.data).([]float64)},
			blas64.General{Rows: b.rows, Cols: b.cols, Stride: b.ld, Data: any(b.data).([]float64)},
			float64(beta), blas64.General{Rows: c.rows, Cols: c.cols, Stride: c.ld, Data: x})
	}
}

func epsOf[T Float]() float64 {
	if sizeOf[T]() == 4 {
		return 0x1p-23
	}
	return 0x1p-52
}

// tolerance is the error bound of a sum of k terms of at most 1, in either of
// two orders.
func tolerance[T Float](k int) float64 {
	r := math.Sqrt(float64(k))
	return epsOf[T]() * (2 + r) * (1 + r)
}

// compare checks got against want within the error bound of a sum of k terms
// of at most 1, and that padding is untouched.
func compare[T Float](t *testing.T, got, want matrix[T], s shape, scale float64) {
	t.Helper()
	tol := tolerance[T](s.k) * scale
	for i := range want.rows {
		row := got.row(i)
		for j, w := range want.row(i) {
			if !(math.Abs(float64(row[j]-w)) <= tol) {
				t.Fatalf("%v element (%d,%d): got %v, want %v, tolerance %g", s, i, j, row[j], w, tol)
			}
		}
	}
	for i, v := range got.data {
		if i%got.ld >= got.cols && v == v {
			t.Fatalf("%v: padding overwritten at row %d", s, i/got.ld)
		}
	}
}

type shape struct{ m, n, k int }

// shapes returns a sample of the shapes of TestEdges, and a few that reach all blockings.
func shapes() []shape {
	rnd := rand.New(rand.NewPCG(1, 2))
	var s []shape
	pick := func() int { return covering[rnd.IntN(len(covering))] }
	step := 4
	if race.Enabled {
		step = 16 // the detector makes the references ten times slower
	}
	for d := 1; d <= edgeMax; d += step {
		s = append(s, shape{d, pick(), pick()}, shape{pick(), d, pick()}, shape{pick(), pick(), d})
	}
	return append(s, shape{1, 300, 900}, shape{300, 2, 900}, shape{4, 67, 1001}, shape{9, 300, 300}, shape{200, 11, 257},
		shape{20, 100, 800}, shape{100, 33, 400}, shape{33, 300, 33}, shape{67, 450, 391}, shape{120, 500, 1},
		shape{100, 130, 400}, shape{0, 5, 5}, shape{5, 0, 5}, shape{5, 5, 0}, shape{0, 0, 0})
}

// edgeMax exceeds two panels of every kernel.
const edgeMax = 130

// covering holds sizes below, at and above those of vectors, tiles and panels.
var covering = []int{1, 2, 3, 4, 5, 7, 8, 9, 17, 24, 25, 31, 33, 49, 64, 97}

// edgeShapes returns shapes with every size up to edgeMax in each dimension and sizes of
// covering in the other two, and cubes with sizes up to more than one panel.
func edgeShapes() []shape {
	var s []shape
	for d := 1; d <= edgeMax; d++ {
		x, y := covering[d%len(covering)], covering[7*d/len(covering)%len(covering)]
		s = append(s, shape{d, x, y}, shape{x, d, y}, shape{x, y, d})
		if d <= 60 {
			s = append(s, shape{d, d, d})
		}
	}
	return s
}

// edgeCase holds A and B of edgeMax rows and columns, and gonum's products of their first k
// columns for every k. Products of fewer rows are parts of these products.
type edgeCase[T Float] struct {
	a, b matrix[T]
	want [edgeMax + 1]matrix[T]
}

func newEdgeCase[T Float]() *edgeCase[T] {
	rnd := rand.New(rand.NewPCG(25, 26))
	e := &edgeCase[T]{a: randMatrix[T](rnd, edgeMax, edgeMax, 1), b: randMatrix[T](rnd, edgeMax, edgeMax, 0)}
	for k := 1; k <= edgeMax; k++ {
		e.want[k] = newMatrix[T](edgeMax, edgeMax, 0)
		a, b := e.a, e.b
		a.cols, b.cols = k, k
		gonumABT(1, a, b, 0, e.want[k])
	}
	return e
}

func (e *edgeCase[T]) run(t *testing.T) {
	for i, s := range edgeShapes() {
		want := matrix[T]{s.m, s.n, edgeMax, e.want[s.k].data}
		got := newMatrix[T](s.m, s.n, i%3)
		MulABT(1, e.a.part(s.m, s.k), e.b.part(s.n, s.k), 0, got.view(), 1+i%2)
		compare(t, got, want, s, 1)
		p := NewPanels[T](s.k)
		for j := range s.n {
			p.Append(e.b.row(j)[:s.k])
		}
		got = newMatrix[T](s.m, s.n, i%3)
		p.MulABT(e.a.part(s.m, s.k), got.view(), 1+i%2)
		compare(t, got, want, s, 1)
	}
}

// TestEdges compares both products with gonum's at all sizes from 1 to 130.
func TestEdges(t *testing.T) {
	eachType(t, newEdgeCase[float32]().run, newEdgeCase[float64]().run)
}

func testMulABT[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	coef := []struct{ alpha, beta T }{{1, 0}, {1, 1}, {-1, 1}, {0.5, -2}, {0, 3}, {0, 0}, {2, 0}}
	for i, s := range shapes() {
		pad := []int{0, 1, 5}[i%3]
		a, b := randMatrix[T](rnd, s.m, s.k, pad), randMatrix[T](rnd, s.n, s.k, 2*pad)
		co := coef[i%len(coef)]
		c := randMatrix[T](rnd, s.m, s.n, pad)
		if co.beta == 0 {
			c = newMatrix[T](s.m, s.n, pad) // NaN throughout: must not be read
		}
		want, got, across := c.clone(), c.clone(), c.clone()
		if s.k == 0 {
			scale(co.beta, want.view())
		} else if s.m > 0 && s.n > 0 {
			gonumABT(co.alpha, a, b, co.beta, want)
		}
		MulABT(co.alpha, a.view(), b.view(), co.beta, got.view(), 1+i%3)
		compare(t, got, want, s, 3)
		bt := transposed(b, pad)
		MulAB(co.alpha, a.view(), bt.view(), co.beta, across.view(), 1+i%2)
		for i, v := range across.data {
			if !sameBits(v, got.data[i]) {
				t.Fatalf("%v element %d: MulAB gives %v, MulABT %v", s, i, v, got.data[i])
			}
		}
	}
}

func transposed[T Float](b matrix[T], pad int) matrix[T] {
	bt := newMatrix[T](b.cols, b.rows, pad)
	Transpose(b.view(), bt.view())
	return bt
}

// TestMulABT compares MulABT with gonum, and MulAB with MulABT bit for bit.
func TestMulABT(t *testing.T) { eachType(t, testMulABT[float32], testMulABT[float64]) }

func fill[T Float](b matrix[T]) *Panels[T] {
	p := NewPanels[T](b.cols)
	for i := range b.rows {
		p.Append(b.row(i))
	}
	return p
}

// gaussianRef evaluates the kernel of two rows in float64 by differences.
func gaussianRef[T Float](x, y []T, gamma float64) float64 {
	var d float64
	for i := range x {
		e := float64(x[i]) - float64(y[i])
		d += e * e
	}
	return math.Exp(-gamma * d)
}

// edge reports whether i is the first, middle or last of n.
func edge(i, n int) bool { return i == 0 || i == n/2 || i == n-1 }

func testGaussian[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for i, s := range shapes() {
		a, b := randMatrix[T](rnd, s.m, s.k, i%4), randMatrix[T](rnd, s.n, s.k, 0)
		if s.m > 0 && s.n > 0 {
			copy(b.row(s.n/2), a.row(s.m/2)) // a distance of zero
		}
		gamma := []float64{0, 0.01, 1, 30}[i%4]
		got := newMatrix[T](s.m, s.n, i%3)
		fill(b).Gaussian(a.view(), T(gamma), got.view(), 1+i%3)
		for r := range s.m {
			for c := range s.n {
				if !edge(r, s.m) && !edge(c, s.n) {
					continue // the reference is slow
				}
				w, g := gaussianRef(a.row(r), b.row(c), gamma), float64(got.at(r, c))
				// The distance is off by the rounding of three sums of k terms,
				// which grows like the root of k times their size.
				k := float64(s.k)
				tol := epsOf[T]() * (4 + gamma*4*(4+k+k*math.Sqrt(k)/4))
				if !(math.Abs(g-w) <= tol) || !(g <= 1) {
					t.Fatalf("%v gamma %g (%d,%d): got %v, want %v", s, gamma, r, c, g, w)
				}
			}
		}
	}
}

func TestGaussian(t *testing.T) { eachType(t, testGaussian[float32], testGaussian[float64]) }

func testGrowAndShrink[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, dim := range []int{0, 1, 2, 11, 64} {
		p := NewPanels[T](dim)
		var rows [][]T
		for step := range 800 {
			switch r := rnd.IntN(100); {
			case r == 0:
				p.Reset()
				rows = rows[:0]
			case r < 35 && len(rows) > 0:
				i := rnd.IntN(len(rows))
				p.Remove(i)
				rows[i] = rows[len(rows)-1]
				rows = rows[:len(rows)-1]
			default:
				row := randMatrix[T](rnd, 1, dim, 0).data
				for q := range row { // so that norms differ much
					row[q] *= T(math.Pow(10, float64(rnd.IntN(12))))
				}
				p.Append(row)
				rows = append(rows, row)
			}
			if p.Len() != len(rows) {
				t.Fatalf("dim %d step %d: %d rows, want %d", dim, step, p.Len(), len(rows))
			}
			checkRows(t, p, rows)
		}
	}
}

// checkRows checks the rows, their squared norms, the largest of these, and that unused lanes
// are zero.
func checkRows[T Float](t *testing.T, p *Panels[T], rows [][]T) {
	t.Helper()
	got := make([]T, p.dim)
	var most T
	used := 0 // elements other than zero
	for i, want := range rows {
		for q := range got {
			got[q] = p.slot(i)[q*p.kr.nr]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("row %d differs", i)
		}
		var square float64
		for _, v := range want {
			square += float64(float64(v) * float64(v)) // the same on every architecture: not fused
			if v != 0 {
				used++
			}
		}
		norm := p.NormSq(i)
		if d := math.Abs(float64(norm) - square); norm != NormSq(want) || p.dim <= 11 && !(d <= 2*epsOf[T]()*square) {
			t.Fatalf("‖p_%d‖² = %v, want %v", i, norm, square)
		}
		most = max(most, norm)
	}
	if p.MaxNormSq() != most {
		t.Fatalf("%d rows: the largest squared norm is %v, want %v", len(rows), p.MaxNormSq(), most)
	}
	for _, v := range p.data {
		if v != 0 {
			used--
		}
	}
	if used != 0 {
		t.Fatalf("an unused lane is not zero")
	}
}

func TestGrowAndShrink(t *testing.T) {
	eachType(t, testGrowAndShrink[float32], testGrowAndShrink[float64])
}

// testNorms checks the largest squared norm that Gaussian returns, and that of no rows and of
// an infinite row. TestGrowAndShrink checks the other norms.
func testNorms[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 1))
	const dim = 11
	p := fill(randMatrix[T](rnd, 100, dim, 0))
	a := randMatrix[T](rnd, 5, dim, 2)
	var want T
	for i := range 5 {
		want = max(want, NormSq(a.row(i)))
	}
	if got := p.Gaussian(a.view(), 1, NewMatrix[T](5, p.Len()), 1); got != want {
		t.Errorf("Gaussian returns %v, the largest squared norm is %v", got, want)
	}
	p.Reset()
	if p.MaxNormSq() != 0 {
		t.Errorf("no rows: the largest squared norm is %v", p.MaxNormSq())
	}
	p.Append(make([]T, dim))
	big := make([]T, dim)
	big[3] = T(math.Inf(1))
	p.Append(big)
	if !math.IsInf(float64(p.MaxNormSq()), 1) {
		t.Errorf("an infinite row: the largest squared norm is %v", p.MaxNormSq())
	}
}

func TestNorms(t *testing.T) { eachType(t, testNorms[float32], testNorms[float64]) }

// testBits checks that a Gaussian value has the same bits wherever it is
// computed: any thread count, any position, any size, either order.
func testBits[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for _, dim := range []int{1, 2, 31, 400} {
		x := randMatrix[T](rnd, 131, dim, 0)
		full := newMatrix[T](131, 131, 0)
		p := fill(x)
		p.Gaussian(x.view(), 0.1, full.view(), 1)
		for _, threads := range []int{2, 3, 7} {
			got := newMatrix[T](131, 131, 0)
			p.Gaussian(x.view(), 0.1, got.view(), threads)
			if !slices.Equal(got.data, full.data) {
				t.Fatalf("dim %d: %d threads change the result", dim, threads)
			}
		}
		for n := 1; n <= 131; n += 1 + n/4 {
			q := NewPanels[T](dim)
			at := rnd.Perm(131)[:n]
			for _, i := range at {
				q.Append(x.row(i))
			}
			got := newMatrix[T](n, n, 0)
			a := newMatrix[T](n, dim, 0)
			for i, j := range at {
				copy(a.row(i), x.row(j))
			}
			q.Gaussian(a.view(), 0.1, got.view(), 1)
			for i := range n {
				for j := range n {
					if g := got.at(i, j); g != full.at(at[i], at[j]) || g != got.at(j, i) {
						t.Fatalf("dim %d, n %d: element (%d,%d) depends on its place", dim, n, i, j)
					}
				}
			}
		}
	}
}

func TestBits(t *testing.T) { eachType(t, testBits[float32], testBits[float64]) }

// testPaths checks that all paths that sum in sequence give the same bits, and
// that the path in lanes is symmetric and independent of threads.
func testPaths[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 14))
	for _, s := range []shape{{5, 300, 500}, {20, 300, 390}, {300, 6, 500}, {40, 40, 900}, {200, 300, 3},
		{60, 300, 400}, {1, 300, 450}, {3, 130, 33}, {4, 4, 2}} {
		a, b := randMatrix[T](rnd, s.m, s.k, 3), randMatrix[T](rnd, s.n, s.k, 0)
		one, two, tr := newMatrix[T](s.m, s.n, 0), newMatrix[T](s.m, s.n, 1), newMatrix[T](s.n, s.m, 0)
		MulABT(1, a.view(), b.view(), 0, one.view(), 1)
		MulABT(1, a.view(), b.view(), 0, two.view(), 3)
		MulABT(1, b.view(), a.view(), 0, tr.view(), 1)
		seq := newMatrix[T](s.m, s.n, 0)
		fill(b).MulABT(a.view(), seq.view(), 1)
		lanes := InLanes(s.m, s.n, s.k)
		for i := range s.m {
			for j := range s.n {
				v := one.at(i, j)
				if v != two.at(i, j) || v != tr.at(j, i) || !lanes && v != seq.at(i, j) {
					t.Fatalf("%v (%d,%d): %v %v %v %v", s, i, j, v, two.at(i, j), tr.at(j, i), seq.at(i, j))
				}
			}
		}
	}
}

func TestPaths(t *testing.T) { eachType(t, testPaths[float32], testPaths[float64]) }

// testNonFinite checks that NaN and Inf reach exactly the elements they should.
func testNonFinite[T Float](t *testing.T) {
	nan, inf := T(math.NaN()), T(math.Inf(1))
	for _, s := range []shape{{1, 50, 40}, {4, 30, 64}, {7, 60, 100}, {60, 9, 31}, {70, 70, 1}, {50, 70, 500}} {
		for _, bad := range []T{nan, inf, -inf} {
			a := matrix[T]{s.m, s.k, s.k, slices.Repeat([]T{1}, s.m*s.k)}
			b := matrix[T]{s.n, s.k, s.k, slices.Repeat([]T{1}, s.n*s.k)}
			bi, bq := s.n-1, s.k/2
			b.data[bi*s.k+bq] = bad
			c := newMatrix[T](s.m, s.n, 0)
			MulABT(1, a.view(), b.view(), 0, c.view(), 1)
			g := newMatrix[T](s.m, s.n, 0)
			fill(b).Gaussian(a.view(), 0.5, g.view(), 1)
			for i := range s.m {
				for j := range s.n {
					wantC, wantG := T(s.k), T(1)
					if j == bi {
						wantC = bad
						wantG = 0
						if !(bad < 0) { // +Inf: Inf − Inf
							wantG = nan
						}
					}
					if !sameBits(c.at(i, j), wantC) || !sameBits(g.at(i, j), wantG) {
						t.Fatalf("%v %v (%d,%d): product %v want %v, Gaussian %v want %v",
							s, bad, i, j, c.at(i, j), wantC, g.at(i, j), wantG)
					}
				}
			}
		}
	}
}

func TestNonFinite(t *testing.T) { eachType(t, testNonFinite[float32], testNonFinite[float64]) }

// TestFarAway checks that an infinite squared distance gives 0.
func TestFarAway(t *testing.T) {
	eachBackend(t, func(t *testing.T) {
		p := NewPanels[float32](2)
		p.Append([]float32{3e19, 0}) // its square overflows
		c := []float32{5}
		p.Gaussian(RowOf([]float32{0, 1}), 0.5, RowOf(c), 1)
		if c[0] != 0 {
			t.Errorf("got %v, want 0", c[0])
		}
	})
}

func testExp[T Float](t *testing.T, lo, tol, sub float64) {
	rnd := rand.New(rand.NewPCG(17, 18))
	worst := 0.0
	for i := range 270 {
		n := i + 1
		if n > 70 {
			n = 1000
		}
		src, dst := make([]T, n), make([]T, n+1)
		dst[n] = 7
		for i := range src {
			src[i] = T(lo * rnd.Float64())
		}
		src[rnd.IntN(n)] = 0
		Exp(dst[:n], src)
		if dst[n] != 7 {
			t.Fatalf("n %d: wrote beyond the end", n)
		}
		for i, x := range src {
			w := math.Exp(float64(x))
			e := math.Abs(float64(dst[i])/w - 1)
			if !(e <= tol) || x == 0 && dst[i] != 1 {
				t.Fatalf("exp(%v) = %v, want %v, relative error %g", x, dst[i], w, e)
			}
			worst = max(worst, e)
		}
	}
	t.Logf("worst relative error on [%g, 0]: %.3g", lo, worst)
	inf, nan := T(math.Inf(1)), T(math.NaN())
	in := []T{0, T(math.Copysign(0, -1)), inf, -inf, nan, T(sub), T(3 * sub), -1e30, 1e30, 1}
	Exp(in, in)
	for i, w := range []T{1, 1, inf, 0, nan, T(math.Exp(sub)), 0, 0, inf, T(math.E)} {
		if d := math.Abs(float64(in[i] - w)); !sameBits(in[i], w) && !(d <= tol*float64(w)+0x1p-149) {
			t.Errorf("special value %d: got %v, want %v", i, in[i], w)
		}
	}
}

func TestExp(t *testing.T) {
	eachBackend(t, func(t *testing.T) {
		t.Run("float32", func(t *testing.T) { testExp[float32](t, -20, 2e-7, -100) })
		t.Run("float32 to the end", func(t *testing.T) { testExp[float32](t, -87, 2e-7, -100) })
		t.Run("float64", func(t *testing.T) { testExp[float64](t, -700, 4.5e-16, -740) })
	})
}

func TestVectors(t *testing.T) {
	eachBackend(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(19, 20))
		for n := range 200 {
			x, y := randMatrix[float64](rnd, 1, n, 0).data, randMatrix[float64](rnd, 1, n, 0).data
			var want float64
			for i := range x {
				want += x[i] * y[i]
			}
			if got := Dot(x, y); !(math.Abs(got-want) <= 1e-14*float64(n+1)) {
				t.Fatalf("dot of %d: got %v, want %v", n, got, want)
			}
			z := append(append([]float64(nil), y...), 7)
			Axpy(-1.5, x, z[:n])
			for i := range x {
				if !(math.Abs(z[i]-(y[i]-1.5*x[i])) <= 1e-15) {
					t.Fatalf("axpy of %d: element %d is %v", n, i, z[i])
				}
			}
			Product(z[:n], x, y)
			for i := range x {
				if z[i] != x[i]*y[i] {
					t.Fatalf("product of %d: element %d is %v", n, i, z[i])
				}
			}
			x32, y32 := randMatrix[float32](rnd, 1, n, 0).data, randMatrix[float32](rnd, 1, n, 0).data
			z32 := append(append([]float32(nil), y32...), 7)
			Product(z32[:n], x32, z32[:n])
			for i := range x32 {
				if z32[i] != x32[i]*y32[i] {
					t.Fatalf("float32 product of %d: element %d is %v", n, i, z32[i])
				}
			}
			copy(z, y)
			if n > 0 {
				x[n/2] = math.NaN() // NaN is not greater
			}
			Largest(x, z[:n])
			for i := range x {
				if want := y[i]; z[i] != want && !(x[i] > want && z[i] == x[i]) || x[i] > z[i] {
					t.Fatalf("largest of %d: element %d is %v of %v and %v", n, i, z[i], x[i], y[i])
				}
			}
			if z[n] != 7 || z32[n] != 7 {
				t.Fatalf("axpy, product or largest of %d wrote beyond the end", n)
			}
		}
	})
}

// TestTranspose checks every element, and that nothing is written between the rows, at sizes
// around the blocks' sizes.
func TestTranspose(t *testing.T) {
	for _, m := range []int{0, 1, 3, 4, 7, 70} {
		for _, n := range []int{0, 1, 5, 63, 64, 130} {
			lda, ldb := n+m%3, m+n%4
			a, b := make([]float32, m*lda), make([]float32, n*ldb)
			for i := range a {
				a[i] = float32(i + 1)
			}
			Transpose(Strided(m, n, lda, a), Strided(n, m, ldb, b))
			for k, v := range b {
				var want float32
				if j, i := k/ldb, k%ldb; i < m {
					want = a[i*lda+j]
				}
				if v != want {
					t.Fatalf("%d×%d, element %d: %v, want %v", m, n, k, v, want)
				}
			}
		}
	}
}

func TestPanics(t *testing.T) {
	p := NewPanels[float64](3)
	p.Append([]float64{1, 2, 3})
	f := make([]float64, 6)
	x, c := MatrixOf(2, 3, f), NewMatrix[float64](2, 2)
	for name, f := range map[string]func(){
		"short":          func() { MatrixOf(2, 3, f[:5]) },
		"stride":         func() { Strided(1, 3, 2, f) },
		"negative size":  func() { MatrixOf(-1, 3, f) },
		"rows":           func() { x.Rows(1, 3) },
		"columns":        func() { x.Cols(2, 4) },
		"length of B":    func() { MulABT(1, x, x.Cols(0, 2), 0, c, 1) },
		"rows of C":      func() { MulABT(1, x, x, 0, c.Rows(0, 1), 1) },
		"columns of C":   func() { MulABT(1, x, x, 0, c.Cols(0, 1), 1) },
		"B across":       func() { MulAB(1, x, x, 0, c, 1) },
		"transpose":      func() { Transpose(x, x) },
		"panels":         func() { p.MulABT(x.Cols(0, 2), c.Cols(0, 1), 1) },
		"panels of C":    func() { p.MulABT(x, c, 1) },
		"row length":     func() { p.Append(f[:2]) },
		"row index":      func() { p.Remove(1) },
		"negative gamma": func() { p.Gaussian(x, -1, c.Cols(0, 1), 1) },
		"dot":            func() { Dot(f, f[:2]) },
		"axpy":           func() { Axpy(1, f, f[:2]) },
		"largest":        func() { Largest(f, f[:2]) },
		"product":        func() { Product(f[:2], f, f[:2]) },
		"exp":            func() { Exp(f, f[:2]) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

// TestConcurrent reads one set from several goroutines, each itself parallel.
func TestConcurrent(t *testing.T) {
	eachBackend(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(21, 22))
		x := randMatrix[float64](rnd, 120, 40, 0)
		p := fill(x)
		want := newMatrix[float64](120, 120, 0)
		p.Gaussian(x.view(), 1, want.view(), 1)
		var readers sync.WaitGroup
		for range 8 {
			readers.Go(func() {
				for range 5 {
					got := newMatrix[float64](120, 120, 0)
					p.Gaussian(x.view(), 1, got.view(), 2)
					if !slices.Equal(got.data, want.data) {
						t.Error("concurrent calls disturb each other")
					}
				}
			})
		}
		readers.Wait()
	})
}

// TestAllocs checks that calls of every path, with one goroutine and with two,
// allocate nothing once warm.
func TestAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("sync.Pool drops items at random under the race detector")
	}
	eachBackend(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(23, 24))
		for _, s := range []shape{{3, 200, 200}, {8, 900, 300}, {32, 200, 200}, {32, 300, 400}, {200, 300, 4}, {100, 300, 400}, {16, 50, 2}} {
			a, b := randMatrix[float64](rnd, s.m, s.k, 0), randMatrix[float64](rnd, s.n, s.k, 0)
			c := newMatrix[float64](s.m, s.n, 0)
			p, bt := fill(b), transposed(b, 0)
			got := testing.AllocsPerRun(20, func() {
				MulABT(1, a.view(), b.view(), 0, c.view(), 2)
				MulAB(1, a.view(), bt.view(), 0, c.view(), 2)
				p.Gaussian(a.view(), 1, c.view(), 2)
			})
			if got >= 1 {
				t.Errorf("%v: %v allocations a call", s, got)
			}
		}
	})
}
