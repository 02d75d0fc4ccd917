package polk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// mnistSteady is a learner of the paper's MNIST experiment (η = 24, c = 4,
// λ = 1e-6, mini-batches of 32) and the stream that it is trained on.
type mnistSteady struct {
	*Learner
	train *data.Split
	order []int
	next  int
	x     []float32
	y     []float64
}

func newMNISTSteady(b *testing.B, cost loss.Loss, parsimony float64, threads int) *mnistSteady {
	set, err := data.NewStore(data.Finder{}).Get(context.Background(), data.Ref{Name: "mnist"})
	if err != nil {
		b.Skip(err)
	}
	s := &mnistSteady{train: set.Train, x: make([]float32, 32*set.Train.Dim), y: make([]float64, 32)}
	s.Learner = mustNew(b, Config{
		Kernel: kernel.Gaussian{Bandwidth: 4}, Loss: cost, Classes: 10, Dim: set.Train.Dim, Regularizer: 1e-6,
		LearningRate: Constant(24), Budget: Parsimony(parsimony), Threads: threads,
	})
	return s
}

// draw returns the next mini-batch of the shuffled stream.
func (s *mnistSteady) draw() ([]float32, []float64) {
	for i := range s.y {
		if s.next%s.train.N == 0 {
			s.order = rand.New(rand.NewPCG(uint64(s.next/s.train.N), 1)).Perm(s.train.N)
		}
		j := s.order[s.next%s.train.N]
		copy(s.x[i*s.train.Dim:], s.train.Row(j))
		s.y[i] = s.train.Y[j]
		s.next++
	}
	return s.x, s.y
}

// BenchmarkMNIST is BenchmarkStep on the real data after three epochs.
func BenchmarkMNIST(b *testing.B) {
	for _, c := range []struct {
		name      string
		cost      loss.Loss
		parsimony float64
	}{{"ksvm", hinge, 0.016}, {"klr", logistic, 0.008}} {
		var s *mnistSteady
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				if s == nil {
					s = newMNISTSteady(b, c.cost, c.parsimony, 2)
					for s.next < 3*s.train.N {
						x, y := s.draw()
						mustStep(b, s.Learner, len(y), x, y)
					}
				}
				s.SetThreads(threads)
				var t stepTimer
				t.run(b, s.Learner, s.draw)
				t.report(b)
			})
		}
	}
}
