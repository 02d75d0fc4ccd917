package online

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"polkrepro/data/rows"
	"polkrepro/loss"
	"polkrepro/polk/prune"
)

// The search for settings, from the rows alone: the same rows give the same settings on every
// machine, because only counts of operations end it, never a clock.
//
//	a sample of the file's rows, or the first 1,000 of a stream
//	      │    part is held out, and judges everything below
//	      ▼
//	metric.go   scaling and bandwidth, by exact least squares on landmarks
//	      │       standard, unit, each with half or twice the bandwidth while that helps → the best
//	      │       its functions' derivatives → a factor for each feature, and the bandwidth again,
//	      │       round after round, until the held-out rows say that it no longer helps
//	      ▼
//	halving.go  learning rate, and a second look at metric and bandwidth, by POLK of any size
//	      │       18 candidates learn few rows → the best third twice as many → … → 1
//	      │       (not for a regression: its weights are exact, and no rate matters)
//	      ▼
//	order.go    the smallest model order that is nearly as good as the best that was tried
//	              4, 8, 16 … elements, until twice as many gain little, then half-way between
//	      ▼
//	the file is trained on with these settings
//
// trial.go trains a candidate on part of the sample and judges it. Each constant below
// trades time for something else, which its comment names.
const (
	sampleRows   = 4000  // rows that are learned in trials: more find finer differences
	judgedRows   = 8000  // rows of a larger file that only judge: the error of a percent is known to a tenth of it
	orderRows    = 28000 // rows of a larger file that are learned only when orders are compared: what a larger order gains shows late
	lateShare    = 5     // one row in lateShare, the last ones, is held out of rows that are ordered by time
	heldRows     = 500   // most rows of the sample that are held out at a time: what is left is learned
	mostFolds    = 10    // most times that other rows are held out: small samples need all of them
	fewestRows   = 20    // rows below which nothing is tried
	sampleValues = 1 << 34
	medianRows   = 256  // rows from which the median distance is computed, which is only a unit for the bandwidth
	tuneSeed     = 2016 // of the draws, and of the order in which a file's rows are learned

	mostPasses  = 64      // passes over a small file: more gain nothing
	leastPasses = 3       // passes over any file
	takenRows   = 1 << 17 // rows after which no further pass over a file begins: seconds; eight times as many for a fixed dictionary
	shuffleSize = 1 << 23 // most values in the rows that are shuffled together: memory
)

// The largest orders of a model of any size. Merging costs less than KOMP, but preserves
// the functions only as long as it merges few elements of different rows: if most rows
// have no gradient, or if the file is small. KOMP also has an error budget, so that it
// does not keep two elements that are almost the same.
const (
	mergeOrderStream = 1024
	mergeRows        = 2000 // largest file for merging if all rows have gradients
	kompRows         = 250  // largest file of which KOMP may keep every row, once each
	kompOrder        = 500
)

// A tuner searches for settings.
type tuner struct {
	opt     *TrainOptions
	set     Settings // in the end the chosen settings
	loss    loss.Loss
	stream  bool
	exact   bool // weights are least squares: a regression
	all     int  // rows of the file
	names   func(feature int) string
	samples []scaledSample
	rates   []float64 // learning rates to be tried, over the loss's default
	passes  float64   // chosen number of passes over as many rows as the sample has

	folds, held int   // folds of halving, and rows held out in a fold
	perm        []int // random permutation of the sample
	extra, more []int // rows that judge in addition, and that are learned in addition when orders are compared
	ordered     bool  // only extra judges: the last rows of the source
	spent       int64 // multiply-adds spent in the rounds of a stage

	parsimonious bool // the model order is chosen too; the dictionary is fixed then, so passes cost little
	freeBatch    bool // a larger mini-batch may be chosen
}

// isFlat reports whether rows that meet their margin have no gradient.
func isFlat(l loss.Loss) bool { return l == loss.MultiHinge{} || l == loss.SquaredHinge{} }

