// Package evidence judges the claims of the paper by the records of runs.
//
// A claim (experiments.Ledger) has tests. Each test is about one statistic of runs: a mean, a
// difference of two means or their ratio. [Assess] selects the runs, estimates the statistic with a
// 90 % interval and compares it with the target, the interval that the paper claims, margin
// included:
//
//	reproduced    the estimate's interval lies within the target
//	deviates      it lies outside
//	inconclusive  neither
//	not run       there are no records
//
// A judged test is a [Finding], from which every output is made. Anything missing is a [Gap].
//
// Package stats makes the estimates and documents how they were chosen. Runs are compared in pairs
// if both sides ran on the same data with the same draws and seeds, and as independent samples
// otherwise. An estimate has no interval, and decides by itself, if all sides have fewer than three
// runs, or if it is not finite because a run diverged. A remark on the verdict then says so.
//
// # Assumptions
//
// A claim depends on assumptions (experiments.Assumption). [Assess] can assume an alternative
// instead of the chosen value. The runs of the alternative then replace those of a cell, with the
// same draws and orders if such runs exist; or another risk is read from the same runs. The verdict
// is "not run" if no spec runs the alternative. [Multiverse] assumes every alternative, one at a
// time (S. Steegen, F. Tuerlinckx, A. Gelman, W. Vanpaemel, "Increasing transparency through a
// multiverse analysis", 2016), and [Joint] all combinations of them. An alternative number of
// passes needs no extra runs: runs with more passes are cut (record.Record.Cut).
//
// # One run
//
// Where runs scatter, an interval for their mean does not tell whether the paper's number may come
// from one run. [Finding.Within] does, by the interval of [stats.Prediction]. No verdict depends on
// it.
package evidence
