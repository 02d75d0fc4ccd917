// Package external makes a prune.Heuristic of a command: a script or program, in
// any language, that decides which elements leave. Each learner starts a process of
// it, which speaks lines of JSON on its standard streams. docs/pruner-protocol.md is
// the protocol's reference; python/polkprune.py speaks it for heuristics in Python.
//
//	h, err := external.New("mine", "./mine.py")
//	...
//	pruner, err := prune.New(h, prune.Params{"order": 64})
//	defer pruner.Pruner.(io.Closer).Close() // ends the process
//
// The heuristic's Code is the hash of the command's files, so that results of an edited
// script are not taken for those of the old one.
//
// A process that ends, is silent for too long, or answers what makes no sense is an
// error of the learner's step, with the end of what it wrote to standard error.
package external
