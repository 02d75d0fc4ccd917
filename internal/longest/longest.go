// Package longest divides jobs among workers by the longest-first rule. The tasks
// of a cluster's plan and the forecast of a run's time use the same division, so it
// belongs to neither; no library that the program has does it.
package longest

import (
	"cmp"
	"container/heap"
	"slices"
)

// Divide gives jobs of the given costs to n workers, the costliest first, each to
// the worker that has least to do so far, and returns the jobs of each worker, by
// their places in costs. No worker then takes more than 4/3 of what the best
// division needs (Graham, Bounds on multiprocessing timing anomalies, 1969). It
// panics if there are jobs and no worker.
func Divide(costs []float64, n int) [][]int {
	order := make([]int, len(costs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) })
	jobs := make([][]int, n)
	loads := make(loads, n)
	for k := range loads {
		loads[k] = load{worker: k}
	}
	for _, i := range order {
		least := &loads[0]
		jobs[least.worker] = append(jobs[least.worker], i)
		least.cost += costs[i]
		least.jobs++
		heap.Fix(&loads, 0)
	}
	return jobs
}

// A load is what a worker has to do.
type load struct {
	worker, jobs int
	cost         float64
}

// loads is a heap whose first element has least to do.
type loads []load

func (l loads) Len() int { return len(l) }
func (l loads) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].cost, l[j].cost), cmp.Compare(l[i].jobs, l[j].jobs), cmp.Compare(l[i].worker, l[j].worker)) < 0
}
func (l loads) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *loads) Push(any)     { panic("longest: workers are not added") }
func (l *loads) Pop() any     { panic("longest: workers are not removed") }
