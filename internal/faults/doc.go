// Package faults holds a test of results when things go wrong: processes of
// runall that are killed, told to stop, left without disk, or that meet others
// or damaged files in their results folder. After every such trial, and an
// undisturbed repeat of the same command where the first did not finish, the
// results must be those of an undisturbed process: the same files, the same
// digests. Otherwise the error must be one clear line with the right exit
// status.
//
//	make faults TRIALS=1000 SEED=7
//
// The package has no code but the test's, for Linux and the build tag check.
// Full and read-only disks are file systems in memory, which only root can mount.
package faults
