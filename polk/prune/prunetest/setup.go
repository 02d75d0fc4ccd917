package prunetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/literal"
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
)

// config returns a learner's configuration, with a new pruner.
func (s setup) config(l loss.Loss, classes int) polk.Config {
	p, err := prune.New(s.h, s.params)
	if err != nil {
		panic(err)
	}
	return polk.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: l, Classes: classes, Dim: dim, Regularizer: ridge,
		LearningRate: polk.Constant(rate), Budget: polk.Parsimony(bound), Pruner: p, Seed: 7,
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

// literal returns the learner by definition that s.learner must equal, for three classes.
func (s setup) literal(l loss.Loss) *literal.Learner {
	cfg := s.config(l, 3)
	return &literal.Learner{
		Kernel: cfg.Kernel, Loss: l, Classes: 3, Regularizer: cfg.Regularizer, Rate: rate,
		Epsilon: cfg.Budget.Epsilon(rate), Pruner: cfg.Pruner, Seed: cfg.Seed,
	}
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

// same reports where a model differs from the one that is wanted: in its dictionary, or in weights
// by more than tolerance times the largest.
func same(got, want *kernel.Expansion, tolerance float64) error {
	if got.Order() != want.Order() {
		return fmt.Errorf("model order %d, want %d", got.Order(), want.Order())
	}
	most := tolerance * floats.Norm(want.W, math.Inf(1))
	for j := range want.Order() {
		if x := want.Dict.At(j); !slices.Equal(got.Dict.At(j), x) {
			return fmt.Errorf("element %d is %v, want %v", j, got.Dict.At(j), x)
		}
		if w := want.Weights(j); !floats.EqualFunc(got.Weights(j), w, func(a, b float64) bool { return math.Abs(a-b) <= most }) {
			return fmt.Errorf("weights of element %d are %v, want %v", j, got.Weights(j), w)
		}
	}
	return nil
}
