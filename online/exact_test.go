package online

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// A countdown is a context that ends after a number of looks at it.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// The weights of a regression on a file are those of least squares, and a training that is stopped
// anywhere, in the pass that solves for them too, resumes to the same model.
func TestExactWeights(t *testing.T) {
	opt := tuning("squared-error", file(t, table(501, "squared-error", 31)))
	opt.Order, opt.Epochs = 12, 1
	opt.Settings.Scale, opt.Settings.Bandwidth, opt.Settings.LearningRate = "unit", 0.3, 0.5
	whole := mustTrain(t, opt)
	want := saved(t, whole)
	if e := evaluation(t, whole, table(500, "squared-error", 32)); !whole.Settings().Exact || whole.Order() != 12 || !(e.R2 > 0.9) {
		t.Errorf("order %d, %+v", whole.Order(), e.Regression)
	}
	stopped := false
	for _, looks := range []int{700, 1250, 1600, 2000} {
		m, err := Train(countdown{context.Background(), &looks}, opt)
		if m == nil {
			continue
		}
		if err != nil && !errors.Is(err, ErrStopped) {
			t.Fatal(err)
		}
		stopped = stopped || m.Unfinished() && m.checkpoint.Pass == 1
		again := opt
		again.Tune, again.Resume = false, reread(t, m)
		if m.Unfinished() {
			m = mustTrain(t, again)
		}
		if !bytes.Equal(saved(t, m), want) {
			t.Errorf("stopped after %d looks at the context: another model", looks)
		}
	}
	if !stopped {
		t.Error("never stopped in the last pass")
	}
	again := reread(t, whole)
	err := again.Finish()
	if lines := table(20, "squared-error", 34); err != nil || predictions(t, again, lines) != predictions(t, whole, lines) {
		t.Errorf("read again and finished, the model predicts something else: %v", err)
	}
	more := opt
	more.Tune, more.Source, more.Resume = false, stream(table(200, "squared-error", 33)), reread(t, whole)
	if m := mustTrain(t, more); m.Rows() != whole.Rows()+200 || m.Unfinished() || m.Settings().Exact {
		t.Errorf("%d rows", m.Rows())
	}
}
