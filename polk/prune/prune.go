package prune

import (
	"context"
	"math"
	"math/rand/v2"

	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Pruner makes the dictionary of a step smaller, without the inverse kernel matrix. Anything
// that it keeps from step to step must be part of its Heuristic's parameters, or be saved: see
// Stateful.
type Pruner interface {
	// Prune is called once per step, even if the step added no element. It removes elements with
	// the methods of s, which is valid until Prune returns. A Prune that works for long returns
	// the context's error when ctx is done; elements that it has removed stay removed.
	Prune(ctx context.Context, s State) error
}

// An InversePruner is a Pruner that uses the inverse kernel matrix.
type InversePruner interface {
	Prune(ctx context.Context, s InverseState) error
}

// A Stateful pruner keeps state from step to step that is not in the model. Saving the learner
// saves this state.
type Stateful interface {
	// Kept returns a pointer to the state. It is saved and restored as JSON, which may come from
	// an untrusted source: exported fields alone, and numbers must be finite.
	Kept() any
}

// A Step describes the gradient step that a pruner follows.
type Step struct {
	T       int           // number of steps before this one
	Len     int           // number of elements before any removal, new ones included
	N       int           // number of samples in the mini-batch
	X       []float32     // N×p, the samples in row-major order; the caller's of Learner.Step, read-only, valid until Prune returns
	Y       []float64     // their targets, likewise
	Rate    float64       // η_t
	Epsilon float64       // ε_t of the learner's budget rule
	Kernel  kernel.Kernel // κ
	Loss    loss.Loss     // ℓ
	Outputs int           // C, the number of weights per element
	Rand    *rand.Rand    // seeded by the run's seed and T, so that it needs no saving
}

// Elements is the function f̃ = Σ_j w_j κ(x_j, ·) after a step, before it is pruned. The numbers
// of elements don't change during the step: 0 … Old()−1 are the elements of the dictionary,
// Old() … Total()−1 those added by the step's samples, in order. Samples whose gradient is zero
// add no element.
//
// Removing an element that is not present panics.
//
// No slice is valid after Prune has returned: copy what is to be kept. Point and Weights are views of
// the learner's memory, valid until Add or Enter, which may move it; Remove and Drop leave them valid,
// and Remove changes the weights that they show. Row and Values each have a buffer of their own, so a
// row is valid while other points' values are asked for.
type Elements interface {
	Step() Step
	Old() int           // M before the step
	Total() int         // number of elements, including removed ones
	Len() int           // number of elements present
	Present(j int) bool // whether j has not been removed

	Point(j int) []float32   // x_j, of length p; read-only; valid until Add or Enter
	Weights(j int) []float64 // w_j, of length C; read-only in an InverseState; valid until Add or Enter
	Norm2(j int) float64     // ‖w_j‖²
	Age(j int) int           // steps since j entered, 0 for new elements
	ID(j int) uint64         // identifies j in all steps until it is removed: a key for values that a pruner keeps
	Sample(j int) int        // position in the mini-batch, −1 if j is not a sample of this step
	Self(j int) float64      // κ(x_j, x_j)
	Row(j int) []float64     // κ(x_j, x_i) for all i < Total(); the caller may change it; valid until the next call of Row, Add or Enter

	// Values returns κ(x, x_i) for all i < Total() and any point x, such as one of the step's
	// samples or a point to be added. The caller may change it. It is valid until the next call of
	// Values, Add or Enter.
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

// InverseState is what an InversePruner works on. K is the kernel matrix of the elements that
// are present, plus the Heuristic's Ridge on its diagonal.
type InverseState interface {
	Elements

	// Remove removes element j and gives the others the weights of the best
	// approximation without it, the pre-fitting of Algorithm 1.
	Remove(j int)

	// Cost returns what Remove(j) adds to the squared error:
	// γ_j² − r² = ‖w_j‖²·Distance(j).
	Cost(j int) float64

	// Cheapest returns Least(s, s.Cost).
	Cheapest() int

	// Spent returns r², the squared error of the approximation. Remove adds to it and Enter
	// subtracts from it. Drop does not change it: the dropped part no longer counts as part of
	// f̃.
	Spent() float64

	// Distance returns 1/[K⁻¹]_jj, the squared distance of κ(x_j, ·) to the
	// span of the other elements that are present.
	Distance(j int) float64

	// DistanceBefore returns, for a new element j, its squared distance to the
	// span of those elements that are present and come before it. It panics once
	// an old element has been removed.
	DistanceBefore(j int) float64

	// Enter adds elements with the given points, which are copied, one after the other, and
	// returns their numbers. Like Remove, it gives all elements the weights of the best
	// approximation of f̃, and Spent becomes smaller. To move an element, Enter its new point
	// and Remove the old element; to merge two elements, Enter one point and Remove both; a
	// removed element can be entered again.
	//
	// A point is not added, and its number is −1, if the squared distance of κ(x, ·) to the span
	// of the elements that are present is at most Distinct·κ(x, x): it would be of no use.
	// Entering many points at once takes less time than one by one.
	Enter(points ...[]float32) []int

	// Column writes column j of K⁻¹ to dst, of length Total() and the caller's, with zeros for removed
	// elements.
	Column(dst []float64, j int)
}

// Distinct is the squared distance to the span of the other elements, relative to κ(x, x), that
// a point must exceed to be added by InverseState.Enter.
const Distinct = 1e-5

// Least returns the present element of s with the least score, the first of equals. A NaN score
// counts as +Inf. It returns −1 if no element is present.
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
