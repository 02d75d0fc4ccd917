// Package krls is kernel recursive least squares, the regression of a stream by the exact
// minimizer of its squared errors on a dictionary of its samples: KRLS (Y. Engel, S. Mannor,
// R. Meir, "The kernel recursive least-squares algorithm", IEEE Transactions on Signal
// Processing 52(8), 2004), with the noise variance, the budget and the forgetting of KRLS-T
// (S. Van Vaerenbergh, M. Lázaro-Gredilla, I. Santamaría, "Kernel recursive least-squares
// tracker for time-varying regression", IEEE Transactions on Neural Networks and Learning
// Systems 23(8), 2012).
//
// f has the prior of a Gaussian process with covariance κ, and targets are y = f(x) + noise of
// variance σ². Let D be the dictionary, K = κ(D, D), and k = κ(D, x). A step on (x, y) is:
//
//   - q = K⁻¹k are the weights of the projection of κ(x, ·) onto the span of D, and
//     γ² = κ(x, x) − kᵀq is its squared error, the test of approximate linear dependence (ALD).
//   - If γ² > ν, x enters D. Otherwise the sample counts as the combination q of D's elements.
//   - The posterior of f(D), with mean μ and covariance σ²·P, is conditioned on y.
//   - If D exceeds its budget M, the element leaves whose removal changes μ least, that is the
//     one with the least (K⁻¹μ)_i²/(K⁻¹)_ii. The posterior of the others stays as it is.
//
// Before a step, forgetting with λ < 1 moves the posterior back to the prior: μ ← √λ·μ and
// σ²P ← λ·σ²P + (1 − λ)·K.
//
// Without budget and forgetting, μ minimizes Σ_i (y_i − a_iᵀμ)² + σ²·μᵀK⁻¹μ, where a_i is the
// q of sample i with zeros for elements that entered later, and P is the inverse of AᵀA + σ²K⁻¹.
// These are the μ = Kα and the P = (AᵀA)⁻¹ of KRLS, which is the limit σ² → 0. If nothing enters
// ([NewFitted] with ν = ∞), these are the exact ridge weights of all samples.
//
// # What differs from the papers
//
// KRLS has no noise variance. KRLS-T has no ν: it removes elements down to its budget, or if
// γ² is below its jitter of 1e-6, which it also adds to the diagonal of K. A sample that does
// not enter has the variance σ² here, as in KRLS, and σ² + γ² in KRLS-T. Here as there, a sample
// that enters and is at once the one to leave has had the latter. KRLS-T also estimates the
// signal's power, which the prediction does not depend on.
//
// The papers keep K⁻¹, which loses all digits on near-duplicates. This package keeps the Cholesky
// factor L of K = LLᵀ instead, and the posterior in the coordinates v = L⁻¹μ: f(x) = φᵀv with
// φ = L⁻¹k, the prior of v is N(0, I), and (φ, γ) is a row of the next L. So a step is linear
// recursive least squares on features with ‖φ‖² + γ² = κ(x, x), a new element is a coordinate
// that has its prior, forgetting adds (1 − λ)/σ² to a diagonal, and an element leaves by plane
// rotations, which keep L triangular and lose no digits. On the Lorenz series (TestCheckSeries)
// smaller ν give smaller errors down to 1e-8, whereas recursions with K⁻¹ fail from 1e-5 on. x enters
// only if γ² is above 1e-8·κ(x, x) as well, however small ν is.
//
// # Cost
//
// With M elements a sample costs M·p + 2.5·M² multiply-adds, M²/2 more if it enters, and up to
// 3·M² rotations of two numbers if an older element leaves for it. Memory is M·(p + 3) + M²
// numbers, as L is triangular and P symmetric (this program stores both as squares). A Learner's
// results are bit-identical for any number of threads. It must not be shared by goroutines.
// [Learner.WriteState] saves all of it, and [kernel.Expansion.Write] its Expansion.
//
// Least squares may choose large weights that cancel: on the Lorenz series, whose values are at most
// 51, their magnitudes sum to 1e7, and a score in float32, as [kernel.Expansion.Scores] computes
// it, is off by a unit. So [Learner.Score], the scores of Step and those of Model are computed in
// float64 ([kernel.Scorer.Scores64]). A larger σ² gives smaller weights.
package krls
