package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/kernel"
	"polkrepro/record"
)

// errDiverged is the error of a run whose risk is no longer a finite number.
var errDiverged = errors.New("the risk is no longer a finite number: the iterates have diverged")

// A sampleError is what ended a run, with the number of samples that had been
// processed.
type sampleError struct {
	samples int
	err     error
}

func (e *sampleError) Error() string { return fmt.Sprintf("after %d samples: %v", e.samples, e.err) }
func (e *sampleError) Unwrap() error { return e.err }

// A trainer streams a training set through a learner and evaluates it. What
// it does depends on the run, the data and nothing else.
//
// Where a core is free, an evaluation goes on beside the training, on a
// snapshot of the model; the next one waits for it. Evaluations are emitted in
// their order, and a failure ends the run at the same sample and after the
// same evaluations as if each had been waited for.
type trainer struct {
	run       experiments.Run
	set       *data.Set
	learner   Learner
	objective *Objective
	order     interface{ Next() int }
	measured  *measured // nil if the run is not measured against the minimizer
	cores     *cores
	threads   int // of the learner
	watch     stopwatch
	online    *prequential // nil if each step takes the whole training set
	points    []record.Point

	// emit takes each evaluation as it is made, on whatever goroutine. Its
	// error ends the training.
	emit func(record.Point) error
	// step, if not nil, is called after every step with the number of
	// samples processed so far.
	step func(samples int)

	snapshot kernel.Snapshot // of the latest evaluation
	model    *Trained        // in its place, of a learner that is featured
	beside   chan error      // the outcome of the one beside the training, or nil

	x []float32 // the mini-batch
	y []float64
}

// newTrainer prepares a run on its data.
func newTrainer(run experiments.Run, set *data.Set, methods Registry, cores *cores) (*trainer, error) {
	if err := checkRun(run, set); err != nil {
		return nil, err
	}
	learner, err := methods.NewLearner(run, set.Classes, set.Train.Dim, set.Train)
	if err != nil {
		return nil, err
	}
	l, err := experiments.TaskLoss(run.Task)
	if err != nil {
		return nil, err
	}
	t := &trainer{
		run:       run,
		set:       set,
		learner:   learner,
		objective: NewObjective(l, run.Params.Regularizer, set, run.Evaluation.TrainLimit),
		order:     orderOf(set, run.Sampling, run.Seed),
		cores:     cores,
	}
	if run.Params.BatchSize < set.Train.N {
		t.online = newPrequential(learner, l, set.Classes)
	}
	return t, nil
}

// checkRun reports what would make a run meaningless, whoever planned it.
func checkRun(run experiments.Run, set *data.Set) error {
	switch {
	case run.Samples < 1:
		return fmt.Errorf("run of %d samples", run.Samples)
	case run.Params.BatchSize < 1:
		return fmt.Errorf("mini-batches of %d samples", run.Params.BatchSize)
	case set.Train.N < 1 || set.Test.N < 1:
		return fmt.Errorf("data set %s: %d training and %d test examples", set.Name, set.Train.N, set.Test.N)
	}
	return nil
}

