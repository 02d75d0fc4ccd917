// Package evidence judges the paper's claims by records.
//
// A claim (experiments.Ledger) has tests. Each is about one statistic of runs:
// a mean, a difference of two means or their ratio. [Assess] selects the runs,
// estimates the statistic with a 90 % interval and compares it with the
// interval in which the paper has it, margin included:
//
//	reproduced    the estimate's interval lies within the target
//	deviates      it lies outside
//	inconclusive  neither
//	not run       there are no records
//
// For a mean against a value and its margin this is the test of equivalence by
// two one-sided t tests at 5 % (D. J. Schuirmann, "A comparison of the two
// one-sided tests procedure and the power approach for assessing the
// equivalence of average bioavailability", 1987): equivalence is never
// concluded because there are few runs.
//
// The claims of Table 1 are about what runs were measured against the minimizer f*;
// package convergence computes their statistics of a record. One that is about
// t → ∞ says nothing of a run that is too short: it is not run.
//
// # Intervals
//
// A mean of at least three runs has Student's interval. Differences and ratios
// have the percentile interval of a bootstrap with a fixed seed (B. Efron,
// R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13), over
// pairs of runs where both sides ran on the same data with the same draws and
// seeds, over the two sides apart otherwise. It is too narrow for few runs: of
// normal values it holds the truth in 87 % of cases with twenty, as on
// multidist, and in 79 % with five, as on MNIST and Brodatz (simulated, a test
// repeats it).
//
// What the theorems say of every run and every step is decided by the worst run.
//
// With fewer than three runs on all sides the estimate itself decides, as does
// one that is not finite because a run diverged. The verdict then says so.
//
// # Assumptions
//
// A claim depends on assumptions (experiments.Assumption). [Assess] can assume
// an alternative instead of what was chosen: its runs take the place of a
// cell's, of the same draws and orders if there are such, or another risk is
// read from the same runs. What no spec runs is not run. [Multiverse] does so
// for every alternative, each alone (S. Steegen, F. Tuerlinckx, A. Gelman,
// W. Vanpaemel, "Increasing transparency through a multiverse analysis", 2016).
package evidence
