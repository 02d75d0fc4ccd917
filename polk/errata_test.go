package polk

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/internal/literal"
)

// Tests of errata (experiments/ledgers/errata.yaml): the printed form fails, the corrected form
// holds.

// someExpansion returns a function of m random elements in the plane.
func someExpansion(r *rand.Rand, m, outputs int) *kernel.Expansion {
	f := kernel.NewExpansion(kernel.Gaussian{Bandwidth: 0.8}, 2, outputs)
	for range m {
		w := make([]float64, outputs)
		for c := range w {
			w[c] = r.NormFloat64()
		}
		f.Append([]float32{float32(r.NormFloat64()), float32(r.NormFloat64())}, w)
	}
	return f
}

// TestProjectionFormula: the weights of the projection on D, by the least squares of Algorithm 1,
// are K_DD⁻¹ K_DD̃ w̃ and not K_DD [K_DD̃]† w̃ (eq. hatparam_update), whose factors have
// incompatible dimensions.
func TestProjectionFormula(t *testing.T) {
	p := literal.NewPursuit(someExpansion(rand.New(rand.NewPCG(1, 2)), 6, 2), true)
	I := []int{0, 2, 3, 5}
	_, want := p.Approximate(I)
	kDD, kDDt := mat.NewSymDense(len(I), nil), mat.NewDense(len(I), 6, nil)
	for a, i := range I {
		for b, j := range I[a:] {
			kDD.SetSym(a, a+b, p.K.At(i, j))
		}
		kDDt.SetRow(a, p.K.RawRowView(i))
	}
	var right, w mat.Dense
	right.Mul(kDDt, p.WTilde)
	testutil.NoError(t, w.Solve(kDD, &right))
	for a, i := range I {
		for c := range 2 {
			if got := w.At(a, c); !(math.Abs(got-want.At(i, c)) <= 1e-9) {
				t.Errorf("weight %d of function %d is %v, want %v", i, c, got, want.At(i, c))
			}
		}
	}
	var svd mat.SVD
	if !svd.Factorize(kDDt, mat.SVDThin) {
		t.Fatal("no singular values")
	}
	var pseudo mat.Dense // [K_DD̃]†
	svd.SolveTo(&pseudo, mat.NewDiagDense(len(I), []float64{1, 1, 1, 1}), len(I))
	if rows, _ := pseudo.Dims(); rows == kDD.SymmetricDim() {
		t.Errorf("[K_DD̃]† has %d rows, as many as K_DD has columns", rows)
	}
}

// TestUpdateDescends: a step f̃ − f follows the negative gradient −g of ℓ(f(x), y) + (λ/2)‖f‖²: by
// finite differences, the risk falls by ‖g‖² per unit of −g. This does not hold with the printed
// (1 − η)f of "Dictionary Update", nor with the printed λ‖f‖² of eq. multi_svm.
func TestUpdateDescends(t *testing.T) {
	const η, λ, h = 0.1, 0.3, 1e-6
	r := rand.New(rand.NewPCG(3, 4))
	f := someExpansion(r, 5, 3)
	x, y := []float32{0.3, -0.2}, []float64{1}
	f.Append(x, make([]float64, 3)) // so that both have the same elements
	ℓ := loss.MultiLogistic{}
	step := func(shrink float64) []float64 { // (f̃ − f)/η with f̃ = (1 − shrink)f − ηℓ'κ(x, ·)
		u := literal.Algorithm2(f, ℓ, η, shrink/η, 1, x, y)
		at := f.Order() - 1
		floats.Add(u.Weights(at), u.Weights(at+1)) // the same point
		d := append([]float64(nil), u.W[:len(f.W)]...)
		floats.Sub(d, f.W)
		floats.Scale(1/η, d)
		return d
	}
	moved := func(d []float64, by float64) *kernel.Expansion {
		g := f.Clone()
		floats.AddScaled(g.W, by, d)
		return g
	}
	descends := func(d []float64, multiple float64) bool {
		risk := func(g *kernel.Expansion) float64 {
			return ℓ.Value(testutil.Score(g, x), y[0]) + multiple*g.NormSq(1)
		}
		direction := f.Clone()
		copy(direction.W, d)
		fall := (risk(moved(d, -h)) - risk(moved(d, h))) / (2 * h)
		normSq := direction.NormSq(1)
		return math.Abs(fall-normSq) < 1e-5*normSq
	}
	if !descends(step(η*λ), λ/2) {
		t.Error("(1 − ηλ)f − ηℓ'κ is no gradient step on ℓ + (λ/2)‖f‖²")
	}
	if descends(step(η), λ/2) {
		t.Error("(1 − η)f − ηℓ'κ is a gradient step on ℓ + (λ/2)‖f‖²")
	}
	if descends(step(η*λ), λ) {
		t.Error("(1 − ηλ)f − ηℓ'κ is a gradient step on ℓ + λ‖f‖²")
	}
}

