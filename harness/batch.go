package harness

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/internal/portable"
	"polkrepro/kernel"
	"polkrepro/record"
)

// A BatchProblem is what a batch method is trained on.
type BatchProblem struct {
	Problem
	Threads int
	// Memory is the most bytes that a method may take that knows what it will
	// take, 0 for no limit.
	Memory int64
	// Progress takes how much of the work is done, from 0 to 1, as far as the
	// method can tell.
	Progress func(fraction float64)
}

// A BatchMethod trains on a whole training set.
type BatchMethod func(context.Context, BatchProblem) (*Trained, error)

// Trained is what a batch method leaves, or the model of a learner that has no expansion: an
// expansion, or scores, or no more than predictions, in which case there are no risks.
type Trained struct {
	Expansion *kernel.Expansion

	Scores func(n int, x []float32, dst []float64, threads int) // n×C scores of n points
	NormSq float64                                              // Σ‖f_c‖² of the model with those scores

	Predict func(n int, x []float32, dst []float64, threads int) // targets of n points

	Order       int // model order of what is not an expansion
	KernelEvals int64
	Health      map[string]float64 // the certificate and the effort, by name
}

// scores returns the scores of a split's examples.
func (t *Trained) scores(s *data.Split, classes, threads int) []float64 {
	f := make([]float64, s.N*classes)
	t.Scores(s.N, s.X, f, threads)
	return f
}

// evaluateTrained evaluates what a batch method left.
func (o *Objective) evaluateTrained(t *Trained, classes, threads int) Measurement {
	switch {
	case t.Expansion != nil:
		var s kernel.Snapshot
		s.Take(t.Expansion)
		return o.Evaluate(&s, threads)
	case t.Scores != nil:
		return o.ofScores(o.test, t.scores(o.train, classes, threads), t.scores(o.test, classes, threads), t.NormSq, t.Order)
	}
	predicted := make([]float64, o.test.N)
	t.Predict(o.test.N, o.test.X, predicted, threads)
	wrong := 0
	for i, y := range o.test.Y {
		if predicted[i] != y {
			wrong++
		}
	}
	return Measurement{
		TrainRisk:  math.NaN(),
		TestRisk:   math.NaN(),
		TestError:  float64(wrong) / float64(o.test.N),
		ModelOrder: t.Order,
	}
}

// A batchTrainer trains a batch method and evaluates what it leaves.
type batchTrainer struct {
	run       experiments.Run
	set       *data.Set
	method    BatchMethod
	problem   Problem
	objective *Objective
	cores     *cores
	progress  func(fraction float64)
	watch     stopwatch

	trained *Trained
	point   record.Point
}

func newBatchTrainer(run experiments.Run, set *data.Set, method BatchMethod, cores *cores) (*batchTrainer, error) {
	if run.Samples != set.Train.N || set.Train.N < 1 || set.Test.N < 1 {
		return nil, fmt.Errorf("data set %s: %d training and %d test examples, for a run on %d",
			set.Name, set.Train.N, set.Test.N, run.Samples)
	}
	p, err := newProblem(run, set.Classes, set.Train.Dim, set.Train)
	if err != nil {
		return nil, err
	}
	return &batchTrainer{
		run:       run,
		set:       set,
		method:    method,
		problem:   p,
		objective: NewObjective(p.Loss, run.Params.Regularizer, set, run.Evaluation.TrainLimit),
		cores:     cores,
	}, nil
}

// train trains and evaluates, on the threads that the run has at the start.
func (b *batchTrainer) train(ctx context.Context) (err error) {
	threads := b.cores.threads()
	b.watch.start(threads)
	b.trained, err = b.method(ctx, BatchProblem{
		Problem:  b.problem,
		Threads:  threads,
		Memory:   memoryLimit(),
		Progress: b.progress,
	})
	b.watch.stop()
	if err != nil {
		return err
	}
	if needsMachine(b.run) {
		debug.FreeOSMemory() // the kernel matrix is garbage now
	}
	return b.evaluate()
}

// evaluate makes the run's only point.
func (b *batchTrainer) evaluate() error {
	m := b.objective.evaluateTrained(b.trained, b.set.Classes, b.cores.threads())
	b.point = record.Point{
		Type:        "point",
		Samples:     b.run.Samples,
		TrainRisk:   m.TrainRisk,
		TestRisk:    m.TestRisk,
		TestError:   m.TestError,
		ModelOrder:  m.ModelOrder,
		KernelEvals: b.trained.KernelEvals,
		Timing:      b.watch.total,
		Diagnostics: record.Diagnostics{NormSq: m.NormSq, Reliability: m.Reliability},
	}
	if b.trained.Predict == nil && !(finite(m.TrainRisk) && finite(m.TestRisk)) {
		return &sampleError{b.run.Samples, errDiverged}
	}
	return nil
}

// final returns the figures of a run that was trained.
func (b *batchTrainer) final(elapsed time.Duration) record.Final {
	f := record.Average([]record.Point{b.point}, b.run.Samples)
	f.KernelEvals = b.trained.KernelEvals
	f.Health = b.trained.Health
	f.Model = drawableModel(b.trained.Expansion)
	f.Timing = b.watch.total
	f.Elapsed = elapsed.Seconds()
	return f
}

// closing returns a trace that reports how far the gap, relative to the objective,
// has come from its first value towards the tolerance, in orders of magnitude.
func closing(progress func(fraction float64), tolerance float64) func(objective, gap float64) error {
	first := 0.0
	return func(objective, gap float64) error {
		gap /= objective
		if first == 0 {
			first = gap
		}
		if gap > 0 && tolerance > 0 && first > tolerance {
			progress(min(1, max(0, portable.Log(first/gap)/portable.Log(first/tolerance))))
		}
		return nil
	}
}

// certificate returns the health of a solver that bounds its distance from the
// minimum by a duality gap.
func certificate(objective, gap float64, iterations int, converged bool) map[string]float64 {
	return map[string]float64{
		"objective":   objective,
		"gap":         gap,
		"iterations":  float64(iterations),
		"unconverged": indicator(!converged),
	}
}

// indicator is 1 for true.
func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
