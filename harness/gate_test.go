package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

// A ticking pruner stands for a process: a step drops elements, and takes an eighth of a second by
// its clock. In the step in which it has hangs steps behind it, it waits for the end of its context.
type ticking struct {
	order, steps, hangs int
}

func (o *ticking) Prune(ctx context.Context, s prune.State) error {
	if o.steps++; o.steps > o.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	for s.Len() > o.order {
		s.Drop(prune.Least(s, s.Norm2))
	}
	return nil
}

func (o *ticking) Start(context.Context) error { return nil }
func (o *ticking) Close() error                { return nil }
func (o *ticking) Seconds() float64            { return float64(o.steps) / 8 }

// registerOutside registers ticking as "outside", a heuristic from outside this program.
func registerOutside(hangs int) {
	prune.Register(prune.Heuristic{
		Name: "outside", About: "for tests", Identity: "test", Params: []prune.Param{prune.Order},
		New: func(p prune.Params) prune.Pruner { return &ticking{order: p.Int("order"), hangs: hangs} },
	})
}

// outsideRun is a tiny run with a heuristic.
func outsideRun(seed uint64, pruner string, order float64) spec.Planned {
	p := tinyRun("polk", "ksvm", seed)
	p.Run.Params.Parsimony, p.Run.Params.Pruner, p.Run.Params.PrunerParams = 0, pruner, prune.Params{"order": order}
	return planned(p.Run)
}

// TestSameFailures: after the same failure in three runs of a heuristic from outside, its other runs
// are not started, and those of others are. Divergence does not count.
func TestSameFailures(t *testing.T) {
	registerOutside(1e9)
	var plan []spec.Planned
	for seed := range uint64(6) {
		plan = append(plan, outsideRun(seed, "outside", 8), outsideRun(seed, "oldest", 8))
	}
	for _, tt := range []struct {
		err          error
		failed, left int
		want         string
	}{
		{errors.New("no idea"), 9, 3, "runs failed: 9 of 12, and 3 were not started"}, // all six of oldest
		{errDiverged, 12, 0, "runs failed: 12 of 12"},
	} {
		steps := 0
		out, err := Reproduce(t.Context(), plan, Options{Results: t.TempDir(), Workers: 1, Methods: fakes(func(*fake) error {
			steps++
			return fmt.Errorf("%w at %d", tt.err, steps)
		})})
		if !errors.Is(err, ErrRunsFailed) || err.Error() != tt.want || len(out.Failed) != tt.failed || len(out.Left["3 runs of outside failed alike."]) != tt.left {
			t.Errorf("%v: %v, %d failed, left %v", tt.err, err, len(out.Failed), out.Left)
		}
		if tt.left > 0 && !slices.Equal(out.LeftOut(), []string{"Not started: 3 runs. 3 runs of outside failed alike."}) {
			t.Errorf("said %q", out.LeftOut())
		}
	}
}

// TestUntil: when the time is over, the replicate that has begun is completed and no other begins.
func TestUntil(t *testing.T) {
	var plan []spec.Planned
	for _, seed := range []uint64{3, 1, 2} {
		plan = append(plan, outsideRun(seed, "oldest", 8), outsideRun(seed, "oldest", 4))
	}
	out, err := Reproduce(t.Context(), plan, Options{Results: t.TempDir(), Methods: fakes(nil), Until: time.Now()})
	testutil.NoError(t, err)
	for _, id := range out.Finished {
		if i := slices.IndexFunc(plan, func(p spec.Planned) bool { return p.ID == id }); plan[i].Run.Seed != 1 {
			t.Errorf("finished seed %d", plan[i].Run.Seed)
		}
	}
	if len(out.Finished) != 2 || len(out.Left[TimeOver]) != 4 {
		t.Errorf("%+v", out)
	}
	if out, err = Reproduce(t.Context(), plan, Options{Results: t.TempDir(), Methods: fakes(nil), Until: time.Now().Add(time.Hour)}); err != nil || len(out.Finished) != 6 {
		t.Errorf("%v, %+v", err, out)
	}
}

// TestStepTime: a step is timed at a model order that no longer grows, or as far as it came.
func TestStepTime(t *testing.T) {
	registerOutside(1e9)
	order, seconds, _, err := StepTime(t.Context(), outsideRun(1, "outside", 8), Options{}, time.Minute)
	if err != nil || order != 8 || seconds != 0.125 {
		t.Errorf("order %d, %v s, %v", order, seconds, err)
	}
	registerOutside(3)
	order, seconds, _, err = StepTime(t.Context(), outsideRun(1, "outside", 8), Options{}, 50*time.Millisecond)
	if err != nil || order != 8 || seconds < 0.01 {
		t.Errorf("a step without an end: order %d, %v s, %v", order, seconds, err)
	}
}
