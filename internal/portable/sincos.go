package portable

import (
	"math"
	"math/bits"
)

// Sincos returns sin x and cos x, by Cephes' sin.c.
func Sincos(x float64) (sin, cos float64) {
	const (
		pi4A = 7.85398125648498535156e-1 // π/4 in three parts
		pi4B = 3.77489470793079817668e-8
		pi4C = 2.69515142907905952645e-15
	)
	switch {
	case x == 0:
		return x, 1
	case x != x || math.IsInf(x, 0):
		return math.NaN(), math.NaN()
	}
	sinSign, cosSign := x < 0, false
	x = math.Abs(x)
	var octant uint64 // rounded up to even; x is octant·π/4 + z, |z| ≤ π/4
	var z float64
	if x < 1<<29 {
		octant = uint64(float64(x * (4 / math.Pi)))
		octant += octant & 1
		y := float64(octant)
		z = ((x - float64(y*pi4A)) - float64(y*pi4B)) - float64(y*pi4C)
		octant &= 7
	} else {
		octant, z = reduced(x)
	}
	if octant > 3 {
		octant -= 4
		sinSign, cosSign = !sinSign, !cosSign
	}
	if octant > 1 {
		cosSign = !cosSign
	}
	zz := float64(z * z)
	c := float64(-1.13585365213876817300e-11*zz) + 2.08757008419747316778e-9
	c = float64(c*zz) - 2.75573141792967388112e-7
	c = float64(c*zz) + 2.48015872888517045348e-5
	c = float64(c*zz) - 1.38888888888730564116e-3
	c = float64(c*zz) + 4.16666666666665929218e-2
	cos = 1 - float64(0.5*zz) + float64(zz*zz*c)
	s := float64(1.58962301576546568060e-10*zz) - 2.50507477628578072866e-8
	s = float64(s*zz) + 2.75573136213857245213e-6
	s = float64(s*zz) - 1.98412698295895385996e-4
	s = float64(s*zz) + 8.33333333332211858878e-3
	s = float64(s*zz) - 1.66666666666666307295e-1
	sin = z + float64(z*zz*s)
	if octant == 1 || octant == 2 {
		sin, cos = cos, sin
	}
	if cosSign {
		cos = -cos
	}
	if sinSign {
		sin = -sin
	}
	return sin, cos
}

// reduced reduces x ≥ π/4 modulo π/4 by Payne and Hanek's method, in integers: K. C. Ng,
// "Argument reduction for huge arguments: good to the last bit" (1992).
func reduced(x float64) (octant uint64, z float64) {
	b := math.Float64bits(x)
	exponent := int(b>>52) - 1023 - 52
	mantissa := b&(1<<52-1) | 1<<52

	// x·4/π = mantissa·2^exponent·4/π. d holds the three 64-bit digits of 4/π that
	// determine this modulo 8.
	digit, shift := uint(exponent+61)/64, uint(exponent+61)%64
	var d [3]uint64
	for i := range d {
		d[i] = fourOverPi[digit]<<shift | fourOverPi[digit+1]>>(64-shift)
		digit++
	}
	carry, _ := bits.Mul64(d[2], mantissa)
	middle, low := bits.Mul64(d[1], mantissa)
	low, c := bits.Add64(low, carry, 0)
	high, _ := bits.Add64(d[0]*mantissa, middle, c)
	octant = high >> 61

	// The rest of the 128 bits is the fraction.
	high = high<<3 | low>>61
	zeros := uint(bits.LeadingZeros64(high))
	high = high<<(zeros+1) | low>>(64-(zeros+1))
	z = math.Float64frombits(uint64(1023-(zeros+1))<<52 | high>>(64-52))
	if octant&1 == 1 {
		octant = (octant + 1) & 7
		z--
	}
	return octant, float64(z * (math.Pi / 4))
}

// fourOverPi is 4/π = Σ fourOverPi[i]·2^(−64i), enough for the largest float64.
var fourOverPi = [...]uint64{
	0x0000000000000001, 0x45f306dc9c882a53, 0xf84eafa3ea69bb81, 0xb6c52b3278872083,
	0xfca2c757bd778ac3, 0x6e48dc74849ba5c0, 0x0c925dd413a32439, 0xfc3bd63962534e7d,
	0xd1046bea5d768909, 0xd338e04d68befc82, 0x7323ac7306a673e9, 0x3908bf177bf25076,
	0x3ff12fffbc0b301f, 0xde5e2316b414da3e, 0xda6cfd9e4f96136e, 0x9e8c7ecd3cbfd45a,
	0xea4f758fd7cbe2f6, 0x7a0e73ef14a525d4, 0xd7f6bf623f1aba10, 0xac06608df8f6d757,
}
