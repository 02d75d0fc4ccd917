package online

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"polkrepro/baselines/krls"
	"polkrepro/data/rows"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A Model is a POLK learner with the settings and the scaling that turn rows of a
// file into its samples. It is not safe for concurrent use.
type Model struct {
	settings Settings
	scaling  rows.Scaling
	loss     loss.Loss
	learner  learner           // nil if the model was read for prediction
	f        *kernel.Expansion // the functions that predict; the learner's own if there is one
	scorer   kernel.Scorer

	rows       int64       // all rows taken, including those waiting for their mini-batch to fill
	row        []float64   // buffer of append: the features of one row
	x          []float32   // the scaled features of the waiting rows
	y          []float64   // their targets
	w          []float64   // their weights
	ended      bool        // Finish was called, or the model was read for prediction
	ahead      *Model      // result of Ahead, until the next row
	before     *before     // the state to continue from, if Finish has learned waiting rows; else nil
	checkpoint *checkpoint // where an unfinished training stopped
	seen       Prequential // of the rows since progress was last reported
	trend      lossTrend
	drift      *drift // of a stream; else nil

	names *rows.Names // names in the header of the first training data; nil without a header
}

// A learner learns mini-batches of scaled rows: POLK's, or kernel recursive least squares.
type learner interface {
	StepWeighted(ctx context.Context, n int, x []float32, y, weights []float64) ([]float64, error)
	Steps() int
	Expansion() *kernel.Expansion
	StateSize() (int64, error)
	WriteState(w io.Writer) error
}

// Prequential is how well a model predicted rows before it learned them.
type Prequential struct {
	Rows    int
	Wrong   int     // rows whose class was predicted wrongly
	Squares float64 // Σ(prediction − y)² of regression, in the units of the file
}

// ErrorRate returns the fraction of rows whose class was predicted wrongly.
func (p Prequential) ErrorRate() float64 { return float64(p.Wrong) / float64(p.Rows) }

// RMSE returns the root of the mean squared error of regression.
func (p Prequential) RMSE() float64 { return math.Sqrt(p.Squares / float64(p.Rows)) }

// newModel returns an untrained model.
func newModel(s Settings, sc rows.Scaling) (*Model, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	l, err := s.learner()
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, scaling: sc, learner: l, f: l.Expansion()}
	m.loss, err = loss.ByName(s.Loss)
	return m, err
}

// learner returns an untrained learner.
func (s *Settings) learner() (learner, error) {
	if s.Recursive != nil {
		cfg, err := s.Recursive.config(s)
		if err != nil {
			return nil, err
		}
		l, err := krls.New(cfg)
		return &recursiveLearner{Learner: l}, err
	}
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	return polk.New(cfg)
}

// NewPredictor returns a model for prediction with functions that another program part has learned from
// the given number of rows. Their features are scaled by sc, and their kernel is that of the settings.
// names are those in the header of the rows, nil without one.
func NewPredictor(s Settings, sc rows.Scaling, f *kernel.Expansion, learned int64, names *rows.Names) (*Model, error) {
	m := &Model{settings: s, scaling: sc, f: f, rows: learned, names: names, ended: true}
	h := header{Settings: s, Rows: learned, Elements: f.Order(), PredictionOnly: true}
	if err := h.check(); err != nil {
		return nil, err
	}
	m.loss, _ = loss.ByName(s.Loss) // check has found it
	return m, nil
}

// Settings returns the settings of the model. Their Labels are shared with the model.
func (m *Model) Settings() Settings { return m.settings }

// Rows returns the number of rows that the model was given.
func (m *Model) Rows() int64 { return m.rows }

// Order returns the number of dictionary elements.
func (m *Model) Order() int { return m.f.Order() }

// Learn takes one row, and makes a step if the row completes a mini-batch. A row
// with an unknown label or the wrong features is an error and is not taken; the
// earlier rows of its mini-batch stay waiting. An error in the step, such as
// divergence, discards all rows of the mini-batch and leaves the functions as
// they were before it.
func (m *Model) Learn(row *rows.Row) error {
	if m.ended {
		if err := m.reopen(); err != nil {
			return err
		}
	}
	y, err := m.target(row)
	if err != nil {
		return err
	}
	if m.x, err = m.append(m.x, row); err != nil {
		return err
	}
	m.y, m.w = append(m.y, y), append(m.w, m.settings.weight(row))
	m.rows++
	m.ahead = nil
	if len(m.y) < m.settings.Batch {
		return nil
	}
	return m.learnBatch(func() error {
		_, err := m.learner.StepWeighted(context.Background(), len(m.y), m.x, m.y, m.w)
		if err == nil {
			m.x, m.y, m.w = m.x[:0], m.y[:0], m.w[:0]
		}
		return err
	})
}

