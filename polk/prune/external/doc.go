// Package external makes a prune.Heuristic from a command: a script or program, in any language,
// that decides which elements leave. Each learner starts a process of the command, which
// exchanges lines of JSON over its standard streams. docs/pruner-protocol.md is the protocol's
// reference; python/polkprune.py implements it for heuristics in Python.
//
//	h, err := external.New("mine", "./mine.py")
//	...
//	pruner, err := prune.New(h, prune.Params{"order": 64})
//	defer pruner.Pruner.(io.Closer).Close() // ends the process
//
// The heuristic's Code is the hash of the command's files, so that results of an edited
// script are not taken for those of the old one.
//
// If a process ends, is silent for too long or gives an invalid answer, the learner's step
// fails. The error includes the end of the process's standard error.
package external
