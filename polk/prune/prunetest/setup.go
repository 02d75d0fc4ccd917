package prunetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/internal/literal"
	"polkrepro/polk/prune"
)

// A setup is a heuristic to test, with its parameters.
type setup struct {
	h      prune.Heuristic
	params prune.Params
}

// The test problems: batches of samples in dim dimensions.
const (
	dim   = 3
	batch = 6
	steps = 12
	rate  = 2.0
	ridge = 1e-3 // λ
	bound = 0.05 // K
	seed  = 7
)

// config returns a learner's configuration, with a new pruner.
func (s setup) config(l loss.Loss, classes int) polk.Config {
	p, err := prune.New(s.h, s.params)
	if err != nil {
		panic(err)
	}
	return polk.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: l, Classes: classes, Dim: dim, Regularizer: ridge,
		LearningRate: polk.Constant(rate), Budget: polk.Parsimony(bound), Pruner: p, Seed: seed,
	}
}

// learner returns a learner with a new pruner.
func (s setup) learner(l loss.Loss, classes int) *polk.Learner {
	learner, err := polk.New(s.config(l, classes))
	if err != nil {
		panic(err)
	}
	return learner
}

// A stream draws samples around one mean per class.
type stream struct {
	r       *rand.Rand
	outputs int
	grid    bool // points on a coarse grid, most of them duplicates
	batch   int  // samples of a step
}

func newStream(l loss.Loss, classes int) *stream {
	return &stream{r: rand.New(rand.NewPCG(11, 3)), outputs: l.Outputs(classes), batch: batch}
}

func (s *stream) next(n int) (x []float32, y []float64) {
	for range n {
		c := s.r.IntN(max(s.outputs, 2))
		for j := range dim {
			v := 1.5 * float64(s.r.IntN(2)+c) * float64(j+1) / dim
			if !s.grid {
				v += 2*s.r.Float64() - 1
			}
			x = append(x, float32(v))
		}
		if s.outputs == 1 {
			c = 2*c - 1
		}
		y = append(y, float64(c))
	}
	return x, y
}

// follow takes n steps of the stream. It reports a step after which the model is not finite,
// exceeds the order or the error that the heuristic claims to keep, or has grown by more than the
// samples with a gradient.
func (s setup) follow(l *polk.Learner, in *stream, n int) error {
	e := l.Expansion()
	for t := range n {
		before := e.Order()
		x, y := in.next(in.batch)
		if _, err := l.Step(context.Background(), in.batch, x, y); err != nil {
			return fmt.Errorf("step %d: %w", t, err)
		}
		last := l.Last()
		order, limited := s.params[prune.Order.Name]
		switch m := float64(e.Order()); {
		case slices.ContainsFunc(e.W, func(v float64) bool { return v-v != 0 }):
			return fmt.Errorf("step %d: it leaves weights that are not finite: %v", t, e.W)
		case limited && m > order:
			return fmt.Errorf("step %d: model order %v, and the claim is %v", t, m, order)
		case e.Order() > before+last.Active:
			return fmt.Errorf("step %d: %d elements became %d by %d new samples", t, before, e.Order(), last.Active)
		case s.h.Epsilon && !(limited && m == order) && !(last.Error <= last.Budget*(1+1e-9)):
			return fmt.Errorf("step %d: error %v, and the claim is ε = %v", t, last.Error, last.Budget)
		}
	}
	return nil
}

// sameBits reports two models that differ.
func sameBits(a, b *kernel.Expansion) error {
	if a.Order() != b.Order() {
		return fmt.Errorf("model orders %d and %d", a.Order(), b.Order())
	}
	for j := range a.Order() {
		if !slices.Equal(a.Dict.At(j), b.Dict.At(j)) || !slices.Equal(a.Weights(j), b.Weights(j)) {
			return fmt.Errorf("element %d differs", j)
		}
	}
	return nil
}

// A twin is a pruner that also lets another one prune a copy of each state, which computes every
// quantity by its definition, and compares what the two leave.
type twin[S prune.Elements] struct {
	instance   *prune.Instance
	own, other interface {
		Prune(ctx context.Context, s S) error
	}
	shuffle *rand.Rand // of the old elements of the copy; nil if they keep their order
}

func (t twin[S]) Prune(ctx context.Context, s S) error {
	order := make([]int, s.Total())
	for j := range order {
		order[j] = j
	}
	if t.shuffle != nil {
		t.shuffle.Shuffle(s.Old(), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	want := literal.Copy(t.instance, s, order, rand.New(rand.NewPCG(seed, uint64(s.Step().T))))
	if err := errors.Join(t.own.Prune(ctx, s), t.other.Prune(ctx, any(want).(S))); err != nil {
		return err
	}
	if s.Total() != want.Total() {
		return fmt.Errorf("%d elements, by definition %d", s.Total(), want.Total())
	}
	for j := len(order); j < s.Total(); j++ {
		order = append(order, j)
	}
	// The weights of all elements follow from which of them stay, so that is compared first.
	var left, gone []int
	most := 0.0 // ‖w_j‖²
	for i, j := range order {
		switch {
		case s.Present(j) && !want.Present(i):
			left = append(left, j)
		case !s.Present(j) && want.Present(i):
			gone = append(gone, j)
		}
		if want.Present(i) {
			most = max(most, want.Norm2(i))
		}
	}
	if len(left)+len(gone) > 0 {
		return fmt.Errorf("it leaves the elements %v and removes %v, by definition the other way round; if their scores are equal up to rounding, that is a tie: break it by a quantity that differs, such as the ID", left, gone)
	}
	for i, j := range order {
		switch {
		case !slices.Equal(s.Point(j), want.Point(i)):
			return fmt.Errorf("element %d is %v, by definition %v", j, s.Point(j), want.Point(i))
		case s.Present(j) && !(floats.Distance(s.Weights(j), want.Weights(i), 2) <= 1e-6*math.Sqrt(most)):
			return fmt.Errorf("weights of element %d are %v, by definition %v", j, s.Weights(j), want.Weights(i))
		}
	}
	return nil
}

// withTwin returns a learner like s.learner, for three classes, whose pruner is compared with a
// twin.
func (s setup) withTwin(l loss.Loss, shuffle *rand.Rand) (*polk.Learner, error) {
	cfg, other, h := s.config(l, 3), s.config(l, 3).Pruner, s.h
	switch own := cfg.Pruner.Pruner().(type) {
	case prune.InversePruner:
		h.NewInverse = func(prune.Params) prune.InversePruner {
			return twin[prune.InverseState]{other, own, other.Pruner().(prune.InversePruner), shuffle}
		}
	case prune.Pruner:
		h.New = func(prune.Params) prune.Pruner {
			return twin[prune.State]{other, own, other.Pruner().(prune.Pruner), shuffle}
		}
	}
	var err error
	cfg.Pruner, err = prune.New(h, s.params)
	if err != nil {
		return nil, err
	}
	return polk.New(cfg)
}
