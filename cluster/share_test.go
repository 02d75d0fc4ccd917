package cluster

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/experiments"
)

func runsOfCost(costs []float64) []IndexedRun {
	runs := make([]IndexedRun, len(costs))
	for i, c := range costs {
		runs[i] = IndexedRun{Index: i, Planned: experiments.Planned{Cost: c}}
	}
	return runs
}

// TestShare: every run is in one task, there are no more tasks than asked for
// and no fewer than there can be, and those of large memory are the last.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 60).Draw(t, "costs")
		most := rapid.IntRange(1, 70).Draw(t, "most")
		memory := make([]int, len(costs))
		for i := range memory {
			memory[i] = rapid.SampledFrom([]int{256, 512, largeMemory, largeMemory + 256, 9 * largeMemory}).Draw(t, "memory")
		}
		p := Plan{Runs: runsOfCost(costs), Tasks: share(runsOfCost(costs), memory, most)}
		if err := p.checkTasks(); err != nil {
			t.Fatal(err)
		}
		if len(p.Tasks) != min(most, len(costs)) {
			t.Errorf("%d tasks of %d runs, at most %d", len(p.Tasks), len(costs), most)
		}
		for k, task := range p.Tasks {
			least, needs := slices.Min(memoryOf(task, memory)), slices.Max(memoryOf(task, memory))
			if task.Memory != needs || most > 1 && k >= p.Ordinary() && least <= largeMemory {
				t.Errorf("task %d of %d MiB: %v", k, task.Memory, memoryOf(task, memory))
			}
			if !slices.IsSortedFunc(task.Runs, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) }) {
				t.Errorf("task %d: %v is not in the order of cost", k, task.Runs)
			}
		}
	})
}

func memoryOf(task Task, memory []int) []int {
	var out []int
	for _, i := range task.Runs {
		out = append(out, memory[i])
	}
	return out
}

// TestBalanced compares the costliest task with that of the best division,
// found by trying all: Graham's bound for the longest first is 4/3 − 1/(3n).
func TestBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(rapid.Float64Range(1, 100), 1, 8).Draw(t, "costs")
		n := rapid.IntRange(1, 3).Draw(t, "tasks")
		indexes := make([]int, len(costs))
		for i := range indexes {
			indexes[i] = i
		}
		most := 0.0
		for _, task := range balanced(runsOfCost(costs), indexes, n) {
			sum := 0.0
			for _, i := range task.Runs {
				sum += costs[i]
			}
			most = max(most, sum)
		}
		best := leastMost(costs, make([]float64, n))
		if bound := (4.0/3 - 1/(3*float64(n))) * best; most > bound*(1+1e-12) {
			t.Errorf("the costliest task has %v, that of the best division %v", most, best)
		}
	})
}

// leastMost returns the least cost that the costliest task can have.
func leastMost(costs, loads []float64) float64 {
	if len(costs) == 0 {
		return slices.Max(loads)
	}
	best := -1.0
	for k := range loads {
		loads[k] += costs[0]
		if m := leastMost(costs[1:], loads); best < 0 || m < best {
			best = m
		}
		loads[k] -= costs[0]
	}
	return best
}