// anySize sets a pruner and a largest order that bound the model at little cost in accuracy and
// time (see mergeOrderStream). rows is 0 for a stream.
func (s *Settings) anySize(rows int, l loss.Loss) {
	order := kompOrder
	s.Pruner = prunerCapped
	switch {
	case rows > 0 && rows <= kompRows:
		order = rows
	case rows == 0 && isFlat(l):
		s.Pruner, order = prunerMerging, mergeOrderStream
	case rows > 0 && (isFlat(l) || rows <= mergeRows):
		s.Pruner, order = prunerMerging, min(maxFreeOrder, 2*rows) // a row learned again can add a duplicate element
	}
	if s.Dim > 0 {
		order = max(1, min(order, maxValues/s.Dim))
	}
	s.PrunerParams = prune.Params{"order": float64(order)}
}

// choose fills in missing settings and options, and returns the scaling of the
// features.
func (t *trainer) choose(ctx context.Context, seen *survey, names func(int) string, set *Settings) (sc rows.Scaling, err error) {
	stream, total, scale := t.opt.Source.stream(), seen.rows, set.Scale
	if stream {
		total = 0
	}
	if t.opt.Recursive() {
		set.Batch, set.Recursive = 1, newRecursive(&t.opt)
	}
	u := tuner{opt: &t.opt, stream: stream, exact: set.Recursive != nil || set.regression() && !stream, all: seen.rows, names: names, freeBatch: set.Batch == 0}
	set.Dim, set.Batch = cmp.Or(set.Dim, seen.dim), cmp.Or(set.Batch, DefaultBatch)
	if u.loss, err = loss.ByName(set.Loss); err != nil {
		return sc, err
	}
	if set.Pruner == "" && set.Parsimony == 0 && set.Recursive == nil {
		set.anySize(total, u.loss)
		u.parsimonious = u.exact || t.opt.Tolerance >= 0 || t.opt.Order > 0
	}
	if u.set, err = set.withDefaults(); err != nil {
		return sc, err
	}
	u.set.Scale = scale // to be tuned if it is not given
	if err := u.tune(ctx, seen); err != nil {
		return sc, err
	}
	*set = u.set
	set.Scale = cmp.Or(set.Scale, rows.ScaleStandard)
	if stream {
		return seen.complete(set, t.opt.Note)
	}
	t.plan(&u, set, total, len(seen.head))
	return seen.complete(set, t.opt.Note)
}

// plan sets the passes over a file of total rows, the mini-batch and the schedule of its steps.
func (t *trainer) plan(u *tuner, set *Settings, total, sample int) {
	if t.opt.Epochs == 0 {
		t.opt.Epochs = u.epochs(sample)
		t.opt.Note("%d passes over %d rows", t.opt.Epochs, total)
	}
	falls, taken := t.opt.Settings.LearningRate == 0, t.opt.Epochs*total
	if u.freeBatch {
		if u.parsimonious {
			total = taken
		}
		set.enlargeBatch(total, falls)
	}
	set.schedule(taken, falls, u.parsimonious)
	set.Exact = u.exact
}

// tune runs the stages of the search on the survey's rows. If there are too few of them, or if
// everything is given, it leaves the settings.
func (t *tuner) tune(ctx context.Context, s *survey) error {
	n := len(s.head)
	t.passes, t.rates = 1, t.learningRates(s)
	tunes := t.set.Scale == "" || t.set.Scale == ScaleLearned || t.set.Bandwidth == 0 || !t.exact && len(t.rates) > 1 ||
		!t.stream && t.opt.Epochs == 0 || t.parsimonious && t.opt.Order == 0 || t.set.Recursive != nil && t.opt.Order == 0
	if n < fewestRows || !tunes {
		if t.set.Scale == ScaleLearned {
			return fmt.Errorf("--scale %s: %d rows are too few to learn a metric from, want at least %d", ScaleLearned, n, fewestRows)
		}
		if t.parsimonious {
			t.set.limit(cmp.Or(t.opt.Order, min(s.rows, kompOrder)))
		}
		return nil
	}
	t.divide(s)
	best, err := t.shape(ctx, s)
	if err == nil && !t.exact {
		best, err = t.halve(ctx, t.variations(best), n-t.held)
	}
	var lines []Tried
	switch {
	case err != nil:
	case t.set.Recursive != nil:
		best, lines, err = t.recurse(ctx, best)
	case t.parsimonious:
		best, lines, err = t.tradeOff(ctx, best)
	}
	if err != nil {
		return err
	}
	sample := &t.samples[best.scaling]
	t.set = t.settings(best, 0)
	t.set.Dim, t.set.TradeOff = sample.model.settings.Dim, lines
	if s.metric = sample.metric; s.metric != nil {
		t.set.Relevances = s.metric.relevances()
	}
	t.report(best, n)
	return nil
}

