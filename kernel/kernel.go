// Package kernel defines kernel functions κ, the sets of points they are evaluated against, and
// kernel expansions f = Σ w_j κ(d_j, ·), the models that every learner of this module produces.
//
// An [Expansion] is a model. [Expansion.Score] computes the scores of one point and a
// [Scorer] the scores of many; [Expansion.Write] saves the model and [ReadExpansion]
// reads it. A [Kernel] is any type with four methods; see the example of Kernel.
//
// Features are float32. Scores of the Gaussian kernel are computed in float32 ([Points.Block32]);
// all other scores, and every value that enters a Gram matrix, in float64 ([Points.Block64]). A
// block of n×M values of a Gaussian or polynomial kernel is a matrix product: n·M·p
// multiply-adds, in assembly on amd64 and arm64. For any other kernel it is n·M calls of Eval. A
// stored point takes 16 bytes per feature, because Points keeps it ready for both precisions.
//
// The product gives ‖x − y‖² as ‖x‖² + ‖y‖² − 2xᵀy, which cancels if the norms are large
// compared with the distance. Every pair of vectors is therefore checked against an error
// bound, γ(‖x‖² + ‖y‖²) times the rounding error of a product. If the bound exceeds 2⁻⁹, a
// float64 value replaces the float32 value; if the float64 bound exceeds 2⁻³⁶, a value computed
// from Σ(x_i − y_i)² replaces that. The errors of scores are within [ScoreTolerance] for all
// finite input, whatever its offset and magnitude. Features that are small compared with the
// bandwidth, such as scaled features, are fastest: a value from a float64 product takes about 3
// times as long and, in many dimensions, a value from a sum of differences 20 times.
//
// Results do not depend on the machine, the number of threads or the other points
// that are scored at the same time. Any number of goroutines may read an Expansion,
// each with its own Scorer, as long as no goroutine modifies it.
package kernel

// A Kernel is a symmetric positive semidefinite function κ(x, x') of two vectors of equal length.
//
// Any type with these methods is a kernel. [Gaussian] and [Polynomial] are evaluated as
// matrix products. For any other type, a block of values takes one call of Eval per pair,
// from several goroutines at once: they must not change x and y, and a panic may end the program,
// since only the goroutine that calls a learner can recover its own. If Eval is not positive
// semidefinite, no learner works as documented. A model can be saved only if its kernel type is registered with [Register].
type Kernel interface {
	// Name is the identifier used in specs and saved models.
	Name() string

	// Eval returns κ(x, y), computed in float64 and equal to κ(y, x). It panics if the lengths differ.
	Eval(x, y []float32) float64

	// Self returns κ(x, x).
	Self(x []float32) float64

	// Validate returns an error if the parameters do not define a kernel.
	Validate() error
}

const badLength = "kernel: vectors differ in length"
