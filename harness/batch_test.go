package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"polkrepro/baselines/csvc"
	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/spec"
)

// batchRun is a run of a batch method on the figures' draw of multidist.
func batchRun(method, task string) spec.Planned {
	run := tinyRun("polk", task, 1).Run
	run.Method, run.Samples = method, 5000
	run.Evaluation = spec.Evaluation{TrainLimit: 200}
	run.Params = spec.Params{Kernel: run.Params.Kernel, Regularizer: 1e-4, Tolerance: 0.05}
	switch method {
	case "csvc":
		run.Params.Regularizer, run.Params.Cost = 0, 1
	case "ivm":
		run.Params.Budget, run.Params.Candidates = 8, 10
	case "nystrom":
		run.Params.Budget = 40
	}
	return planned(run)
}

// TestBatchMethods trains every batch method except lbfgs. The record has one evaluation, a
// plausible model order, an error far below chance, a risk if the method has one, and a
// certificate. It has the same bits with another number of workers.
func TestBatchMethods(t *testing.T) {
	var plan []spec.Planned
	for _, m := range spec.Methods() {
		if m.Batch && m.Name != "lbfgs" { // half a minute under the race detector; TestGoldenMultidist of learnertest covers it
			plan = append(plan, batchRun(m.Name, m.Tasks[0]))
		}
	}
	one, two := reproduced(t, plan, Options{Workers: 1}), reproduced(t, plan, Options{Workers: 2})
	for _, p := range plan {
		r := one[p.ID]
		if !bytes.Equal(record.Canonical(r), record.Canonical(two[p.ID])) {
			t.Errorf("%s: records differ", p.Run.Method)
		}
		f := r.Final
		if len(r.Points) != 1 || r.Points[0].Samples != 5000 || f.Samples != 5000 {
			t.Errorf("%s: points %+v, final %+v", p.Run.Method, r.Points, f)
		}
		if !(f.TestError <= 0.1) || f.ModelOrder < 8 || f.ModelOrder > 2000 || f.TestError != r.Points[0].TestError {
			t.Errorf("%s: error %v, model order %v", p.Run.Method, f.TestError, f.ModelOrder)
		}
		if finite(f.TestRisk) != p.Run.HasRisk() || finite(f.TrainRisk) != p.Run.HasRisk() {
			t.Errorf("%s: risks %v and %v", p.Run.Method, f.TrainRisk, f.TestRisk)
		}
		if gap, ok := f.Health["gap"]; !ok || !(gap >= 0 && gap < 100) {
			t.Errorf("%s: health %v", p.Run.Method, f.Health)
		}
	}
}

// reproduceBatch carries out one run of Nyström, with method in place of its training.
func reproduceBatch(t *testing.T, ctx context.Context, method Trainer) (*recorder, *record.Collection, error) {
	t.Helper()
	results, progress := t.TempDir(), &recorder{}
	_, err := Reproduce(ctx, []spec.Planned{batchRun("nystrom", "ksvm")},
		Options{Results: results, Progress: progress, Methods: Registry{"nystrom": {Train: method}}})
	return progress, readAll(t, results), err
}

func TestBatchProgress(t *testing.T) {
	progress, _, err := reproduceBatch(t, t.Context(), func(_ context.Context, p BatchProblem) (*Trained, error) {
		p.Progress(0.25)
		return &Trained{Model: kernel.NewExpansion(p.Kernel, p.Dim, p.Classes)}, nil
	})
	testutil.NoError(t, err)
	if !slices.ContainsFunc(progress.events, func(e Event) bool { return e.Kind == EventProgress && e.Batch && e.Part == 0.25 && e.Samples == 0 }) {
		t.Errorf("no event at a quarter of the work: %+v", progress.events)
	}
}

