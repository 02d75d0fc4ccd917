// Package coef holds the constants of exp, the same for every instruction set.
package coef

// Poly32 and Poly64 are q's coefficients in exp(r) ≈ 1 + r + r²·q(r), |r| ≤ ln(2)/2,
// by interpolation at Chebyshev nodes: 1.0e-8 relative for float32, 1.7e-17 for
// float64, to which rounding adds.
var Poly32 = []float64{0.5, 0.16666576989698775324, 0.041666554617204573652,
	0.0083631790527225781384, 0.0013926183587713494155}

var Poly64 = []float64{0.50000000000000011102, 0.16666666666666668517,
	0.041666666666624128934, 0.0083333333333300615292, 0.0013888888917213716712,
	0.0001984126986305361775, 2.4801521295954376061e-05, 2.7557268459997064112e-06,
	2.7620088445409746215e-07, 2.5100385495510320289e-08}

// Log2E is 1/ln 2. Each pair of Ln2 is ln 2 in two parts, of which a multiple of
// the first is subtracted from x with little error.
const Log2E = 1.4426950408889634

var (
	Ln2Float32 = [2]float64{0.6931471824645996, -1.904654299957768e-09}
	Ln2Float64 = [2]float64{0.6931471805599453, 2.3190468138462996e-17}
)

// The arguments below which exp is 0 and above which it is +Inf.
const (
	Least32, Most32 = -110, 89
	Least64, Most64 = -750, 710
)
