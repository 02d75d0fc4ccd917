// Package cluster spreads the runs of a plan over the processes and machines
// of an engine that is there already: Slurm, Kubernetes, GNU parallel or a
// shell loop.
//
// [Make] fixes a plan: which runs, on which data, by which program, in which
// tasks. [Write] puts it into a new folder, as plan.json, with a submission for
// each engine. [Exec] carries out some of its runs; [Collect] brings the
// records together and says what is missing.
//
// # No locks
//
// A run is deterministic and two attempts at one give the same record, so
// nothing keeps two processes from the same run. Each attempt writes into a
// folder of its own, RESULTS/attempts/INDEX-HOST-PID, and a whole record appears
// as RESULTS/records/ID.jsonl by one renaming. What a killed process leaves is
// in attempts, where nobody looks for records.
package cluster
