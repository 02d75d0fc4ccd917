package gemm

import "math"

// The generic backend implements the arithmetic of the package comment in plain Go.
// No expression here may change its bits if a compiler fuses x*y + z: products are
// rounded by a conversion, exact, or operands of math.FMA.

const (
	genericMR  = 32 // rows of a tile, which share one leastExponent of the panel
	genericNR  = 16 // columns of a tile
	genericVec = 8  // columns that are computed together
)

func genericBackend() backend {
	return backend{
		&kernels[float32]{
			name: "generic", mr: genericMR, nr: genericNR, lanes: genericVec,
			tile: tileGeneric32,
			dots: dotsGeneric32, dotA: 1, dotB: 1,
			gauss:      gaussGeneric32,
			exp:        expGeneric(exp32),
			sumSquares: sumSquaresGeneric,
			product:    productGeneric[float32],
		},
		&kernels[float64]{
			name: "generic", mr: genericMR, nr: genericNR, lanes: genericVec,
			tile: tileGeneric64,
			dots: dotsGeneric64, dotA: 1, dotB: 1,
			gauss:      gaussGeneric64,
			exp:        expGeneric(exp64),
			sumSquares: func(x []float64) float64 { return dotGeneric(x, x) },
			product:    productGeneric[float64],
		},
		&vectors{dotGeneric, axpyGeneric, largestGeneric},
	}
}

// sum32 returns a float64 whose rounding to float32 is that of the exact
// p + z, for a product p of two float32s, which is exact, and a float32 z.
//
// The float64 s nearest p + z qualifies unless it lies halfway between two
// neighbouring float32s: every such midpoint is a float64, so rounding to
// float64 never steps across one, only onto it. The last 28 bits of a midpoint
// are zero, even if the neighbours are subnormal.
//
// The function has a form that the compiler inlines.
func sum32(p, z float64) (s float64) {
	s = p + z
	if math.Float64bits(s)<<36 == 0 {
		s = sumOdd(p, z)
	}
	return
}

// sumOdd returns p + z rounded to odd: if the float64 nearest the sum is not exact,
// it returns the one of the two float64s around the sum whose last bit is set. That
// float64 is not a midpoint, and it is on the same side of every midpoint as the sum.
//
//go:noinline
func sumOdd(p, z float64) float64 {
	s := p + z
	// The error of s (Knuth's TwoSum), NaN if s is not finite.
	v := s - p
	e := (p - (s - v)) + (z - v)
	if e > 0 || e < 0 {
		b := math.Float64bits(s)
		if (e > 0) != (s > 0) {
			b-- // towards zero
		}
		s = math.Float64frombits(b | 1)
	}
	return s
}

// fma32 returns x·y + z, rounded once.
func fma32(x, y, z float32) float32 {
	return float32(sum32(float64(x)*float64(y), float64(z)))
}

func tileGeneric64(rows, cols, k int, a []float64, lda int, p []float64, alpha, beta float64, c []float64, ldc int) {
	for i := range rows {
		for j := 0; j < cols; j += genericVec {
			row := c[i*ldc+j:]
			var s [genericVec]float64
			row64(a[i*lda:i*lda+k], p[j:], &s)
			for j, v := range s[:min(genericVec, cols-j)] {
				if beta == 0 {
					row[j] = alpha * v
				} else {
					row[j] = math.FMA(v, alpha, float64(beta*row[j]))
				}
			}
		}
	}
}

