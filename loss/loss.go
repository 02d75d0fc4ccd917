// Package loss defines the instantaneous losses ℓ(f(x), y) of the learners, as functions
// of the scores f(x) = (f₁(x), …, f_C(x)) alone. The learner adds the regularizer.
//
// A loss is any type with the four methods of [Loss]. Streaming learners accept any loss, with one
// function or with one per class; batch methods accept the losses that their configurations name.
// [Predict], [Decide] and a [Probabilistic] loss turn scores into classes and probabilities.
//
//	MultiHinge      one function per class; sparse gradients, no probabilities
//	MultiLogistic   one function per class; probabilities; every sample has a gradient
//	BinaryLogistic  one function, y = ±1; probabilities
//	SquaredHinge    one function, y = ±1; sparse gradients
//	SquaredError    one function, regression
//
// The losses are stateless values and may be shared by goroutines; none of their methods allocates.
// f and g have length Outputs; the methods panic if they are shorter or if y is not a class of f.
//
// Every loss is written so that scores of ±10⁴ neither overflow nor lose the
// value (softmax and logistic terms are shifted before they are
// exponentiated).
package loss

// A Loss is a convex function of a score vector and a target.
//
// Targets are float64 throughout: a class index 0 … C−1 for the multi-class
// losses, −1 or +1 for the [Binary] ones, any real number for regression. Learners check them
// ([CheckTargets]) before they learn. The methods must not change f.
type Loss interface {
	// Name is the identifier used in specs and saved models.
	Name() string

	// Outputs returns the number of functions of a model for the given number of
	// classes: C for the multi-class losses, 1 for all other losses.
	Outputs(classes int) int

	// Value returns ℓ(f, y).
	Value(f []float64, y float64) float64

	// Gradient writes ∂ℓ/∂f (a subgradient where ℓ has a kink) to g, which
	// has the length of f, and returns ℓ(f, y).
	Gradient(g, f []float64, y float64) float64
}
