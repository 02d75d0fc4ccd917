package learnertest

import (
	"context"
	"math/rand/v2"
	"testing"

	"polkrepro/internal/race"
	"polkrepro/internal/testutil"
)

// Blobs draws n points whose classes overlap: the mean of a point's first feature
// is its class, and each feature is uniform within 1.5 of its mean.
func Blobs(seed uint64, n, dim, classes int) (x []float32, y []float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	x, y = make([]float32, n*dim), make([]float64, n)
	for i := range n {
		k := r.IntN(classes)
		y[i] = float64(k)
		for q := range dim {
			x[i*dim+q] = float32(3*r.Float64() - 1.5)
		}
		x[i*dim] += float32(k)
	}
	return x, y
}

// New returns a learner. An error ends the test.
func New[Config, Learner any](tb testing.TB, make func(Config) (Learner, error), c Config) Learner {
	tb.Helper()
	l, err := make(c)
	testutil.NoError(tb, err)
	return l
}

// A Stepper learns from mini-batches of n samples.
type Stepper interface {
	Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error)
}

// Step lets a learner learn from len(y) samples. An error ends the test.
func Step(t testutil.T, l Stepper, x []float32, y []float64) {
	t.Helper()
	if _, err := l.Step(context.Background(), len(y), x, y); err != nil {
		t.Fatal(err)
	}
}

// DoesNotAllocate fails if a step of a learner allocates after four steps, which may grow its
// buffers.
func DoesNotAllocate(tb testing.TB, l Stepper, x []float32, y []float64) {
	tb.Helper()
	step := func() {
		if _, err := l.Step(tb.Context(), len(y), x, y); err != nil {
			tb.Fatal(err)
		}
	}
	for range 4 {
		step()
	}
	if race.Enabled {
		return
	}
	if a := testing.AllocsPerRun(3, step); a > 0 {
		tb.Errorf("%v allocations", a)
	}
}

// A Countdown is a context that is cancelled after Left calls of Err.
type Countdown struct {
	context.Context
	Left int
}

// Err counts down, and returns context.Canceled after Left calls.
func (c *Countdown) Err() error {
	c.Left--
	if c.Left < 0 {
		return context.Canceled
	}
	return nil
}
