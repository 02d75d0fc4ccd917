package cluster

import (
	"math"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/longest"
)

// share makes at most so many tasks of runs that need so much memory each, in
// MiB. Runs that need a large memory share no task with others, if there may be
// two tasks, and theirs are the last ones.
func share(runs []IndexedRun, memory []int, most int) []Task {
	var ordinary, large []int
	for i := range runs {
		if memory[i] > largeMemory && most > 1 {
			large = append(large, i)
		} else {
			ordinary = append(ordinary, i)
		}
	}
	last := balanced(runs, large, min(len(large), most-min(len(ordinary), 1)))
	tasks := append(balanced(runs, ordinary, min(len(ordinary), most-len(last))), last...)
	for k := range tasks {
		for _, i := range tasks[k].Runs {
			tasks[k].Memory = max(tasks[k].Memory, memory[i])
		}
	}
	return tasks
}

// balanced gives the runs of the indexes to n tasks, the costliest first. The
// tasks are in the order of their first run's cost.
func balanced(runs []IndexedRun, indexes []int, n int) []Task {
	costs := make([]float64, len(indexes))
	for i, index := range indexes {
		costs[i] = runs[index].Cost
	}
	tasks := make([]Task, n)
	for k, jobs := range longest.Divide(costs, n) {
		for _, i := range jobs {
			tasks[k].Runs = append(tasks[k].Runs, indexes[i])
		}
	}
	return tasks
}

const (
	mib = 1 << 20

	// programMemory is what the program takes beside data and model, and
	// memoryStep what requests are rounded up to.
	programMemory = 192 * mib
	memoryStep    = 256
)

// needed returns the MiB that a run may need: the program, its data three
// times, as reading them may take, and what its method keeps, with a fifth more
// for the collector of garbage, to which the scripts give a limit.
func needed(p experiments.Planned, set surveyed) int {
	examples := float64(set.n + set.test)
	bytes := programMemory + 3*examples*(4*float64(set.dim)+8) + 1.2*methodBytes(p, set)
	steps := math.Ceil(bytes / (memoryStep * mib))
	return memoryStep * int(min(steps, maxMemory/memoryStep))
}

// methodBytes is the size of what grows with the data and the model.
func methodBytes(p experiments.Planned, set surveyed) float64 {
	dim := float64(set.dim)
	return harness.Bytes(p.Run.Method, harness.Size{
		Train: float64(set.n), Test: float64(set.test), Dim: dim, Classes: float64(max(set.classes, 1)),
		Order:  p.Cost / (float64(p.Run.Samples) * dim), // as Planned.Cost is defined
		Params: p.Run.Params,
	})
}
