package online

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A Model is a POLK learner with what it takes to feed it rows of a file. It is
// not safe for concurrent use.
//
// Save computes K_DD⁻¹ afresh, which a run without interruption would not do.
// So every model does it, at fixed rows, the anchors; what is saved is the
// learner at the last anchor and the rows since, which Read learns again.
type Model struct {
	settings Settings
	scaling  scaling
	learner  *polk.Learner
	scorer   kernel.Scorer

	rows   int64        // all rows taken, those that wait for their batch included
	anchor bytes.Buffer // the learner as it was saved at the last anchor
	x      []float32    // the rows since, scaled
	y      []float64    // their targets
	done   int          // how many of them are learned
	ended  bool         // Finish was called
	place  *place       // of a training that stopped before it was finished
	seen   Prequential
}

// Prequential is how well a model predicted rows before it learned them.
type Prequential struct {
	Rows    int
	Wrong   int     // rows given another class
	Squares float64 // Σ(prediction − y)² of regression, in the units of the file
}

// ErrorRate returns the fraction of rows that were given another class.
func (p Prequential) ErrorRate() float64 { return float64(p.Wrong) / float64(p.Rows) }

// RMSE returns the root of the mean squared error of regression.
func (p Prequential) RMSE() float64 { return math.Sqrt(p.Squares / float64(p.Rows)) }

// newModel returns a model that has seen nothing.
func newModel(s Settings, sc scaling) (*Model, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, scaling: sc}
	if m.learner, err = polk.New(cfg); err != nil {
		return nil, err
	}
	return m, m.drop()
}

// Settings returns what the model was made with. Labels is the model's own.
func (m *Model) Settings() Settings { return m.settings }

// Rows returns how many rows the model was given.
func (m *Model) Rows() int64 { return m.rows }

// Order returns the number of dictionary elements.
func (m *Model) Order() int { return m.learner.Expansion().Order() }

// TakePrequential returns how the rows since the last call were predicted
// before they were learned.
func (m *Model) TakePrequential() Prequential {
	p := m.seen
	m.seen = Prequential{}
	return p
}

// anchorBatches returns the number of batches between two anchors: about 4096
// rows, less if they are long.
func (s *Settings) anchorBatches() int {
	return max(1, min(4096, maxValues/s.Dim)/s.Batch)
}

// drop makes the learner's present state the anchor. If that can't be saved the
// model is as it was.
func (m *Model) drop() error {
	var b bytes.Buffer
	if err := m.learner.Save(&b); err != nil {
		return err
	}
	m.anchor = b
	m.x, m.y, m.done = m.x[:0], m.y[:0], 0
	return nil
}

// Learn takes one row, and a step if the row completes a mini-batch. A label
// that is none of the model's and too many features are errors; after an error
// the model is as it was before the row's mini-batch.
func (m *Model) Learn(row *data.Row) error {
	if m.ended {
		return errors.New("online: the model was finished")
	}
	y, err := m.target(row)
	if err != nil {
		return err
	}
	if m.x, err = m.append(m.x, row); err != nil {
		return err
	}
	m.y = append(m.y, y)
	m.rows++
	if len(m.y)-m.done < m.settings.Batch {
		return nil
	}
	if err := m.step(); err != nil {
		return err
	}
	if m.done < m.settings.anchorBatches()*m.settings.Batch {
		return nil
	}
	if err := m.drop(); err != nil {
		m.forget()
		return err
	}
	return nil
}

// forget takes the last mini-batch out of what is saved: a file has room for fewer
// rows than there are between two anchors.
func (m *Model) forget() {
	m.done -= m.settings.Batch
	m.x, m.y = m.x[:m.done*m.settings.Dim], m.y[:m.done]
	m.rows -= int64(m.settings.Batch)
}

