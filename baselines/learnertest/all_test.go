package learnertest_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"polkrepro/baselines/bsgd"
	"polkrepro/baselines/csvc"
	"polkrepro/baselines/fogd"
	"polkrepro/baselines/forgetron"
	"polkrepro/baselines/fsgd"
	"polkrepro/baselines/ivm"
	"polkrepro/baselines/lbfgs"
	"polkrepro/baselines/learnertest"
	"polkrepro/baselines/nogd"
	"polkrepro/baselines/norma"
	"polkrepro/baselines/nystrom"
	"polkrepro/baselines/projectron"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

type (
	task    = learnertest.Task
	model   = learnertest.Model
	learner = learnertest.Learner
)

var gaussian = kernel.Gaussian{Bandwidth: 1.5}

const regularizer = 1e-3

// losses are those of the two tasks.
var losses = map[string]loss.Loss{"ksvm": loss.MultiHinge{}, "klr": loss.MultiLogistic{}}

// TestKSVMAndKLR: the learners that have both losses.
func TestKSVMAndKLR(t *testing.T) {
	for name, l := range losses {
		t.Run("polk/"+name, func(t *testing.T) { learnertest.Run(t, expanded(fitPOLK(gaussian, l))) })
		t.Run("fsgd/"+name, func(t *testing.T) { learnertest.Run(t, expanded(stepped(newFSGD(gaussian, l)))) })
		t.Run("norma/"+name, func(t *testing.T) { learnertest.Run(t, expanded(stepped(newNORMA(gaussian, l)))) })
		t.Run("fogd/"+name, func(t *testing.T) {
			learnertest.Run(t, learner{Fit: fitFOGD(l, 0), Seeded: true})
		})
		t.Run("nogd/"+name, func(t *testing.T) { learnertest.Run(t, expanded(stepped(newNOGD(gaussian, l, 10)))) })
		t.Run("rff-sgd/"+name, func(t *testing.T) {
			learnertest.Run(t, learner{Fit: fitFOGD(l, regularizer), Seeded: true})
		})
		t.Run("nystrom-sgd/"+name, func(t *testing.T) { learnertest.Run(t, expanded(stepped(newNOGD(gaussian, l, 0)))) })
		t.Run("lbfgs/"+name, func(t *testing.T) { learnertest.Run(t, expanded(fitLBFGS(gaussian, l))) })
		t.Run("lbfgs-weights/"+name, func(t *testing.T) { learnertest.Run(t, seeded(expanded(fitWeights(gaussian, l)))) })
		t.Run("nystrom/"+name, func(t *testing.T) { learnertest.Run(t, seeded(expanded(fitNystrom(gaussian, l)))) })
	}
}

func TestIVM(t *testing.T) { learnertest.Run(t, seeded(expanded(fitIVM(gaussian)))) }

func TestBSGD(t *testing.T) {
	for _, maintenance := range []string{bsgd.Removal, bsgd.Projection, bsgd.Merging, bsgd.KeepNewest} {
		t.Run(maintenance, func(t *testing.T) { learnertest.Run(t, expanded(stepped(newBSGD(gaussian, maintenance)))) })
	}
}

func TestForgetron(t *testing.T) { learnertest.Run(t, expanded(stepped(newForgetron(gaussian)))) }

func TestProjectron(t *testing.T) { learnertest.Run(t, expanded(stepped(newProjectron(gaussian)))) }

func TestCSVC(t *testing.T) {
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprint("one-vs-all ", all), func(t *testing.T) {
			learnertest.Run(t, learner{Fit: fitCSVC(gaussian, all), TwoClasses: true})
		})
	}
}

// expanded is a learner whose models are expansions with an output a class.
func expanded(fit func(task) (*kernel.Expansion, error)) learner {
	return learner{
		Fit: func(s task) (*model, error) {
			e, err := fit(s)
			if err != nil {
				return nil, err
			}
			return expansion(e), nil
		},
		Load: func(r io.Reader) (*model, error) {
			e, err := kernel.ReadExpansion(r, nil)
			if err != nil {
				return nil, err
			}
			return expansion(e), nil
		},
	}
}

func seeded(l learner) learner {
	l.Seeded = true
	return l
}

func expansion(e *kernel.Expansion) *model {
	return scored(e, e.Outputs, func(w io.Writer) error { return e.Write(w, nil) })
}

