package gemm

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/golden"
	"polkrepro/internal/race"
)

// source is the generator SplitMix64. Inputs are made from its integers by
// exact operations, so they are the same on every architecture.
type source uint64

func (s *source) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *source) intn(n int) int { return int(s.next() >> 33 % uint64(n)) }

// inputs are kinds of numbers. Each kind reaches different cases of rounding.
var inputs = []string{
	"unit",    // in [−1, 1), all bits of the significand random
	"coarse",  // multiples of 1/8: exact sums, ties, zeros of either sign
	"tiny",    // products are subnormal or underflow
	"huge",    // products overflow
	"mixed",   // of all magnitudes
	"ties",    // sums a rounding error away from midpoints of neighbouring numbers
	"subties", // the same among subnormal numbers
	"special", // unit, with infinities, NaN, zeros and subnormal numbers between
}

// number returns a random number of the given kind.
func number[T Float](s *source, kind string) T {
	bits, low := 24, -74 // bits of the significand; about half the exponent of the least number
	if sizeOf[T]() == 8 {
		bits, low = 53, -538
	}
	u := T(int64(s.next())>>(64-bits)) * T(math.Ldexp(1, 1-bits))
	switch kind {
	case "coarse":
		u = T(s.intn(33)-16) / 8
		if s.intn(8) == 0 {
			u *= 0 // a zero with the sign of u
		}
	case "tiny":
		u *= T(math.Ldexp(1, low+s.intn(20)))
	case "huge":
		u *= T(math.Ldexp(1, -low-s.intn(20)))
	case "mixed":
		u *= T(math.Ldexp(1, s.intn(-2*low)+low))
	case "ties", "subties":
		// Products of two such numbers are 2ᵉ·(1 + i·ulp + j·ulp²) for few i and j, which
		// is about half an ulp of a sum of other products.
		e := -bits/2 + s.intn(4)
		if s.intn(2) == 0 {
			e = 0
		}
		if kind == "subties" {
			e = low - 1 + s.intn(3)
			if s.intn(4) == 0 {
				e += bits / 2
			}
		}
		u = 1 + T(s.intn(9)-4)*T(epsOf[T]())
		u *= T(math.Ldexp(1, e)) * T(1-2*s.intn(2))
	case "special":
		switch s.intn(64) {
		case 0:
			return T(math.Inf(s.intn(2)*2 - 1))
		case 1:
			return T(math.NaN())
		case 2, 3, 4:
			return 0
		case 5, 6, 7:
			return T(math.Copysign(0, -1))
		case 8, 9:
			return u * T(math.Ldexp(1, 2*low+8))
		}
	}
	return u
}

func numbers[T Float](s *source, kind string, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = number[T](s, kind)
	}
	return x
}

