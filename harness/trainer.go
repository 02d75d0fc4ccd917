package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"time"

	"polkrepro/data"
	"polkrepro/record"
	"polkrepro/spec"
)

// errDiverged is the error of a run whose risk is no longer a finite number.
var errDiverged = errors.New("the risk is no longer a finite number: the iterates have diverged")

// A sampleError is the error that ended a run, with the number of samples processed
// before.
type sampleError struct {
	samples int
	err     error
}

func (e *sampleError) Error() string { return fmt.Sprintf("after %d samples: %v", e.samples, e.err) }
func (e *sampleError) Unwrap() error { return e.err }

// A trainer streams a training set through a learner and evaluates the learner. A batch
// method has one step. The result depends only on the run and the data.
type trainer struct {
	run       spec.Run
	set       *data.Set
	whole     bool // the run's method is a batch method; cached for every step
	batch     int  // samples a step
	learner   Learner
	process   process
	objective *Objective
	order     func() int // the index of the next example
	measured  *measured  // nil if the run is not measured against the minimizer
	cores     *cores
	threads   int // current threads of the learner
	watch     stopwatch
	online    prequential // empty if each step takes the whole training set
	points    []record.Point
	progress  *tracked // receives every step and evaluation

	// emit receives each evaluation. An error of emit ends the training.
	emit func(record.Point) error

	x []float32 // the mini-batch; the first is the longest
	y []float64
}

// A process is a pruner that runs in a separate process (package polk/prune/external).
type process interface {
	Start(context.Context) error
	io.Closer         // returns an error if the process did not end as it should
	Seconds() float64 // time in seconds that steps have waited for the pruner
}

// noProcess is the process of a learner without a pruner process.
type noProcess struct{}

func (noProcess) Start(context.Context) error { return nil }
func (noProcess) Close() error                { return nil }
func (noProcess) Seconds() float64            { return 0 }

// newTrainer prepares a run on its data.
func newTrainer(run spec.Run, set *data.Set, methods Registry, cores *cores, progress *tracked) (*trainer, error) {
	t := &trainer{
		run: run, set: set, whole: run.Batch(), batch: run.Params.BatchSize, process: noProcess{}, cores: cores,
		progress: progress, emit: func(record.Point) error { return nil },
	}
	if t.whole {
		whole := *set
		whole.Train = set.Train.Dense()
		set, t.set, t.batch = &whole, &whole, set.Train.N
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	p, err := newProblem(run, set)
	if err != nil {
		return nil, err
	}
	if t.learner, err = methods.newLearner(run.Method, p, progress.worked); err != nil {
		return nil, err
	}
	if p.Pruner != nil {
		if own, ok := p.Pruner.Pruner().(process); ok {
			t.process = own
		}
	}
	t.objective = NewObjective(p.Loss, run.Params.Regularizer, set, run.Evaluation.TrainLimit)
	if t.whole {
		t.objective.windows = 0 // a batch method learns from all windows, so it is tested on all
	}
	t.order = orderOf(set, run.Sampling, run.Seed)
	t.online = prequential{outputs: p.Loss.Outputs(set.Classes), tally: tally{loss: p.Loss}}
	return t, nil
}

// check returns an error if the run makes no sense on its data, whoever planned it.
func (t *trainer) check() error {
	train, test := t.set.Train.N, t.set.Test.N
	switch {
	case t.run.Samples < 1:
		return fmt.Errorf("run of %d samples", t.run.Samples)
	case train < 1 || test < 1 || t.whole && train != t.run.Samples:
		return fmt.Errorf("data set %s: %d training and %d test examples, for a run on %d", t.set.Name, train, test, t.run.Samples)
	case t.batch < 1:
		return fmt.Errorf("mini-batches of %d samples", t.batch)
	}
	return nil
}

// train processes all samples of the run. Each step uses all threads that are available to
// the run at that moment. train stops at the first error of the context, the learner or an
// evaluation and returns it.
func (t *trainer) train(ctx context.Context) (err error) {
	if err := t.process.Start(ctx); err != nil { // before the first step, so that it is not timed
		return err
	}
	defer func() {
		if ended := t.process.Close(); err == nil && ended != nil {
			err = &sampleError{t.run.Samples, fmt.Errorf("pruner %s: %w", t.run.Params.Pruner, ended)}
		}
	}()
	due := EvaluationPoints(t.run.Samples, t.run.Evaluation)
	for samples := 0; samples < t.run.Samples; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(t.batch, t.run.Samples-samples)
		if err := t.learn(ctx, n); err != nil {
			if t.whole {
				return err
			}
			return &sampleError{samples, err}
		}
		samples += n
		t.progress.stepped(samples, t.learner)
		if samples >= due[0] {
			for len(due) > 0 && samples >= due[0] {
				due = due[1:]
			}
			if err := t.evaluate(samples); err != nil {
				return err
			}
		}
	}
	return nil
}