// scored is a model whose largest score decides.
func scored(m kernel.Model, outputs int, save func(io.Writer) error) *model {
	scores := func(n int, x []float32, threads int) []float64 {
		f := make([]float64, n*outputs)
		m.Scores(n, x, f, threads)
		return f
	}
	return &model{
		Order:   m.Order(),
		Scores:  scores,
		Predict: func(n int, x []float32) []float64 { return largest(n, scores(n, x, 1)) },
		Save:    save,
	}
}

// largest returns the classes with the largest of n points' scores.
func largest(n int, scores []float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(loss.Predict(scores[i*len(scores)/n : (i+1)*len(scores)/n]))
	}
	return y
}

// Learners of streams get every sample three times. They draw no numbers: the
// stream's order is the harness' to draw.
const epochs = 3

func fitPOLK(k kernel.Kernel, l loss.Loss) func(task) (*kernel.Expansion, error) {
	return func(s task) (*kernel.Expansion, error) {
		p, err := polk.New(polk.Config{
			Kernel: k, Loss: l, Classes: s.Classes, Dim: s.Dim, Regularizer: regularizer,
			LearningRate: polk.Constant(0.5), Budget: polk.Parsimony(0.1), Threads: s.Threads,
		})
		if err != nil {
			return nil, err
		}
		const batch = 8
		for range epochs {
			for lo := 0; lo < s.N; lo += batch {
				if _, err := p.Step(context.Background(), min(batch, s.N-lo), s.X[lo*s.Dim:], s.Y[lo:]); err != nil {
					return nil, err
				}
			}
		}
		return p.Expansion(), nil
	}
}

// A stepper learns from samples one after another.
type stepper interface {
	Step(ctx context.Context, n int, x []float32, y []float64) (kernel.Scored, error)
	SetThreads(n int)
	Expansion() *kernel.Expansion
}

// stepped is what a learner of a stream, which is made for a task, leaves.
func stepped(make func(task) (stepper, error)) func(task) (*kernel.Expansion, error) {
	return func(s task) (*kernel.Expansion, error) {
		l, err := make(s)
		if err != nil {
			return nil, err
		}
		err = learn(s, l.SetThreads, l.Step)
		return l.Expansion(), err
	}
}

// learn takes the steps of a task.
func learn(s task, threads func(int), step func(context.Context, int, []float32, []float64) (kernel.Scored, error)) (err error) {
	threads(s.Threads)
	for range epochs {
		if err == nil {
			_, err = step(context.Background(), s.N, s.X, s.Y)
		}
	}
	return err
}

func newBSGD(k kernel.Kernel, maintenance string) func(task) (stepper, error) {
	return func(s task) (stepper, error) {
		return bsgd.New(bsgd.Config{
			Kernel: k, Classes: s.Classes, Dim: s.Dim, Regularizer: regularizer, LearningRate: 0.5,
			Schedule: bsgd.Constant, Budget: 20, Maintenance: maintenance,
		})
	}
}

func newFSGD(k kernel.Kernel, l loss.Loss) func(task) (stepper, error) {
	return func(s task) (stepper, error) {
		return fsgd.New(fsgd.Config{
			Kernel: k, Loss: l, Classes: s.Classes, Dim: s.Dim, Regularizer: regularizer,
			Rate: polk.Constant(0.5).Rate, Points: s.X,
		})
	}
}

func newNORMA(k kernel.Kernel, l loss.Loss) func(task) (stepper, error) {
	return func(s task) (stepper, error) {
		return norma.New(norma.Config{
			Kernel: k, Loss: l, Classes: s.Classes, Dim: s.Dim, Regularizer: regularizer,
			Rate: polk.Constant(0.5).Rate, Memory: 40,
		})
	}
}

func newForgetron(k kernel.Kernel) func(task) (stepper, error) {
	return func(s task) (stepper, error) {
		return forgetron.New(forgetron.Config{Kernel: k, Classes: s.Classes, Dim: s.Dim, Budget: 40})
	}
}

func newProjectron(k kernel.Kernel) func(task) (stepper, error) {
	return func(s task) (stepper, error) {
		return projectron.New(projectron.Config{Kernel: k, Classes: s.Classes, Dim: s.Dim, Error: 0.2, Budget: 30})
	}
}

