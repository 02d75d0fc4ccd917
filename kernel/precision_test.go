package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// remote draws points anywhere in float32's range. Their magnitudes are from 10⁻³⁰ to 10³⁰, and
// they may be offset from the origin by up to 10⁸ times their spread or have a first column of up
// to 10⁸ times the others' spread.
type remote struct {
	r         *rand.Rand
	dim       int
	magnitude float64
	offset    float64 // in units of magnitude
	column    float64 // spread of the first column, in units of magnitude
}

func drawRemote(t *rapid.T) *remote {
	power := func(name string, least, most float64) float64 {
		return math.Pow(10, rapid.Float64Range(least, most).Draw(t, name))
	}
	p := &remote{
		dim:       rapid.SampledFrom([]int{1, 2, 3, 10, 54, 400}).Draw(t, "dim"),
		magnitude: power("magnitude", -30, 30),
		column:    1,
	}
	switch rapid.IntRange(0, 2).Draw(t, "place") {
	case 1:
		p.offset = power("offset", 0, 8)
	case 2:
		p.column = power("column", 0, 8)
	}
	p.r = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
	return p
}

// points returns n points. Some are equal, and some differ from another only in the last bit of a
// feature.
func (p *remote) points(n int) []float32 {
	x := make([]float32, n*p.dim)
	for i := range n {
		row := x[i*p.dim : (i+1)*p.dim]
		if i > 0 && p.r.IntN(4) == 0 {
			copy(row, x[p.r.IntN(i)*p.dim:])
			if p.r.IntN(2) == 0 {
				row[0] = math.Nextafter32(row[0], 0)
			}
			continue
		}
		for q := range row {
			spread := 1.0
			if q == 0 {
				spread = p.column
			}
			row[q] = float32(p.magnitude * (p.offset + spread*p.r.Float64()))
		}
	}
	return x
}

// bandwidth returns a bandwidth of 10⁻³ to 10⁶ times the median distance between points, or times
// their magnitude if the median is 0.
func (p *remote) bandwidth(t *rapid.T, x []float32) float64 {
	var d2 []float64
	for i := p.dim; i < len(x); i += p.dim {
		for j := 0; j < i; j += p.dim {
			d2 = append(d2, distanceSq(float64s(x[i:i+p.dim]), x[j:j+p.dim]))
		}
	}
	slices.Sort(d2)
	median := p.magnitude
	if len(d2) > 0 && d2[len(d2)/2] > 0 {
		median = math.Sqrt(d2[len(d2)/2])
	}
	return median * math.Pow(10, rapid.Float64Range(-3, 6).Draw(t, "bandwidth"))
}

// TestScoresAgreeWithEval checks the error bounds of Scorer.Scores and of the blocks, over offsets
// of 1 to 10⁸ spreads, magnitudes of 10⁻³⁰ to 10³⁰, bandwidths of 10⁻³ to 10⁶ median distances,
// and weights of any size.
func TestScoresAgreeWithEval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRemote(t)
		m, n := rapid.IntRange(1, 40).Draw(t, "order"), rapid.IntRange(1, 12).Draw(t, "n")
		points := p.points(m + n)
		d, x := points[:m*p.dim], points[m*p.dim:]
		e := NewExpansion(Gaussian{Bandwidth: p.bandwidth(t, points)}, p.dim, 1)
		if rapid.IntRange(0, 2).Draw(t, "polynomial") == 0 {
			e.Kernel = Polynomial{
				Offset: rapid.SampledFrom([]float64{0, 1, 1e-30, 1e20}).Draw(t, "b"),
				Degree: rapid.IntRange(1, 9).Draw(t, "degree"),
			}
		}
		weight := math.Pow(10, rapid.SampledFrom([]float64{0, 0, -60, -30, 30, 60}).Draw(t, "weight"))
		for j := range m {
			e.Append(d[j*p.dim:(j+1)*p.dim], []float64{weight * p.r.NormFloat64()})
		}
		got := make([]float64, n)
		new(Scorer).Scores(e, n, x, got, 1)
		b64, b32 := blocks(e.Dict, e.Kernel, x, m, 1)
		for i := range n {
			xi := x[i*p.dim : (i+1)*p.dim]
			var want, bound, weights float64
			for j := range m {
				v, w := e.Kernel.Eval(xi, e.Dict.At(j)), e.W[j]
				size, rounding := v, 0.0
				if k, ok := e.Kernel.(Polynomial); ok {
					size = math.Pow(norm(xi)*norm(e.Dict.At(j))+k.Offset, float64(k.Degree))
					rounding = float64(k.Degree*(p.dim+8)) * ulp * size
				}
				checkBlocks(t, e.Kernel, v, b64[i*m+j], float64(b32[i*m+j]), size, rounding)
				want += w * v
				weights += math.Abs(w)
				bound += math.Abs(w) * size
			}
			if bound > math.MaxFloat64/1e6 { // Eval, or the sum, overflows
				continue
			}
			bound = bound*ScoreTolerance + 0x1p-126*(float64(m)+weights)
			if !(math.Abs(got[i]-want) <= bound) {
				t.Fatalf("%+v: f(x_%d) = %v, want %v, differ by more than %v", e.Kernel, i, got[i], want, bound)
			}
			if one := e.Score(xi); !(math.Abs(one[0]-want) <= bound) {
				t.Fatalf("%+v: Score(x_%d) = %v, want %v, differ by more than %v", e.Kernel, i, one, want, bound)
			}
		}
	})
}