// TestModelOrderWithoutBudget: with f_0 = 0 and a sample at t = 0, f_t has t elements,
// not t − 1. ‖f_1‖ is η_0 times the norm of the gradient; eq. iterate_opt_bound omits the factor
// η_0 once.
func TestModelOrderWithoutBudget(t *testing.T) {
	const η = 0.5
	r, ℓ := rand.New(rand.NewPCG(5, 6)), loss.MultiLogistic{}
	f := someExpansion(r, 0, 3)
	gradient := make([]float64, 3)
	ℓ.Gradient(gradient, make([]float64, 3), 2)
	for step := range 5 {
		if f.Order() != step {
			t.Fatalf("f_%d has %d elements", step, f.Order())
		}
		f = literal.Algorithm2(f, ℓ, η, 0.1, 1, []float32{float32(r.NormFloat64()), 1}, []float64{2})
		if norm := math.Sqrt(f.NormSq(1)); step == 0 && !(math.Abs(norm-η*floats.Norm(gradient, 2)) <= 1e-12) {
			t.Errorf("‖f_1‖ = %v, η_0‖∇ℓ‖ = %v", norm, η*floats.Norm(gradient, 2))
		}
	}
}

// TestErrorExpansion multiplies out the square of eq. error_expansion, whose fourth and fifth
// terms are printed with one factor too many. It takes the minimum, which is eq. minimal_weights,
// and compares it with the distance of eq. min_gamma_optimal_weights2, whose left side is printed
// with a wrong sign.
func TestErrorExpansion(t *testing.T) {
	const η, λ, slope = 0.3, 0.2, -0.7
	r := rand.New(rand.NewPCG(7, 8))
	f := someExpansion(r, 4, 1)
	all := f.Clone()
	all.Append([]float32{0.5, 0.1}, []float64{0}) // x_t
	K := literal.NewPursuit(all, true).K
	kDD, k := mat.DenseCopyOf(K.Slice(0, 4, 0, 4)), mat.NewVecDense(4, mat.Col(nil, 4, K)[:4])
	w, u := mat.NewVecDense(4, f.W), mat.NewVecDense(4, []float64{0.4, -1, 0.3, 0.8})
	norm := func(onD *mat.VecDense, onX float64) float64 { // of onDᵀκ_D + onX·κ(x_t, ·)
		return math.Sqrt(mat.Inner(onD, kDD, onD) + 2*onX*mat.Dot(onD, k) + onX*onX)
	}
	residual := func(u *mat.VecDense) float64 {
		var d mat.VecDense
		d.AddScaledVec(u, -(1 - η*λ), w)
		d.ScaleVec(-1, &d)
		return norm(&d, -η*slope)
	}
	expanded := func(u *mat.VecDense, fourth, fifth float64) float64 {
		return (1-η*λ)*(1-η*λ)*mat.Inner(w, kDD, w) + η*η*slope*slope + mat.Inner(u, kDD, u) -
			2*(1-η*λ)*fourth*mat.Dot(w, k) + 2*fifth*mat.Dot(u, k) - 2*(1-η*λ)*mat.Inner(w, kDD, u)
	}
	want := residual(u) * residual(u)
	if got := expanded(u, η*slope, η*slope); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("the square is %v, multiplied out %v", want, got)
	}
	if got := expanded(u, η*slope*slope, η*η*slope); !(math.Abs(got-want) >= 0.01) {
		t.Errorf("the square is %v, as printed %v", want, got)
	}

	var solved, best, other mat.VecDense // K⁻¹κ_D(x_t), ũ* and its neighbour
	testutil.NoError(t, solved.SolveVec(kDD, k))
	best.AddScaledVec(mat.NewVecDense(4, nil), 1-η*λ, w)
	best.AddScaledVec(&best, -η*slope, &solved)
	for i := range 4 {
		for _, by := range []float64{-1e-3, 1e-3} {
			other.CloneFromVec(&best)
			other.SetVec(i, other.AtVec(i)+by)
			if residual(&other) <= residual(&best) {
				t.Errorf("weight %d of ũ* is not that of the minimum", i)
			}
		}
	}
	solved.ScaleVec(-1, &solved)
	distance := norm(&solved, 1)
	solved.ScaleVec(-η*slope, &solved) // ηℓ'K⁻¹κ_D
	if right := norm(&solved, -η*slope); !(math.Abs(right-residual(&best)) <= 1e-12) || !(math.Abs(right-η*math.Abs(slope)*distance) <= 1e-12) {
		t.Errorf("γ = %v, the least residual %v, η|ℓ'|·dist %v", right, residual(&best), η*math.Abs(slope)*distance)
	}
	solved.ScaleVec(-1, &solved)
	if printed := norm(&solved, -η*slope); !(math.Abs(printed-residual(&best)) >= 0.01) {
		t.Errorf("γ = %v, as printed %v", residual(&best), printed)
	}
}
