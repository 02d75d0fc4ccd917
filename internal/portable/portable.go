// Package portable implements functions of package math and of gonum's stat that
// return the same bits on every platform: the bits of amd64 with fused multiply-adds.
//
// Package math does not guarantee the bits of its results. Exp, Log, Hypot and others are
// assembly on some architectures and Go on others, with different algorithms. The compiler may
// also fuse x*y + z, as the language allows, where the processor can: on arm64, s390x, ppc64,
// riscv64, loong64, and on amd64 with GOAMD64=v3. An explicit conversion prevents this:
// float64(x*y) + z has one result everywhere, and so has math.FMA(x, y, z). The packages that
// determine the contents of a record therefore call this package, and convert every product
// that becomes part of a sum; TestRecordedPackages reports places where they don't. Assignment
// is not enough: after p := x*y the compiler may still fuse p + z, and does. Products with a
// power of two and of whole numbers below 2⁵³ are exact, and may be fused.
//
// The other functions of package math that these packages use are exact or correctly rounded
// everywhere: Sqrt, FMA, Abs, Floor, Ceil, Trunc, Round, RoundToEven, Copysign, Mod, Modf,
// Frexp, Ldexp.
//
// The functions come from package math, copyright 2009 The Go Authors, under Go's
// BSD-style licence (https://go.dev/LICENSE).
package portable

import "math"

// Shared by Log, Log1p and Expm1.
const (
	ln2Hi = 6.93147180369123816490e-01 // ln 2 to 32 bits: its product with an exponent is exact
	ln2Lo = 1.90821492927058770002e-10
)

// The coefficients of the logarithms' polynomial, lowest power first.
const (
	l1 = 6.666666666666735130e-01
	l2 = 3.999999999940941908e-01
	l3 = 2.857142874366239149e-01
	l4 = 2.222219843214978396e-01
	l5 = 1.818357216161805012e-01
	l6 = 1.531383769920937332e-01
	l7 = 1.479819860511658591e-01
)

// Exp returns eˣ: amd64's assembly, after Naoki Shibata, "Efficient evaluation methods of
// elementary functions suitable for SIMD computation" (2010).
func Exp(x float64) float64 {
	const (
		ln2U     = 0.69314718055966295651160180568695068359375
		ln2L     = 0.28235290563031577122588448175013436025525412068e-12
		overflow = 7.09782712893384e+02
		// Adding and subtracting it rounds |x| < 2⁵¹ to the nearest integer, ties to even.
		rounding = 0x1.8p52
	)
	switch {
	case x > overflow:
		return math.Inf(1)
	case x < -746:
		return 0
	case x != x:
		return x
	}
	k := (float64(x*math.Log2E) + rounding) - rounding
	r := math.FMA(-k, ln2L, math.FMA(-k, ln2U, x)) / 16
	p := math.FMA(r, 2.4801587301587301587e-5, 1.9841269841269841270e-4)
	p = math.FMA(r, p, 1.3888888888888888889e-3)
	p = math.FMA(r, p, 8.3333333333333333333e-3)
	p = math.FMA(r, p, 4.1666666666666666667e-2)
	p = math.FMA(r, p, 1.6666666666666666667e-1)
	p = math.FMA(r, p, 0.5)
	p = math.FMA(r, p, 1)
	e := float64(r * p)      // eʳ − 1
	e = float64(e * (e + 2)) // (1 + e)² − 1, four times: e¹⁶ʳ
	e = float64(e * (e + 2))
	e = float64(e * (e + 2))
	e = math.FMA(e, e+2, 1)
	switch biased := int(k) + 1023; {
	case biased >= 2047:
		return math.Inf(1)
	case biased > 0:
		return e * math.Float64frombits(uint64(biased)<<52)
	case biased < -52:
		return 0
	default:
		return float64(e*math.Float64frombits(uint64(biased+1022)<<52)) * 0x1p-1022
	}
}

// Log returns ln x: amd64's assembly, FreeBSD's algorithm. Unlike the assembly, it is
// correct for subnormal x too.
func Log(x float64) float64 {
	switch {
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x != x || math.IsInf(x, 1):
		return x
	}
	f1, exponent := math.Frexp(x)
	if f1 <= math.Sqrt2/2 {
		f1 *= 2
		exponent--
	}
	f, k := f1-1, float64(exponent)
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	t1 := float64(s2 * (l1 + float64(s4*(l3+float64(s4*(l5+float64(s4*l7)))))))
	t2 := float64(s4 * (l2 + float64(s4*(l4+float64(s4*l6)))))
	hfsq := float64(0.5 * f * f)
	return float64(k*ln2Hi) - ((hfsq - (float64(s*(hfsq+(t1+t2))) + float64(k*ln2Lo))) - f)
}

