package harness

import (
	"math"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/record"
)

// An Objective evaluates models. It is the only evaluator in the module: every
// method is scored by the same code on the same examples.
//
// The risk is R(f) = (1/N) Σ ℓ(f(x_n), y_n) + (λ/2) Σ_c ‖f_c‖². The paper
// prints λ Σ‖f_c‖² for the hinge and (λ/2) Σ‖f_c‖² for the logistic loss, but its
// update (1 − ηλ)f corresponds to λ/2 for both. The objective uses λ/2 for both
// (assumption regularizer). Records contain Σ‖f_c‖², so that the risk with λ can be
// computed from them; with λ the hinge's risk on MNIST is 11 % larger.
type Objective struct {
	loss        loss.Loss
	regularizer float64
	train, test *data.Split
	windows     int // windows of the test set; 0 if its distribution does not drift
	seen        int // number of all training examples
	outputs     int // functions of a model
	evaluator   *kernel.Evaluator
	latest      []float64 // scores of all test examples at the latest evaluation
}

// evaluationMemory is the maximum size, in bytes, of the kernel values that an objective
// keeps between evaluations. It is twice the need of the largest dictionary in the paper's
// tables (2,326 elements and 20,000 examples of MNIST: 200 MiB). Each active run has its
// own objective.
const evaluationMemory = 512 << 20

// NewObjective returns the objective of a data set. The training risk is computed
// on the first trainLimit training examples, or on all of them for 0. The objective
// keeps the examples without copying them, unless they are of a user's file.
func NewObjective(l loss.Loss, regularizer float64, set *data.Set, trainLimit int) *Objective {
	train, test := head(set.Train, trainLimit).Dense(), set.Test.Dense()
	return &Objective{
		loss:        l,
		regularizer: regularizer,
		train:       train,
		test:        test,
		windows:     set.Windows,
		seen:        set.Train.N,
		outputs:     l.Outputs(set.Classes),
		evaluator:   kernel.NewEvaluator(train.Dim, evaluationMemory, train.X, test.X),
	}
}

// head returns the first n examples of a split, or all of them for 0.
func head(s *data.Split, n int) *data.Split {
	if n <= 0 || n >= s.N {
		return s
	}
	return s.Slice(0, n)
}

// Evaluate measures a model that has processed the given number of samples of a stream. It
// uses at most threads goroutines; the result does not depend on their number. It is fast for
// a [kernel.Expansion] with few new elements since the last call. A model without norm has no
// risks. If the distribution drifts, the test set is only the window of that time. The
// point's fields that describe the learner and its stream are not set.
func (o *Objective) Evaluate(samples int, m kernel.Model, threads int) record.Point {
	train, normSq := o.score(m, threads)
	test, scores := o.test, o.latest
	if o.windows > 0 {
		n := o.test.N / o.windows
		first := o.window(samples) * n
		scores, test = scores[first*o.outputs:(first+n)*o.outputs], o.test.Slice(first, first+n)
	}
	penalty := float64(o.regularizer / 2 * normSq)
	trainLoss, _ := o.meanLoss(train, o.train)
	testLoss, wrong := o.meanLoss(scores, test)
	out := record.Point{
		Samples:    samples,
		TrainRisk:  trainLoss + penalty,
		TestRisk:   testLoss + penalty,
		TestError:  wrong,
		ModelOrder: m.Order(),
	}
	if finite(normSq) {
		out.NormSq = new(max(0, normSq)) // rounding can make it negative
	}
	if l, ok := o.loss.(loss.Probabilistic); ok && finite(testLoss) {
		out.Reliability = reliability(l, scores, test.Y, testLoss)
	}
	return out
}

// score sets latest and returns a model's scores on the training examples and Σ‖f_c‖².
func (o *Objective) score(m kernel.Model, threads int) (train []float64, normSq float64) {
	if e, ok := m.(*kernel.Expansion); ok { // the evaluator keeps its kernel values
		scores, normSq := o.evaluator.Evaluate(e, threads)
		o.latest = scores[1]
		return scores[0], normSq
	}
	train, o.latest = make([]float64, o.train.N*o.outputs), make([]float64, o.test.N*o.outputs)
	m.Scores(o.test.N, o.test.X, o.latest, threads)
	if normSq = m.NormSq(threads); !math.IsNaN(normSq) { // without a norm there are no risks
		m.Scores(o.train.N, o.train.X, train, threads)
	}
	return train, normSq
}

// window returns the window of the test set that is nearest in time to a model that has
// processed the given number of samples. Each epoch starts again with the first window.
func (o *Objective) window(samples int) int {
	fraction := float64((samples-1)%o.seen+1) / float64(o.seen)
	return max(0, int(math.Round(fraction*float64(o.windows)))-1)
}

// meanLoss returns the tally's means for the scores on a split.
func (o *Objective) meanLoss(scores []float64, s *data.Split) (mean, wrong float64) {
	t := tally{loss: o.loss}
	for i, y := range s.Y {
		t.add(scores[i*o.outputs:(i+1)*o.outputs], y)
	}
	return t.means(s.N)
}

// A tally adds up losses and errors. It is the only definition of both.
type tally struct {
	loss  loss.Loss
	sum   float64
	wrong int
}

// add adds an example with scores f and target y.
func (t *tally) add(f []float64, y float64) {
	t.sum += t.loss.Value(f, y)
	if loss.Decide(f) != y {
		t.wrong++
	}
}

// means returns the mean loss of n examples and their error rate or, for a regression, the
// root mean squared error. Correctly classified examples with zero loss need not have been
// added.
func (t *tally) means(n int) (mean, wrong float64) {
	mean = t.sum / float64(n)
	if t.loss == (loss.SquaredError{}) { // ½(f − y)²: there is nothing to decide
		return mean, math.Sqrt(2 * mean)
	}
	return mean, float64(t.wrong) / float64(n)
}
