package online

import (
	"errors"
	"fmt"
)

// ErrDiverged is wrapped by the error of a training whose learning rate is too
// large for its loss and kernel.
var ErrDiverged = errors.New("training diverges")

// Thresholds of the ratio that detects divergence: the mean loss of a mini-batch
// before it is learned, divided by the largest mean loss of the zero function on any
// mini-batch. If the ratio, averaged over the last rows, exceeds sane, the model is
// not saved; at the end of a training it must not exceed bad. If the ratio of a single
// mini-batch exceeds hopeless, training ends. Only squared losses are checked: their
// gradient grows with the error, so a step that is too large makes the next one larger.
// Other losses have a bounded gradient, and a large loss says little about a classifier.
const (
	sane     = 4
	bad      = 100
	hopeless = 1e6
)

// averaged is the approximate number of rows in the average.
const averaged = 256

// A lossTrend follows the loss during a training, to detect divergence.
type lossTrend struct {
	base  float64 // largest mean loss of the zero function, and of the model on the first mini-batch
	level float64 // mean loss of a mini-batch divided by base, averaged
}

// trackLoss updates the trend with the mean losses of the model and of the zero function
// on the mini-batch to be learned next. It returns an error if training diverges.
func (m *Model) trackLoss(model, zero float64) error {
	if !unboundedGradient(m.settings.Loss) || m.settings.Recursive != nil { // least squares take no steps
		return nil
	}
	t := &m.trend
	first := t.base == 0
	if first {
		t.base = model
	}
	t.base = max(t.base, zero)
	last := 0.0
	if model != 0 {
		last = model / t.base
	}
	t.level += float64(min(1, float64(len(m.y))/averaged) * (last - t.level))
	if first {
		t.level = last
	}
	if !(last <= hopeless) {
		return m.diverged(last)
	}
	return nil
}

// diverged returns the error of a training whose loss is ratio times that of the zero function.
func (m *Model) diverged(ratio float64) error {
	return m.tooFast(fmt.Sprintf("the loss of the last rows is %.2g times that of the constant 0", ratio))
}

// tooFast returns the error of a training that diverges. It names the learning rate and
// suggests a lower one.
func (m *Model) tooFast(why string) error {
	rate := m.settings.LearningRate
	lower := DefaultLearningRate(m.settings.Loss)
	if !(lower < rate) {
		lower = rate / 10
	}
	return fmt.Errorf("%w: %s; learning rate %.4g is too large: lower it to %.2g", ErrDiverged, why, rate, lower)
}

// finite returns an error if a score is not finite.
func finite(scores []float64) error {
	for _, v := range scores {
		if v-v != 0 {
			return fmt.Errorf("the score is %v: the model's weights are too large for this row", v)
		}
	}
	return nil
}

// broken returns the error of a mini-batch whose scores are not finite.
func (m *Model) broken() error {
	return m.tooFast("the scores of the last mini-batch are not finite")
}
