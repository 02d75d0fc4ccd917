package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// A Learner is what the harness trains.
type Learner interface {
	// Step learns from a mini-batch of n samples, x of n×Dim in row-major order and y of
	// n targets. It returns the scores that the samples had before, the learner's own until
	// the next step; none are asked for where each step takes the whole training set.
	// A step that may take long ends early when the context does, with its error.
	Step(ctx context.Context, n int, x []float32, y []float64) (kernel.Scored, error)
	// SetThreads sets the number of goroutines a step may use, 1 before the
	// first call. The results do not depend on it.
	SetThreads(n int)
	// Model returns the current model, the learner's own until the next call or step.
	Model() kernel.Model
	// KernelEvals returns the number of kernel evaluations so far.
	KernelEvals() int64
	// Health returns counters of the learner's numerical health by name.
	Health() map[string]float64
}

// A Problem is what a learner is made for.
type Problem struct {
	Task    string
	Params  experiments.Params
	Kernel  kernel.Kernel
	Rates   polk.Schedule // nil of a method without a schedule
	Loss    loss.Loss
	Classes int
	Dim     int
	Seed    uint64 // of the run
	Train   *data.Split
	Pruner  *prune.Instance // nil for POLK's own; the harness ends its process, if it has one
}

// A Method is a learner or a batch method with its description. One file registers
// it, and everything else follows: specs, their schema and checks, help, labels,
// looks, the memory that a run may take.
type Method struct {
	experiments.MethodInfo // Register sets Batch

	// New makes the learner of a method that learns from a stream; Train, in its
	// place, trains a batch method.
	New   func(Problem) (Learner, error)
	Train Trainer

	// Bytes is the size of what grows with the data and the model; default that of
	// a dictionary with its kernel matrix and the inverse.
	Bytes func(Size) float64
}

// A Size is what a run's memory depends on.
type Size struct {
	Train, Test, Dim, Classes float64
	Order                     float64 // expected model order
	Params                    experiments.Params
}

// Scores is the size of the scores of all examples.
func (s Size) Scores() float64 { return 8 * s.Classes * (s.Train + s.Test) }

// A Registry holds methods by name.
type Registry map[string]Method

var registered = make(Registry)

// Methods returns the methods that specs can name.
func Methods() Registry { return maps.Clone(registered) }

// Register makes a method known to specs; call it in init. It panics if the method
// is not well formed, or its name is taken.
func Register(m Method) {
	if (m.New == nil) == (m.Train == nil) {
		panic("harness: method " + m.Name + " has both New and Train or neither: want one")
	}
	m.Batch = m.Train != nil
	if m.Bytes == nil {
		m.Bytes = func(s Size) float64 { return 6*8*s.Order*s.Order + 3*12*s.Order*s.Dim + s.Scores() }
	}
	experiments.RegisterMethod(m.MethodInfo)
	registered[m.Name] = m
}

// oneSample is the batch size of a method that is defined for one sample a step.
func oneSample(method string) experiments.ParamInfo {
	p := experiments.Param("batch_size").WithAbout("samples a step; " + method + " is defined for one").WithDefault("1")
	p.Most = prune.Bound(1)
	return p
}

// decayedRates are the hyper-parameters of a method that makes a step a sample at a rate
// that may decay.
func decayedRates(method string) []experiments.ParamInfo {
	return []experiments.ParamInfo{
		experiments.Param("learning_rate"),
		experiments.Param("schedule").WithAbout("η_t = η, or η₀/(1 + t/t₀)"),
		experiments.Param("horizon"),
		oneSample(method),
	}
}

// Bytes is how much the method of a run of that size keeps. It is 0 for a method
// that is not registered.
func Bytes(method string, s Size) float64 {
	if m, ok := registered[method]; ok {
		return m.Bytes(s)
	}
	return 0
}

// gaussian reports whether a run has the Gaussian kernel, or none yet.
func gaussian(p experiments.Params) bool {
	return p.Kernel.Type == "" || p.Kernel.Type == kernel.Gaussian{}.Name()
}

// newLearner returns the learner of a method, whose progress takes how much of a batch
// method's work is done, from 0 to 1.
func (r Registry) newLearner(method string, p Problem, progress func(fraction float64)) (Learner, error) {
	switch m := r[method]; {
	case m.New != nil:
		return m.New(p)
	case m.Train != nil:
		return &batch{train: m.Train, problem: BatchProblem{Problem: p, Progress: progress}}, nil
	}
	return nil, fmt.Errorf("no method %q", method)
}

// newProblem returns what a run's learner is made for.
func newProblem(run experiments.Run, set *data.Set) (Problem, error) {
	if m, ok := registered[run.Method]; ok && !slices.Contains(m.Tasks, run.Task) {
		return Problem{}, fmt.Errorf("%s learns %s only, not %s", m.Title, strings.Join(m.Tasks, " and "), run.Task)
	}
	l, err := experiments.TaskLoss(run.Task)
	if err != nil {
		return Problem{}, err
	}
	k, err := run.Params.Kernel.Kernel()
	if err != nil {
		return Problem{}, err
	}
	p := Problem{Task: run.Task, Params: run.Params, Kernel: k, Loss: l, Classes: set.Classes, Dim: set.Train.Dim, Seed: run.Seed, Train: set.Train}
	if run.Params.Schedule != "" {
		if p.Rates, err = run.Params.Rates(); err != nil {
			return Problem{}, err
		}
	}
	if name := run.Params.Pruner; name != "" {
		p.Pruner, err = prune.Find(name, run.Params.PrunerParams)
	}
	return p, err
}