// step predicts the rows that wait and learns them.
func (m *Model) step() error {
	n, dim := len(m.y)-m.done, m.settings.Dim
	x, y := m.x[m.done*dim:], m.y[m.done:]
	if m.settings.DecaySteps == 0 || m.learner.Steps()%4 == 0 {
		m.judge(n, x, y)
	}
	err := m.learner.Step(n, x, y)
	if most := m.settings.maxOrder(); err == nil && m.Order() > most {
		err = fmt.Errorf("online: the model has more than %d elements: choose a larger parsimony constant or an order", most)
	}
	if err != nil {
		m.x, m.y = m.x[:m.done*dim], m.y[:m.done]
		m.rows -= int64(n)
		return err
	}
	m.done += n
	return nil
}

// Finish learns the rows that wait for their mini-batch to fill, as a smaller
// one. The model can be used and saved afterwards, but no longer trained: one
// that is read from what Save writes still has these rows waiting.
func (m *Model) Finish() error {
	if m.ended || m.done == len(m.y) {
		m.ended = true
		return nil
	}
	m.ended = true
	return m.step()
}

// judge adds to the prequential error.
func (m *Model) judge(n int, x []float32, y []float64) {
	scores := m.scores(n, x)
	c := m.outputs()
	for i := range n {
		f := scores[i*c : (i+1)*c]
		if m.settings.regression() {
			d := (f[0] - y[i]) / m.settings.TargetFactor
			m.seen.Squares += d * d
		} else if m.class(f) != m.classOf(y[i]) {
			m.seen.Wrong++
		}
	}
	m.seen.Rows += n
}

// outputs returns the number of functions of the model.
func (m *Model) outputs() int {
	if l, err := loss.ByName(m.settings.Loss); err == nil {
		return l.Outputs(len(m.settings.Labels))
	}
	return 1
}

// scores returns f_c(x_i), n×C row-major, of n scaled rows.
func (m *Model) scores(n int, x []float32) []float64 {
	e := m.learner.Expansion()
	out := make([]float64, n*e.Outputs)
	m.scorer.Scores(e, n, x, out, 1)
	return out
}

// class returns the index of the class that scores decide for.
func (m *Model) class(f []float64) int {
	switch {
	case len(f) > 1:
		return loss.Predict(f)
	case f[0] < 0:
		return 0
	}
	return 1
}

// classOf returns the index of the class of a target.
func (m *Model) classOf(y float64) int {
	if m.outputs() > 1 {
		return int(y)
	}
	return int(y+1) / 2
}

// target returns the target that a row's label stands for.
func (m *Model) target(row *data.Row) (float64, error) {
	if row.Label == "" {
		return 0, errors.New("the row has no label")
	}
	if m.settings.regression() {
		v, err := number(row.Label)
		return (v - m.settings.TargetShift) * m.settings.TargetFactor, err
	}
	class := slices.Index(m.settings.Labels, row.Label)
	switch {
	case class < 0:
		return 0, fmt.Errorf("label %.40q is none of the %d classes (name all of them to the training if the head of a stream does not show them)", row.Label, len(m.settings.Labels))
	case m.outputs() > 1:
		return float64(class), nil
	}
	return float64(2*class - 1), nil
}

// number reads a target of regression.
func number(label string) (float64, error) {
	v, err := strconv.ParseFloat(label, 64)
	if err != nil {
		return 0, fmt.Errorf("label %.40q is not a number, as regression needs", label)
	}
	return v, nil
}

// append appends the scaled features of a row to x.
func (m *Model) append(x []float32, row *data.Row) ([]float32, error) {
	dim := m.settings.Dim
	switch {
	case row.Dim > dim:
		return x, fmt.Errorf("the row has feature %d, and the model %d (say how many there are if the head of a stream does not show it)", row.Dim, dim)
	case row.Indices == nil && row.Dim < dim:
		return x, fmt.Errorf("the row has %d features, and the model %d", row.Dim, dim)
	}
	n := len(x)
	x = slices.Grow(x, dim)[:n+dim]
	row.Dense(x[n:])
	m.scaling.apply(x[n:])
	for q, v := range x[n:] {
		if v-v != 0 {
			return x[:n], fmt.Errorf("feature %d is not finite once it is scaled", q+1)
		}
	}
	return x, nil
}

// Regression reports whether the model predicts numbers.
func (m *Model) Regression() bool { return m.settings.regression() }