// checkBlocks compares a value of either block with Eval. For a polynomial, rounding errors are
// relative to size, and rounding bounds those of float64.
func checkBlocks(t rapid.TB, k Kernel, want, in64, in32, size, rounding float64) {
	t.Helper()
	if _, ok := k.(Gaussian); ok {
		rounding = min(0x1p-35, want/500+0x1p-1060)
	}
	if size > math.MaxFloat64/1e6 { // may overflow on the way
		return
	}
	if !(math.Abs(in64-want) <= rounding) {
		t.Fatalf("%+v: Block64 %v, Eval %v, differ by more than %v", k, in64, want, rounding)
	}
	if size > math.MaxFloat32/4 {
		if in32 != in32 {
			t.Fatalf("%+v: Block32 %v, Eval %v", k, in32, want)
		}
		return
	}
	if bound := size/480 + 0x1p-126; !(math.Abs(in32-want) <= bound) {
		t.Fatalf("%+v: Block32 %v, Eval %v, differ by more than %v", k, in32, want, bound)
	}
}

// TestValuesDependOnTheirPair: a value depends only on its pair. It does not depend on the order
// of the two vectors, the lengths of other vectors, the way it is computed, or the number of
// goroutines.
func TestValuesDependOnTheirPair(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	const n, dim = 90, 5
	x := make([]float32, 0, n*dim)
	for i := range n {
		x = append(x, randomPoints(r, 1, dim, math.Pow(10, float64(i%12)))...)
	}
	p := pointsOf(x, n, dim)
	for _, k := range []Kernel{Gaussian{1}, Gaussian{300}, Gaussian{1e-3}, Polynomial{1, 2}, Polynomial{1, 9}} {
		b64, b32 := blocks(p, k, x, n, 3)
		for i := range n {
			c64, c32 := blocks(pointsOf(x[i*dim:(i+1)*dim], 1, dim), k, x, 1, 1)
			for j := range n {
				if b64[i*n+j] != b64[j*n+i] || b32[i*n+j] != b32[j*n+i] {
					t.Fatalf("%+v: κ(x_%d, x_%d) is %v and %v, the other way round %v and %v", k, i, j, b64[i*n+j], b32[i*n+j], b64[j*n+i], b32[j*n+i])
				}
				if b64[i*n+j] != c64[j] || b32[i*n+j] != c32[j] {
					t.Fatalf("%+v: κ(x_%d, x_%d) is %v and %v, alone %v and %v", k, i, j, b64[i*n+j], b32[i*n+j], c64[j], c32[j])
				}
			}
		}
	}
}

// TestExtremeBandwidths: κ is a number even if γ = 1/(2c²) is infinite or 0.
func TestExtremeBandwidths(t *testing.T) {
	x := []float32{0, 0, 1, 2, 1, 2, 1e30, -1e30, 1e-40, 0}
	p := pointsOf(x, 5, 2)
	for _, c := range []float64{1e-300, 1e-160, 1e-20, 1e20, 1e160, 1e300} {
		k := Gaussian{c}
		b64, b32 := blocks(p, k, x, 5, 1)
		for i := range b64 {
			a, b := p.At(i/5), p.At(i%5)
			want := 1.0 // for a large c
			if c < 1 {
				want = 0
				if slices.Equal(a, b) {
					want = 1
				}
			}
			if c == 1e20 && i/5 != i%5 && (i/5 == 3 || i%5 == 3) {
				want = 0 // at a distance of 10³⁰
			}
			if c == 1e-20 && (i == 4 || i == 20) {
				want = 1 // at a distance of 10⁻⁴⁰
			}
			if eval := k.Eval(a, b); !(math.Abs(eval-want) <= 1e-15 && math.Abs(b64[i]-want) <= 1e-15 && math.Abs(float64(b32[i])-want) <= 1e-7) {
				t.Errorf("c = %v: κ(%v, %v) is %v, %v and %v, want %v", c, a, b, eval, b64[i], b32[i], want)
			}
		}
	}
}