// newNOGD is NOGD of a rank above 0, and stochastic gradient descent on Nyström features
// otherwise.
func newNOGD(k kernel.Kernel, l loss.Loss, rank int) func(task) (stepper, error) {
	c := nogd.Config{Kernel: k, Loss: l, Landmarks: 20, Rank: rank, Rate: polk.Constant(0.5).Rate}
	if rank == 0 {
		c.Every, c.Regularizer = true, regularizer
	}
	return func(s task) (stepper, error) {
		c.Classes, c.Dim = s.Classes, s.Dim
		return nogd.New(c)
	}
}

func newFOGD(l loss.Loss, lambda float64) func(task) (*fogd.Learner, error) {
	return func(s task) (*fogd.Learner, error) {
		return fogd.New(fogd.Config{
			Kernel: gaussian, Loss: l, Classes: s.Classes, Dim: s.Dim, Frequencies: 50, Seed: s.Seed,
			Regularizer: lambda, Rate: polk.Constant(0.5).Rate,
		})
	}
}

func fitFOGD(l loss.Loss, lambda float64) func(task) (*model, error) {
	return func(s task) (*model, error) {
		f := must(newFOGD(l, lambda)(s))
		if err := learn(s, f.SetThreads, f.Step); err != nil {
			return nil, err
		}
		return scored(f.Model(), s.Classes, nil), nil
	}
}

func fitLBFGS(k kernel.Kernel, l loss.Loss) func(task) (*kernel.Expansion, error) {
	return func(s task) (*kernel.Expansion, error) {
		r, err := lbfgs.Train(context.Background(), lbfgs.Config{
			Kernel: k, Loss: l, Classes: s.Classes, Dim: s.Dim, Regularizer: regularizer,
			Tolerance: 1e-2, Threads: s.Threads,
		}, s.N, s.X, s.Y, nil)
		if err != nil {
			return nil, err
		}
		return r.Expansion, nil
	}
}

func fitIVM(k kernel.Kernel) func(task) (*kernel.Expansion, error) {
	return func(s task) (*kernel.Expansion, error) {
		r, err := ivm.Train(context.Background(), ivm.Config{
			Kernel: k, Classes: s.Classes, Dim: s.Dim, Regularizer: regularizer,
			Candidates: 50, MaxPoints: 10, Seed: s.Seed, Threads: s.Threads,
		}, s.N, s.X, s.Y, nil)
		if err != nil {
			return nil, err
		}
		return r.Expansion, nil
	}
}

func fitWeights(k kernel.Kernel, l loss.Loss) func(task) (*kernel.Expansion, error) {
	return func(s task) (*kernel.Expansion, error) {
		w, err := lbfgs.NewWeights(lbfgs.Config{
			Kernel: k, Loss: l, Classes: s.Classes, Dim: s.Dim, Regularizer: regularizer,
			Memory: 10,
		}, 5e-4, s.Seed, s.N, s.X, s.Y)
		if err != nil {
			return nil, err
		}
		w.SetThreads(s.Threads)
		for range 30 {
			if _, err := w.Step(context.Background(), s.N, nil, nil); err != nil {
				return nil, err
			}
		}
		return w.Expansion(), nil
	}
}

func fitNystrom(k kernel.Kernel, l loss.Loss) func(task) (*kernel.Expansion, error) {
	return func(s task) (*kernel.Expansion, error) {
		r, err := nystrom.Train(context.Background(), nystrom.Config{
			Kernel: k, Loss: l, Classes: s.Classes, Dim: s.Dim, Regularizer: regularizer,
			Landmarks: 30, Seed: s.Seed, Threads: s.Threads,
		}, s.N, s.X, s.Y, nil)
		if err != nil {
			return nil, err
		}
		return r.Expansion, nil
	}
}

func fitCSVC(k kernel.Kernel, all bool) func(task) (*model, error) {
	return func(s task) (*model, error) {
		m, _, err := csvc.Train(context.Background(), csvc.Config{Kernel: k, C: 1, OneVsAll: all, Threads: s.Threads},
			s.N, s.Dim, s.X, s.Y, s.Classes)
		if err != nil {
			return nil, err
		}
		return votes(m), nil
	}
}

func votes(m *csvc.Model) *model {
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
	}
}
