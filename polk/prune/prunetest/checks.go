package prunetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/literal"
	"polkrepro/polk/prune"
)

var (
	logistic = loss.MultiLogistic{}
	squared  = loss.SquaredError{}
)

// equalsLiteral checks that after every step the learner has the same dictionary as
// literal.Learner, and the same weights to within 1e-6 of the largest.
func equalsLiteral(s setup) error {
	for _, l := range []loss.Loss{logistic, squared} {
		fast, slow, in := s.learner(l, 3), s.literal(l), newStream(l, 3)
		for t := range steps {
			x, y := in.next(batch)
			if _, err := fast.Step(context.Background(), batch, x, y); err != nil {
				return err
			}
			if err := slow.Step(batch, dim, x, y); err != nil {
				return err
			}
			if err := compare(slow, fast); err != nil {
				return fmt.Errorf("%s loss, step %d: %w", l.Name(), t, err)
			}
		}
	}
	return nil
}

// compare reports where the learner fast differs from l.
func compare(l *literal.Learner, fast *polk.Learner) error {
	e := fast.Expansion()
	if e.Order() != len(l.D) {
		return fmt.Errorf("model order %d, by definition %d", e.Order(), len(l.D))
	}
	var largest float64
	for _, d := range l.D {
		for _, v := range d.W {
			largest = max(largest, math.Abs(v))
		}
	}
	for j, d := range l.D {
		if !slices.Equal(e.Dict.At(j), d.X) {
			return fmt.Errorf("element %d is %v, by definition %v", j, e.Dict.At(j), d.X)
		}
		for c, v := range d.W {
			if got := e.Weights(j)[c]; !(math.Abs(got-v) <= 1e-6*largest) {
				return fmt.Errorf("weights of element %d are %v, by definition %v", j, e.Weights(j), d.W)
			}
		}
	}
	return nil
}

// keepsBudget checks that the heuristic keeps to its order or ε after every step.
func keepsBudget(s setup) error {
	l := s.learner(logistic, 3)
	return follow(l, newStream(logistic, 3), 3*steps, func(int) error { return s.inBudget(l) })
}

// growsByNewSamples checks that the dictionary never grows by more than the samples with a
// gradient.
func growsByNewSamples(s setup) error {
	l := s.learner(loss.MultiHinge{}, 3)
	return follow(l, newStream(logistic, 3), 3*steps, func(before int) error {
		if m, n := l.Expansion().Order(), l.Last().Active; m > before+n {
			return fmt.Errorf("%d elements became %d by %d new samples", before, m, n)
		}
		return nil
	})
}

// isDetermined checks that the same seed gives the same bits, with one thread or two.
func isDetermined(s setup) error {
	var first *polk.Learner
	for i := range 3 {
		l := s.learner(logistic, 3)
		l.SetThreads(1 + i/2)
		if err := follow(l, newStream(logistic, 3), steps, nil); err != nil {
			return err
		}
		if first == nil {
			first = l
		} else if err := sameBits(first.Expansion(), l.Expansion()); err != nil {
			return fmt.Errorf("two runs, %d threads: %w", 1+i/2, err)
		}
	}
	return nil
}

// canBeCancelled checks that a step whose context has ended either succeeds or fails with the
// context's error, and that the learner can continue.
func canBeCancelled(s setup) error {
	l := s.learner(logistic, 3)
	in := newStream(logistic, 3)
	if err := follow(l, in, steps, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x, y := in.next(batch)
	if _, err := l.Step(ctx, batch, x, y); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if err := finite(l.Expansion()); err != nil {
		return err
	}
	return follow(l, in, 1, func(int) error { return s.inBudget(l) })
}

// bearsDuplicates tests points on a coarse grid, for which the kernel matrix of the samples is
// singular.
func bearsDuplicates(s setup) error {
	for _, l := range []loss.Loss{logistic, loss.MultiHinge{}} {
		learner, in := s.learner(l, 3), newStream(l, 3)
		in.grid = true
		if err := follow(learner, in, 3*steps, func(int) error { return s.sound(learner) }); err != nil {
			return fmt.Errorf("%s loss: %w", l.Name(), err)
		}
	}
	return nil
}

// bearsNonFinite checks that a non-finite feature is an error that leaves the learner unchanged,
// and that non-finite weights and points don't make the pruner panic or run forever.
func bearsNonFinite(s setup) error {
	l := s.learner(logistic, 3)
	in := newStream(logistic, 3)
	if err := follow(l, in, 2, nil); err != nil {
		return err
	}
	before := l.Expansion().Clone()
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		x, y := in.next(batch)
		x[0] = float32(v)
		if _, err := l.Step(context.Background(), batch, x, y); err == nil {
			return fmt.Errorf("a feature %v is no error", v)
		}
		if err := sameBits(before, l.Expansion()); err != nil {
			return fmt.Errorf("a feature %v changes the model: %w", v, err)
		}
		s.pruneState(9, 4, func(_ [][]float32, w [][]float64) { w[2][0], w[7][1] = v, v })
		s.pruneState(9, 4, func(_ [][]float32, w [][]float64) {
			for j := range w {
				w[j] = []float64{v, v, v}
			}
		})
		s.pruneState(9, 4, func(x [][]float32, _ [][]float64) { x[4] = []float32{float32(v), 0, 0} })
	}
	return nil
}

