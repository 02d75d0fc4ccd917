// Package faults tests how results survive faults: runall processes that are killed, told to
// stop or run out of disk space, or that meet other processes or corrupt files in their
// results folder. After every such trial, and an undisturbed rerun of the command if the trial
// did not finish, the results must be those of an undisturbed process: the same files with the
// same digests. Otherwise the error must be one clear line with the right exit status.
//
//	make faults TRIALS=1000 SEED=7
//
// The package contains only the test, which needs Linux and the build tag check. Full
// and read-only disks are in-memory file systems, which only root can mount.
package faults
