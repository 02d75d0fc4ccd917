package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

// A Learner is a model that the harness trains step by step.
type Learner interface {
	// Step learns from a mini-batch of n samples: x is n×Dim in row-major order, y has n
	// targets. Step returns the samples' scores before the step, valid until the next step.
	// If each step takes the whole training set, the scores are not used. A long step
	// stops early when the context is done and returns the context's error.
	Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error)
	// SetThreads sets the number of goroutines that a step may use, 1 before the
	// first call. The results do not depend on this number.
	SetThreads(n int)
	// Model returns the current model, valid until the next call or step.
	Model() kernel.Model
	// KernelEvals returns the number of kernel evaluations so far.
	KernelEvals() int64
	// Health returns counters of the learner's numerical health by name.
	Health() map[string]float64
}

// A Problem has the task, hyper-parameters and data for which a learner is made.
type Problem struct {
	Task    string
	Params  spec.Params
	Kernel  kernel.Kernel
	Rates   polk.Schedule // nil for a method without a schedule
	Loss    loss.Loss
	Classes int
	Dim     int
	Seed    uint64          // of the run
	Samples int             // of the run
	Train   *data.Split     // has X for a batch method
	Pruner  *prune.Instance // nil for POLK's own; the harness ends the pruner's process, if any
}

// A Method is a learner or a batch method with its description. One file registers a
// method. Specs, their schema and checks, help, labels, plot styles and memory limits
// are derived from the registration.
type Method struct {
	spec.MethodInfo // Register sets Batch

	// Exactly one of New and Train is set. New makes the learner of a method that learns
	// from a stream; Train trains a batch method.
	New   func(Problem) (Learner, error)
	Train Trainer

	// Bytes returns the size of the memory that grows with the data and the model. The
	// default is that of a dictionary with its kernel matrix and the inverse.
	Bytes func(Size) float64
}

// A Size holds the quantities that determine a run's memory.
type Size struct {
	Train, Test, Dim, Classes float64
	Order                     float64 // expected model order
	Params                    spec.Params
}

// Scores returns the size of the scores of all examples, in bytes.
func (s Size) Scores() float64 { return 8 * s.Classes * (s.Train + s.Test) }

// A Registry holds methods by name.
type Registry map[string]Method

var registered = make(Registry)

// Methods returns the methods that specs can name.
func Methods() Registry {
	all := maps.Clone(registered)
	for name, m := range all {
		m.MethodInfo = *spec.Method(name)
		all[name] = m
	}
	return all
}

// Register makes a method available to specs; call it in init. It panics if the method
// is invalid or its name is already registered.
func Register(m Method) {
	if (m.New == nil) == (m.Train == nil) {
		panic("harness: method " + m.Name + " has both New and Train or neither: want one")
	}
	m.Batch = m.Train != nil
	if m.Bytes == nil {
		m.Bytes = func(s Size) float64 { return 6*8*s.Order*s.Order + 3*12*s.Order*s.Dim + s.Scores() }
	}
	spec.RegisterMethod(m.MethodInfo)
	registered[m.Name] = m
}

// oneSample returns the batch size of a method that is defined for one sample a step.
func oneSample(method string) spec.ParamInfo {
	p := spec.Param("batch_size").WithAbout("samples a step; " + method + " is defined for one").WithDefault("1")
	p.Most = prune.Bound(1)
	return p
}

// decayedRates returns the hyper-parameters of a method with one sample a step and a
// learning rate that may decay.
func decayedRates(method string) []spec.ParamInfo {
	return []spec.ParamInfo{
		spec.Param("learning_rate"),
		spec.Param("schedule").WithAbout("η_t = η, or η₀/(1 + t/t₀)"),
		spec.Param("horizon"),
		oneSample(method),
	}
}

// Bytes returns the memory of a run of the given method and size, in bytes. It is 0 for
// a method that is not registered.
func Bytes(method string, s Size) float64 {
	if m, ok := registered[method]; ok {
		return m.Bytes(s)
	}
	return 0
}

// checkMemory returns an error if a run of the method needs more than memoryLimit at model order n,
// which the message counts in units.
func (p Problem) checkMemory(method string, n int, units string) error {
	need := Bytes(method, Size{Train: float64(p.Train.N), Dim: float64(p.Dim), Classes: float64(p.Classes), Order: float64(n), Params: p.Params})
	if limit := float64(memoryLimit()); limit > 0 && need > limit {
		return fmt.Errorf("%d %s need %.2f GiB: the limit is %.2f GiB", n, units, need/(1<<30), limit/(1<<30))
	}
	return nil
}

// gaussian reports whether a run has the Gaussian kernel or no kernel yet.
func gaussian(p spec.Params) bool {
	return p.Kernel.Type == "" || p.Kernel.Type == kernel.Gaussian{}.Name()
}

// newLearner returns the learner of a method. A batch method reports the fraction of its
// work that is done, from 0 to 1, to progress.
func (r Registry) newLearner(method string, p Problem, progress func(fraction float64)) (Learner, error) {
	switch m := r[method]; {
	case m.New != nil:
		return m.New(p)
	case m.Train != nil:
		return &batch{train: m.Train, problem: BatchProblem{Problem: p, Progress: progress}}, nil
	}
	return nil, fmt.Errorf("no method %q", method)
}

// newProblem returns the problem of a run on its data.
func newProblem(run spec.Run, set *data.Set) (Problem, error) {
	if m := spec.Method(run.Method); m != nil && !slices.Contains(m.Tasks, run.Task) {
		return Problem{}, fmt.Errorf("%s learns %s only, not %s", m.Title, strings.Join(m.Tasks, " and "), run.Task)
	}
	l, err := spec.TaskLoss(run.Task)
	if err != nil {
		return Problem{}, err
	}
	k, err := run.Params.Kernel.Kernel()
	if err != nil {
		return Problem{}, err
	}
	p := Problem{Task: run.Task, Params: run.Params, Kernel: k, Loss: l, Classes: set.Classes, Dim: set.Train.Dim, Seed: run.Seed, Samples: run.Samples, Train: set.Train}
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
