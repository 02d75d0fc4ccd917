package harness

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/record"
	"polkrepro/spec"
)

// A fake is a learner whose dictionary is the latest mini-batch. In every step it calls a function
// of its test.
type fake struct {
	f       *kernel.Expansion
	steps   int
	threads int
	on      func(f *fake) error // called in every step
}

func (l *fake) Step(_ context.Context, n int, x []float32, y []float64) ([]float64, error) {
	l.steps++
	dim := l.f.Dict.Dim()
	for l.f.Order() > 0 {
		l.f.Remove(l.f.Order() - 1)
	}
	for i := range n {
		w := make([]float64, l.f.Outputs)
		w[int(y[i])] = 1
		l.f.Append(x[i*dim:(i+1)*dim], w)
	}
	scored := make([]float64, n*l.f.Outputs)
	if l.on == nil {
		return scored, nil
	}
	return scored, l.on(l)
}

func (l *fake) SetThreads(n int)           { l.threads = n }
func (l *fake) Model() kernel.Model        { return l.f }
func (l *fake) KernelEvals() int64         { return int64(l.steps) }
func (l *fake) Health() map[string]float64 { return map[string]float64{"steps": float64(l.steps)} }

// fakes returns a registry in which "polk" is a fake that calls on in every step.
func fakes(on func(*fake) error) Registry {
	return Registry{"polk": {New: func(p Problem) (Learner, error) {
		return &fake{f: kernel.NewExpansion(p.Kernel, p.Dim, p.Classes), on: on}, nil
	}}}
}

// newLearner returns the learner of a run.
func newLearner(t *testing.T, run spec.Run, set *data.Set) Learner {
	t.Helper()
	tr, err := newTrainer(run, set, Methods(), newCores(1, 1), nil)
	testutil.NoError(t, err)
	return tr.learner
}

// tinyRun is a run of a second or less on multidist.
func tinyRun(method, task string, seed uint64) spec.Planned {
	run := spec.Run{
		Data:   data.Ref{Name: "multidist", Variant: data.Calibrated, Draw: data.FigureDraw().Seed},
		Task:   task,
		Method: method,
		Params: spec.Params{
			Kernel:       spec.Kernel{Type: "gaussian", Bandwidth: 0.6},
			Regularizer:  1e-6,
			LearningRate: 6,
			Schedule:     "constant",
			BatchSize:    32,
			Parsimony:    0.04,
		},
		Seed:       seed,
		Samples:    1000, // not a multiple of the mini-batch
		Evaluation: spec.Evaluation{Every: 300, Tail: 3, TrainLimit: 200},
	}
	if method == "bsgd" {
		run.Params.LearningRate, run.Params.BatchSize, run.Params.Parsimony = 1, 1, 0
		run.Params.Budget, run.Params.Maintenance = 16, "removal"
	}
	return planned(run)
}

func planned(run spec.Run) spec.Planned {
	return spec.Planned{Run: run, ID: spec.ID(run), Spec: "test", Series: run.Method, Cost: float64(run.Seed)}
}

// tinyPlan returns four runs, of POLK for two tasks and of BSGD for one.
func tinyPlan() []spec.Planned {
	return []spec.Planned{
		tinyRun("polk", "ksvm", 1), tinyRun("polk", "klr", 2), tinyRun("bsgd", "ksvm", 3), tinyRun("polk", "ksvm", 4),
	}
}

// readAll reads the records of a results folder, all of which must be valid.
func readAll(t *testing.T, results string) *record.Collection {
	t.Helper()
	c, err := record.ReadDir(RecordsDir(results))
	testutil.NoError(t, err)
	testutil.NoError(t, errors.Join(c.Errors...))
	return c
}

// reproduced carries out a plan in a new folder and returns the records.
func reproduced(t *testing.T, plan []spec.Planned, opt Options) map[string]*record.Record {
	t.Helper()
	opt.Results = t.TempDir()
	if _, err := Reproduce(t.Context(), plan, opt); err != nil {
		t.Fatal(err)
	}
	return readAll(t, opt.Results).Records
}

// recorder is a Progress that keeps all events.
type recorder struct {
	mu     sync.Mutex
	events []Event
}

func (r *recorder) Report(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (*recorder) Close() {}

func (r *recorder) count(kind string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// spoil makes the model's next evaluation NaN.
func spoil(f *fake) { f.f.W[0] = math.NaN() }