// Hypot returns √(p² + q²) without needless overflow or underflow.
func Hypot(p, q float64) float64 {
	p, q = math.Abs(p), math.Abs(q)
	switch {
	case math.IsInf(p, 1) || math.IsInf(q, 1):
		return math.Inf(1)
	case p != p || q != q:
		return math.NaN()
	case p < q:
		p, q = q, p
	}
	if p == 0 {
		return 0
	}
	q /= p
	return p * math.Sqrt(1+float64(q*q))
}

// Log1p returns ln(1 + x), by FreeBSD's s_log1p.c.
func Log1p(x float64) float64 {
	const (
		sqrt2M1     = 4.142135623730950488017e-01  // √2 − 1
		sqrt2HalfM1 = -2.928932188134524755992e-01 // √2/2 − 1
	)
	switch {
	case x < -1 || x != x:
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	absx := math.Abs(x)
	switch {
	case absx < 0x1p-54:
		return x
	case absx < 0x1p-29:
		return x - float64(x*x*0.5)
	}

	// 1 + x = 2ᵏ(1 + f), √2/2 < 1 + f < √2, and c corrects 1 + x for its rounding.
	var f, c float64
	var mantissa uint64
	k := 1
	if sqrt2HalfM1 < x && x < sqrt2M1 {
		k, f, mantissa = 0, x, 1
	} else {
		u := x
		if absx < 0x1p53 {
			u = 1 + x
		}
		mantissa = math.Float64bits(u)
		k = int(mantissa>>52) - 1023
		if absx < 0x1p53 {
			if k > 0 {
				c = 1 - (u - x)
			} else {
				c = x - (u - 1)
			}
			c /= u
		}
		mantissa &= 1<<52 - 1
		if mantissa < 0x0006a09e667f3bcd { // the mantissa of √2
			u = math.Float64frombits(mantissa | 0x3ff<<52)
		} else {
			k++
			u = math.Float64frombits(mantissa | 0x3fe<<52)
			mantissa = (1<<52 - mantissa) >> 2
		}
		f = u - 1
	}
	kHi, kLo := float64(float64(k)*ln2Hi), float64(float64(k)*ln2Lo)
	hfsq := float64(0.5 * f * f)
	if mantissa == 0 { // |f| < 2⁻²⁰
		if f == 0 {
			return kHi + (c + kLo)
		}
		r := float64(hfsq * (1 - float64(0.66666666666666666*f)))
		if k == 0 {
			return f - r
		}
		return kHi - ((r - (kLo + c)) - f)
	}
	s := f / (2 + f)
	z := float64(s * s)
	r := l6 + float64(z*l7)
	r = l5 + float64(z*r)
	r = l4 + float64(z*r)
	r = l3 + float64(z*r)
	r = l2 + float64(z*r)
	r = l1 + float64(z*r)
	r = float64(z * r)
	if k == 0 {
		return f - (hfsq - float64(s*(hfsq+r)))
	}
	return kHi - ((hfsq - (float64(s*(hfsq+r)) + (kLo + c))) - f)
}

// Expm1 returns eˣ − 1, by FreeBSD's s_expm1.c.
func Expm1(x float64) float64 {
	const (
		overflow  = 7.09782712893383973096e+02
		ln2X56    = 3.88162421113569373274e+01 // 56 ln 2
		ln2HalfX3 = 1.03972077083991796413e+00 // 3/2 ln 2
		ln2Half   = 3.46573590279972654709e-01 // 1/2 ln 2
		q1        = -3.33333333333331316428e-02
		q2        = 1.58730158725481460165e-03
		q3        = -7.93650757867487942473e-05
		q4        = 4.00821782732936239552e-06
		q5        = -2.01099218183624371326e-07
	)
	switch {
	case x >= overflow:
		return math.Inf(1)
	case x <= -ln2X56:
		return -1
	case x != x || math.Abs(x) < 0x1p-54:
		return x
	}

	// x = k ln 2 + r, |r| ≤ ½ ln 2; c corrects r for its rounding.
	var c float64
	var k int
	if math.Abs(x) > ln2Half {
		switch {
		case math.Abs(x) >= ln2HalfX3:
			k = int(float64(x*math.Log2E) + math.Copysign(0.5, x))
		case x > 0:
			k = 1
		default:
			k = -1
		}
		hi, lo := x-float64(float64(k)*ln2Hi), float64(float64(k)*ln2Lo)
		x = hi - lo
		c = (hi - x) - lo
	}

	hfx := float64(0.5 * x)
	hxs := float64(x * hfx)
	r1 := q4 + float64(hxs*q5)
	r1 = q3 + float64(hxs*r1)
	r1 = q2 + float64(hxs*r1)
	r1 = q1 + float64(hxs*r1)
	r1 = 1 + float64(hxs*r1)
	t := 3 - float64(r1*hfx)
	e := float64(hxs * ((r1 - t) / (6 - float64(x*t))))
	if k == 0 {
		return x - (float64(x*e) - hxs)
	}
	e = float64(x*(e-c)) - c
	e -= hxs
	switch {
	case k == -1:
		return float64(0.5*(x-e)) - 0.5
	case k == 1 && x < -0.25:
		return -2 * (e - (x + 0.5))
	case k == 1:
		return 1 + float64(2*(x-e))
	case k <= -2 || k > 56:
		return scaled(1-(e-x), k) - 1
	case k < 20:
		return scaled((1-math.Float64frombits(uint64(0x3ff-k)<<52))-(e-x), k)
	default:
		y := x - (e + math.Float64frombits(uint64(0x3ff-k)<<52))
		return scaled(y+1, k)
	}
}

// scaled returns y·2ᵏ by adding k to the exponent. Outside its range the exponent
// wraps around, as in package math.
func scaled(y float64, k int) float64 {
	return math.Float64frombits(math.Float64bits(y) + uint64(k)<<52)
}

// Exp2 returns 2ˣ, by FreeBSD's e_exp.c.
func Exp2(x float64) float64 {
	const (
		p1 = 1.66666666666666657415e-01
		p2 = -2.77777777770155933842e-03
		p3 = 6.61375632143793436117e-05
		p4 = -1.65339022054652515390e-06
		p5 = 4.13813679705723846039e-08
	)
	switch {
	case x > 1023.9999999999999:
		return math.Inf(1)
	case x < -1074:
		return 0
	case x != x:
		return x
	}
	k := math.Trunc(x + math.Copysign(0.5, x))
	t := x - k
	hi, lo := float64(t*ln2Hi), float64(-t*ln2Lo)
	r := hi - lo
	z := float64(r * r)
	q := p4 + float64(z*p5)
	q = p3 + float64(z*q)
	q = p2 + float64(z*q)
	q = p1 + float64(z*q)
	c := r - float64(z*q)
	return math.Ldexp(1-((lo-float64(r*c)/(2-c))-hi), int(k))
}

// Pow returns xʸ, with package math's special cases.
func Pow(x, y float64) float64 {
	whole, part := math.Modf(math.Abs(y))
	switch {
	case x == 0 || y == 0 || x == 1 || y == 1 || math.IsInf(x, 0) || math.IsInf(y, 0) || x != x || y != y,
		x < 0 && part != 0,
		whole >= 1<<63:
		return math.Pow(x, y) // x, 1, 0, ±Inf or NaN
	case y == 0.5:
		return math.Sqrt(x)
	case y == -0.5:
		return 1 / math.Sqrt(x)
	}
	result, exponent := 1.0, 0 // xʸ = result·2^exponent
	if part != 0 {
		if part > 0.5 {
			part--
			whole++
		}
		result = Exp(part * Log(x))
	}
	square, e := math.Frexp(x)
	for i := int64(whole); i != 0; i >>= 1 {
		if e < -1<<12 || 1<<12 < e { // 2ᵉ overflows or underflows, and e would
			exponent += e
			break
		}
		if i&1 == 1 {
			result *= square
			exponent += e
		}
		square = float64(square * square)
		e <<= 1
		if square < 0.5 {
			square += square
			e--
		}
	}
	if y < 0 {
		result = 1 / result
		exponent = -exponent
	}
	return math.Ldexp(result, exponent)
}
