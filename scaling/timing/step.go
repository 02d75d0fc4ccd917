package timing

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/scaling"
)

// A problem is a stream of a Gaussian mixture, one component a class, a fifth of
// whose labels are wrong: the dictionary never comes to rest.
type problem struct {
	r       *rand.Rand
	means   []float32 // classes×features
	p, c    int
	x       []float32
	y       []float64
	learner *polk.Learner
	level   float64 // of the budget
	order   int
}

// Epsilon rises with a high power of the model order, about a level that is
// learned slowly: so the order stays near what it is meant to be.
func (q *problem) Epsilon(float64) float64 {
	r := float64(q.learner.Expansion().Order()) / float64(q.order)
	if r > 0.8 {
		q.level *= math.Pow(r, 0.2)
	}
	return q.level * math.Pow(r, 4)
}

// Validate has nothing to refuse.
func (q *problem) Validate() error { return nil }

var _ polk.BudgetRule = (*problem)(nil)

// newProblem makes the learner of a configuration and its stream.
func newProblem(s scaling.Step) (*problem, error) {
	l, err := loss.ByName(s.Loss)
	if err != nil {
		return nil, err
	}
	q := &problem{r: rand.New(rand.NewPCG(uint64(s.Order), uint64(s.Features))), p: s.Features, c: s.Classes, level: 0.1, order: s.Order}
	for range s.Classes * s.Features {
		q.means = append(q.means, float32(2*q.r.NormFloat64()/math.Sqrt(float64(s.Features))))
	}
	width := math.Sqrt(2*float64(s.Features)) / 2
	if s.Features == 2 {
		width = 4 / math.Sqrt(float64(s.Order)) // about one neighbour within a bandwidth
	}
	q.learner, err = polk.New(polk.Config{Kernel: kernel.Gaussian{Bandwidth: width}, Loss: l, Classes: s.Classes, Dim: s.Features,
		Regularizer: 1e-6, LearningRate: polk.Constant(6), Budget: q})
	return q, err
}

// draw draws n samples.
func (q *problem) draw(n int) {
	q.x, q.y = q.x[:0], q.y[:0]
	for range n {
		class := q.r.IntN(q.c)
		for _, mean := range q.means[class*q.p : (class+1)*q.p] {
			q.x = append(q.x, mean+float32(q.r.NormFloat64()))
		}
		if q.r.IntN(5) == 0 {
			class = q.r.IntN(q.c)
		}
		q.y = append(q.y, float64(class))
	}
}

// step draws a mini-batch and returns the time of a step on it.
func (q *problem) step(n int) (time.Duration, error) {
	q.draw(n)
	start := time.Now()
	err := q.learner.Step(n, q.x, q.y)
	return time.Since(start), err
}

// How long a configuration is timed.
const (
	blocks       = 5
	blockSteps   = 8
	blockSeconds = 0.02
)

// Step trains a learner to the configuration's model order and beyond, and returns
// the configuration with what its steps then cost.
func Step(ctx context.Context, s scaling.Step) (scaling.Step, error) {
	q, err := newProblem(s)
	if err != nil {
		return s, err
	}
	for range 50 + 4*s.Order/s.Batch {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		if _, err := q.step(s.Batch); err != nil {
			return s, err
		}
	}
	var times []float64
	steps := 0
	for range blocks {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		n, seconds := 0, 0.0
		for n < blockSteps || seconds < blockSeconds {
			d, err := q.step(s.Batch)
			if err != nil {
				return s, err
			}
			n, seconds = n+1, seconds+d.Seconds()
			s.MeanOrder += float64(q.learner.Expansion().Order())
			s.Active += float64(q.learner.Last().Active)
		}
		times, steps = append(times, seconds/float64(n)), steps+n
	}
	slices.Sort(times)
	s.Seconds = stat.Quantile(0.5, stat.Empirical, times, nil)
	s.MeanOrder, s.Active = s.MeanOrder/float64(steps), s.Active/float64(steps)
	return s, nil
}
