package online

import (
	"context"
	"errors"

	"polkrepro/internal/until"
)

// errStale is the error of a model whose learner is not at the model's rows.
var errStale = errors.New("online: the training of this model was stopped within a step or diverged: save it and read it again")

// quick is the cost of a step, in multiply-adds, up to which nobody has to be
// able to interrupt it: a small part of a second.
const quick = 1 << 27

// attempt has work done on the model. If ctx ends first the error is ErrStopped,
// the model is what it was before, and the work goes on on a copy, with the
// learner, which the model can't use any more.
func (m *Model) attempt(ctx context.Context, work func(*Model) error) error {
	if m.stale {
		return errStale
	}
	if ctx.Err() != nil {
		return ErrStopped
	}
	order := m.Order()
	if m.cost() < quick {
		return work(m)
	}
	w := *m
	var err error
	if !until.Done(ctx, func() { err = work(&w) }) {
		m.stale, m.order = true, order
		return ErrStopped
	}
	*m = w
	return err
}

// cost returns about how many multiply-adds a step on the rows that wait takes,
// and the anchor that may follow.
func (m *Model) cost() float64 {
	n, order, dim := float64(len(m.y)-m.done), float64(m.Order()), float64(m.settings.Dim)
	cost := n * (n + order) * (n + order + dim)
	if len(m.y) >= m.settings.anchorBatches()*m.settings.Batch {
		cost += (n + order) * (n + order) * (n + order)
	}
	return cost
}