func TestBatchFailures(t *testing.T) {
	for _, tt := range []struct {
		name    string
		method  Trainer
		samples int
		want    string
	}{
		{"error", func(context.Context, BatchProblem) (*Trained, error) { return nil, errors.New("no luck") }, 0, "no luck"},
		{"panic in training", func(context.Context, BatchProblem) (*Trained, error) { panic("at the disco") }, 0, "at the disco"},
		{"panic in evaluation", func(_ context.Context, p BatchProblem) (*Trained, error) {
			return &Trained{Model: votes{new(csvc.Model), p.Classes}}, nil // without an expansion
		}, 5000, "panic: "},
		{"diverged", func(_ context.Context, p BatchProblem) (*Trained, error) {
			e := kernel.NewExpansion(p.Kernel, p.Dim, p.Classes)
			e.Append(p.Train.Row(0), []float64{math.NaN(), 0, 0, 0, 0})
			return &Trained{Model: e}, nil
		}, 5000, "no longer a finite number"},
	} {
		_, have, err := reproduceBatch(t, t.Context(), tt.method)
		if !errors.Is(err, ErrRunsFailed) || len(have.Failed) != 1 {
			t.Fatalf("%s: error %v, %d failed records", tt.name, err, len(have.Failed))
		}
		for _, f := range have.Failed {
			if f.Failure.Samples != tt.samples {
				t.Errorf("%s: after %d samples", tt.name, f.Failure.Samples)
			}
			if !strings.Contains(f.Failure.Error, tt.want) {
				t.Errorf("%s: %q", tt.name, f.Failure.Error)
			}
		}
	}
}

// TestBatchInterrupted: a batch run that its context ends leaves a partial record, not a failed
// one, so that it is run again. A run that gives up by a context of its own has failed.
func TestBatchInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		err  func(context.Context, context.CancelFunc) error
		want error
	}{
		"cancelled":    {func(ctx context.Context, cancel context.CancelFunc) error { cancel(); return ctx.Err() }, ErrInterrupted},
		"deadline":     {func(ctx context.Context, _ context.CancelFunc) error { <-ctx.Done(); return ctx.Err() }, ErrInterrupted},
		"cause":        {func(ctx context.Context, _ context.CancelFunc) error { <-ctx.Done(); return context.Cause(ctx) }, ErrInterrupted},
		"own deadline": {func(context.Context, context.CancelFunc) error { return context.DeadlineExceeded }, ErrRunsFailed},
		"own context":  {func(context.Context, context.CancelFunc) error { return context.Canceled }, ErrRunsFailed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the deadline comes when the run waits for it
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errors.New("closing time"))
				defer cancel()
				_, have, err := reproduceBatch(t, ctx, func(ctx context.Context, _ BatchProblem) (*Trained, error) {
					return nil, fmt.Errorf("solver: %w", c.err(ctx, cancel))
				})
				failed := c.want == ErrRunsFailed
				if !errors.Is(err, c.want) || len(have.Failed) == 1 != failed || len(have.Partial) == 0 != failed {
					t.Errorf("error %v, partial %v, failed %v", err, have.Partial, have.Failed)
				}
			})
		})
	}
}

