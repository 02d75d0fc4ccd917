package harness

import (
	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// An Objective evaluates models, and nothing else in the module does: every
// method is scored by the same code on the same examples.
//
// The risk is R(f) = (1/N) Σ ℓ(f(x_n), y_n) + (λ/2) Σ_c ‖f_c‖². The paper
// prints λ Σ‖f_c‖² for the hinge and (λ/2) Σ‖f_c‖² for the logistic loss,
// while its update (1 − ηλ)f is that of λ/2 for both: λ/2 is taken for both
// (REPRODUCE.md, assumption 8; at λ = 1e-6 no printed digit depends on it).
type Objective struct {
	loss        loss.Loss
	regularizer float64
	train, test *data.Split
	threads     int

	scorer kernel.Scorer
	scores []float64
}

// A Measurement is what an Objective says of a model.
type Measurement struct {
	TrainRisk, TestRisk, TestError float64
	ModelOrder                     int
}

// NewObjective returns the objective of a data set. The training risk is taken
// on the first trainLimit training examples, or on all of them for 0.
func NewObjective(l loss.Loss, regularizer float64, set *data.Set, trainLimit, threads int) *Objective {
	return &Objective{loss: l, regularizer: regularizer, train: head(set.Train, trainLimit), test: set.Test, threads: threads}
}

// head returns the first n examples of a split, or all of them for 0.
func head(s *data.Split, n int) *data.Split {
	if n <= 0 || n >= s.N {
		return s
	}
	return &data.Split{N: n, Dim: s.Dim, X: s.X[:n*s.Dim], Y: s.Y[:n]}
}

// Evaluate measures a model.
func (o *Objective) Evaluate(e *kernel.Expansion) Measurement {
	penalty := o.regularizer / 2 * e.NormSq(o.threads)
	train, _ := o.meanLoss(e, o.train)
	test, wrong := o.meanLoss(e, o.test)
	return Measurement{
		TrainRisk:  train + penalty,
		TestRisk:   test + penalty,
		TestError:  wrong,
		ModelOrder: e.Order(),
	}
}

// meanLoss returns the mean loss on a split and the fraction of it that is
// classified wrongly. Kernel values are float32, all sums float64.
func (o *Objective) meanLoss(e *kernel.Expansion, s *data.Split) (mean, wrong float64) {
	if s == nil || s.N == 0 {
		return 0, 0
	}
	c := e.Outputs
	if cap(o.scores) < s.N*c {
		o.scores = make([]float64, s.N*c)
	}
	scores := o.scores[:s.N*c]
	o.scorer.Scores(e, s.N, s.X, scores, o.threads)
	var sum float64
	var errors int
	for i, y := range s.Y {
		f := scores[i*c : (i+1)*c]
		sum += o.loss.Value(f, y)
		if Predict(f) != y {
			errors++
		}
	}
	return sum / float64(s.N), float64(errors) / float64(s.N)
}

// Predict returns the target that scores f speak for: the class of
// [loss.Predict], or the sign of a single score.
func Predict(f []float64) float64 {
	switch {
	case len(f) > 1:
		return float64(loss.Predict(f))
	case f[0] < 0:
		return -1
	}
	return 1
}
