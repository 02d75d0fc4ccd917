package harness

import (
	"math"
	"testing"

	"polkrepro/baselines/fogd"
	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/record"
)

// TestObjectiveByHand compares with sums written out with Kernel.Eval in float64. The tolerance is
// 1e-5 because kernel values have a relative precision of 1e-7, weights are of order one and a sum
// has a handful of terms.
func TestObjectiveByHand(t *testing.T) {
	set, err := data.Multidist(data.Calibrated, data.FigureDraw().Seed)
	testutil.NoError(t, err)
	const lambda, limit = 0.01, 100
	e := kernel.NewExpansion(kernel.Gaussian{Bandwidth: 0.6}, 2, set.Classes)
	for j := range 7 {
		w := make([]float64, set.Classes)
		w[int(set.Train.Y[j])] = 1 + float64(j)/10
		e.Append(set.Train.Row(j), w)
	}
	for _, l := range []loss.Loss{loss.MultiHinge{}, loss.MultiLogistic{}} {
		got := NewObjective(l, lambda, set, limit).Evaluate(1, e, 1)
		var want record.Point
		penalty := lambda / 2 * inner(e, e)
		want.TrainRisk, _ = risk(e, l, head(set.Train, limit))
		want.TestRisk, want.TestError = risk(e, l, set.Test)
		want.TrainRisk += penalty
		want.TestRisk += penalty
		near(t, l.Name()+" training risk", got.TrainRisk, want.TrainRisk, 1e-5)
		near(t, l.Name()+" test risk", got.TestRisk, want.TestRisk, 1e-5)
		near(t, l.Name()+" test error", got.TestError, want.TestError, 1e-3)
		near(t, l.Name()+" squared norm", *got.NormSq, inner(e, e), 1e-12)
		if _, ok := l.(loss.Probabilistic); ok {
			near(t, "log loss", got.Reliability.LogLoss, want.TestRisk-penalty, 1e-5)
		} else if got.Reliability != nil {
			t.Errorf("the hinge has no probabilities, and yet a reliability: %+v", got.Reliability)
		}
		if got.ModelOrder != 7 {
			t.Errorf("model order %d, want 7", got.ModelOrder)
		}
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// risk returns the mean loss and the error rate on a split.
func risk(m kernel.Model, l loss.Loss, s *data.Split) (mean, wrong float64) {
	for i := range s.N {
		f := score(m, s.Row(i))
		mean += l.Value(f, s.Y[i]) / float64(s.N)
		if loss.Decide(f) != s.Y[i] {
			wrong += 1 / float64(s.N)
		}
	}
	return mean, wrong
}

// score returns f(x), for an expansion by the definition.
func score(m kernel.Model, x []float32) []float64 {
	if e, ok := m.(*kernel.Expansion); ok {
		return testutil.Score(e, x)
	}
	f := make([]float64, 1) // of a regression
	if features, ok := m.(*fogd.Model); ok {
		f = make([]float64, features.Classes)
	}
	m.Scores(1, x, f, 1)
	return f
}
