// Package ivm is the import vector machine, sparse kernel logistic regression:
// J. Zhu, T. Hastie, "Kernel logistic regression and the import vector
// machine", JCGS 14 (2005). It is the batch baseline that the POLK paper calls
// IVM ("Experiments").
//
// With C functions f_c, one a class, it minimizes
//
//	H(f) = (1/N) Σ_i [log Σ_c exp(f_c(x_i)) − f_{y_i}(x_i)] + (λ/2) Σ_c ‖f_c‖²
//
// over functions f_c = Σ_{s∈S} a_sc κ(x_s, ·) of a few import points S. S starts
// empty. An import tries every candidate l: one step of Newton's method from
// the present f, over all coefficients of S ∪ {l} at once, gives f + d_l. The
// candidate of the least H(f + d_l) joins S and f becomes f + d_l; this is the
// authors' revised algorithm, whose Newton steps for the candidates are those
// of the fit as well. Their basic algorithm fits each candidate to convergence.
// Imports end at |H_k − H_{k−1}| < ε |H_k|, or where the configuration says
// so. Newton's method then goes on to convergence over the points imported,
// which [Result] certifies.
//
// Two liberties: a step that would not lower H is halved until it does, and a
// random subsample of the candidates may be tried in place of all of them.
//
// # When to prefer it
//
// For probabilities from a few dozen points of a few thousand. An import costs,
// with R candidates tried and q points imported, R·N·(p + q·C²/2) multiply-adds and
// N·q²·C²/4 more for the Hessian; memory is 12·N·q bytes, and 384·N for each
// thread. 200 imports on MNIST, 59 candidates each, took 283 seconds of processor time
// on one core of an AMD EPYC (Zen 4): for more points, or more data, see package nystrom
// or polk.
//
// Products for the Hessian, and the scores that candidates are compared by, are float32
// if λ is at least 2⁻²⁰ of the mean of κ(x, x), so that their rounding stays far below
// the Hessian's least eigenvalue; with a smaller λ they are float64, which takes twice as
// long and 16·N·q bytes. Gradients, the model's objective and the gap are always float64.
//
// [Train] is a function of its arguments, Seed among them, bit for bit on every
// machine whatever the number of threads, and may be called from several goroutines
// at once.
//
// # Form
//
// The code works with an orthonormal basis φ_1 … φ_q of the span of the import
// points, to which each import adds one vector (a row of the Cholesky factor
// of their kernel matrix), and with C−1 orthonormal contrasts of the C
// functions: the minimum has Σ_c f_c = 0, and H is constant to first order in
// that direction. Then λ/2 Σ‖f_c‖² is λ/2 times a sum of squares, the Hessian
// is at least λ whatever the points, and the step is the one that Newton's
// method takes in a_sc. All candidates share the factor of the Hessian over S;
// each one adds C−1 rows to it.
package ivm
