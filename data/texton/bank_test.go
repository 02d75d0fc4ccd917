package texton

import (
	"math"
	"testing"
)

// literalFilter is makefilter of makeLMfilters.m and makeRFSfilters.m: the product of a
// Gaussian along the axis and a derivative of a Gaussian across the axis.
func literalFilter(scale float64, order, orientation int) []float64 {
	angle := math.Pi * float64(orientation) / 6
	c, s := math.Cos(angle), math.Sin(angle)
	gauss := func(sigma, x float64, order int) float64 {
		v := sigma * sigma
		g := math.Exp(-x*x/(2*v)) / math.Sqrt(2*math.Pi*v)
		switch order {
		case 1:
			return -g * x / v
		case 2:
			return g * (x*x - v) / (v * v)
		}
		return g
	}
	return literalWindow(func(x, y float64) float64 {
		return gauss(3*scale, c*x-s*y, 0) * gauss(scale, s*x+c*y, order)
	})
}

// literalRound is fspecial('gaussian') or fspecial('log').
func literalRound(sigma float64, laplacian bool) []float64 {
	return literalWindow(func(x, y float64) float64 {
		r2, v := x*x+y*y, sigma*sigma
		g := math.Exp(-r2 / (2 * v))
		if laplacian {
			g *= (r2 - 2*v) / (v * v)
		}
		return g
	})
}

func literalWindow(f func(x, y float64) float64) []float64 {
	var w []float64
	var sum, abs float64
	for row := range Support {
		for column := range Support {
			v := f(float64(column-24), float64(24-row))
			w = append(w, v)
			sum += v
		}
	}
	for i := range w {
		w[i] -= sum / float64(len(w))
		abs += math.Abs(w[i])
	}
	for i := range w {
		w[i] /= abs
	}
	return w
}

// TestBanks compares both banks with literal transcriptions of the published code, and
// checks the documented properties: a mean of exactly 0 and an L1 norm of 1.
func TestBanks(t *testing.T) {
	var literalLM, literalRFS [][]float64
	for order := 1; order <= 2; order++ {
		for scale := range 3 {
			for o := range 6 {
				literalLM = append(literalLM, literalFilter(math.Pow(2, float64(scale+1)/2), order, o))
				literalRFS = append(literalRFS, literalFilter(math.Pow(2, float64(scale)), order, o))
			}
		}
	}
	for i := 1; i <= 4; i++ {
		s := math.Pow(2, float64(i)/2)
		literalLM = append(literalLM, literalRound(s, false), literalRound(s, true), literalRound(3*s, true))
	}
	literalRFS = append(literalRFS, literalRound(10, false), literalRound(10, true))
	if len(literalLM) != 48 || len(literalRFS) != 38 {
		t.Fatalf("%d and %d literal filters", len(literalLM), len(literalRFS))
	}
	checkBank(t, "LeungMalik", leungMalik, literalLM)
	checkBank(t, "RFS", rfs, literalRFS)
}

func checkBank(t *testing.T, name string, got, want [][]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d filters, want %d", name, len(got), len(want))
	}
	for i, w := range got {
		var sum, abs float64
		for q, v := range w {
			sum += v
			abs += math.Abs(v)
			tol := tapUnit * 0.5001
			if q == taps/2 {
				tol *= taps
			}
			if !(math.Abs(v-want[i][q]) <= tol) {
				t.Fatalf("%s: filter %d, tap %d is %v, want %v", name, i, q, v, want[i][q])
			}
			if n := v / tapUnit; n != math.Trunc(n) {
				t.Fatalf("%s: filter %d, tap %d is no multiple of 2⁻³²", name, i, q)
			}
		}
		if sum != 0 || !(math.Abs(abs-1) <= taps*tapUnit) {
			t.Errorf("%s: filter %d: sum %v, L1 norm %v", name, i, sum, abs)
		}
	}
}