// bitsOf returns the bits of x, and the same bits for every NaN.
func bitsOf[T Float](x T) uint64 {
	if x != x {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(float64(x)) // exact, and tells −0 from 0
}

// record stores the outputs of a kernel under a name.
type record[T Float] func(name string, out []T)

// scalings are α and β of a product. β = 0, β = 1 and other β have separate code.
var scalings = [][2]float64{{1, 0}, {-0.7, 0}, {1, 1}, {-1.3, 1}, {0.3, -2.1}, {1, math.Inf(1)}, {0.9, math.NaN()}}

// kernelBits records the outputs of all kernels of one element type.
func kernelBits[T Float](kr *kernels[T], kind string, rec record[T]) {
	s := source(1)
	vanishing := T(0x1p-80) // its square underflows
	if sizeOf[T]() == 8 {
		vanishing = 0x1p-540
	}
	for i, k := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 384} {
		m, n := 1+s.intn(20), 1+s.intn(100)
		a, b := numbers[T](&s, kind, m*k), numbers[T](&s, kind, n*k)
		panels := make([]T, ceilDiv(n, kr.nr)*kr.nr*k)
		kr.packRows(panels, k*kr.nr, kr.nr, b, k, n, k)
		lane, unused := make([]T, 0, n*k), T(0)
		for j := range len(panels) / k {
			for q := range k {
				v := panels[j/kr.nr*kr.nr*k+q*kr.nr+j%kr.nr]
				if j < n {
					lane = append(lane, v)
				} else {
					unused += v
				}
			}
		}
		rec("pack", append(lane, unused))
		c := numbers[T](&s, kind, m*n)
		ab := scalings[i%len(scalings)]
		for i := 0; i < m; i += kr.mr {
			for j := 0; j < n; j += kr.nr {
				kr.tile(min(kr.mr, m-i), min(kr.nr, n-j), k, a[i*k:], k, panels[j*k:], T(ab[0]), T(ab[1]), c[i*n+j:], n)
			}
		}
		rec("tile", c)
	}
	for k := 1; k <= 100; k++ {
		const m, n = 7, 9
		a, b, c := numbers[T](&s, kind, m*k), numbers[T](&s, kind, n*k), make([]T, m*n)
		var out dotTile[T]
		for i := 0; i < m; i += kr.dotA {
			ra := min(kr.dotA, m-i)
			for j, rb := 0, 0; j < n; j += rb {
				if rb = kr.dotB; j+rb > n {
					rb = 1
				}
				kr.dots(ra, rb, k, a[i*k:], k, b[j*k:], k, &out)
				for p := range ra {
					copy(c[(i+p)*n+j:][:rb], out[4*p:])
				}
			}
		}
		// Products that underflow to −0, which remains unless a zero is added.
		for q := range k {
			a[q], b[q] = -vanishing, vanishing
		}
		kr.dots(1, 1, k, a, k, b, k, &out)
		rec("dots", append(c, out[0]))
	}
	for n := 1; n <= 70; n++ {
		c, nb := numbers[T](&s, kind, n), numbers[T](&s, kind, n)
		for i, v := range nb {
			if v < 0 { // squared norms
				nb[i] = -v
			}
		}
		na, gamma := number[T](&s, kind), T(s.intn(9))/4
		kr.gauss(c, nb, max(na, -na), gamma)
		rec("gauss", c)
	}
	for n := range 70 {
		sum := kr.sumSquares(numbers[T](&s, kind, n))
		rec("sumSquares", []T{T(sum), T(sum - float64(T(sum)))})
		src := numbers[T](&s, kind, n+1)
		kr.exp(src, src)
		rec("exp", src)
	}
}

// expBits records exp over its whole range: near all multiples of ln(2)/2, where
// the reduction of the argument changes, near the clamps, and at random bits.
func expBits[T Float](kr *kernels[T], rec record[T]) {
	s := source(2)
	var x []T
	for i := -2200; i <= 2100; i++ {
		at := T(T(i) * T(math.Ln2/2)) // the conversion keeps compilers from fusing
		for range 5 {
			x = append(x, at, at+T(T(s.intn(17)-8)*T(epsOf[T]())*at))
		}
	}
	for range 20000 {
		x = append(x, T(s.intn(1500<<16)-(750<<16))/(1<<16), T(s.intn(220<<20)-(110<<20))/(1<<20))
		if sizeOf[T]() == 4 {
			x = append(x, T(math.Float32frombits(uint32(s.next()))))
		} else {
			x = append(x, T(math.Float64frombits(s.next())))
		}
	}
	kr.exp(x, x)
	rec("exp", x)
}

// vectorBits records the vector operations.
func vectorBits(v *vectors, kind string, rec record[float64]) {
	s := source(3)
	for n := 1; n <= 140; n++ {
		x, y := numbers[float64](&s, kind, n), numbers[float64](&s, kind, n)
		rec("dot", []float64{v.dot(x, y), v.dot(slices.Repeat([]float64{-0x1p-540}, n), slices.Repeat([]float64{0x1p-540}, n))})
		dst := make([]float64, n)
		Product(dst, x, y)
		rec("product", dst)
		v.axpy(number[float64](&s, kind), x, y)
		rec("axpy", y)
		y = numbers[float64](&s, kind, n)
		v.largest(x, y)
		rec("largest", y)
	}
}

