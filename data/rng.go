package data

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"polkrepro/data/internal/portable"
)

// The generators compute random numbers from raw PCG words. An explicit
// conversion rounds every product, so no compiler may fuse it with the sum
// around it. Only +, −, ×, ÷ and √ are used, which IEEE 754 fixes to the last
// bit: the same seed gives the same bytes on every platform and at every
// GOAMD64 level. (rand/v2's NormFloat64 and math.Log promise neither.)

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
		f := math.Sqrt(float64(-2*portable.Log(r2)) / r2)
		return float64(u * f), float64(v * f)
	}
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
