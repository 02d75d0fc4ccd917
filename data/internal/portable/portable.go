// Package portable provides the logarithm and the exponential that data sets are generated
// with. They have the same bits on every platform: they use only operations that IEEE 754
// fixes, and round every product, so that no compiler may fuse it with a sum. All other code
// uses polkrepro/internal/portable, whose functions differ from these in the last bit. Using
// those here would change the means of multidist and its recorded Bayes error.
package portable

import "math"

const (
	ln2Hi = 0x1.62e42fee00000p-1 // ln 2 to 32 bits: its product with an exponent is exact
	ln2Lo = 0x1.a39ef35793c76p-33
)

// Log returns ln x for a positive, normal, finite x, to about 1 ulp,
// and the same bits everywhere.
func Log(x float64) float64 {
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

// Exp returns eˣ for x in [−700, 700], to about 1 ulp, and the same
// bits everywhere.
func Exp(x float64) float64 {
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := (x - float64(k*ln2Hi)) - float64(k*ln2Lo) // |r| ≤ ln 2 / 2
	p := 1.0
	for n := 14; n >= 1; n-- {
		p = float64(p*(r/float64(n))) + 1
	}
	return p * math.Float64frombits(uint64(int(k)+1023)<<52)
}
