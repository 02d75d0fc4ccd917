// Package slurmtest holds the test of plan, exec and collect on a real Slurm:
// one controller and two nodes on this machine, of which one loses its power in
// the middle of a job array. It has no code of its own beside the test, which
// the build tag check turns on and 'make slurm' runs.
package slurmtest
