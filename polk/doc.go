// Package polk implements parsimonious online learning with kernels (POLK) of
// Koppel, Warnell, Stump and Ribeiro (2016): functional stochastic gradient
// descent in a reproducing kernel Hilbert space (Algorithm 2) whose dictionary
// is kept small by destructive kernel orthogonal matching pursuit with
// pre-fitting (KOMP, Algorithm 1) after every step.
//
// A [Learner] is made by [New], taught by [Learner.Step] with one mini-batch
// after the other, and saved by [Learner.WriteState]. Its functions are a
// [kernel.Expansion], which scores points; package loss turns scores into
// classes and probabilities. The example of the package does all of it.
//
// # When to prefer it
//
// For streams: every sample is seen once and given up, and the dictionary grows
// to what the problem needs, with the error of each step bounded by ε. Where the
// model order has to be fixed instead, give [Config].Pruner the heuristic
// komp-order of package prune, or see package bsgd, which with merging is better
// on images than POLK at equal order (2.0 against 2.4 % on MNIST) and worse on
// multidist. If the data can be kept, a batch method is more accurate (package
// lbfgs, csvc) or as accurate and simpler (nystrom).
//
// The constants: η as large as the loss allows (less than 1/λ), K by trial: ε =
// K·η^{3/2}, so that a smaller K keeps more elements. On MNIST a K larger by
// half was seen to keep less than a third of the elements.
//
// # Cost
//
// With M elements, p features, C functions, and n samples a step of which m have
// a gradient (all for the logistic losses, fewer and fewer for the hinges): n·M·p
// for kernel values, n·M·C for scores, m·M² for the projection, and another M²
// for each of those few elements that enter and stay or leave. Kernel values take
// a quarter to a half of the time with 784 features, hardly any with two.
// A learner keeps 16·M² bytes for K_DD and its inverse and 16·p + 8·C bytes an
// element; with scratch and garbage a process with p = 784 was measured at 97 MB
// for M = 1,000 and 186 MB for M = 2,000 (results/reference/bench).
//
// # Determinism and concurrency
//
// The same configuration and samples give the same bits on every machine (see
// docs/numerics.md), whatever [Config].Threads is; a learner that was saved and
// restored goes on as if it had not been (see [Restore]). A Learner is not safe
// for concurrent use; many may be used at once. An Expansion is the learner's own
// until it is cloned.
//
// # What is exact and what is fast
//
// The elements that a step removes, their order, and the weights that remain
// are those of the printed Algorithm 1: with P = K_DD⁻¹ the error of leaving
// out element j is γ_j² = r² + ‖w_j‖²/P_jj, where r is the error that the step
// has spent so far, so no least-squares problem is solved per candidate. A
// literal transcription in the tests removes the same elements in the same
// order. For C functions on one dictionary, ‖·‖² sums over the functions.
//
// Two readings of the paper are built in: the gradient of a mini-batch is the
// mean over its samples, and the error of a step is measured against the f̃ of
// that step, cumulatively, as Algorithm 1 prints it.
package polk
