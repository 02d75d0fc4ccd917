package harness

import (
	"context"

	"polkrepro/internal/portable"
	"polkrepro/kernel"
)

// A BatchProblem is what a batch method is trained on.
type BatchProblem struct {
	Problem
	Threads int
	// Progress takes how much of the work is done, from 0 to 1, as far as the
	// method can tell.
	Progress func(fraction float64)
}

// A Trainer trains a batch method on a whole training set.
type Trainer func(context.Context, BatchProblem) (*Trained, error)

// Trained is what a batch method leaves.
type Trained struct {
	Model       kernel.Model // which nothing changes
	KernelEvals int64
	Health      map[string]float64 // the certificate and the effort, by name
}

// A batch is a batch method as a learner: of one step, on the whole training set.
type batch struct {
	train   Trainer
	problem BatchProblem
	trained *Trained
}

func (b *batch) Step(ctx context.Context, _ int, _ []float32, _ []float64) (_ kernel.Scored, err error) {
	b.trained, err = b.train(ctx, b.problem)
	return kernel.Scored{}, err
}

func (b *batch) SetThreads(n int)           { b.problem.Threads = n }
func (b *batch) Model() kernel.Model        { return b.trained.Model }
func (b *batch) KernelEvals() int64         { return b.trained.KernelEvals }
func (b *batch) Health() map[string]float64 { return b.trained.Health }

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
