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
// same weights, but solves no least-squares problem per candidate: the error γ_j without element j
// is a quotient of two numbers that are kept, (a) below. The tests check that a literal
// transcription removes the same elements in the same order. For C functions on one dictionary, ‖·‖² sums over the functions.
//
// Two readings of the paper are built in. The gradient of a mini-batch is the mean over its
// samples. The error of a step is cumulative and measured against the f̃ of that step, as
// Algorithm 1 prints it.
//
// # What a removal costs
//
// Let I be the elements that are left, w their weights, Q = K_II⁻¹ and q_j column j of Q. The
// weights are the best ones for f̃ on I (pre-fitting), so the error f̃ − Σ_{k∈I} w_k κ(d_k, ·),
// whose squared norm is r², is orthogonal to all κ(d_k, ·), k ∈ I. The removal of j therefore
// adds to r² the product of ‖w_j‖² and the squared distance of κ(d_j, ·) to the span of the
// others, which is 1/Q_jj. Line 4 becomes
//
//	γ_j² = r² + ‖w_j‖²/Q_jj,                                          (a)
//
// and with the scaled column o = q_j/√Q_jj, lines 10 to 12 become
//
//	w_k ← w_k − (o_k/o_j)·w_j,    Q ← Q − o·oᵀ.                       (b)
//
// Of Q, the loop needs only the diagonal and the columns of the elements that it removes.
//
// # Who changes the weights
//
// Before the loop, a step shrinks the weights by 1 − ηλ and adds the new elements' gradient steps; if
// P is repaired, or a new element depends on the others, weights are shared among the others. In the
// loop, only Remove, Drop and Enter change w, and with it the costs; Drop also takes the element's
// part out of f̃. A pruner reads w through Weights: had it written there, the costs would be stale. After the
// loop, commit stores w, and refines it against K if K is ill-conditioned. Pruners that need no
// inverse have no costs, and change the weights of f̃ themselves.
//
// # How an element leaves
//
// [Step].Removed counts all elements that left in a step, [Health] some of them since the learner
// was made:
//
//   - The pruner removes elements, with their weights shared among the others (Remove) or not (Drop). A
//     pruner that merges takes two out and enters one.
//   - A new element that depends on the others to within rounding is folded into them: Health.Folded.
//   - A repair of P leaves out elements if K is singular: Health.Dropped. Saving and restoring a
//     learner can repair P, too; no Step shows that.
//   - While the dictionary is held fixed, it absorbs all new elements. Removed alone counts them.
//
// A sample without a gradient enters no element. All other removals are the pruner's choice.
//
// # The inverse that it starts from
//
// A step adds n new elements X to a dictionary D of M elements, whose K_DD and P = K_DD⁻¹ are
// kept from step to step. With T = P·K_DX, the Schur complement S = K_XX − K_XD·T
// and its factor S = L·Lᵀ,
//
//	K⁻¹ = ⎡P 0⎤ + RᵀR,    R = L⁻¹·[−Tᵀ  I],                           (c)
//	      ⎣0 0⎦
//
// and Q keeps this form through all removals: Q = P̂ + R̂ᵀR̂, where P̂ covers the dictionary
// elements alone, and R̂ has at most n rows, one for each new element that is left.
//
// # Why orthogonal transformations
//
// If elements nearly depend on each other, Q is as large as the condition number of K, and the
// removal of one of them brings the Q_kk of the others down to about 1. Subtracted as in (b),
// these numbers would cancel, and the costs of all later removals would lose their digits. But
// RᵀR is the same for the rows U·R with U orthogonal, and the product with U loses no digits:
//
//   - Column j of a new element lies in R̂ alone. A Householder reflection of R̂'s
//     rows gathers it in the last row, o. Deleting that row is (b).
//   - Column j of a dictionary element lies in P̂ and in R̂. After a reflection, R̂ has
//     it in its last row y. With x the scaled column of P̂,
//     Q = (P̂ − x·xᵀ) + x·xᵀ + R̂ᵀR̂. A rotation of x and y gathers column j in one of
//     the two, o, which is deleted; the other one becomes R̂'s last row.
//
// P̂ − x·xᵀ is never formed. Its columns are computed when they are needed, from P and the x of
// earlier removals (left-looking), so the loop does no O(M²) work. Of Q only the diagonal is
// kept up to date, by subtraction; an entry that loses nearly all of its value is summed again
// from P̂ and R̂.
//
// # Where rounding decides
//
// New elements that are numerically linear combinations of the others have no row in R: their
// weights go to the others before the loop. A probe detects when P has drifted from K⁻¹; P is then
// used with iterative refinement or recomputed. Weights that would have the error of an
// ill-conditioned P are refined against K itself at the end.
package polk
