// Package ivm implements the import vector machine, sparse kernel logistic regression: J. Zhu,
// T. Hastie, "Kernel logistic regression and the import vector machine", JCGS 14 (2005). It is
// the batch baseline that the POLK paper calls IVM ("Experiments").
//
// With C functions f_c, one per class, it minimizes
//
//	H(f) = (1/N) Σ_i [log Σ_c exp(f_c(x_i)) − f_{y_i}(x_i)] + (λ/2) Σ_c ‖f_c‖²
//
// over functions f_c = Σ_{s∈S} a_sc κ(x_s, ·) of a few import points S. S starts empty. An import
// tries every candidate l: one step of Newton's method from the present f, over all coefficients
// of S ∪ {l} at once, gives f + d_l. The candidate with the smallest H(f + d_l) joins S, and f
// becomes f + d_l. This is the authors' revised algorithm, in which the candidates' Newton steps
// are also the steps of the fit; their basic algorithm fits each candidate to convergence.
// Imports end when |H_k − H_{k−1}| < ε |H_k|, or at a limit of the configuration. Newton's method
// then continues to convergence over the imported points, which [Result] certifies.
//
// The package differs from the paper in two points: a step that would not lower H is halved until
// it does, and a random subsample of the candidates may be tried in place of all of them.
//
// # When to prefer it
//
// For class probabilities from a few dozen import points out of a few thousand samples. With R
// candidates tried and q points imported, an import costs R·N·(p + q·C²/2) multiply-adds, and
// N·q²·C²/4 more for the Hessian. Memory is 12·N·q bytes, and 384·N for each thread. 200 imports
// on MNIST, with 59 candidates each, took 283 seconds of processor time on one core of an AMD
// EPYC (Zen 4). For more points, or more data, see package nystrom or polk.
//
// Products for the Hessian, and the scores by which candidates are compared, are float32 if λ is
// at least 2⁻²⁰ of the mean of κ(x, x). Their rounding then stays far below the Hessian's
// smallest eigenvalue. With a smaller λ they are float64, which takes twice as long and 16·N·q
// bytes. Gradients, the model's objective and the gap are always float64.
//
// The result of [Train] depends only on its arguments, including Seed: it is bit-identical on
// every machine and for any number of threads. Train may be called from several goroutines at
// once.
//
// # Form
//
// The code works with an orthonormal basis φ_1 … φ_q of the span of the import points, to which
// each import adds one vector (a row of the Cholesky factor of their kernel matrix), and with C−1
// orthonormal contrasts of the C functions: the minimum has Σ_c f_c = 0, and H is constant to
// first order in that direction. Then λ/2 Σ‖f_c‖² is λ/2 times a sum of squares, the Hessian's
// eigenvalues are at least λ for any points, and the step is the Newton step in a_sc. All
// candidates share the factor of the Hessian over S; each candidate adds C−1 rows to it.
package ivm