// TestLargeRunsAreAlone: runs that need the whole machine start after all others have finished.
func TestLargeRunsAreAlone(t *testing.T) {
	large := batchRun("lbfgs", "klr").Run
	for samples, want := range map[int]bool{10_000: false, 60_000: true} {
		large.Samples = samples
		if needsMachine(large) != want {
			t.Errorf("%d samples: needs the machine: %v", samples, !want)
		}
	}
	large.Data = data.Ref{Name: "large"}
	const n = 32_768
	huge := &data.Set{Name: "large", Classes: 5, Train: cloud(1, n, 1), Test: cloud(2, 10, 1)}
	large.Samples = n
	small := batchRun("csvc", "ksvm")
	sets := map[data.Ref]*data.Set{{Name: "large"}: huge, small.Run.Data: {Name: "multidist", Classes: 5, Train: cloud(1, 5000, 1), Test: cloud(2, 10, 1)}}
	progress := &recorder{}
	method := func(_ context.Context, p BatchProblem) (*Trained, error) {
		return &Trained{Model: kernel.NewExpansion(p.Kernel, p.Dim, p.Classes)}, nil
	}
	opt := Options{Results: t.TempDir(), Progress: progress, Methods: Registry{"csvc": {Train: method}, "lbfgs": {Train: method}}}.withDefaults()
	first := planned(large)
	first.Cost = math.Inf(1)
	out := &Outcome{}
	testutil.NoError(t, carryOut(t.Context(), []spec.Planned{first, small}, sets, out, opt))
	if want := []string{small.ID, first.ID}; !slices.Equal(out.Finished, want) {
		t.Errorf("finished %v, want %v", out.Finished, want)
	}
	var kinds []string
	for _, e := range progress.events {
		if e.Kind == EventStart || e.Kind == EventFinish {
			kinds = append(kinds, e.Kind+" "+e.ID[:4])
		}
	}
	if want := []string{"start " + small.ID[:4], "finish " + small.ID[:4], "start " + first.ID[:4], "finish " + first.ID[:4]}; !slices.Equal(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
}

func TestMemoryLimit(t *testing.T) {
	limit := memoryLimit()
	if limit < 0 || limit > 0 && limit < 64<<20 {
		t.Errorf("limit of %d bytes", limit)
	}
	for n, fits := range map[int]bool{1000: true, 1 << 30: false} {
		err := Problem{Classes: 10, Dim: 2, Train: &data.Split{N: n}}.checkMemory("lbfgs", n, "samples")
		if limit > 0 && fits != (err == nil) {
			t.Errorf("%d samples: %v", n, err)
		}
	}
}

// TestLargeCounts: with the largest value of a count, each method and heuristic allocates what its
// 60 rows and 300 samples need, or refuses it in one line.
func TestLargeCounts(t *testing.T) {
	if memoryLimit() == 0 {
		t.Skip("this system does not tell its memory")
	}
	var refused []string
	try := func(name string, run spec.Run) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tr, err := newTrainer(run, smallSet(), Methods(), newCores(1, 1), newTracked(planned(run), silent{}))
		if err == nil {
			err = tr.train(t.Context())
		}
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1<<28 {
			t.Errorf("%s: %d bytes allocated", name, bytes)
		}
		if err != nil {
			refused = append(refused, name)
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	runs := codeRuns()
	for _, m := range spec.Methods() {
		for _, p := range m.Params {
			run := runs["method "+m.Name]
			if p.Kind != spec.KindInteger || *p.Most < 1e9 {
				continue
			}
			if run.Params.Set(p.Name, *p.Most); p.Name == "rank" { // at most the budget
				run.Params.Set("budget", *p.Most)
			}
			try(m.Name+" "+p.Name, run)
		}
	}
	for _, h := range prune.All() {
		for _, p := range h.Params {
			if !p.Integer {
				continue
			}
			run := runs["method polk"]
			run.Params.Pruner = h.Name
			var err error
			run.Params.PrunerParams, err = h.Complete(prune.Params{"order": 20, p.Name: *p.Most})
			testutil.NoError(t, err)
			try(h.Name+" "+p.Name, run)
		}
	}
	long := runs["method polk"]
	long.Samples, long.Params.BatchSize, long.Evaluation.Every = 1e9, 1e9, 1e9
	try("polk samples", long)
	if want := []string{"fogd budget", "lbfgs-weights batch_size", "rff-sgd budget", "polk samples"}; !slices.Equal(refused, want) {
		t.Errorf("refused: %q, want %q", refused, want)
	}
}

func TestDrawableModel(t *testing.T) {
	for _, tt := range []struct {
		dim, order int
		weight     float64
		want       bool
	}{
		{2, 3, 1, true}, {1, 256, 1, true}, {2, 257, 1, false}, {3, 3, 1, false}, {2, 3, math.Inf(1), false},
	} {
		e := kernel.NewExpansion(kernel.Gaussian{Bandwidth: 1}, tt.dim, 1)
		for j := range tt.order {
			e.Append(cloud(uint64(j), 1, tt.dim).X, []float64{tt.weight})
		}
		m := drawableModel(e)
		if (m != nil) != tt.want {
			t.Errorf("%+v: model %v", tt, m)
		}
		if m != nil && (len(m.Dictionary) != tt.order*tt.dim || !slices.Equal(m.Weights, e.W) || m.Dictionary[tt.dim] != e.Dict.At(1)[0]) {
			t.Errorf("%+v: another model %+v", tt, m)
		}
	}
	if drawableModel(votes{}) != nil {
		t.Error("a model of no expansion")
	}
}