// TestNonFiniteFeatures: blocks give the same values as Eval.
func TestNonFiniteFeatures(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := []float32{1, 2, inf, 2, -inf, 2, nan, 2}
	p := pointsOf(x, 4, 2)
	k := Gaussian{1}
	b64, b32 := blocks(p, k, x, 4, 1)
	for i := range b64 {
		want := k.Eval(p.At(i/4), p.At(i%4))
		if want != want != (b64[i] != b64[i]) || want != want != (b32[i] != b32[i]) || want == want && (b64[i] != want || float64(b32[i]) != want) {
			t.Errorf("κ(%v, %v) is %v and %v, Eval says %v", p.At(i/4), p.At(i%4), b64[i], b32[i], want)
		}
	}
}

// TestRecordedResultsComeFromProducts: float32 products, at the bandwidths of the recorded
// experiments, reach all vectors that the data sets can have: pixels in [0, 1], histograms, and
// points of the plane within 7 of the origin. Another tolerance would change the bits of results.
func TestRecordedResultsComeFromProducts(t *testing.T) {
	for _, c := range []struct {
		name          string
		dim           int
		bandwidth     float64
		largestNormSq float64
	}{
		{"mnist", 784, 4, 784}, {"brodatz", 256, 0.1, 1}, {"multidist", 2, 0.6, 49}, {"multidist, another reading", 2, math.Sqrt(0.6), 49},
	} {
		k := Gaussian{c.bandwidth}
		if s := 2 * c.largestNormSq; !(s <= k.reach32(c.dim)) || !(s <= k.reach64(c.dim)) {
			t.Errorf("%s: ‖x‖² + ‖y‖² is up to %v, products reach %v in float32 and %v in float64", c.name, s, k.reach32(c.dim), k.reach64(c.dim))
		}
	}
}

// TestBoundsByHand: with u the unit roundoff, a sum of 784 products has chains of 384 and
// k = 384 + 2 + 1 roundings, so its error is at most k·u/(1 − k·u). A sum of 10 products has 11
// roundings.
func TestBoundsByHand(t *testing.T) {
	near := func(what string, got, want, tol float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol*math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	const u = 0x1p-24
	near("sum in float32", sumError(0x1p-24, 784), 387./(1<<24-387), 1e-15)
	near("sum in float64", sumError(0x1p-53, 784), 387./(1<<53-387), 1e-15)

	// At the end of a product's reach, the exponent has the largest error allowed.
	k := Gaussian{4} // γ = 1/32
	near("γ·reach32·error", k.reach32(784)/32*(5*u+387./(1<<24-387)), 1./512, 1e-15)
	near("γ·reach64·error", k.reach64(784)/32*(5*0x1p-53+387./(1<<53-387)), 0x1p-36, 1e-15)
	// γ(dim + 4) may be at most 2¹²⁷, and γ must be a normal number.
	if c := (Gaussian{0x1p-62}); c.reach32(12) == nowhere || c.reach32(13) != nowhere {
		t.Errorf("γ = 2¹²³ reaches %v and %v", c.reach32(12), c.reach32(13))
	}
	if (Gaussian{0x1p62}).reach32(12) == nowhere || (Gaussian{0x1p63}).reach32(12) != nowhere {
		t.Errorf("γ = 2⁻¹²⁵ reaches %v, 2⁻¹²⁷ %v", (Gaussian{0x1p62}).reach32(12), (Gaussian{0x1p63}).reach32(12))
	}
	// The degree times 391·u exceeds 1/512 from degree 84 on.
	if (Polynomial{1, 83}).reach32(784) == nowhere || (Polynomial{1, 84}).reach32(784) != nowhere {
		t.Errorf("degree 83 reaches %v, 84 %v", (Polynomial{1, 83}).reach32(784), (Polynomial{1, 84}).reach32(784))
	}
	near("polynomial", (Polynomial{1, 9}).reach32(784), 2*(0x1p14-1), 1e-15)
}

// TestPolynomialScoresOverflowAsEval: at features of 10⁵, a polynomial of degree 9 has values
// beyond float32 but correct scores. A score beyond float64 is not finite.
func TestPolynomialScoresOverflowAsEval(t *testing.T) {
	e := NewExpansion(Polynomial{1, 9}, 2, 2)
	e.Append([]float32{1e5, -1e5}, []float64{1, -2e-90})
	e.Append([]float32{-1e5, 3}, []float64{0, 1e-90})
	for _, x := range [][]float32{{1e5, 1e5}, {1e5, 2e5}, {-7e4, 1e5}} {
		got := e.Score(x)
		for q, v := range got {
			if want, size := score(e, x, q); !(math.Abs(v-want) <= 1e-12*size) {
				t.Errorf("f_%d(%v) = %v, want %v", q, x, v, want)
			}
		}
	}
	e.Kernel = Polynomial{1, 40}
	x := []float32{1e5, -2e5} // (3e10)^40 overflows
	if got, want := e.Score(x)[0], e.Kernel.Eval(x, e.Dict.At(0)); !math.IsInf(want, 1) || !math.IsInf(got, 1) && got == got {
		t.Errorf("f(x) = %v, Eval says %v", got, want)
	}
}
