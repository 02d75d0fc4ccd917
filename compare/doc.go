// Package compare says which of several pruning heuristics, or methods, is better, by how
// much and how sure that is.
//
// On a user's file, [SettleMethods] and [SettleHeuristics] find the settings to compare
// with: a walk along the axes of each method on held-out training rows, and for heuristics
// the values of their knobs that lead to the model orders asked for. Both divide a budget
// that is counted in multiply-adds and write a spec. [NewMethods] and [New] judge the
// records of its runs.
//
// A heuristic has a knob that trades model order for accuracy, so that one run
// of it says little: a [Curve] holds the runs of one replicate over the knob's
// values, and two heuristics are compared where their curves are at the same
// model order, or at the same training time. A replicate is a seed of the
// stream's order, with a draw of the data where those are generated; all
// heuristics see the same ones, so differences are taken replicate by replicate
// and package stats tests their mean, corrects for the number of heuristics that
// are compared with one reference, and compares all with all by ranks.
//
// Two choices are the package's own:
//
//   - Between two runs a curve is a straight line over the logarithm of the
//     model order, not a monotone envelope: an envelope is the least of several
//     noisy values, which is too low, and the lower the more runs there are. A
//     line is linear in what was measured, so the noise of a difference has mean
//     zero. Where a curve bends, the line is off, by about [Curve.Bend]; a
//     difference has to be larger than that to be called one.
//   - Curves are not extrapolated. Heuristics that have no model order in common
//     are not comparable there, and it is said.
//
// Differences of errors are positive where the heuristic is worse.
package compare
