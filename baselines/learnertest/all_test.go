package learnertest_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"polkrepro/baselines/bsgd"
	"polkrepro/baselines/csvc"
	"polkrepro/baselines/learnertest"
	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

type (
	task    = learnertest.Task
	model   = learnertest.Model
	learner = learnertest.Learner
)

var gaussian = kernel.Gaussian{Bandwidth: 1.5}

// losses holds the losses of the two tasks.
var losses = map[string]loss.Loss{spec.TaskKSVM: loss.MultiHinge{}, spec.TaskKLR: loss.MultiLogistic{}}

// settings holds the hyper-parameters with which methods of package harness are tested. A key is a
// method's name, or the name, a slash and a variant. Function problem sets the hyper-parameters
// that all methods share.
var settings = map[string]spec.Params{
	"polk":             {BatchSize: 8, Parsimony: 0.1},
	"fsgd":             {},
	"norma":            {Budget: 40},
	"fogd":             {Budget: 50},
	"rff-sgd":          {Budget: 50},
	"nogd":             {Budget: 20, Own: prune.Params{"rank": 10}},
	"nystrom-sgd":      {Budget: 20},
	"forgetron":        {Budget: 40},
	"projectron":       {Budget: 30, Own: prune.Params{"projection_error": 0.2}},
	"bsgd/removal":     {Budget: 20, Maintenance: bsgd.Removal},
	"bsgd/projection":  {Budget: 20, Maintenance: bsgd.Projection},
	"bsgd/merging":     {Budget: 20, Maintenance: bsgd.Merging},
	"bsgd/keep-newest": {Budget: 20, Maintenance: bsgd.KeepNewest},
	"lbfgs":            {Tolerance: 1e-2},
	"lbfgs-weights":    {Own: prune.Params{"start": 5e-4, "memory": 10}},
	"nystrom":          {Budget: 30},
	"ivm":              {Budget: 10, Candidates: 50},
}

// drawing lists the methods that draw random numbers themselves. The harness draws the order of a
// stream.
var drawing = []string{"fogd", "rff-sgd", "lbfgs-weights", "nystrom", "ivm"}

// TestMethods runs the suite on each method, with the loss of each classification task that it
// learns.
func TestMethods(t *testing.T) {
	for key := range settings {
		for _, name := range method(key).Tasks {
			if l, ok := losses[name]; ok {
				t.Run(key+"/"+name, func(t *testing.T) { learnertest.Run(t, learnerOf(key, gaussian, l)) })
			}
		}
	}
}

func TestCSVC(t *testing.T) {
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprint("one-vs-all ", all), func(t *testing.T) { learnertest.Run(t, svm(gaussian, all)) })
	}
}

// TestKRLS runs the suite on regressions of the indicators of the classes.
func TestKRLS(t *testing.T) { learnertest.Run(t, learner{Fit: indicators}) }

// indicators trains one KRLS for each class, with targets 1 for its samples and 0 for the others.
func indicators(s task) (*model, error) {
	p := problem(gaussian, loss.SquaredError{}, spec.Params{
		Budget: 30, BatchSize: 1, Own: prune.Params{"threshold": 1e-3, "noise": 0.1, "forgetting": 1},
	}, s)
	f := make(oneVsRest, s.Classes)
	for c := range f {
		for i, y := range s.Y {
			p.Train.Y[i] = 0
			if y == float64(c) {
				p.Train.Y[i] = 1
			}
		}
		var err error
		if f[c], err = fit(method("krls"), p, s); err != nil {
			return nil, err
		}
	}
	return scored(f, s.Classes), nil
}

// A oneVsRest has a function for each class, of a model with one function.
type oneVsRest []kernel.Model

func (f oneVsRest) NormSq(int) float64 { return 0 }

func (f oneVsRest) Order() (order int) {
	for _, m := range f {
		order += m.Order()
	}
	return order
}

func (f oneVsRest) Scores(n int, x []float32, dst []float64, threads int) {
	column := make([]float64, n)
	for c, m := range f {
		m.Scores(n, x, column, threads)
		for i, v := range column {
			dst[i*len(f)+c] = v
		}
	}
}

