package harness

import (
	"context"

	"polkrepro/internal/portable"
	"polkrepro/kernel"
)

// A BatchProblem is the input of a batch method.
type BatchProblem struct {
	Problem
	Threads int
	// Progress receives the fraction of the work that is done, from 0 to 1, as
	// estimated by the method.
	Progress func(fraction float64)
}

// A Trainer trains a batch method on a whole training set.
type Trainer func(context.Context, BatchProblem) (*Trained, error)

// Trained is the result of a batch method.
type Trained struct {
	Model       kernel.Model // must not be changed
	KernelEvals int64
	Health      map[string]float64 // the certificate and the effort, by name
}

// A batch is a learner that runs a batch method in one step on the whole training set.
type batch struct {
	train   Trainer
	problem BatchProblem
	trained *Trained
}

func (b *batch) Step(ctx context.Context, _ int, _ []float32, _ []float64) (_ []float64, err error) {
	b.trained, err = b.train(ctx, b.problem)
	return nil, err
}

func (b *batch) SetThreads(n int)           { b.problem.Threads = n }
func (b *batch) Model() kernel.Model        { return b.trained.Model }
func (b *batch) KernelEvals() int64         { return b.trained.KernelEvals }
func (b *batch) Health() map[string]float64 { return b.trained.Health }

// closing returns a trace that reports progress as the relative gap (gap/objective) falls
// from its first value to the tolerance, on a logarithmic scale.
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
