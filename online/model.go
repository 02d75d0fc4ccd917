package online

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/data/rows"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A Model is a POLK learner with what it takes to feed it rows of a file. It is
// not safe for concurrent use.
type Model struct {
	settings Settings
	scaling  rows.Scaling
	loss     loss.Loss
	learner  *polk.Learner     // nil if the model was read for prediction
	f        *kernel.Expansion // the functions that predict; the learner's own if there is one
	scorer   kernel.Scorer

	rows       int64          // all rows taken, those that wait for their mini-batch included
	row        []float64      // the features of one row, for append
	x          []float32      // the rows that wait, scaled
	y          []float64      // their targets
	ended      bool           // Finish was called
	before     *trainingState // of a model that has ended and does not go on from what predicts
	checkpoint *checkpoint    // of a training that stopped before it was finished
	seen       Prequential
	trend      lossTrend

	names *rows.Names // in the header of the rows that it was begun with; nil if they had none
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
func newModel(s Settings, sc rows.Scaling) (*Model, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	l, err := polk.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Model{settings: s, scaling: sc, loss: cfg.Loss, learner: l, f: l.Expansion()}, nil
}

// Settings returns what the model was made with. Labels is the model's own.
func (m *Model) Settings() Settings { return m.settings }

// Rows returns how many rows the model was given.
func (m *Model) Rows() int64 { return m.rows }

// Order returns the number of dictionary elements.
func (m *Model) Order() int { return m.f.Order() }

// TakePrequential returns how the rows since the last call were predicted
// before they were learned.
func (m *Model) TakePrequential() Prequential {
	p := m.seen
	m.seen = Prequential{}
	return p
}

// Learn takes one row, and a step if the row completes a mini-batch. A label
// that is none of the model's and too many features are errors; after an error
// the model is as it was before the row's mini-batch. Where training diverges,
// it is as it was when its predictions were sound; see ErrDiverged.
func (m *Model) Learn(row *rows.Row) error { return m.learn(context.Background(), row) }

// learn is Learn until ctx ends: then the error is ErrStopped, the row is not
// taken, and the model has ended if a step was being made.
func (m *Model) learn(ctx context.Context, row *rows.Row) error {
	if m.ended {
		return errors.New("online: the training of the model is already finished")
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
	if len(m.y) < m.settings.Batch {
		return nil
	}
	return m.attempt(ctx, 1, (*Model).judgeAndStep)
}

// judged is the number of steps of a tuned training of a file of which one has its
// rows predicted first: there are many passes, and predicting them all takes as
// long as learning them.
const judged = 4

// judgeAndStep predicts the rows that wait and learns them.
func (m *Model) judgeAndStep() (err error) {
	if m.settings.DecaySteps == 0 || m.learner.Steps()%judged == 0 {
		err = m.judge()
	}
	if err != nil {
		m.giveUp(len(m.y))
	} else {
		err = m.step()
	}
	if errors.Is(err, ErrDiverged) && m.trend.sound != nil {
		m.rewind(m.trend.sound)
	}
	return err
}

// step learns the rows that wait.
func (m *Model) step() error {
	n := len(m.y)
	most := m.settings.maxOrder()
	err := fmt.Errorf("online: the model has more than %d elements: choose a larger parsimony constant or an order", most)
	if m.Order() <= most {
		err = m.learner.Step(n, m.x, m.y)
	}
	if errors.Is(err, polk.ErrDiverged) {
		err = m.broken()
	}
	if err != nil {
		m.giveUp(n)
		return err
	}
	m.x, m.y = m.x[:0], m.y[:0]
	return nil
}

// giveUp takes the last n rows that wait out of the model.
func (m *Model) giveUp(n int) {
	m.rows -= int64(n)
	left := len(m.y) - n
	m.x, m.y = m.x[:left*m.settings.Dim], m.y[:left]
}

// Finish learns the rows that wait for their mini-batch to fill, as a smaller
// one. The model can be used and saved afterwards, but no longer trained: one
// that Read makes of what Save writes still has these rows waiting.
func (m *Model) Finish() error { return m.finish(context.Background()) }

// finish is Finish until ctx ends: then the error is ErrStopped, and the rows wait.
func (m *Model) finish(ctx context.Context) error {
	wait := !m.ended && len(m.y) > 0
	m.ended = true
	if !wait {
		return nil
	}
	return m.attempt(ctx, 0, (*Model).learnLast)
}

// judge predicts the rows that wait, adds to the prequential error, and reports
// training that diverges.
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
		} else if m.class(f) != m.classOf(y) {
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
	m.scorer.Scores(m.f, n, x, out, 1)
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
func (m *Model) target(row *rows.Row) (float64, error) {
	if row.Label == "" {
		return 0, errors.New("the row has no label")
	}
	if m.settings.regression() {
		v, err := number(row.Label)
		return float64((v - m.settings.TargetShift) * m.settings.TargetFactor), err
	}
	label := row.Label
	class := slices.Index(m.settings.Labels, label)
	switch {
	case class < 0:
		var classes rows.Labels
		for _, l := range m.settings.Labels {
			if err := classes.Add(l); err != nil {
				return 0, err
			}
		}
		if err := classes.Add(label); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("label %.40q is not one of the %d classes; if the first rows of a stream lack some classes, list all of them for training", row.Label, len(m.settings.Labels))
	case m.outputs() > 1:
		return float64(class), nil
	}
	return float64(2*class - 1), nil
}

// number reads a target of regression.
func number(label string) (float64, error) {
	v, err := rows.ParseNumber(label)
	if err != nil {
		return 0, fmt.Errorf("label %.40q is %w: regression needs a decimal number", label, err)
	}
	return v, nil
}

// append appends the scaled features of a row to x.
func (m *Model) append(x []float32, row *rows.Row) ([]float32, error) {
	dim := m.settings.Dim
	switch {
	case row.Dim > dim:
		return x, fmt.Errorf("the row has feature %d, want at most %d features; if the first rows of a stream lack some features, set their number for training", row.Dim, dim)
	case row.Indices == nil && row.Dim < dim:
		return x, fmt.Errorf("the row has %d features, want %d", row.Dim, dim)
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