// row64 adds the products of a row with eight columns of a panel to s.
func row64(x, p []float64, s *[genericVec]float64) {
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for q, u := range x {
		b := (*[genericVec]float64)(p[q*genericNR:])
		s0 = math.FMA(u, b[0], s0)
		s1 = math.FMA(u, b[1], s1)
		s2 = math.FMA(u, b[2], s2)
		s3 = math.FMA(u, b[3], s3)
		s4 = math.FMA(u, b[4], s4)
		s5 = math.FMA(u, b[5], s5)
		s6 = math.FMA(u, b[6], s6)
		s7 = math.FMA(u, b[7], s7)
	}
	*s = [genericVec]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

func tileGeneric32(rows, cols, k int, a []float32, lda int, p []float32, alpha, beta float32, c []float32, ldc int) {
	leastP := leastExponent(p[:k*genericNR])
	for i := range rows {
		x := a[i*lda : i*lda+k]
		// Products are multiples of 2^(leastP + leastX − 46). If that is at least
		// 2⁻¹⁷⁹, a sum below 2⁻¹²⁶, a subnormal float32, has no more than 53 bits.
		exact := leastP+leastExponent(x) >= -133
		for j := 0; j < cols; j += genericVec {
			row := c[i*ldc+j:]
			var s [genericVec]float32
			row32(x, p[j:], &s, exact)
			for j, v := range s[:min(genericVec, cols-j)] {
				if beta == 0 {
					row[j] = alpha * v
				} else {
					row[j] = fma32(v, alpha, float32(beta*row[j]))
				}
			}
		}
	}
}

// leastExponent returns the exponent of the number in x nearest zero, or one
// less; zeros do not count.
func leastExponent(x []float32) int {
	least := uint32(math.MaxUint32)
	for _, v := range x {
		least = min(least, math.Float32bits(v)<<1-1) // without sign; zero wraps around
	}
	return int(least>>24) - 127
}

// row32 adds the products of a row with eight columns of a panel to s. exact
// means that sums that are subnormal float32s are exact in float64.
func row32(x, p []float32, s *[genericVec]float32, exact bool) {
	for q := 0; q < len(x); q++ {
		if exact {
			q = row32ToMidpoint(q, x, p, s)
			if q == len(x) {
				return
			}
		}
		u := float64(x[q])
		for j, v := range (*[genericVec]float32)(p[q*genericNR:]) {
			s[j] = float32(sum32(u*float64(v), float64(s[j])))
		}
	}
}

// row32ToMidpoint is row32 from column q of x to the first column whose sums, rounded
// to float64, include a midpoint of float32s (see sum32). It returns that column, or
// len(x). Without calls its loop is several times as fast.
func row32ToMidpoint(q int, x, p []float32, s *[genericVec]float32) int {
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for ; q < len(x); q++ {
		b := (*[genericVec]float32)(p[q*genericNR:])
		u := float64(x[q])
		t0, t1 := u*float64(b[0])+float64(s0), u*float64(b[1])+float64(s1)
		t2, t3 := u*float64(b[2])+float64(s2), u*float64(b[3])+float64(s3)
		t4, t5 := u*float64(b[4])+float64(s4), u*float64(b[5])+float64(s5)
		t6, t7 := u*float64(b[6])+float64(s6), u*float64(b[7])+float64(s7)
		if midpoint(t0) || midpoint(t1) || midpoint(t2) || midpoint(t3) ||
			midpoint(t4) || midpoint(t5) || midpoint(t6) || midpoint(t7) {
			break
		}
		s0, s1, s2, s3 = float32(t0), float32(t1), float32(t2), float32(t3)
		s4, s5, s6, s7 = float32(t4), float32(t5), float32(t6), float32(t7)
	}
	*s = [genericVec]float32{s0, s1, s2, s3, s4, s5, s6, s7}
	return q
}

// midpoint reports whether s lies halfway between two neighbouring float32s,
// if these are not subnormal.
func midpoint(s float64) bool { return uint32(math.Float64bits(s))<<3 == 1<<31 }

func dotsGeneric32(_, _, k int, a []float32, _ int, b []float32, _ int, out *dotTile[float32]) {
	var s [16]float32
	x, y := a[:k], b[:k]
	for len(x) >= 16 && len(y) >= 16 {
		lanes32((*[16]float32)(x), (*[16]float32)(y), &s)
		x, y = x[16:], y[16:]
	}
	if len(x) > 0 {
		var u, v [16]float32 // zeros are added to the lanes beyond the end: −0 becomes 0
		copy(u[:], x)
		copy(v[:], y)
		lanes32(&u, &v, &s)
	}
	out[0] = reduceGeneric(s[:])
}

func lanes32(x, y, s *[16]float32) {
	for i := range s {
		s[i] = float32(sum32(float64(x[i])*float64(y[i]), float64(s[i])))
	}
}

func dotsGeneric64(_, _, k int, a []float64, _ int, b []float64, _ int, out *dotTile[float64]) {
	var s [8]float64
	addLanes(a[:k], b[:k], &s)
	out[0] = reduceGeneric(s[:])
}

// addLanes adds the products of x and y to eight lanes.
func addLanes(x, y []float64, s *[8]float64) {
	for len(x) >= 8 && len(y) >= 8 {
		lanes64((*[8]float64)(x), (*[8]float64)(y), s)
		x, y = x[8:], y[8:]
	}
	if len(x) > 0 {
		var u, v [8]float64
		copy(u[:], x)
		copy(v[:], y)
		lanes64(&u, &v, s)
	}
}

func lanes64(x, y, s *[8]float64) {
	s[0] = math.FMA(x[0], y[0], s[0])
	s[1] = math.FMA(x[1], y[1], s[1])
	s[2] = math.FMA(x[2], y[2], s[2])
	s[3] = math.FMA(x[3], y[3], s[3])
	s[4] = math.FMA(x[4], y[4], s[4])
	s[5] = math.FMA(x[5], y[5], s[5])
	s[6] = math.FMA(x[6], y[6], s[6])
	s[7] = math.FMA(x[7], y[7], s[7])
}

// reduceGeneric adds the lanes, whose number is a power of two: the upper half to the
// lower half until one is left.
func reduceGeneric[T Float](s []T) T {
	for h := len(s) / 2; h > 0; h /= 2 {
		for i := range h {
			s[i] += s[i+h]
		}
	}
	return s[0]
}

// dotGeneric sums in four vectors of eight lanes; elements that do not fill all four
// go to the first.
func dotGeneric(x, y []float64) float64 {
	var s [4][8]float64
	y = y[:len(x)]
	for len(x) >= 32 && len(y) >= 32 {
		for i := range s {
			lanes64((*[8]float64)(x[8*i:]), (*[8]float64)(y[8*i:]), &s[i])
		}
		x, y = x[32:], y[32:]
	}
	addLanes(x, y, &s[0])
	for i := range s[0] {
		s[0][i] = (s[0][i] + s[1][i]) + (s[2][i] + s[3][i])
	}
	return reduceGeneric(s[0][:])
}

func axpyGeneric(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = math.FMA(alpha, v, y[i])
	}
}