// bearsFewElements tests dictionaries of no, one and two elements, new or old, and a repeated
// point.
func bearsFewElements(s setup) error {
	for n := range 3 {
		for _, old := range []int{n / 2, n} {
			s.pruneState(n, old, func([][]float32, [][]float64) {})
		}
	}
	l := s.learner(logistic, 3)
	x, y := newStream(logistic, 3).next(1)
	for range steps { // the same point in each step
		if _, err := l.Step(context.Background(), 1, x, y); err != nil {
			return err
		}
		if err := s.sound(l); err != nil {
			return err
		}
	}
	return nil
}

// prunesAnyOutputs tests one function, two classes and five classes.
func prunesAnyOutputs(s setup) error {
	for _, p := range []struct {
		loss    loss.Loss
		classes int
	}{{loss.BinaryLogistic{}, 2}, {loss.SquaredError{}, 0}, {logistic, 2}, {loss.MultiHinge{}, 5}} {
		l := s.learner(p.loss, p.classes)
		if err := follow(l, newStream(p.loss, p.classes), steps, func(int) error { return s.sound(l) }); err != nil {
			return fmt.Errorf("%s loss, %d classes: %w", p.loss.Name(), p.classes, err)
		}
	}
	return nil
}

// goesOnWhenRestored checks that a saved learner and the one restored from it continue with the
// same bits.
func goesOnWhenRestored(s setup) error {
	l := s.learner(logistic, 3)
	in := newStream(logistic, 3)
	for range 3 {
		if err := follow(l, in, 5, nil); err != nil {
			return err
		}
		var functions, state bytes.Buffer
		if err := errors.Join(l.Expansion().Write(&functions, nil), l.WriteState(&state)); err != nil {
			return err
		}
		f, err := kernel.ReadExpansion(&functions, nil)
		if err != nil {
			return err
		}
		restored, err := polk.Restore(f, &state, s.config(logistic, 3))
		if err != nil {
			return err
		}
		for range 7 {
			x, y := in.next(batch)
			_, first := l.Step(context.Background(), batch, x, y)
			_, second := restored.Step(context.Background(), batch, x, y)
			if err := errors.Join(first, second); err != nil {
				return err
			}
		}
		if err := sameBits(l.Expansion(), restored.Expansion()); err != nil {
			return fmt.Errorf("saved and restored: %w; what a pruner keeps has to be saved (prune.Stateful)", err)
		}
	}
	return nil
}

// keepsByElement checks that a pruner keeps its state by element, not by number: in two learners
// whose dictionaries differ only in order, the same elements stay. Each step has one sample, so
// that no two elements have the same age.
func keepsByElement(s setup) error {
	one, other := s.literal(logistic), s.literal(logistic)
	if _, ok := one.Pruner.Pruner.(prune.Stateful); !ok {
		return nil // it keeps nothing
	}
	r, in := rand.New(rand.NewPCG(18, 2)), newStream(logistic, 3)
	for t := range 3 * steps {
		x, y := in.next(1)
		if err := errors.Join(one.Step(1, dim, x, y), other.Step(1, dim, x, y)); err != nil {
			return err
		}
		r.Shuffle(len(other.D), func(i, j int) { other.D[i], other.D[j] = other.D[j], other.D[i] })
		if a, b := ids(one), ids(other); !slices.Equal(a, b) {
			return fmt.Errorf("step %d: elements %v stay, and %v in a dictionary of another order; what is kept of elements must be kept by their ID (prune.PerElement), and ties must not be broken by their number (scores that are all NaN are ties)", t, a, b)
		}
	}
	return nil
}

// ids returns the IDs of the dictionary's elements, sorted.
func ids(l *literal.Learner) (all []uint64) {
	for _, d := range l.D {
		all = append(all, d.ID)
	}
	slices.Sort(all)
	return all
}

// pruneState prunes a state of n elements, the first old of them from the dictionary, after
// change has modified their points and weights. The pruner may fail. pruneState panics if the
// pruner makes more calls than any pruner can need.
func (s setup) pruneState(n, old int, change func(x [][]float32, w [][]float64)) {
	cfg := s.config(logistic, 3)
	in := newStream(logistic, 3)
	x, y := in.next(max(n, 1))
	step := prune.Step{
		T: 5, Len: n, N: max(n, 1), X: x, Y: y, Rate: rate, Epsilon: cfg.Budget.Epsilon(rate),
		Kernel: cfg.Kernel, Loss: cfg.Loss, Outputs: 3, Threads: 1, Rand: rand.New(rand.NewPCG(1, 2)),
	}
	var points [][]float32
	var w [][]float64
	var age []int
	for j := range n {
		points = append(points, x[j*dim:(j+1)*dim])
		w = append(w, []float64{in.r.Float64(), -in.r.Float64(), in.r.Float64()})
		age = append(age, n-j)
	}
	change(points, w)
	st := literal.NewState(cfg.Pruner, step, old, points, w, age)
	_ = literal.Prune(context.Background(), cfg.Pruner, &watched{State: st})
}

// watched counts the calls of a state's methods.
type watched struct {
	literal.State
	calls int
}

const patience = 1 << 20

func (w *watched) look() {
	if w.calls++; w.calls > patience {
		panic("it does not end")
	}
}

func (w *watched) Len() int           { w.look(); return w.State.Len() }
func (w *watched) Total() int         { w.look(); return w.State.Total() }
func (w *watched) Present(j int) bool { w.look(); return w.State.Present(j) }
