package theory

import (
	"math"

	"polkrepro/internal/portable"
	"polkrepro/record"
	"polkrepro/spec"
)

// The constants of the assumptions; see the package comment.
const (
	kernelBound = 1          // X
	lipschitz   = math.Sqrt2 // C
)

// IterateBound returns C·X/λ, which no ‖f_t‖ exceeds (Proposition prop_bounded).
func IterateBound(run spec.Run) float64 {
	return lipschitz * kernelBound / run.Params.Regularizer
}

// GradientBound returns ε_t/η_t, the bound of Proposition prop1. It is NaN for an unknown schedule.
func GradientBound(run spec.Run, t int) float64 {
	rates, err := run.Params.Rates()
	if err != nil {
		return math.NaN()
	}
	rate := rates.Rate(t)
	return run.Params.Budgets().Epsilon(rate) / rate
}

// ProvenVariance returns σ² = (2·C·X + ε/η)² for a constant learning rate. It holds for any data:
// ‖∇̂‖ ≤ |ℓ'|·X + λ‖f_t‖ ≤ 2·C·X, and ‖∇̃ − ∇̂‖ ≤ ε/η.
func ProvenVariance(run spec.Run) float64 {
	v := 2*lipschitz*kernelBound + GradientBound(run, 0)
	return v * v
}

// Variance returns the largest bound of E[‖∇̃‖² | F_t] at the points of a run and
// at f_0 = 0, where the loss' gradient is 1/C − e_y for C classes.
func Variance(r *record.Record) float64 {
	run := r.Header.Run
	start := 1 - 1/float64(classes)
	largest := bounded(start, GradientBound(run, 0))
	for _, p := range r.Points {
		largest = max(largest, bounded(p.Measured[Gradient], GradientBound(run, p.Samples)))
	}
	return largest
}

// bounded returns a bound of E‖∇̃‖² from E‖∇̂‖² and the largest ‖∇̃ − ∇̂‖.
func bounded(square, ratio float64) float64 {
	v := math.Sqrt(square) + ratio
	return v * v
}

// Radius returns Δ, the bound of lim inf ‖f_t − f*‖, for a run with a constant learning rate and
// the given σ² (Theorem theorem_constant, eq. radius):
//
//	Δ = (√η/λ)·(K + √(K² + λσ²)).
func Radius(run spec.Run, variance float64) float64 {
	p := run.Params
	return math.Sqrt(p.LearningRate) / p.Regularizer * (p.Parsimony + math.Sqrt(float64(p.Parsimony*p.Parsimony)+float64(p.Regularizer*variance)))
}

// SeparationBound returns δ = K√η/C, the distance in the Hilbert space that the
// proof of Theorem theorem_model_order ascribes to any two dictionary elements.
func SeparationBound(run spec.Run) float64 {
	return run.Params.Parsimony * math.Sqrt(run.Params.LearningRate) / lipschitz
}

// OrderBound returns M^∞ of Theorem theorem_model_order for points in the plane, in a rectangle of
// width × height: a bound on the number of its points that are pairwise further than δ apart under
// the feature map. Under the Gaussian kernel ‖φ(x) − φ(x')‖ > δ means
// ‖x − x'‖ > r = c·√(−2·log(1 − δ²/2)). Circles of radius r/2 around such points do not meet, and
// lie within the rectangle widened by r/2, whose area Steiner's formula gives.
func OrderBound(run spec.Run, width, height float64) float64 {
	delta := SeparationBound(run)
	if delta*delta >= 2 { // no two points are so far apart
		return 1
	}
	apart := run.Params.Kernel.Bandwidth * math.Sqrt(-2*portable.Log1p(-delta*delta/2))
	circle := math.Pi * apart * apart / 4
	return math.Floor((float64(width*height) + float64((width+height)*apart) + circle) / circle)
}