func productGeneric[T Float](dst, x, y []T) {
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func largestGeneric(x, y []float64) {
	for i, v := range x {
		if v > y[i] {
			y[i] = v
		}
	}
}

func gaussGeneric32(c, nb []float32, na, gamma float32) {
	nb = nb[:len(c)]
	for j, v := range c {
		d := fma32(-2, v, na+nb[j])
		if d < 0 { // false for NaN, which stays
			d = 0
		}
		c[j] = exp32(float32(-gamma * d))
	}
}

func gaussGeneric64(c, nb []float64, na, gamma float64) {
	nb = nb[:len(c)]
	for j, v := range c {
		d := math.FMA(-2, v, na+nb[j])
		if d < 0 {
			d = 0
		}
		c[j] = exp64(float64(-gamma * d))
	}
}

func expGeneric[T Float](exp func(T) T) func(dst, src []T) {
	return func(dst, src []T) {
		for i, x := range src {
			dst[i] = exp(x)
		}
	}
}

// poly32 and poly64 are the coefficients of exp(r), highest power first. The assembly
// generator has a copy of them.
var (
	poly32 = [...]float32{0.0013926183587713494155, 0.0083631790527225781384, 0.041666554617204573652,
		0.16666576989698775324, 0.5, 1, 1}
	poly64 = [...]float64{2.5100385495510320289e-08, 2.7620088445409746215e-07, 2.7557268459997064112e-06,
		2.4801521295954376061e-05, 0.0001984126986305361775, 0.0013888888917213716712, 0.0083333333333300615292,
		0.041666666666624128934, 0.16666666666666668517, 0.50000000000000011102, 1, 1}
)

// exp32 returns exp(x) = 2ⁿ·exp(r), |r| ≤ ln(2)/2.
func exp32(x float32) float32 {
	if x != x {
		return x
	}
	x = min(max(x, -110), 89)
	n := float32(math.RoundToEven(float64(float32(x * 1.4426950408889634))))
	r := float64(fma32(-n, -1.904654299957768e-09, fma32(-n, 0.6931471824645996, x)))
	p := poly32[0]
	for _, c := range poly32[1:] {
		p = float32(sum32(float64(p)*r, float64(c)))
	}
	return float32(float64(p) * exp2(int(n))) // rounded once, if subnormal
}

// exp64 is exp32 for float64.
func exp64(x float64) float64 {
	if x != x {
		return x
	}
	x = min(max(x, -750), 710)
	n := math.RoundToEven(float64(x * 1.4426950408889634))
	r := math.FMA(-n, 2.3190468138462996e-17, math.FMA(-n, 0.6931471805599453, x))
	p := poly64[0]
	for _, c := range poly64[1:] {
		p = math.FMA(p, r, c)
	}
	// Multiply by two factors, because 2ⁿ may not be a float64. Only the last product is rounded.
	h := int(n) >> 1
	return p * exp2(int(n)-h) * exp2(h)
}

// exp2 returns 2ⁿ for the exponents n of normal numbers.
func exp2(n int) float64 { return math.Float64frombits(uint64(n+1023) << 52) }

// sumSquaresGeneric sums in eight lanes of float64, then adds the remaining elements
// in sequence. The square of a float32 is exact in float64.
func sumSquaresGeneric(x []float32) float64 {
	var s [8]float64
	for len(x) >= 8 {
		for i, v := range (*[8]float32)(x) {
			s[i] += float64(v) * float64(v)
		}
		x = x[8:]
	}
	return sumSquaresTail(reduceGeneric(s[:]), x)
}

// inEights returns a sumSquares that uses a kernel for a multiple of eight elements, at least eight.
func inEights(kernel func(n int, x *float32) float64) func(x []float32) float64 {
	return func(x []float32) float64 {
		n := len(x) &^ 7
		var s float64
		if n > 0 {
			s = kernel(n, &x[0])
		}
		return sumSquaresTail(s, x[n:])
	}
}

// sumSquaresTail adds the squares that do not fill a vector.
func sumSquaresTail(s float64, x []float32) float64 {
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return s
}
