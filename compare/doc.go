// Package compare determines which of several pruning heuristics, or methods, is better, by how
// much, and how certain that is.
//
// On a user's file, [TuneMethods] and [TuneHeuristics] find the settings for a comparison. A
// pattern search over a method's hyper-parameters uses held-out training rows; for a heuristic, a
// second search finds the size parameter values that lead to the requested model orders. Both functions
// divide a budget that is counted in multiply-adds, and return a spec. [NewMethods] and [New] judge
// the records of the spec's runs.
//
// A heuristic has a size parameter that trades model order for accuracy, so a single run says little about
// the heuristic. A [Curve] holds the runs of one replicate over the size parameter's values. Two heuristics
// are compared where their curves have the same model order, or the same training time. A replicate
// is a seed of the stream's order and, for generated data, a draw of the data. All heuristics have
// the same replicates, so differences are taken replicate by replicate. Package stats tests their
// mean, corrects for the number of heuristics compared with one reference, and compares all
// heuristics with each other by ranks.
//
// Two choices are specific to this package:
//
//   - Between two runs a curve is a straight line over the logarithm of the model order, not a
//     monotone envelope. An envelope is the minimum of several noisy values, so it is biased low,
//     and more so the more runs there are. A line is linear in the measured values, so the noise of
//     a difference has mean zero. Where a curve bends, the line is off by about [Curve.Bend]; only
//     a larger difference counts as one.
//   - Curves are not extrapolated. Heuristics without a common model order are reported as not
//     comparable there.
//
// A positive difference of errors means that the heuristic is worse than the reference.
package compare
