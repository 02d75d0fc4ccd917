// Package theory computes the bounds of the convergence theorems, which the paper sums up in its
// Table 1, and the statistics of a record that are compared with them. Spec table1 plans the runs,
// package harness measures them against f*, and the claims table1.… of the ledger have the target
// of each statistic.
//
// # The problem
//
// The runs are Multi-Logistic on multidist (draw of the figures), with a Gaussian kernel of
// bandwidth 0.6 as in the paper. Samples are drawn one at a time, uniformly and with replacement,
// from the 5,000 training points. Mini-batches therefore have one sample, as in the theory. The
// expected risk R is the mean over those points, so its minimizer f* can be computed and R(f) be
// evaluated exactly.
//
// λ is 0.01, not the 1e-6 of the paper's experiments. The theorems need η < 1/λ, and the influence
// of the start decays within some 1/(ηλ) steps. With λ = 1e-6 and a step small enough for a useful
// bound, 10⁶ samples are only the very beginning of a run. With λ = 0.01 and η = 0.03 they are 300
// times 1/(ηλ).
//
// # Constants of the theorems
//
//	X = sup √κ(x, x) = 1 for the Gaussian kernel.
//	C = √2, above the norm of softmax(f) − e_y, the loss' gradient in R^C.
//	σ² bounds E[‖∇̃‖² | F_t]. Measured: at every point of a run, E‖∇̂‖² is the
//	   mean over all training points, exactly, and ‖∇̃ − ∇̂‖ ≤ ε_t/η_t, so that
//	   (√E‖∇̂‖² + ε_t/η_t)² is a bound there; σ² is the largest over the points
//	   of the run, f_0 = 0 included. Proven: (2·C·X + ε_t/η_t)², by ‖f_t‖ ≤ C·X/λ.
//
// For several functions f = (f_1, …, f_C) norms are √(Σ_c ‖f_c‖²).
//
// # Distances
//
// ‖f_t − f*‖ is computed in the Hilbert space, in float64: ⟨f_t, f*⟩ is the sum of f*'s weights
// times f_t's values at the training points. f* is computed by L-BFGS to a duality gap g, so
// ‖f − f*‖ is known to within √(2g/λ).
package theory
