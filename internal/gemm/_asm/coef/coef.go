// Package coef holds the constants of exp, the same for every instruction set.
package coef

// Log2E is 1/ln 2.
const Log2E = 1.4426950408889634

// Exp holds the constants of exp for one element type.
//
// Poly holds the coefficients of exp(r) ≈ 1 + r + r²·q(r), |r| ≤ ln(2)/2, highest
// power first. q interpolates at Chebyshev nodes. The relative error is 1.0e-8 for
// float32 and 1.7e-17 for float64, plus rounding.
type Exp struct {
	Poly        []float64
	Ln2         [2]float64 // in two parts: a multiple of the first is subtracted from x with little error
	Least, Most float64    // the arguments below which exp is 0 and above which it is +Inf
	Bias        uint64     // exponent bias
}

var Float32 = Exp{
	Poly: []float64{0.0013926183587713494155, 0.0083631790527225781384, 0.041666554617204573652,
		0.16666576989698775324, 0.5, 1, 1},
	Ln2:   [2]float64{0.6931471824645996, -1.904654299957768e-09},
	Least: -110, Most: 89, Bias: 127,
}

var Float64 = Exp{
	Poly: []float64{2.5100385495510320289e-08, 2.7620088445409746215e-07, 2.7557268459997064112e-06,
		2.4801521295954376061e-05, 0.0001984126986305361775, 0.0013888888917213716712, 0.0083333333333300615292,
		0.041666666666624128934, 0.16666666666666668517, 0.50000000000000011102, 1, 1},
	Ln2:   [2]float64{0.6931471805599453, 2.3190468138462996e-17},
	Least: -750, Most: 710, Bias: 1023,
}