// bitShapes reach every plan of a product and several blocks of k.
var bitShapes = []shape{{1, 50, 31}, {1, 70, 33}, {3, 40, 32}, {40, 4, 100}, {5, 60, 255}, {12, 40, 256}, {30, 9, 300}, {13, 60, 256},
	{20, 40, 800}, {30, 40, 390}, {16, 1100, 120}, {33, 65, 3}, {70, 20, 384}, {20, 50, 385}, {15, 25, 769}, {13, 20, 1000}, {130, 30, 1}}

// productBits records the products of one element type.
func productBits[T Float](kind string, rec record[T]) {
	s := source(4)
	for i, sh := range bitShapes {
		a, b, c := numbers[T](&s, kind, sh.m*sh.k), numbers[T](&s, kind, sh.n*sh.k), numbers[T](&s, kind, sh.m*sh.n)
		p := fill(matrix[T]{sh.n, sh.k, sh.k, b})
		ab := scalings[i%len(scalings)]
		x, out := MatrixOf(sh.m, sh.k, a), MatrixOf(sh.m, sh.n, c)
		MulABT(T(ab[0]), x, MatrixOf(sh.n, sh.k, b), T(ab[1]), out, 1+i%2)
		rec("MulABT", c)
		p.MulABT(x, out, 1)
		rec("Panels.MulABT", c)
		norms := []T{p.Gaussian(x, T(s.intn(9))/64, out, 1), p.MaxNormSq()}
		rec("Panels.Gaussian", append(norms, c...))
	}
}

// hashes holds the hashes of recorded outputs by name, and the names in order of their first
// output.
type hashes struct {
	names []string
	of    map[string]hash.Hash
}

func (h *hashes) add(name string, bits uint64) {
	sum, ok := h.of[name]
	if !ok {
		sum = sha256.New()
		h.names, h.of[name] = append(h.names, name), sum
	}
	sum.Write(binary.LittleEndian.AppendUint64(nil, bits))
}

func recorder[T Float](h *hashes, kind string) record[T] {
	return func(name string, out []T) {
		name = fmt.Sprintf("%s %s %s", name, typeName[T](), kind)
		for _, x := range out {
			h.add(name, bitsOf(x))
		}
	}
}

// backendBits returns the hashes of everything that the backend in use computes.
func backendBits() *hashes {
	h := &hashes{of: map[string]hash.Hash{}}
	for _, kind := range inputs {
		kernelBits(active.k32, kind, recorder[float32](h, kind))
		kernelBits(active.k64, kind, recorder[float64](h, kind))
		vectorBits(active.v, kind, recorder[float64](h, kind))
		productBits(kind, recorder[float32](h, kind))
		productBits(kind, recorder[float64](h, kind))
	}
	expBits(active.k32, recorder[float32](h, "all"))
	expBits(active.k64, recorder[float64](h, "all"))
	return h
}

