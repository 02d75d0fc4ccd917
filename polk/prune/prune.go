package prune

import (
	"context"
	"math"
	"math/rand/v2"

	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Pruner makes the dictionary of a step smaller, without the inverse kernel
// matrix. What it keeps from step to step has to be part of its Heuristic's
// parameters, or saved: see Stateful.
type Pruner interface {
	// Prune is called once a step, also on one that added nothing. It removes
	// elements by the methods of s, which is valid until Prune returns. Where
	// it works for long it returns the context's error when there is one;
	// what it removed so far stays removed then.
	Prune(ctx context.Context, s State) error
}

// An InversePruner is a Pruner that uses the inverse kernel matrix.
type InversePruner interface {
	Prune(ctx context.Context, s InverseState) error
}

// A Stateful pruner keeps something from step to step that is not in the model.
// Saving the learner saves it.
type Stateful interface {
	// MarshalBinary returns the state to save.
	MarshalBinary() ([]byte, error)

	// UnmarshalBinary takes up what MarshalBinary returned. The bytes may be of
	// a damaged file.
	UnmarshalBinary([]byte) error
}

// A Step is what a pruner can know of the step that it follows.
type Step struct {
	T       int           // steps before this one
	Len     int           // elements before anything is removed, the new ones included
	N       int           // samples in the mini-batch
	X       []float32     // N×p, the samples in row-major order
	Y       []float64     // their targets
	Rate    float64       // η_t
	Epsilon float64       // ε_t of the learner's budget rule
	Kernel  kernel.Kernel // κ
	Loss    loss.Loss     // ℓ
	Outputs int           // C, weights of an element
	Threads int           // goroutines that may be used; nothing may depend on it
	Rand    *rand.Rand    // seeded by the run's seed and T, so that it needs no saving
}

// Elements is the function f̃ = Σ_j w_j κ(x_j, ·) after a step and before it is
// pruned. Its elements are numbered for the whole of the step: 0 … Old()−1 are
// those of the dictionary, Old() … Total()−1 those that the step's samples have
// added, in their order. Samples whose gradient is zero add none.
//
// To remove an element that is not present panics.
type Elements interface {
	Step() Step
	Old() int           // M before the step
	Total() int         // elements in all, also those no longer present
	Len() int           // elements that are present
	Present(j int) bool // whether j has not been removed

	Point(j int) []float32   // x_j, p long, not to be changed
	Weights(j int) []float64 // w_j, C long; not to be changed where there is an inverse
	Norm2(j int) float64     // ‖w_j‖²
	Age(j int) int           // steps since j entered, 0 for the new ones
	ID(j int) uint64         // of j for as long as it lives, in all steps: see PerElement
	Sample(j int) int        // position of a new element in the mini-batch, −1 for old ones
	Self(j int) float64      // κ(x_j, x_j)
	Row(j int) []float64     // κ(x_j, x_i) for all i < Total(); valid until the next call

	// Values returns κ(x, x_i) for all i < Total(), of any point x: one of the step's
	// samples, or one that is to be an element. It is valid until the next call of
	// Values or Enter.
	Values(x []float32) []float64

	// Drop removes element j and leaves the others' weights as they are.
	Drop(j int)
}

// State is what a Pruner works on. The weights may be changed.
type State interface {
	Elements

	// Add appends an element with point x and weights w, which are copied, and
	// returns its number. Its age is 0.
	Add(x []float32, w []float64) int
}

// InverseState is what an InversePruner works on. With D the elements that are
// present, K is the matrix of κ among them, plus the Heuristic's Ridge on its
// diagonal.
type InverseState interface {
	Elements

	// Remove removes element j and gives the others the weights of the best
	// approximation without it, the pre-fitting of Algorithm 1.
	Remove(j int)

	// Cost returns what Remove(j) adds to the squared error:
	// γ_j² − r² = ‖w_j‖²·Distance(j).
	Cost(j int) float64

	// Cheapest returns Least(s, s.Cost), and computes the costs of a few elements for it,
	// not of all.
	Cheapest() int

	// Spent returns r², the squared error of the approximation: what Remove has added
	// and Enter has taken off. What Drop takes counts as no part of f̃.
	Spent() float64

	// Distance returns 1/[K⁻¹]_jj, the squared distance of κ(x_j, ·) to the
	// span of the other elements that are present.
	Distance(j int) float64

	// DistanceBefore returns, for a new element j, its squared distance to the
	// span of those elements that are present and come before it. It panics once
	// an old element has been removed.
	DistanceBefore(j int) float64

	// Enter adds elements with the given points, which are copied, one after the other,
	// and returns their numbers. It gives all elements the weights of the best
	// approximation of f̃, as Remove does, and Spent becomes smaller. An element is moved
	// by Enter at its new place and Remove at the old one; two are merged by one Enter and
	// two Remove; one that was removed comes back. In the place of a number is −1, and
	// nothing is done, where the squared distance of κ(x, ·) to the span of the elements
	// that are present is below Distinct·κ(x, x): it would be of no use. Many points at
	// once take less time than one by one.
	Enter(points ...[]float32) []int

	// Column writes column j of K⁻¹ to dst, Total() long, with zeros for the
	// elements that are not present.
	Column(dst []float64, j int)
}

// Distinct is the squared distance to the span of the other elements, relative to
// κ(x, x), that InverseState.Enter asks of an element.
const Distinct = 1e-5

// Least returns the present element of s with the least score, the first of
// equals. A score that is not a number counts as +Inf. It returns −1 if there
// is no element.
func Least(s Elements, score func(j int) float64) int {
	best, least := -1, math.Inf(1)
	for j := range s.Total() {
		if !s.Present(j) {
			continue
		}
		if v := score(j); v < least || best < 0 {
			best, least = j, v
		}
		if math.IsNaN(least) {
			least = math.Inf(1)
		}
	}
	return best
}
