package harness

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// TestWorkersDoNotExceedCores asks for more workers than cores, among other numbers.
func TestWorkersDoNotExceedCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, tt := range []struct{ asked, jobs, workers, threads int }{
		{0, 10, 3, 1}, {8, 10, 3, 1}, {2, 10, 2, 1}, {0, 1, 1, 3}, {0, 0, 1, 3},
	} {
		if workers, c := layout(tt.asked, tt.jobs); workers != tt.workers || c.threads() != tt.threads {
			t.Errorf("%d workers asked for %d jobs: got %d, and %d threads", tt.asked, tt.jobs, workers, c.threads())
		}
	}
}

// TestCoresAreNeverOversubscribed counts the threads of all concurrent steps. One run is much
// longer than the others, and has all cores at the end.
func TestCoresAreNeverOversubscribed(t *testing.T) {
	const total = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(total))
	var plan []spec.Planned
	for seed := range uint64(6) {
		p := tinyRun("polk", "ksvm", seed)
		if seed == 0 {
			p.Run.Samples = 10_000
		}
		plan = append(plan, p)
	}
	workers, cores := layout(3, len(plan))
	var training, mostThreads atomic.Int64
	methods := fakes(func(f *fake) error {
		if n := training.Add(int64(f.threads)); n > total {
			t.Errorf("%d threads on %d cores", n, total)
		}
		// A race may lose a maximum, not invent one.
		mostThreads.Store(max(mostThreads.Load(), int64(f.threads)))
		time.Sleep(50 * time.Microsecond)
		training.Add(-int64(f.threads))
		return nil
	})
	x := &executor{Options: Options{Results: t.TempDir(), Progress: silent{}, Methods: methods}, cores: cores}
	sets, _, err := loadAll(t.Context(), data.Finder{}, plan)
	testutil.NoError(t, err)
	err = pool(t.Context(), workers, cores, len(plan), func(ctx context.Context, i int) error {
		return x.execute(ctx, plan[i], sets[plan[i].Run.Data])
	})
	testutil.NoError(t, err)
	if mostThreads.Load() != total || cores.workers.Load() != 0 {
		t.Errorf("at most %d threads in a step, want %d; %d workers left", mostThreads.Load(), total, cores.workers.Load())
	}
}
