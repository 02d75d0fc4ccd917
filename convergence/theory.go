package convergence

import "math"

// The constants of the assumptions; see the package comment.
const (
	kernelBound = 1          // X
	lipschitz   = math.Sqrt2 // C
)

// IterateBound returns C·X/λ, which no ‖f_t‖ exceeds (Proposition prop_bounded).
func (r Run) IterateBound() float64 { return lipschitz * kernelBound / r.Regularizer }

// ProvenVariance returns σ² = (2·C·X + ε/η)² of the constant regime, which
// holds whatever the data are: ‖∇̂‖ ≤ |ℓ'|·X + λ‖f_t‖ ≤ 2·C·X, and ‖∇̃ − ∇̂‖ ≤ ε/η.
func (r Run) ProvenVariance() float64 {
	v := 2*lipschitz*kernelBound + r.Ratio(0)
	return v * v
}

// Variance returns the largest bound of E[‖∇̃‖² | F_t] at the points of the
// run and at f_0 = 0, where the loss' gradient is 1/C − e_y for C classes.
func (r *Record) Variance(classes int) float64 {
	run := r.Header.Run
	start := 1 - 1/float64(classes)
	largest := bounded(start, run.Ratio(0))
	for _, p := range r.Points {
		largest = max(largest, bounded(p.Gradient, run.Ratio(p.Samples)))
	}
	return largest
}

// bounded is a bound of E‖∇̃‖² from E‖∇̂‖² and the largest ‖∇̃ − ∇̂‖.
func bounded(square, ratio float64) float64 {
	v := math.Sqrt(square) + ratio
	return v * v
}

// Radius returns Δ = (√η/λ)·(K + √(K² + λσ²)), the bound of lim inf ‖f_t − f*‖
// for a constant learning rate (Theorem theorem_constant, eq. radius).
func Radius(rate, parsimony, lambda, variance float64) float64 {
	return math.Sqrt(rate) / lambda * (parsimony + math.Sqrt(parsimony*parsimony+lambda*variance))
}

// Separation returns δ = K√η/C, the distance in the Hilbert space that the
// proof of Theorem theorem_model_order ascribes to any two dictionary elements.
func (r Run) Separation() float64 { return r.Parsimony * math.Sqrt(r.Rate) / lipschitz }

// OrderBound returns M^∞ of Theorem theorem_model_order for points in the
// plane, in a rectangle of width × height: how many points of it can be further
// than δ apart under the feature map. Under the Gaussian kernel
// ‖φ(x) − φ(x')‖ > δ means ‖x − x'‖ > r = c·√(−2·log(1 − δ²/2)); circles of radius
// r/2 around such points do not meet, and lie within the rectangle widened by
// r/2, whose area Steiner's formula gives.
func (r Run) OrderBound(width, height float64) float64 {
	delta := r.Separation()
	if delta*delta >= 2 { // no two points are so far apart
		return 1
	}
	apart := r.Bandwidth * math.Sqrt(-2*math.Log1p(-delta*delta/2))
	circle := math.Pi * apart * apart / 4
	return math.Floor((width*height + (width+height)*apart + circle) / circle)
}