// TestRecordedBits compares the bits of every kernel and product of every backend with
// testdata/bits.txt, which has the hashes of AVX-512's bits and is written by
//
//	go test ./internal/gemm -run TestRecordedBits -update
func TestRecordedBits(t *testing.T) {
	if race.Enabled {
		t.Skip("arithmetic alone: TestSameBits has the threads")
	}
	if *golden.Update {
		h := backendBits()
		var b strings.Builder
		for _, name := range h.names {
			fmt.Fprintf(&b, "%x %s\n", h.of[name].Sum(nil)[:8], name)
		}
		if err := os.WriteFile("testdata/bits.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/bits.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = sum
	}
	eachBackend(t, func(t *testing.T) {
		h := backendBits()
		for _, name := range h.names {
			if got := fmt.Sprintf("%x", h.of[name].Sum(nil)[:8]); got != want[name] {
				t.Errorf("%s: hash %s, recorded %q", name, got, want[name])
			}
		}
		if len(h.names) != len(want) {
			t.Errorf("%d hashes computed, %d recorded", len(h.names), len(want))
		}
	})
}

// sameBitsRun returns all results of the backend in use for random inputs.
func sameBitsRun[T Float](seed uint64, kind string, sh shape, alpha, beta T, threads int) (out []T) {
	s := source(seed)
	a, b, c := numbers[T](&s, kind, sh.m*sh.k), numbers[T](&s, kind, sh.n*sh.k), numbers[T](&s, kind, sh.m*sh.n)
	left, result := MatrixOf(sh.m, sh.k, a), MatrixOf(sh.m, sh.n, c)
	MulABT(alpha, left, MatrixOf(sh.n, sh.k, b), beta, result, threads)
	out = append(out, c...)
	p := fill(matrix[T]{sh.n, sh.k, sh.k, b})
	p.MulABT(left, result, threads)
	out = append(out, c...)
	norm := p.Gaussian(left, T(s.intn(100))/100, result, threads)
	out = append(append(out, c...), norm)
	x := numbers[T](&s, kind, sh.n)
	for i := range x {
		x[i] *= 100
	}
	Exp(x, x)
	return append(out, x...)
}

// testSameBits compares every backend of this machine with the first.
func testSameBits[T Float](t *testing.T) {
	list := backends()
	defer use(list[0])
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(inputs).Draw(t, "inputs")
		sh := shape{rapid.IntRange(1, 40).Draw(t, "m"), rapid.IntRange(1, 120).Draw(t, "n"), rapid.IntRange(1, 500).Draw(t, "k")}
		seed, threads := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 2).Draw(t, "threads")
		s := source(seed)
		alpha, beta := number[T](&s, "unit"), T(rapid.SampledFrom([]float64{0, 1, -0.3}).Draw(t, "beta"))
		use(list[0])
		want := sameBitsRun(seed, kind, sh, alpha, beta, threads)
		for _, b := range list[1:] {
			use(b)
			for i, got := range sameBitsRun(seed, kind, sh, alpha, beta, threads) {
				if bitsOf(got) != bitsOf(want[i]) {
					t.Fatalf("output %d: %s gives %v, %s %v", i, b.k64.name, got, list[0].k64.name, want[i])
				}
			}
		}
	})
}

// TestSameBits compares all backends of this machine bit for bit.
func TestSameBits(t *testing.T) {
	if len(backends()) == 1 {
		t.Skip("this machine has one backend")
	}
	t.Run("float32", testSameBits[float32])
	t.Run("float64", testSameBits[float64])
}

// fmaGo is the multiply-add of the generic backend.
func fmaGo[T Float](x, y, z T) T {
	if sizeOf[T]() == 4 {
		return T(fma32(float32(x), float32(y), float32(z)))
	}
	return T(math.FMA(float64(x), float64(y), float64(z)))
}

// bigFMA is the oracle of fmaGo, for finite numbers.
func bigFMA[T Float](x, y, z T) T {
	exact := func(v T) *big.Float { return new(big.Float).SetPrec(5000).SetFloat64(float64(v)) }
	sum := exact(x)
	sum.Mul(sum, exact(y)).Add(sum, exact(z)) // zeros have IEEE's signs
	if sizeOf[T]() == 4 {
		v, _ := sum.Float32()
		return T(v)
	}
	v, _ := sum.Float64()
	return T(v)
}

// hardFMA returns y and z for x = 2ᵃ·(1 + c·ulp) such that x·y is a rounding
// error away from half a unit in the last place of z, or of a z with fewer bits.
// z is a multiple of 2ᵉ.
func hardFMA[T Float](s *source, a, c, e int) (y, z T) {
	bits := 24
	if sizeOf[T]() == 8 {
		bits = 53
	}
	m := int64(s.next() >> (64 - bits))
	switch s.intn(4) {
	case 0:
		m = 1<<bits - 1 - int64(s.intn(3))
	case 1:
		m >>= s.intn(bits + 1)
	}
	c += s.intn(3) - 1
	sign := func() T { return T(1 - 2*s.intn(2)) }
	return T(math.Ldexp(1-float64(c)*epsOf[T](), e-1-a)) * sign(), T(math.Ldexp(float64(m), e)) * sign()
}