// method returns the method of a key of settings.
func method(key string) harness.Method {
	name, _, _ := strings.Cut(key, "/")
	return harness.Methods()[name]
}

// learnerOf wraps a method with its settings for the suite.
func learnerOf(key string, k kernel.Kernel, l loss.Loss) learner {
	return learner{
		Fit: func(s task) (*model, error) {
			m, err := fit(method(key), problem(k, l, settings[key], s), s)
			if err != nil {
				return nil, err
			}
			return scored(m, s.Classes), nil
		},
		Load: func(r io.Reader) (*model, error) {
			e, err := kernel.ReadExpansion(r, nil)
			if err != nil {
				return nil, err
			}
			return scored(e, e.Outputs), nil
		},
		Seeded: slices.Contains(drawing, key),
	}
}

const regularizer = 1e-3

// problem returns the problem for which a method is made. A mini-batch is the whole training set
// unless p says otherwise.
func problem(k kernel.Kernel, l loss.Loss, p spec.Params, s task) harness.Problem {
	p.Regularizer, p.LearningRate, p.Schedule = regularizer, 0.5, spec.ScheduleConstant
	p.BatchSize = cmp.Or(p.BatchSize, s.N)
	return harness.Problem{
		Params: p, Kernel: k, Rates: polk.Constant(p.LearningRate), Loss: l, Classes: s.Classes, Dim: s.Dim, Seed: s.Seed,
		Samples: 3 * s.N, Train: &data.Split{N: s.N, Dim: s.Dim, X: s.X, Y: slices.Clone(s.Y)},
	}
}

// fit trains a method. Learners of streams get every sample three times. L-BFGS over weights takes
// more passes, because a pass is one iteration.
func fit(m harness.Method, p harness.Problem, s task) (kernel.Model, error) {
	ctx := context.Background()
	if m.Train != nil {
		r, err := m.Train(ctx, harness.BatchProblem{Problem: p, Threads: s.Threads, Progress: func(float64) {}})
		if err != nil {
			return nil, err
		}
		return r.Model, nil
	}
	l, err := m.New(p)
	if err != nil {
		return nil, err
	}
	l.SetThreads(s.Threads)
	passes := 3
	if m.Name == "lbfgs-weights" {
		passes = 30
	}
	for range passes {
		for lo := 0; lo < s.N; lo += p.Params.BatchSize {
			b := p.Train.Slice(lo, min(lo+p.Params.BatchSize, s.N))
			if _, err := l.Step(ctx, b.N, b.X, b.Y); err != nil {
				return nil, err
			}
		}
	}
	return l.Model(), nil
}

// scored returns the suite's model of m, which predicts the class of the largest score. Expansions
// can be saved.
func scored(m kernel.Model, outputs int) *model {
	scores := func(n int, x []float32, threads int) []float64 {
		f := make([]float64, n*outputs)
		m.Scores(n, x, f, threads)
		return f
	}
	out := &model{
		Order:  m.Order(),
		Scores: scores,
		Predict: func(n int, x []float32) []float64 {
			y, f := make([]float64, n), scores(n, x, 1)
			for i := range y {
				y[i] = float64(loss.Predict(f[i*outputs : (i+1)*outputs]))
			}
			return y
		},
	}
	if e, ok := m.(*kernel.Expansion); ok {
		out.Save = func(w io.Writer) error { return e.Write(w, nil) }
	}
	return out
}

// svm is C-SVC with its decision values as scores, which the harness' model does not have.
func svm(k kernel.Kernel, all bool) learner {
	return learner{TwoClasses: true, Fit: func(s task) (*model, error) {
		m, err := csvc.Train(context.Background(), csvc.Config{
			Kernel: k, Classes: s.Classes, Dim: s.Dim, C: 1, OneVsAll: all, Threads: s.Threads,
		}, s.N, s.X, s.Y)
		if err != nil {
			return nil, err
		}
		return &model{
			Order: m.NumSV(),
			Scores: func(n int, x []float32, threads int) []float64 {
				d := make([]float64, n*len(m.Rho))
				m.Decisions(n, x, d, threads)
				return d
			},
			Predict: func(n int, x []float32) []float64 {
				y := make([]float64, n)
				m.Predict(n, x, y, 1)
				return y
			},
		}, nil
	}}
}
