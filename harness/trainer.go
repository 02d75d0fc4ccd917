package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

// errDiverged is the error of a run whose risk is no longer a finite number.
var errDiverged = errors.New("the risk is no longer a finite number: the iterates have diverged")

// A trainer streams a training set through a learner and evaluates it. What
// it does depends on the run, the data and nothing else.
type trainer struct {
	run       experiments.Run
	set       *data.Set
	learner   Learner
	objective *Objective
	order     *Order
	watch     stopwatch
	points    []record.Point

	// emit takes each evaluation as it is made. Its error ends the training.
	emit func(record.Point) error
	// step, if not nil, is called after every step with the number of
	// samples processed so far.
	step func(samples int)

	x []float32 // the mini-batch
	y []float64
}

// trainerOptions say how a trainer does its work, none of which changes what
// comes out.
type trainerOptions struct {
	methods    Registry
	threads    int
	processCPU bool // see stopwatch
}

// newTrainer prepares a run on its data.
func newTrainer(run experiments.Run, set *data.Set, opt trainerOptions) (*trainer, error) {
	if err := checkRun(run, set); err != nil {
		return nil, err
	}
	learner, err := opt.methods.NewLearner(run, set.Classes, set.Train.Dim, opt.threads)
	if err != nil {
		return nil, err
	}
	l, err := taskLoss(run.Task)
	if err != nil {
		return nil, err
	}
	return &trainer{
		run:       run,
		set:       set,
		learner:   learner,
		objective: NewObjective(l, run.Params.Regularizer, set, run.Evaluation.TrainLimit, opt.threads),
		order:     NewOrder(set.Train.N, run.Seed),
		watch:     stopwatch{process: opt.processCPU},
	}, nil
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

// train processes all samples of the run. It returns early with the context's
// error, the learner's, or that of emit.
func (t *trainer) train(ctx context.Context) error {
	marks := Marks(t.run.Samples, t.run.Evaluation)
	for samples := 0; samples < t.run.Samples; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(t.run.Params.BatchSize, t.run.Samples-samples)
		t.draw(n)
		t.watch.start()
		err := t.learner.Step(n, t.x, t.y)
		t.watch.stop()
		if err != nil {
			return fmt.Errorf("after %d samples: %w", samples, err)
		}
		samples += n
		if t.step != nil {
			t.step(samples)
		}
		if samples >= marks[0] {
			for len(marks) > 0 && samples >= marks[0] {
				marks = marks[1:]
			}
			if err := t.evaluate(samples); err != nil {
				return err
			}
		}
	}
	return nil
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

// evaluate makes one point.
func (t *trainer) evaluate(samples int) error {
	m := t.objective.Evaluate(t.learner.Expansion())
	p := record.Point{
		Type:        "point",
		Samples:     samples,
		TrainRisk:   m.TrainRisk,
		TestRisk:    m.TestRisk,
		TestError:   m.TestError,
		ModelOrder:  m.ModelOrder,
		KernelEvals: t.learner.KernelEvals(),
		Timing:      t.watch.total,
	}
	t.points = append(t.points, p)
	if err := t.emit(p); err != nil {
		return err
	}
	if !finite(p.TrainRisk) || !finite(p.TestRisk) {
		return fmt.Errorf("after %d samples: %w", samples, errDiverged)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// final returns the figures of a run that was trained to its end.
func (t *trainer) final(elapsed time.Duration) record.Final {
	f := Average(t.points, t.run.Samples)
	f.KernelEvals = t.learner.KernelEvals()
	f.Health = t.learner.Health()
	f.Timing = t.watch.total
	f.Elapsed = elapsed.Seconds()
	return f
}
