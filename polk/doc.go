// Package polk implements parsimonious online learning with kernels (POLK) of
// Koppel, Warnell, Stump and Ribeiro (2016): functional stochastic gradient
// descent in a reproducing kernel Hilbert space (Algorithm 2) whose dictionary
// is kept small by destructive kernel orthogonal matching pursuit with
// pre-fitting (KOMP, Algorithm 1) after every step.
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