// train processes all samples of the run, each step on all threads that the run has
// at the moment. It returns early with the context's error, the learner's, or that of
// an evaluation, which is the earlier one of the two and wins over both, and over a
// panic of the learner. No evaluation is under way when it is left.
func (t *trainer) train(ctx context.Context) (err error) {
	defer func() {
		if earlier := t.wait(); earlier != nil {
			recover()
			err = earlier
		}
	}()
	step := func(_ context.Context, n int, x []float32, y []float64) error { return t.learner.Step(n, x, y) }
	if l, ok := t.learner.(interruptible); ok {
		step = l.StepContext
	}
	due := EvaluationPoints(t.run.Samples, t.run.Evaluation)
	for samples := 0; samples < t.run.Samples; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(t.run.Params.BatchSize, t.run.Samples-samples)
		t.draw(n)
		if threads := t.cores.threads(); threads != t.threads {
			t.learner.SetThreads(threads)
			t.threads = threads
		}
		t.online.before(n, t.x, t.threads)
		t.watch.start(t.threads)
		err := step(ctx, n, t.x, t.y)
		t.watch.stop()
		if p, ok := t.learner.(externalPruner); ok {
			t.watch.total.Pruner = p.Seconds()
		}
		if err != nil {
			return &sampleError{samples, err}
		}
		t.online.after(t.y)
		samples += n
		if t.step != nil {
			t.step(samples)
		}
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

// An interruptible learner has steps that may take long enough to be cut short.
type interruptible interface {
	StepContext(ctx context.Context, n int, x []float32, y []float64) error
}

// draw fills the mini-batch with the next n examples of the stream.
func (t *trainer) draw(n int) {
	dim := t.set.Train.Dim
	if t.x == nil {
		t.x = make([]float32, t.run.Params.BatchSize*dim)
		t.y = make([]float64, t.run.Params.BatchSize)
	}
	t.x, t.y = t.x[:n*dim], t.y[:n]
	for i := range n {
		j := t.order.Next()
		copy(t.x[i*dim:(i+1)*dim], t.set.Train.Row(j))
		t.y[i] = t.set.Train.Y[j]
	}
}

// evaluate makes one point, or has it made beside the training. At the end of
// the run there is nothing to go on with.
func (t *trainer) evaluate(samples int) error {
	if err := t.wait(); err != nil {
		return err
	}
	if f, ok := t.learner.(featured); ok {
		t.model = f.Model()
	} else {
		t.snapshot.Take(t.learner.Expansion())
	}
	p := record.Point{
		Type:        "point",
		Samples:     samples,
		KernelEvals: t.learner.KernelEvals(),
		Timing:      t.watch.total,
		Diagnostics: record.Diagnostics{Prequential: t.online.figures()},
	}
	if t.measured != nil {
		if p.Measured = t.measured.point(); !allFinite(p.Measured) {
			return &sampleError{samples, errDiverged}
		}
	}
	if samples == t.run.Samples || !t.cores.take() {
		return t.complete(p, t.cores.threads())
	}
	t.beside = make(chan error, 1)
	go t.completeBeside(p, t.beside)
	return nil
}

// completeBeside is complete on a thread of its own and the core that was taken
// for it.
func (t *trainer) completeBeside(p record.Point, done chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t.watch.beside.begin()
	err := t.complete(p, 1)
	t.watch.beside.end()
	t.cores.give()
	done <- err
}

// complete completes a point from the snapshot and emits it. It fails if the
// risk is not finite.
func (t *trainer) complete(p record.Point, threads int) (err error) {
	defer Recover(&err)
	m, err := t.score(p.Samples, threads)
	if err != nil {
		return &sampleError{p.Samples, err}
	}
	p.TrainRisk, p.TestRisk, p.TestError, p.ModelOrder = m.TrainRisk, m.TestRisk, m.TestError, m.ModelOrder
	p.NormSq, p.Reliability = m.NormSq, m.Reliability
	t.points = append(t.points, p)
	if err := t.emit(p); err != nil {
		return err
	}
	if !finite(p.TrainRisk) || !finite(p.TestRisk) {
		return &sampleError{p.Samples, errDiverged}
	}
	return nil
}

// score evaluates the snapshot.
func (t *trainer) score(samples, threads int) (m Measurement, err error) {
	defer Recover(&err)
	if t.model != nil {
		return t.objective.evaluateModel(samples, t.model, t.set.Classes, threads), nil
	}
	return t.objective.EvaluateAt(samples, &t.snapshot, threads), nil
}

// wait waits for the evaluation beside the training, if there is one, and
// returns its error.
func (t *trainer) wait() error {
	if t.beside == nil {
		return nil
	}
	err := <-t.beside
	t.beside = nil
	return err
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
	f.Model = drawableModel(t.learner.Expansion())
	f.Timing = t.watch.total
	f.Elapsed = elapsed.Seconds()
	return f
}
