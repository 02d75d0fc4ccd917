// Package stats provides the statistics of this project: estimates of a mean, a difference or a
// ratio from runs, and the verdicts on claims and comparisons.
//
//	Mean                          Student's t
//	PairedDifference, PairedT     Student's t of the differences
//	Difference                    Welch's t
//	PairedRatio, Ratio            Fieller's theorem
//	Prediction                    Student's prediction interval, of one new run
//	Estimate.Sampled              an interval widened for other test rows
//	Judge                         the Verdict on an estimate, given a target
//	Holm                          p-values, corrected for multiple comparisons
//	Rank, Cliques                 comparison of many methods by their ranks
//
// [Judge] is the test of equivalence by two one-sided tests at 5 %: a 90 % interval inside the
// target reproduces a claim (D. J. Schuirmann, "A comparison of the two one-sided tests procedure
// and the power approach for assessing the equivalence of average bioavailability", 1987). Few runs
// make the interval wide, so a lack of runs never proves equivalence. For a target with one end it
// is one one-sided test at 5 %.
//
// # Why these intervals
//
// These intervals were chosen by a study of coverage: how often a nominal 90 % interval contains
// the true value for 3, 5, 10 and 20 runs, the numbers that specs plan. The values are normal,
// skewed, with one outlier in ten, or those of the recorded runs. In per cent:
//
//	                                     normal values         least of all values
//	                                   3    5   10   20        3    5   10   20
//	mean                  t           90   91   90   89       87   84   84   85
//	                      bootstrap   64   78   85   88       57   71   78   82
//	paired difference     t           90   90   90   90       83   81   84   85
//	                      bootstrap   62   77   84   86       53   68   77   81
//	difference            Welch       90   89   90   90       88   87   86   85
//	                      pooled t    87   88   89   89       85   85   85   86
//	                      bootstrap   72   81   86   87       67   76   80   84
//	paired ratio          Fieller     90   90   90   89       84   81   85   85
//	                      delta       90   90   90   90       84   80   84   84
//	                      logarithms  90   90   89   88       83   79   83   84
//	                      bootstrap   62   77   85   87       50   69   77   82
//	ratio                 Fieller     92   90   90   90       91   89   88   88
//	                      delta       90   90   90   89       89   89   88   87
//	                      logarithms  81   72   55   33       81   72   55   33
//	                      bootstrap   74   82   86   87       70   77   82   85
//
// For designs with several correlations or ratios of standard deviations, the table shows the
// lowest coverage. TestCoverage repeats a small study of the chosen methods and TestCheckCoverage
// the full one; with -v it prints every distribution. The other methods were measured once.
//
// The percentile bootstrap, formerly used for differences and ratios, covers the true value in 62
// to 74 % of cases for three normal values, and in 77 to 83 % for five, the number of runs on MNIST
// and Brodatz. Welch's t is as good as the pooled t if the sides have the same variance, and covers
// 90 % if they don't. Fieller's theorem turns Student's test into an interval: it is as good as the
// delta method, and the interval is unbounded if the denominator may be 0. Logarithms need positive
// values and estimate a ratio of geometric means, which is a different ratio if the variances of
// the sides differ.
//
// No method covers 90 % for skewed values with few runs. The chosen methods miss the true value at
// most one and a half times as often as nominal, up to the error of the simulation, with one
// exception. For three to five draws of the recorded differences between POLK's and L-BFGS's error
// on multidist, one of which is an outlier, the coverage is 81 to 83 %. The claim uses all twenty
// draws, for which the coverage is 88 %.
//
// # One run
//
// [Prediction] is for the value of one new run, not for a mean. A printed risk or error is an
// average over the evaluations of a run's last 5 %, so each run counts by that average, however its
// evaluations vary. The interval covers 90 % of normal values, and 85 % or more of skewed ones
// (TestPredictionCoverage). With five runs, the range of all runs would cover two in three.
//
// # Test rows
//
// Runs on one test set say nothing about other test rows. [Estimate.Sampled] adds the binomial
// variance p(1 − p)/N of an error p on N rows, and for a difference of two methods that of each
// method. Two methods err on the same rows more often than by chance, so their difference varies
// less: the sum is an upper bound. It replaces a paired test, for which records lack the
// predictions (TestSampled).
package stats
