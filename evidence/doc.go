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
// A judged test is a [Finding], which every face lays out; what is missing is
// a [Gap].
//
// Package stats makes the estimates and says how they were chosen. Runs are
// compared in pairs where both sides ran on the same data with the same draws and
// seeds, and as independent samples otherwise. With fewer than three runs on all
// sides the estimate itself decides, as does one that is not finite because a run
// diverged. The verdict then says so.
//
// # Assumptions
//
// A claim depends on assumptions (experiments.Assumption). [Assess] can assume
// an alternative instead of what was chosen: its runs take the place of a
// cell's, of the same draws and orders if there are such, or another risk is
// read from the same runs. What no spec runs is not run. [Multiverse] does so
// for every alternative, each alone (S. Steegen, F. Tuerlinckx, A. Gelman,
// W. Vanpaemel, "Increasing transparency through a multiverse analysis", 2016),
// and [Joint] for all combinations of them. An alternative number of passes needs no runs
// of its own: those of more passes begin with it (record.Record.Cut).
//
// # One run
//
// A mean says nothing of whether the paper's number may be one run's, where runs
// scatter. [Finding.Within] says that, by the interval of [stats.Prediction]. No
// verdict depends on it.
package evidence
