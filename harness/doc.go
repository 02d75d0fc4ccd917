// Package harness turns planned runs into records: it builds the learner of a
// run, streams the training set through it, evaluates it, and spreads runs
// over a pool of workers that survives failures, kills and Ctrl-C.
//
// From Go, package experiments parses a spec and plans its runs, [Reproduce]
// carries the plan out, and package record reads what came of it; the example of
// Reproduce does all three. A method of your own takes part once [Register] knows it.
// Without specs there is no need of this package: use a learner by itself.
//
// A record depends on its run alone: not on the number of workers, nor on the
// order in which runs are taken, nor on an earlier attempt that was killed.
// Reproduce holds a lock on its results folder, so a second call fails, in this
// process or another; the functions that only read may be called at any time.
package harness
