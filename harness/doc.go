// Package harness turns planned runs into records: it builds the learner of a
// run, streams the training set through it, evaluates it, and spreads runs
// over a pool of workers that survives failures, kills and Ctrl-C.
//
// A record depends on its run alone: not on the number of workers, nor on the
// order in which runs are taken, nor on an earlier attempt that was killed.
package harness