// divide holds out rows of a sample, beside which judged rows were drawn.
func (t *tuner) divide(s *survey) {
	n, all, judged := len(s.head), len(s.head)+len(s.judged), judgedRows
	t.folds = max(1, min(mostFolds, 2*firstRows/n+1))
	if !isFlat(t.loss) {
		t.folds = min(t.folds, 2) // every row costs a removal
	}
	t.held = min(heldRows, max(1, n/5))
	if t.ordered = s.ordered; t.ordered {
		t.folds, t.held, judged = 1, 0, s.late
		if t.stream {
			judged = n / lateShare
			n -= judged
		}
	}
	t.perm = rand.New(rand.NewPCG(tuneSeed, 0)).Perm(n)
	for i := n; i < all; i++ {
		if i < n+judged {
			t.extra = append(t.extra, i)
		} else {
			t.more = append(t.more, i)
		}
	}
}

// learningRates returns the learning rates to try, the first one first.
func (t *tuner) learningRates(s *survey) []float64 {
	switch {
	case t.set.LearningRate != 0:
		return []float64{1}
	// For a loss with a curvature, 2/curvature is the largest learning rate at which
	// no rows, however similar, make the errors grow.
	case t.set.regression():
		return []float64{2, 1, 3} // the curvature is 1
	case t.loss.Name() == loss.SquaredHinge{}.Name():
		return []float64{1, 0.5, 1.5} // the curvature is 2
	case t.stream:
		return []float64{4, 1, 16}
	case s.rows <= smallFile: // large steps would memorize so few rows
		return []float64{4, 1, 16, 64}
	}
	return []float64{16, 4, 64}
}

// report sends the chosen settings to Note.
func (t *tuner) report(best *candidate, n int) {
	quality := fmt.Sprintf("%.2f %% of the held-out rows are wrong", 100*float64(best.score.wrong)/best.score.rows())
	if t.set.regression() {
		quality = fmt.Sprintf("RMSE %.4g on the held-out rows", math.Sqrt(2*best.score.loss/best.score.rows())/t.set.TargetFactor)
	}
	rate := fmt.Sprintf("learning rate %.4g", t.set.LearningRate)
	if t.exact {
		rate = "exact weights"
	}
	t.opt.Note("settings tried on %d rows: scaling %s, bandwidth %.4g, %s; %s", n, t.set.Scale, t.set.Bandwidth, rate, quality)
	t.noteRelevances()
	t.noteTradeOff()
	if usual := best.score.mostFrequent(); usual > 0 && best.score.wrong >= usual && t.measureName() == "" {
		t.opt.Note("warning: the model is no better than always predicting the most frequent label: %d of %d held-out rows are wrong, and %d with that label", best.score.wrong, len(best.score.each), usual)
	}
}

// epochs returns the number of passes over the file, given the number of rows of the
// sample. If the sample is the whole file, these are the passes chosen on the sample.
// Otherwise there are fewer: the passes shrink by the same factor by which the steps
// grow. takenRows limits the passes from above, leastPasses from below. With exact weights,
// the passes only choose the dictionary.
func (t *tuner) epochs(sample int) int {
	if t.exact {
		order := int(t.set.PrunerParams["order"])
		return max(1, min(mostPasses, (fixedRows*order+t.all-1)/t.all))
	}
	passes := float64(t.passes * math.Sqrt(float64(sample)/float64(t.all)))
	taken := takenRows
	if t.parsimonious {
		passes, taken = max(passes, orderPasses), 8*taken
	}
	return max(leastPasses, min(int(math.Ceil(passes-1e-9)), taken/t.all))
}

// A cooldown is a learning rate that falls linearly from rate to zero over the
// given number of steps. Afterwards it is rate/16, for a model that is trained
// further. Of all schedules it has the best bound for the last iterate (Defazio
// et al. 2023, "When, Why and How Much? Adaptive Learning Rate Scheduling by
// Refinement").
type cooldown struct {
	rate  float64
	steps int
}

// Rate returns η·(1 − t/T).
func (c cooldown) Rate(t int) float64 {
	if t >= c.steps {
		return c.rate / 16
	}
	return c.rate * (1 - float64(t)/float64(c.steps))
}