func testFMA[T Float](t *testing.T) {
	s := source(5)
	check := func(by string, got, x, y, z T) {
		t.Helper()
		if want := bigFMA(x, y, z); bitsOf(got) != bitsOf(want) {
			t.Fatalf("%s: %b·%b + %b = %b, want %b", by, x, y, z, got, want)
		}
	}
	kr := kernelsOf[T]()
	lanes := 64 / sizeOf[T]()
	least, most := -152, 104
	if sizeOf[T]() == 8 {
		least, most = -1077, 971
	}
	y, z := make([]T, kr.nr), make([]T, kr.nr)
	panel, c := make([]T, 2*kr.nr), make([]T, kr.nr)
	u, v := make([]T, lanes+1), make([]T, lanes+1)
	var out dotTile[T]
	for i := range 3000 {
		var e int
		switch i % 4 {
		case 0:
			e = least + s.intn(8) // subnormal, or too small
		case 1:
			e = most // overflows if all bits of z are set
		default:
			e = least + s.intn(most-least)
		}
		a, ulps := e/2+s.intn(20)-10, s.intn(9)-4
		x := T(math.Ldexp(1+float64(ulps)*epsOf[T](), a))
		for j := range y {
			y[j], z[j] = hardFMA[T](&s, a, ulps, e)
			panel[j], panel[kr.nr+j] = z[j], y[j]
		}
		// In a tile of two columns: 1·z, then x·y.
		kr.tile(1, kr.nr, 2, []T{1, x}, 2, panel, 1, 0, c, kr.nr)
		for j, got := range c {
			if z[j] != 0 {
				check("tile", got, x, y[j], z[j])
			}
		}
		// In one lane of a dot product.
		u[0], u[lanes], v[0], v[lanes] = 1, x, z[0], y[0]
		if kr.dots(1, 1, lanes+1, u, lanes+1, v, lanes+1, &out); z[0] != 0 && out[0] != 0 {
			check("dots", out[0], x, y[0], z[0])
		}
		for j := range y {
			check("fma", fmaGo(x, y[j], z[j]), x, y[j], z[j])
		}
	}
	for _, x := range []T{0, T(math.Copysign(0, -1)), 1, -1, T(math.Ldexp(1, -120)), T(-math.Ldexp(1, -120))} {
		for _, y := range []T{0, T(math.Copysign(0, -1)), 1, -1, T(math.Ldexp(1, -120))} {
			for _, z := range []T{0, T(math.Copysign(0, -1)), 1, -1} {
				check("fma", fmaGo(x, y, z), x, y, z)
			}
		}
	}
	inf, nan := T(math.Inf(1)), T(math.NaN())
	for _, f := range [][4]T{{inf, 1, 1, inf}, {1, -inf, 1, -inf}, {1, 1, inf, inf}, {inf, 1, -inf, nan}, {inf, 0, 1, nan}, {nan, 1, 1, nan}, {1, 1, nan, nan}} {
		if got := fmaGo(f[0], f[1], f[2]); bitsOf(got) != bitsOf(f[3]) {
			t.Errorf("%v·%v + %v = %v, want %v", f[0], f[1], f[2], got, f[3])
		}
	}
}

// TestFMA compares the multiply-add of plain Go, and those of kernels, with arithmetic of
// 5,000 bits. The cases are near the midpoints of neighbouring numbers, where rounding twice
// would show, among subnormal numbers and near overflow.
func TestFMA(t *testing.T) { eachType(t, testFMA[float32], testFMA[float64]) }