// learn takes a step on the next n samples.
func (t *trainer) learn(ctx context.Context, n int) error {
	t.draw(n)
	if threads := t.cores.threads(); threads != t.threads {
		t.learner.SetThreads(threads)
		t.threads = threads
	}
	t.watch.start(t.threads)
	scored, err := t.learner.Step(ctx, n, t.x, t.y)
	t.watch.stop()
	t.watch.total.Pruner = t.process.Seconds()
	if t.whole && needsMachine(t.run) {
		debug.FreeOSMemory() // the kernel matrix is garbage now
	}
	if err != nil || t.batch >= t.set.Train.N {
		return err
	}
	return t.online.add(scored, t.y)
}

// draw fills the mini-batch with the next n examples of the stream. A batch method gets
// the whole training set in its stored order.
func (t *trainer) draw(n int) {
	train := t.set.Train
	if t.whole {
		t.x, t.y = train.X, train.Y
		return
	}
	if t.x == nil {
		t.x, t.y = make([]float32, n*train.Dim), make([]float64, n)
	}
	t.x, t.y = t.x[:n*train.Dim], t.y[:n]
	train.Gather(t.x, t.y, t.order)
}

// evaluate makes a point and emits it. It returns an error if a risk is not finite.
func (t *trainer) evaluate(samples int) error {
	evals := t.learner.KernelEvals() // of training only
	var measured map[string]float64
	if t.measured != nil {
		if measured = t.measured.point(); !allFinite(measured) {
			return &sampleError{samples, errDiverged}
		}
	}
	p, err := t.score(samples)
	if err != nil {
		return &sampleError{samples, err}
	}
	p.KernelEvals, p.Timing, p.Measured, p.Prequential = evals, t.watch.total, measured, t.online.figures()
	p.Round()
	t.points = append(t.points, p)
	t.progress.evaluated(p)
	if err := t.emit(p); err != nil {
		return err
	}
	if t.run.HasRisk() && !(finite(p.TrainRisk) && finite(p.TestRisk)) {
		return &sampleError{samples, errDiverged}
	}
	return nil
}

// score evaluates the model. It returns a panic as an error.
func (t *trainer) score(samples int) (p record.Point, err error) {
	defer Recover(&err)
	return t.objective.Evaluate(samples, t.learner.Model(), t.cores.threads()), nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func allFinite(values map[string]float64) bool {
	for _, v := range values {
		if !finite(v) {
			return false
		}
	}
	return true
}

// final returns the figures of a run that was trained to its end.
func (t *trainer) final(elapsed time.Duration) record.Final {
	f := record.Average(t.points, t.run.Samples)
	f.KernelEvals = t.learner.KernelEvals()
	f.Health = t.learner.Health()
	if t.measured != nil {
		f.Measured = t.measured.final()
	}
	f.Model = drawableModel(t.learner.Model())
	f.Timing = t.watch.total
	f.Elapsed = elapsed.Seconds()
	return f
}