// A before is the state that training continues from after Finish has learned the waiting
// rows as a smaller mini-batch. In this state they still wait for their mini-batch to fill.
type before struct {
	places  []uint32  // position of each element in the dictionary that predicts, or elsewhere
	missing []float32 // the elements that are elsewhere
	state   []byte    // the weights and the state of the learner, as in a model file
}

// Finish learns the rows that wait for their mini-batch to fill, as a smaller
// mini-batch. If the model is trained further, these rows are waiting again.
func (m *Model) Finish() error {
	wait := !m.ended && len(m.y) > 0
	m.ended = true
	if !wait {
		return nil
	}
	return m.learnBatch(func() error {
		var state bytes.Buffer
		if err := m.writeState(&state); err != nil {
			return err
		}
		ids, x := make([]uint64, m.Order()), make([][]float32, m.Order())
		for j := range ids {
			ids[j], x[j] = m.f.Dict.ID(j), slices.Clone(m.f.Dict.At(j))
		}
		if _, err := m.learner.StepWeighted(context.Background(), len(m.y), m.x, m.y, m.w); err != nil {
			return err
		}
		at := make(map[uint64]uint32, m.Order())
		for j := range m.Order() {
			at[m.f.Dict.ID(j)] = uint32(j)
		}
		m.before = &before{places: make([]uint32, len(ids)), state: state.Bytes()}
		for j, id := range ids {
			var ok bool
			if m.before.places[j], ok = at[id]; !ok {
				m.before.places[j] = elsewhere
				m.before.missing = append(m.before.missing, x[j]...)
			}
		}
		return nil
	})
}

// Ahead returns a model that has learned the waiting rows, as Finish would, but that only predicts.
// It is valid until m learns further rows. m stays as it is.
func (m *Model) Ahead() (*Model, error) {
	l, ok := m.learner.(*polk.Learner) // the other learner's mini-batches are single rows
	if m.ended || len(m.y) == 0 || !ok {
		return m, nil
	}
	if m.ahead != nil {
		return m.ahead, nil
	}
	a := *m
	a.row, a.ended = nil, true
	err := a.learnBatch(func() (err error) {
		a.f, err = l.Preview(context.Background(), len(a.y), a.x, a.y, a.w)
		return err
	})
	if err != nil {
		return nil, err
	}
	a.learner, m.ahead = nil, &a
	return &a, nil
}

// reopen makes a model that has ended trainable again.
func (m *Model) reopen() error {
	if m.before != nil || m.learner == nil {
		var b bytes.Buffer
		if err := m.Save(&b); err != nil {
			return err
		}
		again, err := Read(&b)
		if err != nil {
			return err
		}
		again.seen, again.trend, again.drift = m.seen, m.trend, m.drift
		*m = *again
	}
	m.ended, m.settings.Exact = false, false // gradient steps follow
	return nil
}

// judged is the interval, in steps, at which the tuned training of a file predicts
// rows before it learns them. Such a training makes many passes, and predicting all
// rows takes as long as learning them.
const judged = 4

// learnBatch predicts the waiting rows and calls step to learn them. After an error it
// discards them.
func (m *Model) learnBatch(step func() error) (err error) {
	if m.settings.DecaySteps == 0 || m.learner.Steps()%judged == 0 {
		err = m.judge()
	}
	if most := m.settings.maxOrder(); err == nil && m.Order() > most {
		err = fmt.Errorf("online: the model has more than %d elements: choose a larger parsimony constant or an order", most)
	}
	if err == nil {
		err = step()
	}
	if errors.Is(err, polk.ErrDiverged) {
		err = m.broken()
	}
	if err != nil {
		m.rows -= int64(len(m.y))
		m.x, m.y, m.w = m.x[:0], m.y[:0], m.w[:0]
	}
	return err
}

// judge predicts the waiting rows and adds to the prequential error. It returns an
// error if training diverges.
func (m *Model) judge() error {
	n, c := len(m.y), m.outputs()
	scores := m.scores(n, m.x)
	if finite(scores) != nil {
		return m.broken()
	}
	zero := make([]float64, c)
	var risk, riskOfZero float64
	for i, y := range m.y {
		f := scores[i*c : (i+1)*c]
		if m.settings.regression() {
			d := (f[0] - y) / m.settings.TargetFactor
			m.seen.Squares += float64(d * d)
		} else if loss.Decide(f) != y {
			m.seen.Wrong++
		}
		risk += m.loss.Value(f, y)
		riskOfZero += m.loss.Value(zero, y)
	}
	m.seen.Rows += n
	return m.trackLoss(risk/float64(n), riskOfZero/float64(n))
}

