package harness

import (
	"math"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/record"
)

// An Objective evaluates models, and nothing else in the module does: every
// method is scored by the same code on the same examples.
//
// The risk is R(f) = (1/N) Σ ℓ(f(x_n), y_n) + (λ/2) Σ_c ‖f_c‖². The paper
// prints λ Σ‖f_c‖² for the hinge and (λ/2) Σ‖f_c‖² for the logistic loss,
// while its update (1 − ηλ)f is that of λ/2 for both: λ/2 is taken for both
// (assumption regularizer). Σ‖f_c‖² is recorded, so that the risk with λ is another
// reading of the same records; it makes the hinge's on MNIST 11 % larger.
type Objective struct {
	loss        loss.Loss
	regularizer float64
	train, test *data.Split
	windows     int // of the test set; 0 if its distribution stays
	seen        int // training examples in all
	outputs     int // of a model
	evaluator   *kernel.Evaluator
	latest      []float64 // scores of all test examples at the latest evaluation
}

// evaluationMemory bounds the kernel values that an objective keeps between
// evaluations, in bytes. Twice what the largest dictionary of the paper's
// tables takes (2,326 elements, and 20,000 examples of MNIST: 200 MiB); every
// run under way has its own.
const evaluationMemory = 512 << 20

// NewObjective returns the objective of a data set. The training risk is taken
// on the first trainLimit training examples, or on all of them for 0. It holds
// on to the examples without copying them.
func NewObjective(l loss.Loss, regularizer float64, set *data.Set, trainLimit int) *Objective {
	train := head(set.Train, trainLimit)
	return &Objective{
		loss:        l,
		regularizer: regularizer,
		train:       train,
		test:        set.Test,
		windows:     set.Windows,
		seen:        set.Train.N,
		outputs:     l.Outputs(set.Classes),
		evaluator:   kernel.NewEvaluator(train.Dim, evaluationMemory, train.X, set.Test.X),
	}
}

// head returns the first n examples of a split, or all of them for 0.
func head(s *data.Split, n int) *data.Split {
	if n <= 0 || n >= s.N {
		return s
	}
	return s.Slice(0, n)
}

// Evaluate measures a model that has processed so many samples of a stream, on at most
// threads goroutines, on whose number the measurement does not depend. It is fast where a
// [kernel.Expansion] has few elements that are new since the last call. A model without norm
// has no risks. Where the distribution drifts, the test set is the window of that time alone.
// What a point has of the learner and its stream is missing.
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
		out.NormSq = new(max(0, normSq)) // rounding may leave less than 0 of nothing
	}
	if l, ok := o.loss.(loss.Probabilistic); ok && finite(testLoss) {
		out.Reliability = reliability(l, scores, test.Y, testLoss)
	}
	return out
}

// score sets latest, and returns a model's scores of the training examples and Σ‖f_c‖².
func (o *Objective) score(m kernel.Model, threads int) (train []float64, normSq float64) {
	if e, ok := m.(*kernel.Expansion); ok { // of which kernel values are kept
		scores, normSq := o.evaluator.Evaluate(e, threads)
		o.latest = scores[1]
		return scores[0], normSq
	}
	train, o.latest = make([]float64, o.train.N*o.outputs), make([]float64, o.test.N*o.outputs)
	m.Scores(o.test.N, o.test.X, o.latest, threads)
	if normSq = m.NormSq(threads); !math.IsNaN(normSq) { // or there are no risks
		m.Scores(o.train.N, o.train.X, train, threads)
	}
	return train, normSq
}

// window returns the window of the test set that is nearest in time to a model
// that has processed so many samples. A new epoch starts over.
func (o *Objective) window(samples int) int {
	fraction := float64((samples-1)%o.seen+1) / float64(o.seen)
	return max(0, int(math.Round(fraction*float64(o.windows)))-1)
}

// meanLoss is means of the scores on a split.
func (o *Objective) meanLoss(scores []float64, s *data.Split) (mean, wrong float64) {
	t := tally{loss: o.loss}
	for i, y := range s.Y {
		t.add(scores[i*o.outputs:(i+1)*o.outputs], y)
	}
	return t.means(s.N)
}

// A tally adds up losses and errors: the one definition of both.
type tally struct {
	loss  loss.Loss
	sum   float64
	wrong int
}

// add adds an example of scores f.
func (t *tally) add(f []float64, y float64) {
	t.sum += t.loss.Value(f, y)
	if loss.Decide(f) != y {
		t.wrong++
	}
}

// means returns the mean loss of n examples and the fraction of them that is classified
// wrongly or, of a regression, the root of the mean squared error. Examples of no loss
// that are classified correctly need not have been added.
func (t *tally) means(n int) (mean, wrong float64) {
	mean = t.sum / float64(n)
	if t.loss == (loss.SquaredError{}) { // ½(f − y)²: there is nothing to decide
		return mean, math.Sqrt(2 * mean)
	}
	return mean, float64(t.wrong) / float64(n)
}
