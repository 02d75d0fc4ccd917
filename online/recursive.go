package online

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"polkrepro/baselines/krls"
	"polkrepro/kernel"
)

// Recursive are the settings with which a regression learns a stream by kernel recursive least
// squares in place of gradient steps (package krls): its weights are exact after every row.
type Recursive struct {
	Noise      float64 `json:"noise"`      // σ², the variance of the noise of the scaled targets
	Threshold  float64 `json:"threshold"`  // ν: a row enters the dictionary if its squared distance from the span is larger
	Budget     int     `json:"budget"`     // largest model order
	Forgetting float64 `json:"forgetting"` // λ: how much earlier rows still count after each row; 1 forgets nothing
}

const (
	recursiveFirst = 8       // first model order that is tried: cheap, so that all noises and bandwidths are tried with it
	recursiveMost  = 512     // largest model order: a row takes 2.5·M² multiply-adds, half a millisecond
	recursiveRatio = 0.1     // threshold over noise: an element that explains less than the noise is of no use
	recursiveCost  = 1 << 32 // multiply-adds after which no larger order is tried, a few seconds
)

// recursiveNoises are the variances tried with the first order, those of targets with half noise and
// with hardly any.
var recursiveNoises = []float64{0.3, 1e-2, 1e-4, 1e-6}

// newRecursive returns the settings of a stream that has too few rows to choose them.
func newRecursive(opt *TrainOptions) *Recursive {
	noise := recursiveNoises[1]
	return &Recursive{Noise: noise, Threshold: recursiveRatio * noise, Budget: cmp.Or(opt.Order, recursiveMost), Forgetting: cmp.Or(opt.Forgetting, 1)}
}

// config returns the learner's configuration.
func (r *Recursive) config(s *Settings) (krls.Config, error) {
	k, err := s.kernel()
	return krls.Config{Kernel: k, Dim: s.Dim, Noise: r.Noise, Threshold: r.Threshold, Budget: r.Budget, Forgetting: r.Forgetting}, err
}

// validate returns an error if the settings of a model with them are invalid.
func (r *Recursive) validate(s *Settings) error {
	switch {
	case !s.regression() || s.Batch != 1 || s.Exact:
		return fmt.Errorf("online: recursive least squares with the %s loss and batches of %d", s.Loss, s.Batch)
	case r.Budget < 1 || r.Budget > MaxOrder:
		return fmt.Errorf("online: a budget of %d elements, want 1 to %d", r.Budget, MaxOrder)
	}
	c := krls.Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Dim: s.Dim, Noise: r.Noise, Threshold: r.Threshold, Forgetting: r.Forgetting}
	return c.Validate() // the bandwidth may follow from rows that have not been seen yet
}

// A recursiveLearner is a learner of package krls as a Model uses one.
type recursiveLearner struct {
	*krls.Learner
	steps int
}

// StepWeighted learns rows, one after the other.
func (l *recursiveLearner) StepWeighted(ctx context.Context, n int, x []float32, y, weights []float64) ([]float64, error) {
	scores, err := l.Learner.StepWeighted(ctx, n, x, y, weights)
	if err == nil {
		l.steps++
	}
	return scores, err
}

func (l *recursiveLearner) Steps() int { return l.steps }

// restoreRecursive reads the state of the learner with the functions f, which has learned the given
// number of rows. It fails if the state is that of another dictionary.
func restoreRecursive(f *kernel.Expansion, r io.Reader, s *Settings, steps int) (*recursiveLearner, error) {
	c, err := s.Recursive.config(s)
	if err != nil {
		return nil, err
	}
	l, err := krls.Restore(c, r)
	if err != nil {
		return nil, err
	}
	own := l.Expansion()
	same := own.Order() == f.Order() && slices.Equal(own.W, f.W)
	for j := 0; same && j < f.Order(); j++ {
		same = slices.Equal(own.Dict.At(j), f.Dict.At(j))
	}
	if !same {
		return nil, errors.New("the learner's state is that of another model")
	}
	return &recursiveLearner{l, steps}, nil
}

