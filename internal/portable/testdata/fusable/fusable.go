// Package fusable has the test cases of TestFindings. Comments quote the expected findings.
package fusable

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func plain(x, y, z float64) float64 {
	return x*y + z // want: product that may be fused with +
}

func minus(x, y, z float64) float64 {
	return z - x*y*z // want: product that may be fused with -
}

func negated(x, y, z float64) float64 {
	return z + -(x * y) // want: product that may be fused with +
}

func single(x, y, z float32) float64 {
	return float64(x*y + z) // want: product that may be fused with +
}

func rounded(x, y, z float64) float64 {
	return float64(x*y) + float64((x*y)*z) - (float64(x*y*z) + math.FMA(x, y, z))
}

func noSum(x, y float64, n, m int) float64 {
	return x * y / (x * y) * math.Sqrt(x*y) * float64(n*m+1)
}

func power(x, y float64) float64 {
	return 2*x + y - x*0.25 + y/3 + 3*4
}

func constant(x, y float64) float64 {
	return 3*x + y // want: product that may be fused with +
}

func variable(x, y, z float64) float64 {
	p := x * y // want: product that may be fused with + in line 49
	if z > 0 {
		p = -p
	}
	return p + z
}

func roundedVariable(x, y, z float64) float64 {
	p := float64(x * y)
	return p + z
}

func assigned(s float64, x, y []float64) float64 {
	for i := range x {
		s += x[i] * y[i] // want: product that may be fused with +
	}
	s *= x[0] // want: product that may be fused with - in line 62
	return s - 1
}

func element(a, x []float64, i int) float64 {
	a[i] = x[i] * x[i] // want: product that may be fused with + in line 67
	return a[i] + 1 + a[i+1]
}

type pair struct{ a, b float64 }

func field(x, y float64) float64 {
	p := pair{x * y, y} // want: product that may be fused with + in line 74
	return p.a + p.b
}

func square(x float64) float64 { return x * x } // want: product that may be fused with + in line 80

func result(x float64) float64 {
	return square(x) + 1
}

func pairOf(x float64) (float64, pair) {
	return x, pair{b: x * x} // want: product that may be fused with + in line 89
}

func results(x float64) float64 {
	a, p := pairOf(x)
	return p.b + (a + p.a)
}

func plusOne(x float64) float64 { return x + 1 }

func argument(x float64) float64 {
	return plusOne(x * x) // want: product that may be fused with + in line 92
}

func closure(x float64) float64 {
	add := func(v float64) float64 { return v + x }
	return add(x * x) // want: product that may be fused with + in line 99
}

func generic[T float32 | float64](x, y T) T {
	return x*y + 1 + T(x*y) // want: product that may be fused with +
}

func complexes(x, y complex128) complex128 {
	x /= y              // want: complex /
	return x*y + x + 1i // want: complex *
}

func calls(x []float64, m *mat.Dense) float64 {
	f := math.Exp                                             // want: math.Exp
	return f(math.Floor(x[0])) + floats.Sum(x) + m.At(0, 0) + // want: floats.Sum // want: mat.At
		rand.New(rand.NewPCG(1, 2)).NormFloat64() + rand.Float64() // want: rand.NormFloat64
}

var _ = []any{plain, minus, negated, single, rounded, noSum, power, constant, variable, roundedVariable, assigned, element,
	field, result, results, argument, closure, generic[float32], generic[float64], complexes, calls}
