package online

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
)

// series returns n rows "x1,x2,y" of y = sin(5·x1) + x2 + noise with deviation 0.1, from which shift
// is subtracted in the second half.
func series(n int, shift float64) (lines []string) {
	r := rand.New(rand.NewPCG(41, 0))
	for i := range n {
		a, b := r.Float64(), r.Float64()
		y := math.Sin(5*a) + b + 0.1*r.NormFloat64()
		if i >= n/2 {
			y -= shift
		}
		lines = append(lines, fmt.Sprintf("%v,%v,%v", a, b, y))
	}
	return lines
}

// streamed trains on a stream with recursive least squares and returns the RMSE of the last rows
// before they were learned.
func streamed(t *testing.T, lines []string, change func(*TrainOptions)) (m *Model, rmse float64) {
	t.Helper()
	opt := tuning("squared-error", stream(lines))
	opt.Progress = func(_ *Model, p Progress) { rmse = p.RMSE() }
	change(&opt)
	return mustTrain(t, opt), rmse
}

// The regression of a stream reaches the noise with few elements and within a given order, and its
// model predicts what the learner predicts. Forgetting follows a stream that changes.
func TestRecursive(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	m, rmse := streamed(t, series(2000, 0), func(*TrainOptions) {})
	r := m.Settings().Recursive
	if r == nil || !(rmse < 0.105) || m.Order() > 48 || m.Settings().Batch != 1 {
		t.Fatalf("RMSE %v with %d elements, %+v", rmse, m.Order(), m.Settings())
	}
	x := []float32{0.5, -1}
	if own, want := m.scores(1, x)[0], m.learner.(*recursiveLearner).Score(x); !(math.Abs(own-want) <= 1e-10) {
		t.Errorf("the model predicts %v, the learner %v", own, want)
	}
	if m, rmse := streamed(t, series(2000, 0), func(o *TrainOptions) { o.Order = 7 }); m.Order() > 7 || !(rmse < 0.2) {
		t.Errorf("RMSE %v with %d elements of 7", rmse, m.Order())
	}
	if m, _ := streamed(t, series(12, 0), func(*TrainOptions) {}); m.Order() == 0 || m.Settings().Recursive.Budget != recursiveMost {
		t.Errorf("12 rows: order %d, %+v", m.Order(), m.Settings().Recursive)
	}
	_, stays := streamed(t, series(3000, 2), func(*TrainOptions) {})
	_, forgets := streamed(t, series(3000, 2), func(o *TrainOptions) { o.Forgetting = 0.99 })
	if !(forgets < 0.25) || !(stays > 4*forgets) { // the rows just after the change included
		t.Errorf("with a change: RMSE %v, with forgetting %v", stays, forgets)
	}
}

// A setting of POLK's steps makes the steps of a stream POLK's, and Forgetting an error.
func TestRecursiveExcludesSteps(t *testing.T) {
	for name, change := range map[string]func(*TrainOptions){
		"learning rate": func(o *TrainOptions) { o.Settings.LearningRate = 0.5 },
		"batch":         func(o *TrainOptions) { o.Settings.Batch = 8 },
		"pruner":        func(o *TrainOptions) { o.Settings.Pruner = "komp" },
		"a file":        func(o *TrainOptions) { o.Source = file(t, series(30, 0)) },
		"not tuned":     func(o *TrainOptions) { o.Tune = false },
	} {
		if m, _ := streamed(t, series(30, 0), change); m.Settings().Recursive != nil {
			t.Errorf("%s: %+v", name, m.Settings())
		}
		opt := tuning("squared-error", stream(series(30, 0)))
		change(&opt)
		opt.Forgetting = 0.9
		if _, err := Train(context.Background(), opt); err == nil || !strings.Contains(err.Error(), "Forgetting") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file whose settings or whose learner do not fit it is refused.
func TestForgedRecursive(t *testing.T) {
	m, _ := streamed(t, series(60, 0), func(o *TrainOptions) { o.Order = 4 })
	file := saved(t, m)
	header, payload := hostile.Parts(file)
	for old, forged := range map[string]string{
		`"batch":1`:              `"batch":2`,
		`"loss":"squared-error"`: `"loss":"multi-hinge","labels":["1","2"]`,
		`"budget":4`:             `"budget":0`,
		`"forgetting":1`:         `"forgetting":1.5`,
	} {
		text := strings.Replace(header, old, forged, 1)
		if _, err := Read(bytes.NewReader(hostile.Seal(string(magic[:]), text, payload))); text == header || !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", forged, err)
		}
	}
	for part, at := range map[string]int{"a weight of training": 32 + 32 + 32 + 16, "an element": 32} {
		altered := bytes.Clone(payload)
		altered[at+1]++
		if _, err := Read(bytes.NewReader(hostile.Seal(string(magic[:]), header, altered))); !errors.Is(err, ErrFormat) {
			t.Errorf("%s is altered: %v", part, err)
		}
	}
	_, err := Read(bytes.NewReader(file))
	testutil.NoError(t, err)
}
