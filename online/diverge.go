package online

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/loss"
	"polkrepro/polk"
)

// ErrDiverged is wrapped by the error of a training whose learning rate is too
// large for its loss and kernel.
var ErrDiverged = errors.New("training diverges")

// The mean loss of a mini-batch before it is learned, over the largest that the
// function 0 had on one. Up to sane the model is taken for sound; at the end of a
// training it must not be above bad, and above hopeless training ends. The
// gradient of a squared loss grows with the error, so that a step that is too
// large makes the next one larger; the others' is bounded, and a large loss says
// little of a classifier.
const (
	sane     = 4
	bad      = 100
	hopeless = 1e6
)

// A pace is what is known of the way of a training.
type pace struct {
	base  float64 // largest mean loss of 0, and of the model that training began with
	ratio float64 // of the last mini-batch's loss to base
	sound mark
	past  segment // the rows before the anchor, while no mark is after it
}

// A mark is a state of the model whose predictions were sound.
type mark struct {
	known bool
	rows  int // since the anchor
	order int
}

// A segment is what a file holds of a model: an anchor and the rows since.
type segment struct {
	anchor bytes.Buffer
	x      []float32
	y      []float64
	rows   int64 // in all
	order  int
}

// note takes the mean losses, of the model and of 0, on the mini-batch that is to
// be learned next.
func (m *Model) note(model, zero float64) error {
	p := &m.pace
	if p.base == 0 && model-model == 0 {
		p.base = model
	}
	p.base = max(p.base, zero)
	if p.ratio = 0; model > 0 || model-model != 0 {
		p.ratio = model / p.base
	}
	if !m.unbounded() || p.ratio <= sane {
		p.sound = mark{true, m.done, m.Order()}
		return nil
	}
	if p.ratio <= hopeless {
		return nil
	}
	return m.diverged(m.pace.words())
}

// words says how large the last loss is.
func (p *pace) words() string {
	return fmt.Sprintf("the loss of the last mini-batch is %.2g times that of the constant 0", p.ratio)
}

// settle is called at the end of a training, which may diverge too slowly to have
// been ended.
func (m *Model) settle() error {
	if !m.unbounded() || m.pace.ratio <= bad {
		return nil
	}
	err := m.diverged(m.pace.words())
	m.rewind()
	return err
}

// unbounded reports whether the gradient of the loss is.
func (m *Model) unbounded() bool {
	name := m.settings.Loss
	return name == loss.SquaredError{}.Name() || name == loss.SquaredHinge{}.Name()
}

// sound reports whether the model is worth saving.
func (m *Model) sound() bool { return !m.unbounded() || m.pace.ratio <= sane }

// diverged is the error of a training that diverges. It names the learning rate,
// and a lower one.
func (m *Model) diverged(why string) error {
	rate := m.settings.LearningRate
	lower := DefaultLearningRate(m.settings.Loss) / m.largestSelf()
	if !(lower < rate) || lower == 0 {
		lower = rate / 10
	}
	return fmt.Errorf("%w: %s; learning rate %.4g is too large: lower it to %.2g", ErrDiverged, why, rate, lower)
}

// largestSelf returns the largest κ(x, x) of the rows since the anchor, at least 1.
func (m *Model) largestSelf() float64 {
	self := 1.0
	k, err := m.settings.kernel()
	if err != nil {
		return self
	}
	for x := range slices.Chunk(m.x, m.settings.Dim) {
		self = max(self, k.Self(x))
	}
	return self
}

// finite reports scores that are not finite.
func finite(scores []float64) error {
	for _, v := range scores {
		if v-v != 0 {
			return fmt.Errorf("the score is %v: the kernel's values or the model's weights are too large for this row", v)
		}
	}
	return nil
}

// broken is the error of mini-batches whose scores are not finite.
func (m *Model) broken() error {
	if self := m.largestSelf(); !(self <= math.MaxFloat32) {
		return fmt.Errorf("κ(x, x) of a row is %.2g: scale the features, or lower the kernel's degree", self)
	}
	return m.diverged("the scores of the last mini-batch are not finite")
}

// rewind takes the model back to where its predictions were sound. Its learner is
// where it was.
func (m *Model) rewind() {
	p := &m.pace
	switch {
	case p.sound.known && p.sound.rows == m.done:
		m.x, m.y = m.x[:m.done*m.settings.Dim], m.y[:m.done] // the learner is there
		return
	case p.sound.known:
		m.rows -= int64(len(m.y) - p.sound.rows)
		m.x, m.y = m.x[:p.sound.rows*m.settings.Dim], m.y[:p.sound.rows]
		m.order = p.sound.order
	case p.past.anchor.Len() > 0:
		m.anchor, m.x, m.y, m.rows, m.order = p.past.anchor, p.past.x, p.past.y, p.past.rows, p.past.order
	default:
		return // nothing sound is known: the model is the one before the last step
	}
	m.done, m.stale = len(m.y), true
}

// keepPast is called before a new anchor: until a mark is after it the rows
// before it may be wanted. The new rows get the room of those before them.
func (m *Model) keepPast() {
	p := &m.pace
	if !m.unbounded() || !p.sound.known {
		return // older rows are kept
	}
	x, y, n := p.past.x, p.past.y, p.sound.rows
	p.past = segment{m.anchor, m.x[:n*m.settings.Dim], m.y[:n], m.rows - int64(len(m.y)-n), p.sound.order}
	p.sound = mark{}
	m.x, m.y = x, y
}

// divergence makes the learner's own error one that names the learning rate.
func (m *Model) divergence(err error) error {
	if errors.Is(err, polk.ErrDiverged) {
		return m.broken()
	}
	return err
}
