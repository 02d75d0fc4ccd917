package scaling

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// A Power is y = Constant · Π x_i^Exponents[i], fitted by least squares of log y.
type Power struct {
	Names     []string  // of the variables
	Constant  float64   // y where all variables are 1
	Exponents []float64 // by variable
	StdErrs   []float64 // standard errors of the exponents; NaN where as many points as parameters leave none
	Spread    float64   // exp of the root mean square residual: a factor by which a point is typically off
	R2        float64   // of log y
}

// FitPower fits a power law: x has a row of the positive variables for each of the
// positive y. It fails if there are fewer points than parameters, or if the
// variables do not vary independently.
func FitPower(names []string, x [][]float64, y []float64) (Power, error) {
	n, k := len(y), len(names)+1
	if n < k || len(x) != n {
		return Power{}, fmt.Errorf("scaling: %d points for %d parameters", n, k)
	}
	a, b := mat.NewDense(n, k, nil), mat.NewVecDense(n, nil)
	for i, row := range x {
		a.Set(i, 0, 1)
		for j, v := range row {
			if !(v > 0) {
				return Power{}, fmt.Errorf("scaling: %s is %v, not positive", names[j], v)
			}
			a.Set(i, j+1, math.Log(v))
		}
		if !(y[i] > 0) {
			return Power{}, fmt.Errorf("scaling: a value of %v is not positive", y[i])
		}
		b.SetVec(i, math.Log(y[i]))
	}
	var qr mat.QR
	qr.Factorize(a)
	var beta, fitted mat.VecDense
	if err := qr.SolveVecTo(&beta, false, b); err != nil {
		return Power{}, errors.New("scaling: the variables do not vary independently")
	}
	fitted.MulVec(a, &beta)
	return summary(names, a, &beta, &fitted, b)
}

// summary says how well a fit does.
func summary(names []string, a *mat.Dense, beta, fitted, y *mat.VecDense) (Power, error) {
	n, k := a.Dims()
	var residual mat.VecDense
	residual.SubVec(y, fitted)
	squares := mat.Dot(&residual, &residual)
	var gram, inverse mat.Dense
	gram.Mul(a.T(), a)
	if err := inverse.Inverse(&gram); err != nil {
		return Power{}, errors.New("scaling: the variables do not vary independently")
	}
	p := Power{Names: names, Constant: math.Exp(beta.AtVec(0)), Spread: math.Exp(math.Sqrt(squares / float64(n))),
		R2: stat.RSquaredFrom(fitted.RawVector().Data, y.RawVector().Data, nil)}
	for j := 1; j < k; j++ {
		p.Exponents = append(p.Exponents, beta.AtVec(j))
		if n == k {
			p.StdErrs = append(p.StdErrs, math.NaN())
			continue
		}
		p.StdErrs = append(p.StdErrs, math.Sqrt(squares/float64(n-k)*inverse.At(j, j)))
	}
	return p, nil
}
