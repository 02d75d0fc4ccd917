package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// remote are points anywhere in float32's range: offset from the origin by up
// to 10⁸ times their spread, of magnitudes from 10⁻³⁰ to 10³⁰, with a column that
// may run far away from the others.
type remote struct {
	r         *rand.Rand
	dim       int
	magnitude float64
	offset    float64 // in units of magnitude
	column    float64 // spread of the first column, in the same
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

// points returns n points; some are equal and some differ from another in the
// last bits only.
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

// bandwidth returns a bandwidth from 10⁻³ to 10⁶ times the median distance of
// points, or their magnitude if that is 0.
func (p *remote) bandwidth(t *rapid.T, x []float32) float64 {
	var d2 []float64
	for i := p.dim; i < len(x); i += p.dim {
		for j := 0; j < i; j += p.dim {
			var s float64
			for q := range p.dim {
				d := float64(x[i+q]) - float64(x[j+q])
				s += d * d
			}
			d2 = append(d2, s)
		}
	}
	slices.Sort(d2)
	median := p.magnitude
	if len(d2) > 0 && d2[len(d2)/2] > 0 {
		median = math.Sqrt(d2[len(d2)/2])
	}
	return median * math.Pow(10, rapid.Float64Range(-3, 6).Draw(t, "bandwidth"))
}

// TestScoresAgreeWithEval is the bound of Scorer.Scores, and those of the
// blocks, over offsets of 1 to 10⁸ spreads, magnitudes of 10⁻³⁰ to 10³⁰ and
// bandwidths of 10⁻³ to 10⁶ median distances, for weights of any size.
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
		b64, b32 := make([]float64, n*m), make([]float32, n*m)
		e.Dict.Block64(e.Kernel, n, widened(x), b64, m, 1)
		e.Dict.Block32(e.Kernel, n, x, b32, m, 1)
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

// checkBlocks holds a value of either block against Eval. size is what the
// rounding of a polynomial is relative to, rounding that of Eval in float64.
func checkBlocks(t rapid.TB, k Kernel, want, in64, in32, size, rounding float64) {
	t.Helper()
	if _, ok := k.(Gaussian); ok {
		rounding = 0x1p-35
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
