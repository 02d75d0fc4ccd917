package kernel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Tests of errata (experiments/ledgers/errata.yaml): the printed form fails, the corrected form
// holds.

// TestPositiveSemidefinite: a kernel may have negative values, and a nonnegative function need not
// be a kernel. So κ(x, x') ≥ 0 does not define kernels.
func TestPositiveSemidefinite(t *testing.T) {
	least := func(gram *mat.SymDense) float64 {
		var e mat.EigenSym
		if !e.Factorize(gram, false) {
			t.Fatal("no eigenvalues")
		}
		return e.Values(nil)[0]
	}
	linear := Polynomial{Degree: 1}
	if err := linear.Validate(); err != nil {
		t.Fatal(err)
	}
	a, b := []float32{1}, []float32{-2}
	between := linear.Eval(a, b)
	gram := mat.NewSymDense(2, []float64{linear.Self(a), between, between, linear.Self(b)})
	if between >= 0 || !(least(gram) >= -1e-12) {
		t.Errorf("xᵀx' = %v, least eigenvalue %v: want a negative value of a positive semidefinite kernel", between, least(gram))
	}
	if unequal := mat.NewSymDense(2, []float64{0, 1, 1, 0}); least(unequal) >= 0 { // 𝟙(x ≠ x')
		t.Errorf("𝟙(x ≠ x') has the least eigenvalue %v: want it below 0", least(unequal))
	}
}

// TestNormOfExpansion: ‖Σ w_n κ(x_n, ·)‖² is Σ w_n w_m κ(x_n, x_m), not the square of this sum.
// The sum is computed from the values of f at its own points.
func TestNormOfExpansion(t *testing.T) {
	f := NewExpansion(Gaussian{Bandwidth: 0.7}, 1, 1)
	f.Append([]float32{0}, []float64{1.5})
	f.Append([]float32{1}, []float64{-0.4})
	var sum float64
	for n := range f.Order() {
		sum += f.Weights(n)[0] * f.Score(f.Dict.At(n))[0] // ⟨f, κ(x_n, ·)⟩ = f(x_n)
	}
	if got := f.NormSq(1); !(math.Abs(got-sum) <= 1e-6) || !(math.Abs(got-sum*sum) >= 0.1) {
		t.Errorf("‖f‖² = %v, the double sum is %v and its square %v", got, sum, sum*sum)
	}
}
