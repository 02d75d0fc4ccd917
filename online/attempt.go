package online

import (
	"context"

	"polkrepro/internal/until"
)

// quickStep is the cost of a step, in multiply-adds, up to which nobody has to be
// able to interrupt it: a part of a second. A larger one takes at least as long as
// the copy of the learner that interrupting it needs.
const quickStep = 1 << 30

// attempt has a step made. If ctx ends first the error is ErrStopped, the step goes
// on on its own with the learner, and the model is what it was before its last rows
// came, so many of them.
func (m *Model) attempt(ctx context.Context, last int, step func(*Model) error) error {
	if ctx.Err() != nil {
		m.giveUp(last)
		return ErrStopped
	}
	if m.cost() < quickStep {
		return step(m)
	}
	before, err := m.snapshot(last)
	if err != nil {
		m.giveUp(len(m.y))
		return err
	}
	w := *m
	if until.Done(ctx, func() { err = step(&w) }) {
		*m = w
		return err
	}
	m.rewind(before)
	return ErrStopped
}

// cost returns about how many multiply-adds a step on the rows that wait takes.
func (m *Model) cost() float64 {
	n, order, dim := float64(len(m.y)), float64(m.Order()), float64(m.settings.Dim)
	cost := float64(n * (n + order) * (n + order + dim))
	if cost >= quickStep && !m.settings.inverse() {
		return n * (n + order) * dim
	}
	return cost
}