// recurse chooses bandwidth, noise and model order of recursive least squares. Each candidate
// learns the first rows of the stream in their order, and predicts each of the later ones before it
// learns them. It returns the candidate of the smallest order within the tolerance, and a
// description of all that was tried.
func (t *tuner) recurse(ctx context.Context, best *candidate) (*candidate, []Tried, error) {
	o := orderSearch{tuner: t, best: best}
	first, most := recursiveFirst, recursiveMost
	if t.opt.Order > 0 {
		first, most = min(first, t.opt.Order), t.opt.Order
	}
	all := t.firstRecursive(*best, first)
	for t.spent = 0; ; {
		t.opt.Note("tuning: order %d", all[0].order)
		if err := t.recursiveRound(ctx, all); err != nil {
			return nil, nil, err
		}
		o.tried = append(o.tried, all[0])
		order := all[0].order
		if order == most || t.opt.Order == 0 && (t.spent > recursiveCost || all[0].size < order || o.enough()) {
			break
		}
		all = t.nextRecursive(all[0], min(2*order, most))
	}
	chosen := len(o.tried) - 1
	if t.opt.Order == 0 {
		chosen = o.choose()
	}
	return &o.tried[chosen], o.describe(chosen), nil
}

// firstRecursive returns the candidates of the first order, with all noises and bandwidths.
func (t *tuner) firstRecursive(c candidate, order int) (all []candidate) {
	c.order = order
	factors := []float64{1, 2, 4}
	if t.set.Bandwidth != 0 {
		factors = factors[:1]
	}
	for _, factor := range factors {
		for _, noise := range recursiveNoises {
			all = append(all, c.recursively(factor, noise))
		}
	}
	return all
}

// nextRecursive returns the candidates of a larger order than that of c, whose bandwidth and noise
// may be smaller: less is left that the dictionary can't explain.
func (t *tuner) nextRecursive(c candidate, order int) (all []candidate) {
	c.order = order
	for _, noise := range []float64{1, 0.1, 0.01} {
		all = append(all, c.recursively(1, noise*c.noise))
	}
	if t.set.Bandwidth == 0 {
		all = append(all, c.recursively(0.5, c.noise), c.recursively(2, 0.1*c.noise))
	}
	return all
}

// recursively returns a candidate with another noise, and its bandwidth multiplied by a factor.
func (c candidate) recursively(factor, noise float64) candidate {
	c.factor *= factor
	c.noise, c.score, c.size = noise, heldOut{}, 0
	return c
}

// recursiveRound scores all candidates and sorts them from the best to the worst.
func (t *tuner) recursiveRound(ctx context.Context, all []candidate) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		g.Go(func() error { return t.predictAhead(ctx, &all[i]) })
	}
	err := g.Wait()
	for i := range all {
		t.spent += int64(len(t.perm)) * int64(3*all[i].size*all[i].size)
	}
	t.sort(all)
	return err
}

// predictAhead scores a candidate on the rows of the stream after the first quarter.
func (t *tuner) predictAhead(ctx context.Context, c *candidate) error {
	set, b := t.settings(c, 0), &t.samples[c.scaling]
	cfg, err := set.Recursive.config(&set)
	if err != nil {
		return err
	}
	l, err := krls.New(cfg)
	if err != nil {
		return err
	}
	for j, y := range b.y {
		if ctx.Err() != nil {
			return ErrStopped
		}
		scores, err := l.StepWeighted(context.Background(), 1, b.row(j), b.y[j:j+1], b.w[j:j+1])
		if err != nil {
			return err
		}
		if j >= len(b.y)/4 {
			c.score.add(t.loss.Value(scores, y), b.w[j], b.model, y, 0, false)
		}
	}
	c.size = l.Expansion().Order()
	return nil
}