// outputs returns the number of functions of the model.
func (m *Model) outputs() int { return m.loss.Outputs(len(m.settings.Labels)) }

// scores returns f_c(x_i), n×C row-major, of n scaled rows.
func (m *Model) scores(n int, x []float32) []float64 {
	out := make([]float64, n*m.f.Outputs)
	if m.settings.Recursive != nil { // its weights may be large and cancel
		m.scorer.Scores64(m.functions(), n, x, out, 1)
	} else {
		m.scorer.Scores(m.f, n, x, out, 1)
	}
	return out
}

// functions returns the functions that predict. A learner by least squares computes their weights
// only when they are asked for.
func (m *Model) functions() *kernel.Expansion {
	if m.learner != nil {
		m.f = m.learner.Expansion()
	}
	return m.f
}

// Functions returns the functions that predict, and the scaling of their features. The caller must
// not change them.
func (m *Model) Functions() (*kernel.Expansion, rows.Scaling) { return m.functions(), m.scaling }

// WithFunctions returns a model for prediction that differs from m only in its functions. They have
// the kernel, features and outputs of those of m.
func (m *Model) WithFunctions(f *kernel.Expansion) *Model {
	return &Model{settings: m.settings, scaling: m.scaling, loss: m.loss, f: f, rows: m.rows, ended: true, names: m.names}
}

// class returns the index of the class that the scores f predict.
func (m *Model) class(f []float64) int { return m.classOf(loss.Decide(f)) }

// classOf returns the index of the class of a target.
func (m *Model) classOf(y float64) int {
	if m.outputs() > 1 {
		return int(y)
	}
	return int(y+1) / 2
}

// target returns the training target for a row's label: a class index, or ±1 for two
// classes with one function, or the scaled number of a regression.
func (m *Model) target(row *rows.Row) (float64, error) {
	if row.Label == "" {
		return 0, errors.New("the row has no label")
	}
	if m.settings.regression() {
		v, err := number(row.Label)
		return float64((v - m.settings.TargetShift) * m.settings.TargetFactor), err
	}
	class, err := m.settings.class(row.Label)
	switch {
	case err != nil:
		return 0, err
	case m.outputs() > 1:
		return float64(class), nil
	}
	return float64(2*class - 1), nil
}

// class returns the index of a label among the classes.
func (s *Settings) class(label string) (int, error) {
	if class := slices.Index(s.Labels, label); class >= 0 {
		return class, nil
	}
	if err := s.conflict(label); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("label %.40q is not one of the %d classes of the model, which were fixed when its training began: correct the label, or train a new model with all classes in the rows or in --classes", label, len(s.Labels))
}

// conflict returns an error if a label is the same number as one of the classes, written differently.
func (s *Settings) conflict(label string) error {
	if slices.Contains(s.Labels, label) {
		return nil
	}
	var classes rows.Labels
	for _, l := range append(slices.Clone(s.Labels), label) {
		if err := classes.Add(l); err != nil {
			return err
		}
	}
	return nil
}

// number parses the target of a regression.
func number(label string) (float64, error) {
	v, err := rows.ParseNumber(label)
	if err != nil {
		return 0, fmt.Errorf("label %.40q is %w: regression needs a decimal number", label, err)
	}
	return v, nil
}

// holds returns an error if a row has not the number of features.
func (s *Settings) holds(row *rows.Row) error {
	switch {
	case row.Dim > s.Dim:
		return fmt.Errorf("the row has feature %d, want at most %d features, the number when training began: correct the row, or train a new model with more features in the rows or in --features", row.Dim, s.Dim)
	case row.Indices == nil && row.Dim < s.Dim:
		return fmt.Errorf("the row has %d features, want %d", row.Dim, s.Dim)
	}
	return nil
}

// append appends the scaled features of a row to x.
func (m *Model) append(x []float32, row *rows.Row) ([]float32, error) {
	dim := m.settings.Dim
	if err := m.settings.holds(row); err != nil {
		return x, err
	}
	m.row = slices.Grow(m.row[:0], dim)[:dim]
	row.Dense(m.row)
	n := len(x)
	x = slices.Grow(x, dim)[:n+dim]
	if err := m.scaling.Apply(x[n:], m.row); err != nil {
		return x[:n], err
	}
	return x, nil
}

// Regression reports whether the model predicts numbers.
func (m *Model) Regression() bool { return m.settings.regression() }
