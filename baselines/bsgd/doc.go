// Package bsgd implements budgeted stochastic gradient descent for the multi-class kernel support
// vector machine: Wang, Crammer, Vucetic, "Breaking the curse of kernelization", JMLR 13 (2012).
// It is the online baseline of the POLK paper ("Experiments").
//
// A Learner processes one sample (x, y) at a time. The loss ℓ is the Crammer–Singer hinge (the
// paper's eq. multi_svm), the objective λ/2 Σ_c ‖f_c‖² + ℓ, and r the wrong class with the
// highest score:
//
//	f ← (1 − ηλ) f
//	if 1 + f_r(x) − f_y(x) > 0, f evaluated before the shrinking:
//		f_y ← f_y + η κ(x, ·),  f_r ← f_r − η κ(x, ·)
//		if the model order exceeds the budget B: maintenance
//
// Maintenance reduces the model order to B. It starts from the element p that contributes least,
// ‖α_p‖² κ(x_p, x_p), where α_p holds the C weights of p:
//
//   - removal drops p, in O(B). Prefer it when B is far larger than needed.
//   - projection drops p and gives the other elements the weights that approximate f best, in
//     O(B²). It is the most accurate strategy that uses only points of the stream.
//   - merging replaces p and a partner by one new point between them, in O(B) kernel values. It
//     is the best strategy on MNIST, and requires a Gaussian kernel.
//   - keep-newest is projection with p chosen from the B elements held before, so that the newest
//     sample stays, in O(B²). The POLK paper may have used it. With few elements
//     its error does not converge.
//
// The POLK paper names neither the maintenance nor the schedule that it used.
//
// # When to prefer it
//
// For a stream, with a Gaussian kernel and a model order fixed beforehand: with merging, its
// error on MNIST at 1,086 elements is 2.0 %, where POLK has 2.4 %. POLK is better at few elements
// (4.2 against 4.6 % at 16 on multidist), takes any loss, and finds the model order by itself.
//
// # Cost
//
// A sample costs B·p multiply-adds for its row of kernel values, and the maintenance if it
// violates its margin. At B = 1,086 and p = 784, the measured time per sample is 33 µs with
// removal, 39 with merging, 157 with projection (results/reference/bench). Memory is B·(16p + 8C)
// bytes; projection takes up to 8·B² + 2,000·B more.
//
// # Determinism and concurrency
//
// The same configuration, samples and numbers of samples per Step give bit-identical results on
// every machine and for any number of threads: the learner draws no random numbers. A Learner
// must not be shared by goroutines. [kernel.Expansion.Write] saves a model. The state of a
// learner cannot be saved, so training cannot be resumed.
package bsgd
