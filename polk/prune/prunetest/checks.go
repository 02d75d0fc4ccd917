package prunetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

var (
	logistic = loss.MultiLogistic{}
	hinge    = loss.MultiHinge{}
	squared  = loss.SquaredError{}
)

// equalsLiteral checks that the heuristic leaves the same elements of a state that computes each
// quantity by its definition, and the same weights to within 1e-6 of the largest.
func equalsLiteral(s setup) error {
	for _, l := range []loss.Loss{logistic, squared} {
		learner, err := s.withTwin(l, nil)
		if err != nil {
			return err
		}
		if err := s.follow(learner, newStream(l, 3), steps); err != nil {
			return fmt.Errorf("%s loss: %w", l.Name(), err)
		}
	}
	return nil
}

// isSound follows streams of several numbers of functions, streams of duplicates, for which the
// kernel matrix of the samples is singular, and streams of one sample a step.
func isSound(s setup) error {
	for _, c := range []struct {
		loss       loss.Loss
		classes    int
		duplicates bool
		batch      int
	}{
		{logistic, 3, false, batch}, {hinge, 3, false, batch}, {logistic, 3, true, batch}, {hinge, 3, true, 1},
		{loss.BinaryLogistic{}, 2, false, 1}, {squared, 0, false, batch}, {logistic, 2, false, batch}, {hinge, 5, false, batch},
	} {
		in := newStream(c.loss, c.classes)
		in.grid, in.batch = c.duplicates, c.batch
		if err := s.follow(s.learner(c.loss, c.classes), in, 3*steps); err != nil {
			return fmt.Errorf("%s loss, %d classes, duplicates %v, batches of %d: %w", c.loss.Name(), c.classes, c.duplicates, c.batch, err)
		}
	}
	return nil
}

// isDetermined checks that the same seed gives the same bits, with one thread or two.
func isDetermined(s setup) error {
	one, two := s.learner(logistic, 3), s.learner(logistic, 3)
	two.SetThreads(2)
	if err := errors.Join(s.follow(one, newStream(logistic, 3), steps), s.follow(two, newStream(logistic, 3), steps)); err != nil {
		return err
	}
	return sameBits(one.Expansion(), two.Expansion())
}

// canBeCancelled checks that a step whose context ends, before the pruner begins or later, either
// succeeds or fails with the context's error, and that the learner can continue.
func canBeCancelled(s setup) error {
	l := s.learner(logistic, 3)
	in := newStream(logistic, 3)
	if err := s.follow(l, in, steps); err != nil {
		return err
	}
	for left := 0; ; left++ {
		x, y := in.next(batch)
		_, err := l.Step(&learnertest.Countdown{Context: context.Background(), Left: left}, batch, x, y)
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		if again := s.follow(l, in, 1); again != nil || err == nil {
			return again
		}
	}
}

// goesOnWhenRestored checks that a saved learner and the one restored from it continue with the
// same bits.
func goesOnWhenRestored(s setup) error {
	l, in, again := s.learner(logistic, 3), newStream(logistic, 3), newStream(logistic, 3)
	if err := s.follow(l, in, steps); err != nil {
		return err
	}
	again.next(steps * batch)
	var functions, state bytes.Buffer
	err := errors.Join(l.Expansion().Write(&functions, nil), l.WriteState(&state))
	if errors.Is(err, errors.ErrUnsupported) {
		return nil // it can't be saved
	}
	if err != nil {
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
	if err := errors.Join(s.follow(l, in, steps), s.follow(restored, again, steps)); err != nil {
		return err
	}
	if err := sameBits(l.Expansion(), restored.Expansion()); err != nil {
		return fmt.Errorf("saved and restored: %w; what a pruner keeps has to be saved (prune.Stateful)", err)
	}
	return nil
}

// keepsByElement checks that a pruner keeps its state by element, not by number: of two that see
// the same elements in different orders, each leaves the same. Each step has one sample, so that no
// two elements have the same age.
func keepsByElement(s setup) error {
	if _, ok := s.config(logistic, 3).Pruner.Pruner().(prune.Stateful); !ok {
		return nil // it keeps nothing
	}
	l, err := s.withTwin(logistic, rand.New(rand.NewPCG(18, 2)))
	if err != nil {
		return err
	}
	in := newStream(logistic, 3)
	in.batch = 1
	if err := s.follow(l, in, 3*steps); err != nil {
		return fmt.Errorf("with the dictionary in another order: %w; what is kept of elements must be kept by their ID, and ties must not be broken by their number (scores that are all NaN are ties)", err)
	}
	return nil
}
