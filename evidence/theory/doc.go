// Package theory is what the convergence theorems, which the paper sums up in
// its Table 1, say of a run: the bounds, and the statistics of a record that are
// compared with them. Spec table1 plans the runs, package harness measures them
// against f*, and the claims table1.… of the ledger say where each statistic has to
// be.
//
// # The problem
//
// Multi-Logistic on multidist (draw of the figures), Gaussian kernel of
// bandwidth 0.6 as in the paper. Samples are drawn one at a time, uniformly and
// with replacement from the 5,000 training points: mini-batches of one as in
// the theory, and an expected risk R that is the mean over those points, so that
// its minimizer f* can be computed and R(f) be evaluated exactly.
//
// λ is 0.01, not the 1e-6 of the paper's experiments. The theorems need η < 1/λ
// and forget the start within some 1/(ηλ) steps: with λ = 1e-6 and a step small
// enough for a bound that says anything, 10⁶ samples are the very beginning of a
// run. With λ = 0.01 and η = 0.03 they are 300 times 1/(ηλ).
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
// ‖f_t − f*‖ is computed in the Hilbert space, in float64: ⟨f_t, f*⟩ is the sum
// of f*'s weights times f_t's values at the training points. f* is that of
// L-BFGS with a duality gap g, so that ‖f − f*‖ is known to √(2g/λ).
package theory
