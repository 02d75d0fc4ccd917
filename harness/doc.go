// Package harness turns planned runs into records: it builds the learner of a
// run, streams the training set through it, evaluates it, and spreads runs
// over a pool of workers that survives failures, kills and Ctrl-C.
//
// From Go, package spec parses a spec and plans its runs, [Reproduce]
// executes the plan, and package record reads the results; the example of
// Reproduce shows all three. To run your own method, register it with [Register].
// To use a learner without specs, call it directly: this package is not needed.
//
// A record depends only on its run: not on the number of workers, the order of
// the runs, or an earlier attempt that was killed. Reproduce locks its results
// folder, so a second call fails, in this process or another. Functions that only
// read may be called at any time.
package harness
