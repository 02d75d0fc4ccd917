package harness

import (
	"errors"
	"fmt"

	"polkrepro/baselines/bsgd"
	"polkrepro/baselines/fsgd"
	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// A Learner is what the harness trains. Health returns counters of its
// numerical health by name.
type Learner interface {
	// Step learns from a mini-batch of n samples, x of n×Dim in row-major
	// order and y of n targets.
	Step(n int, x []float32, y []float64) error
	// SetThreads sets the number of goroutines a step may use, 1 before the
	// first call. The results do not depend on it.
	SetThreads(n int)
	// Expansion returns the current model, the learner's own.
	Expansion() *kernel.Expansion
	// KernelEvals returns the number of kernel evaluations so far.
	KernelEvals() int64
	Health() map[string]float64
}

var (
	_ Learner = (*polk.Learner)(nil)
	_ Learner = (*bsgd.Learner)(nil)
	_ Learner = (*fsgd.Learner)(nil)
)

// A Problem is what a learner is made for.
type Problem struct {
	Task    string
	Params  experiments.Params
	Kernel  kernel.Kernel
	Loss    loss.Loss
	Classes int
	Dim     int
	Seed    uint64      // of the run
	Train   *data.Split // nil of an endless stream
}

// Registry holds the constructor of every method's learners by the method's
// name.
type Registry map[string]func(Problem) (Learner, error)

// Methods returns the learners of the methods that specs can name.
func Methods() Registry {
	return Registry{
		experiments.MethodPOLK: newPOLK,
		experiments.MethodBSGD: newBSGD,
		experiments.MethodFSGD: newFSGD,
	}
}

// taskLoss returns the loss that a task of the paper minimizes (Section 5.1).
func taskLoss(task string) (loss.Loss, error) {
	switch task {
	case experiments.TaskKSVM:
		return loss.MultiHinge{}, nil
	case experiments.TaskKLR:
		return loss.MultiLogistic{}, nil
	}
	return nil, fmt.Errorf("no task %q", task)
}

// NewLearner returns the learner of a run. The training set is nil of an endless
// stream.
func (r Registry) NewLearner(run experiments.Run, classes, dim int, train *data.Split) (Learner, error) {
	newMethod, ok := r[run.Method]
	if !ok {
		return nil, fmt.Errorf("no method %q", run.Method)
	}
	p, err := newProblem(run, classes, dim, train)
	if err != nil {
		return nil, err
	}
	return newMethod(p)
}

// newProblem returns what a run's learner is made for.
func newProblem(run experiments.Run, classes, dim int, train *data.Split) (Problem, error) {
	l, err := taskLoss(run.Task)
	if err != nil {
		return Problem{}, err
	}
	k, err := kernel.Spec(run.Params.Kernel).Kernel()
	if err != nil {
		return Problem{}, err
	}
	return Problem{Task: run.Task, Params: run.Params, Kernel: k, Loss: l, Classes: classes, Dim: dim, Seed: run.Seed, Train: train}, nil
}

func newPOLK(p Problem) (Learner, error) {
	cfg := polk.Config{
		Kernel:      p.Kernel,
		Loss:        p.Loss,
		Classes:     p.Classes,
		Dim:         p.Dim,
		Regularizer: p.Params.Regularizer,
		Budget:      p.Params.Budgets(),
		Seed:        p.Seed,
	}
	if name := p.Params.Pruner; name != "" {
		var err error
		if cfg.Pruner, err = prune.Find(name, p.Params.PrunerParams); err != nil {
			return nil, err
		}
	}
	var err error
	if cfg.LearningRate, err = p.Params.Rates(); err != nil {
		return nil, err
	}
	return polk.New(cfg)
}

func newFSGD(p Problem) (Learner, error) {
	if p.Train == nil {
		return nil, errors.New("FSGD keeps a weight for every training point: it learns from a training set, not from an endless stream")
	}
	rates, err := p.Params.Rates()
	if err != nil {
		return nil, err
	}
	return fsgd.New(fsgd.Config{
		Kernel:      p.Kernel,
		Loss:        p.Loss,
		Classes:     p.Classes,
		Dim:         p.Dim,
		Regularizer: p.Params.Regularizer,
		Rate:        rates.Rate,
		Points:      p.Train.X,
	})
}

func newBSGD(p Problem) (Learner, error) {
	if p.Task != experiments.TaskKSVM {
		return nil, fmt.Errorf("BSGD learns %s only, not %s", experiments.TaskKSVM, p.Task)
	}
	return bsgd.New(bsgd.Config{
		Kernel:       p.Kernel,
		Classes:      p.Classes,
		Dim:          p.Dim,
		Regularizer:  p.Params.Regularizer,
		LearningRate: p.Params.LearningRate,
		Schedule:     p.Params.Schedule,
		Budget:       p.Params.Budget,
		Maintenance:  p.Params.Maintenance,
	})
}
