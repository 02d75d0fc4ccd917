// Package polk implements parsimonious online learning with kernels (POLK) of
// Koppel, Warnell, Stump and Ribeiro (2016): functional stochastic gradient
// descent in a reproducing kernel Hilbert space (Algorithm 2) whose dictionary
// is kept small by destructive kernel orthogonal matching pursuit with
// pre-fitting (KOMP, Algorithm 1) after every step.
//
// [New] makes a [Learner], [Learner.Step] trains it on one mini-batch, and [Learner.WriteState]
// saves its state. The functions of a learner are a [kernel.Expansion], which scores points;
// package loss turns scores into classes and probabilities. The package examples show all of
// this.
//
// # When to prefer it
//
// Use POLK for streams: it sees each sample once and keeps only the elements of the dictionary.
// The dictionary grows to the size that the problem needs, and ε bounds the error of each step.
// For a fixed model order, set [Config].Pruner to the heuristic komp-order of package prune, or
// use package bsgd. At equal order, BSGD with merging is better than POLK on images (error rate
// 2.0 against 2.4 % on MNIST) and worse on multidist. If the data can be kept, a batch method is
// more accurate (packages lbfgs and csvc), or as accurate and simpler (package nystrom).
//
// Choose η as large as the loss allows (less than 1/λ), and K by trial. Since ε = K·η^{3/2}, a
// smaller K keeps more elements. On MNIST, a K larger by half kept less than a third of the
// elements.
//
// # Cost
//
// Let a step have n samples, of which m have a nonzero gradient (all for the logistic losses,
// fewer and fewer for the hinge losses). With M elements, p features and C functions, it costs
// n·M·p for kernel values, n·M·C for scores, m·M² for the projection, and another M² for each of
// the few new elements that stay and old elements that leave. Kernel values take a quarter to a
// half of the time with 784 features, and hardly any with two.
//
// A learner holds 16·M² bytes for K_DD and its inverse, and 16·p + 8·C bytes per element. With
// scratch and garbage, a process with p = 784 took 97 MB for M = 1,000 and 186 MB for M = 2,000
// (results/reference/bench).
//
// # Determinism and concurrency
//
// The same configuration and samples give the same bits on every machine (see docs/numerics.md),
// whatever [Config].Threads is. A restored learner continues bit for bit like the saved one (see
// [Restore]). A Learner is not safe for concurrent use; different learners may be used
// concurrently. A learner owns its Expansion: clone it to keep it.
//
// # What is exact and what is fast
//
// A step removes the same elements as the printed Algorithm 1, in the same order, and leaves the
// same weights, but solves no least-squares problem per candidate. With P = K_DD⁻¹ and r the
// error that the step has spent so far, leaving out element j gives the error γ_j with
// γ_j² = r² + ‖w_j‖²/P_jj. The tests check that a literal transcription removes the same
// elements in the same order. For C functions on one dictionary, ‖·‖² sums over the functions.
//
// Two readings of the paper are built in. The gradient of a mini-batch is the mean over its
// samples. The error of a step is cumulative and measured against the f̃ of that step, as
// Algorithm 1 prints it.
package polk
