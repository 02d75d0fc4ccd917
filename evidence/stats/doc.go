// Package stats has the statistics of this project, once: what runs say of a mean,
// a difference or a ratio, and what follows for a claim or a comparison.
//
//	Mean                          Student's t
//	PairedDifference, PairedT     Student's t of the differences
//	Difference                    Welch's t
//	PairedRatio, Ratio            Fieller's theorem
//	Judge                         an estimate and a target: a Verdict
//	Holm                          p-values, corrected for their number
//	Rank, Cliques                 many methods by their ranks
//
// [Judge] is the test of equivalence by two one-sided tests at 5 %: a 90 % interval
// inside the target reproduces a claim (D. J. Schuirmann, "A comparison of the two
// one-sided tests procedure and the power approach for assessing the equivalence of
// average bioavailability", 1987). Few runs make the interval wide, so that they
// never prove equivalence by being few. For a target with one end it is one
// one-sided test at 5 %.
//
// # Why these intervals
//
// A study of coverage chose them: how often a nominal 90 % interval holds the truth
// for 3, 5, 10 and 20 runs, the numbers that specs plan, of normal and skewed values,
// of values with one outlier in ten, and of those of the recorded runs. TestCoverage
// repeats it in small and TestCheckCoverage in full; coverage.md has all of it.
package stats
