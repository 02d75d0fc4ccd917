package portable

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"polkrepro/internal/golden"
)

// unary are the functions of one argument, each with its reference, which has the same
// bits on amd64 with fused multiply-adds and GOAMD64=v1.
var unary = []struct {
	name      string
	got, want func(float64) float64
}{
	{"Exp", Exp, math.Exp},
	{"Exp2", Exp2, math.Exp2},
	{"Expm1", Expm1, math.Expm1},
	{"Log", Log, math.Log},
	{"Log1p", Log1p, math.Log1p},
	{"sin", func(x float64) float64 { s, _ := Sincos(x); return s }, func(x float64) float64 { s, _ := math.Sincos(x); return s }},
	{"cos", func(x float64) float64 { _, c := Sincos(x); return c }, func(x float64) float64 { _, c := math.Sincos(x); return c }},
}

var binary = []struct {
	name      string
	got, want func(x, y float64) float64
}{
	{"Hypot", Hypot, math.Hypot},
	{"Pow", Pow, math.Pow},
}

// special holds the arguments that the functions treat as special cases, and their neighbours.
var special = func() []float64 {
	out := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN()}
	for _, v := range []float64{5e-324, 0x1p-1022, 0x1p-60, 0x1p-54, 0x1p-29, 0x1p-28, 0x1p-21, 0.25, math.Ln2 / 2, 0.5, math.Ln2,
		math.Sqrt2 - 1, 1 - math.Sqrt2/2, math.Sqrt2 / 2, 1, 1.5 * math.Ln2, math.Sqrt2, 2, 3, math.Pi / 4, math.Pi / 2, math.Pi, 20 * math.Ln2, 56 * math.Ln2,
		745.13, 746, 708.39, 709.782712893384, 1022, 1023, 1024, 1074, 1075, 1 << 29, 1 << 30, 1 << 53, 1 << 62, 1 << 63, math.MaxFloat64} {
		for _, w := range []float64{math.Nextafter(v, 0), v, math.Nextafter(v, math.Inf(1))} {
			out = append(out, w, -w)
		}
	}
	return out
}()

