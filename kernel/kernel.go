// Package kernel holds the kernel functions κ, the sets of points they are
// evaluated against, and the kernel expansions f = Σ w_j κ(d_j, ·) that every
// learner of this module produces.
//
// An [Expansion] is a model: [Expansion.Score] gives the scores of one point, a
// [Scorer] those of many, [Expansion.Write] saves it and [ReadExpansion] reads it.
// A [Kernel] is any type with four methods; the example of Kernel is one.
//
// Features are float32. Scores of the Gaussian kernel are computed in float32,
// other scores and everything that enters a Gram matrix in float64
// ([Points.Block32], [Points.Block64]). A Gaussian or polynomial kernel's block of
// n×M values is a matrix product, n·M·p multiply-adds in assembly on amd64; any
// other kernel's is n·M calls of Eval. Points take 16 bytes a feature, for they are
// kept ready for both.
//
// The product gives ‖x − y‖² as ‖x‖² + ‖y‖² − 2xᵀy, which cancels where vectors are
// long beside their distance. So every pair has a bound: if γ(‖x‖² + ‖y‖²) times
// the roundings of a product exceeds 2⁻⁹, a float32 value is replaced by one in
// float64, and if it exceeds 2⁻³⁶ there, by one from Σ(x_i − y_i)². Scores are
// within [ScoreTolerance] for all finite input, whatever its offset and magnitude.
// Features near the origin beside the bandwidth, scaled ones for instance, are
// fastest: a value from a float64 product takes about 3 times as long, one from a
// sum of differences 20 times in many dimensions.
//
// Results do not depend on the machine, the number of threads or the other points that
// are scored at the same time. An Expansion may be read by any number of goroutines,
// each with a Scorer of its own, while none changes it.
package kernel

// A Kernel is a symmetric positive semidefinite function κ(x, x') of vectors
// of one length.
//
// Any type with these methods is one. [Gaussian] and [Polynomial] are
// evaluated as matrix products; of all others a block of values is one call of
// Eval for each pair, from several goroutines at once. Where Eval is not
// positive semidefinite no learner works as its documentation says. A kernel is
// saved with a model once its type is known to [Register].
type Kernel interface {
	// Name is the identifier used in specs and saved models.
	Name() string

	// Eval returns κ(x, y) computed in float64, the same for (y, x). It
	// panics if the lengths differ.
	Eval(x, y []float32) float64

	// Self returns κ(x, x).
	Self(x []float32) float64

	// Validate reports parameters that do not make a kernel.
	Validate() error
}

const badLength = "kernel: vectors differ in length"
