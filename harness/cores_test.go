package harness

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"polkrepro/data"
	"polkrepro/experiments"
)

// busy returns how many cores are taken for evaluations.
func (c *cores) busy(total int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return total - c.workers - c.free
}

// TestCores takes, gives and leaves in random order, as workers do.
func TestCores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 6).Draw(t, "cores")
		workers := rapid.IntRange(1, total).Draw(t, "workers")
		c := newCores(total, workers)
		taken := 0
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				free := workers+taken < total
				if c.take() != free {
					t.Fatalf("took a core: %v, of %d with %d workers and %d evaluations", !free, total, workers, taken)
				}
				if free {
					taken++
				}
			},
			"give": func(t *rapid.T) {
				if taken == 0 {
					t.Skip("none is taken")
				}
				c.give()
				taken--
			},
			"leave": func(t *rapid.T) {
				if workers == 1 {
					t.Skip("the last worker")
				}
				c.leave()
				workers--
			},
			"": func(t *rapid.T) {
				want := 1
				if workers == 1 {
					want = total - taken
				}
				if got := c.threads(); got != want {
					t.Fatalf("%d threads, want %d: %d cores, %d workers, %d evaluations", got, want, total, workers, taken)
				}
			},
		})
	})
}

// TestWorkersDoNotExceedCores asks for more.
func TestWorkersDoNotExceedCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, tt := range []struct{ asked, jobs, workers, free int }{
		{0, 10, 3, 0}, {8, 10, 3, 0}, {2, 10, 2, 1}, {0, 1, 1, 2}, {0, 0, 1, 2},
	} {
		if workers, c := layout(tt.asked, tt.jobs); workers != tt.workers || c.free != tt.free {
			t.Errorf("%d workers asked for %d jobs: got %d, and %d free cores", tt.asked, tt.jobs, workers, c.free)
		}
	}
}

// TestCoresAreNeverOversubscribed counts the threads of all steps and
// evaluations that are under way together. One run is much longer than the
// others, and has all cores at the end.
func TestCoresAreNeverOversubscribed(t *testing.T) {
	const total = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(total))
	var plan []experiments.Planned
	for seed := range uint64(6) {
		p := tinyRun("polk", "ksvm", seed)
		if seed == 0 {
			p.Run.Samples = 10_000
		}
		plan = append(plan, p)
	}
	workers, cores := layout(3, len(plan))
	var training, mostThreads, mostBusy atomic.Int64
	methods := fakes(func(f *fake) error {
		n := training.Add(int64(f.threads))
		busy := int64(cores.busy(total))
		if n+busy > total {
			t.Errorf("%d threads train and %d evaluate on %d cores", n, busy, total)
		}
		// Races between these two may lose a maximum, not invent one.
		mostThreads.Store(max(mostThreads.Load(), int64(f.threads)))
		mostBusy.Store(max(mostBusy.Load(), busy))
		time.Sleep(50 * time.Microsecond)
		training.Add(-int64(f.threads))
		return nil
	})
	x := &executor{records: t.TempDir(), progress: silent{}, methods: methods, cores: cores}
	sets, _, err := loadAll(t.Context(), data.NewStore(data.Finder{}), plan)
	if err != nil {
		t.Fatal(err)
	}
	err = pool(t.Context(), workers, cores, len(plan), func(ctx context.Context, i int) error {
		return x.execute(ctx, plan[i], sets[plan[i].Run.Data])
	})
	if err != nil {
		t.Fatal(err)
	}
	if mostThreads.Load() != total || mostBusy.Load() == 0 {
		t.Errorf("at most %d threads in a step and %d evaluations beside one, want %d and some", mostThreads.Load(), mostBusy.Load(), total)
	}
	if cores.free != total || cores.workers != 0 {
		t.Errorf("in the end %d cores are free and %d workers left", cores.free, cores.workers)
	}
}