// argument returns a random float64 of any magnitude, or one from the ranges that matter. The
// arguments are the same on every machine.
func argument(r *rand.Rand) float64 {
	switch r.IntN(6) {
	case 0:
		return math.Float64frombits(r.Uint64())
	case 1:
		return special[r.IntN(len(special))]
	case 2:
		return float64(r.IntN(2001)-1000) / 8
	case 3:
		return 8 * (r.Float64() - 0.5)
	case 4:
		return 800 * (2*r.Float64() - 1)
	default:
		return math.Ldexp(r.Float64()-0.5, r.IntN(160)-80)
	}
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

// onAmd64 skips a comparison with package math and gonum unless they have the same bits here.
func onAmd64(t *testing.T) {
	if runtime.GOARCH != "amd64" || !cpu.X86.HasFMA || !cpu.X86.HasAVX {
		t.Skip("package math has other bits here: see TestRecordedBits")
	}
	// x·x is 1 + 2⁻²⁷ + 2⁻⁵⁶: the sum is 0 only if the last term was rounded away.
	if x := special[0] + 1 + 0x1p-28; x*x-(1+0x1p-27) != 0 || (-x)*x+(1+0x1p-27) != 0 {
		t.Skip("GOAMD64=v3 fuses multiply-adds in package math: see TestRecordedBits")
	}
}

func TestSameAsMath(t *testing.T) {
	onAmd64(t)
	r := rand.New(rand.NewPCG(1, 1))
	for _, f := range unary {
		check := func(x float64) {
			if f.name == "Log" && 0 < x && x < 0x1p-1022 {
				return // math.Log is wrong on amd64: see TestLogOfSubnormals
			}
			if got, want := f.got(x), f.want(x); !same(got, want) {
				t.Errorf("%s(%v) = %x, want %x", f.name, x, got, want)
			}
		}
		for _, x := range special {
			check(x)
		}
		for range 500_000 {
			check(argument(r))
		}
	}
	for _, f := range binary {
		check := func(x, y float64) {
			if f.name == "Pow" && math.Abs(x) < 0x1p-1022 {
				return
			}
			if got, want := f.got(x, y), f.want(x, y); !same(got, want) {
				t.Errorf("%s(%v, %v) = %x, want %x", f.name, x, y, got, want)
			}
		}
		for _, x := range special {
			for _, y := range special {
				check(x, y)
			}
		}
		for range 500_000 {
			check(argument(r), argument(r))
		}
	}
}

func TestLogOfSubnormals(t *testing.T) {
	for _, x := range []float64{5e-324, 1e-310, 0x1p-1022 - 5e-324} {
		if got, want := Log(x), Log(x*0x1p60)-60*math.Ln2; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("Log(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestSameAsGonum(t *testing.T) {
	onAmd64(t)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		for range 20 {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = 3+r.NormFloat64(), math.Exp(10*r.NormFloat64())
			}
			if got, want := Sum(x), floats.Sum(x); !same(got, want) {
				t.Errorf("Sum of %d = %x, want %x", n, got, want)
			}
			mean, dev := MeanDeviation(y)
			if wantMean, want := stat.PopMeanStdDev(y, nil); !same(mean, wantMean) || !same(dev, want) {
				t.Errorf("MeanDeviation of %d = %x, %x, want %x, %x", n, mean, dev, wantMean, want)
			}
			_, want := stat.LinearRegression(x, y, nil, false)
			if got := Slope(x, y); !same(got, want) {
				t.Errorf("Slope of %d = %x, want %x", n, got, want)
			}
		}
	}
}

// TestDeviationOfExtremes checks that values whose squares exceed the range of float64 have
// the same deviation as ordinary values, in another unit.
func TestDeviationOfExtremes(t *testing.T) {
	x := []float64{1, 2, 4, 4.5, -3}
	wantMean, want := MeanDeviation(x)
	for _, exp := range []int{-1050, -700, 600, 1019} {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = math.Ldexp(v, exp)
		}
		mean, dev := MeanDeviation(y)
		if ratio := dev / math.Ldexp(want, exp); !(math.Abs(ratio-1) <= 1e-6) || !(math.Abs(mean/math.Ldexp(wantMean, exp)-1) <= 1e-6) {
			t.Errorf("times 2^%d: mean %g, deviation %g", exp, mean, dev)
		}
	}
	if _, dev := MeanDeviation([]float64{1e300, 1e300}); dev != 0 {
		t.Errorf("deviation %g of equal values", dev)
	}
}

// TestRecordedBits compares the functions with values that were recorded on amd64.
func TestRecordedBits(t *testing.T) {
	var lines []string
	add := func(name string, v float64, args ...float64) {
		line := name
		if v != v {
			v = math.NaN() // the payload of a NaN depends on the processor
		}
		for _, a := range append(args, v) {
			line += fmt.Sprintf(" %016x", math.Float64bits(a))
		}
		lines = append(lines, line)
	}
	r := rand.New(rand.NewPCG(1, 3))
	for _, f := range unary {
		for i := range len(special) + 30 {
			x := argument(r)
			if i < len(special) {
				x = special[i]
			}
			add(f.name, f.got(x), x)
		}
	}
	for _, f := range binary {
		for range 100 {
			x, y := argument(r), argument(r)
			add(f.name, f.got(x, y), x, y)
		}
	}
	var x, y []float64
	for range 40 {
		x, y = append(x, r.Float64()), append(y, r.Float64()-0.5)
		mean, dev := MeanDeviation(x)
		add("Sum "+strconv.Itoa(len(x)), Sum(x))
		add("MeanDeviation "+strconv.Itoa(len(x)), dev, mean)
		add("Slope "+strconv.Itoa(len(x)), Slope(x, y))
	}
	if *golden.Update {
		onAmd64(t)
	}
	golden.Check(t, "testdata/bits.txt", strings.Join(lines, "\n")+"\n")
}

func BenchmarkExp(b *testing.B) {
	x := make([]float64, 1024)
	for i := range x {
		x[i] = -20 * rand.Float64()
	}
	for name, f := range map[string]func(float64) float64{"portable": Exp, "math": math.Exp} {
		b.Run(name, func(b *testing.B) {
			var sum float64
			for i := range b.N {
				sum += f(x[i%1024])
			}
			if !(sum >= 0) {
				b.Fatal(sum)
			}
		})
	}
}
