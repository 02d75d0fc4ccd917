package data

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// The generators draw from raw PCG words through arithmetic in which every
// product is rounded by an explicit conversion, so that no compiler may fuse
// it with the sum around it. Only +, −, ×, ÷ and √ are used, which IEEE 754
// fixes to the last bit: the same seed gives the same bytes on every platform
// and at every GOAMD64 level. (rand/v2's NormFloat64 and math.Log promise
// neither.)

// A source draws uniform and Gaussian numbers.
type source struct{ pcg *rand.PCG }

// newSource returns the stream numbered stream of the given seed.
func newSource(seed, stream uint64) source {
	return source{rand.NewPCG(splitMix64(seed), splitMix64(seed^splitMix64(stream)))}
}

// splitMix64 scatters a small integer over all 64 bits (Steele, Lea, Flood 2014).
func splitMix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// intn returns a number in [0, n), uniform to within n·2⁻⁶⁴.
func (s source) intn(n int) int {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(hi)
}

// symmetric returns a multiple of 2⁻⁵², uniform in [−1, 1).
func (s source) symmetric() float64 {
	return float64(int64(s.pcg.Uint64())>>11) * 0x1p-52
}

// gauss2 returns two independent standard Gaussians (Marsaglia's polar method).
func (s source) gauss2() (z1, z2 float64) {
	for {
		u, v := s.symmetric(), s.symmetric()
		r2 := float64(u*u) + float64(v*v)
		if r2 >= 1 || r2 == 0 {
			continue
		}
		f := math.Sqrt(float64(-2*portableLog(r2)) / r2)
		return float64(u * f), float64(v * f)
	}
}

const (
	ln2Hi = 0x1.62e42fee00000p-1 // ln 2 to 32 bits: its product with an exponent is exact
	ln2Lo = 0x1.a39ef35793c76p-33
)

// portableLog returns ln x for a positive, normal, finite x, to about 1 ulp,
// and the same bits everywhere.
func portableLog(x float64) float64 {
	b := math.Float64bits(x)
	k := int(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52) // [1, 2)
	if m > math.Sqrt2 {
		m /= 2
		k++
	}
	// ln m = 2 artanh(s), s = (m−1)/(m+1), |s| < 0.172.
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	p := 1.0 / 23
	for n := 21; n >= 3; n -= 2 {
		p = float64(p*z) + 1/float64(n)
	}
	series := float64(float64(2*s) * float64(z*p))
	return float64(float64(k)*ln2Hi) + (float64(2*s) + (series + float64(float64(k)*ln2Lo)))
}

// portableExp returns eˣ for x in [−700, 700], to about 1 ulp, and the same
// bits everywhere.
func portableExp(x float64) float64 {
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := (x - float64(k*ln2Hi)) - float64(k*ln2Lo) // |r| ≤ ln 2 / 2
	p := 1.0
	for n := 14; n >= 1; n-- {
		p = float64(p*(r/float64(n))) + 1
	}
	return p * math.Float64frombits(uint64(int(k)+1023)<<52)
}

// permutation returns a random order of 0 … n−1 (Fisher and Yates).
func (s source) permutation(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := s.intn(i + 1)
		p[i] = p[j]
		p[j] = i
	}
	return p
}
