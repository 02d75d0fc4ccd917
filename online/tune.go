package online

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"polkrepro/data/rows"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// Tuning depends only on the rows and on these numbers, never on a clock: the
// same rows give the same settings on every machine.
const (
	tuneRows    = 4000    // most rows of a file that settings are tried on, drawn from all rows
	tuneHeld    = 500     // most rows of the sample that are held out
	tuneFolds   = 10      // most folds: times that a candidate is trained, each with other rows held out
	tuneFirst   = 500     // rows for each candidate in the first round, twice as many for a small file; doubled each round
	tuneSmall   = 500     // largest file, in rows, for which small learning rates are tried too
	tuneKeep    = 3       // one candidate in tuneKeep advances to the next round
	tunePasses  = 64      // most passes over a file
	tuneLeast   = 3       // fewest passes over a file
	tuneTaken   = 1 << 17 // rows after which no further pass over a file begins; eight times as many for a fixed dictionary
	tuneJudged  = 8000    // further rows drawn from a larger file, on which model orders are compared
	tuneGram    = 1 << 34 // most multiplications of features for the kernel matrix of the sample
	tuneMedian  = 256     // rows from which the median distance is computed
	tuneSeed    = 2016    // seed of the draws, and of the order in which a file's rows are learned
	tuneBudget  = 1 << 31 // multiply-adds after which no further round begins, a second or two
	tuneRemoved = 1 << 16 // cost of merging an element, in multiply-adds
	shuffleSize = 1 << 23 // most values in the rows that are shuffled together
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

// A candidate is one combination of the settings to choose.
type candidate struct {
	scaling int     // index of the tuner's samples
	factor  float64 // bandwidth over the median distance
	rate    float64 // learning rate over the loss's default
	order   int     // model order; 0 for any size
	score   heldOut
	folds   int // number of folds in the score
	size    int // largest order of its models
}

// heldOut is the score of a candidate on held-out rows.
type heldOut struct {
	wrong int
	loss  float64   // sum
	each  []float64 // for each row its error, 0 or 1, or its loss; candidates are compared by it
}

func (h *heldOut) rows() float64 { return float64(len(h.each)) }

// A scaledSample is the sample under one scaling.
type scaledSample struct {
	model  *Model // untrained, for its scaling
	dim    int    // features of x
	x      []float32
	y      []float64
	median float64 // distance between rows; 1 if the bandwidth is given
}

// row returns a row, scaled.
func (b *scaledSample) row(j int) []float32 { return b.x[j*b.dim : (j+1)*b.dim] }

// A tuner chooses settings by successive halving. All candidates learn a few
// rows. The candidates that predict the held-out rows best go on with twice as
// many rows, then with twice as many passes, until that no longer helps.
type tuner struct {
	opt     *TrainOptions
	set     Settings // in the end the chosen settings
	loss    loss.Loss
	stream  bool
	all     int     // rows of the file
	passes  float64 // chosen number of passes over as many rows as the sample has
	samples []scaledSample
	rates   []float64 // learning rates to be tried, over the loss's default
	folds   int
	held    int   // rows held out in a fold
	perm    []int // random permutation of the sample
	spent   int64 // multiply-adds spent in rounds

	parsimonious bool  // the model order is chosen too; the dictionary is fixed then, so passes cost little
	freeBatch    bool  // a larger mini-batch may be chosen
	extra        []int // rows to judge by in addition to those of the sample
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
func (t *trainer) choose(ctx context.Context, seen *survey, set *Settings) (sc rows.Scaling, err error) {
	stream, total, scale := t.opt.Source.stream(), seen.rows, set.Scale
	if stream {
		total = 0
	}
	u := tuner{opt: &t.opt, stream: stream, all: seen.rows, freeBatch: set.Batch == 0}
	set.Dim, set.Batch = cmp.Or(set.Dim, seen.dim), cmp.Or(set.Batch, DefaultBatch)
	if u.loss, err = loss.ByName(set.Loss); err != nil {
		return sc, err
	}
	if set.Pruner == "" && set.Parsimony == 0 {
		set.anySize(total, u.loss)
		u.parsimonious = t.opt.Tolerance >= 0 || t.opt.Order > 0
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
	if t.opt.Epochs == 0 {
		t.opt.Epochs = u.epochs(len(seen.head))
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
	return seen.complete(set, t.opt.Note)
}

// tune fills in the missing settings with those that do best on held-out rows of
// the sample, which is the survey's head. If parsimonious, it then chooses the model
// order. If there are too few rows, it leaves the settings.
func (t *tuner) tune(ctx context.Context, s *survey) error {
	n := len(s.head)
	t.passes = 1
	candidates, err := t.candidates(s)
	if err != nil {
		return err
	}
	if given := len(candidates)*len(t.rates) == 1 && (t.stream || t.opt.Epochs > 0) && (!t.parsimonious || t.opt.Order > 0); given || n < 20 {
		if t.parsimonious {
			t.set.limit(cmp.Or(t.opt.Order, s.rows))
		}
		return nil
	}
	t.folds = max(1, min(tuneFolds, 2*tuneFirst/n+1))
	if !isFlat(t.loss) {
		t.folds = min(t.folds, 2) // every row costs a removal
	}
	t.held = min(tuneHeld, max(1, n/5))
	t.perm = rand.New(rand.NewPCG(tuneSeed, 0)).Perm(n)
	best, err := t.halve(ctx, candidates, n-t.held)
	if err != nil {
		return err
	}
	var lines []Tried
	if t.parsimonious {
		if best, lines, err = t.tradeOff(ctx, s, best); err != nil {
			return err
		}
	}
	dim := t.samples[best.scaling].model.settings.Dim
	t.set = t.settings(best, 0)
	t.set.Dim, t.set.TradeOff = dim, lines
	quality := fmt.Sprintf("%.2f %% of the held-out rows are wrong", 100*float64(best.score.wrong)/best.score.rows())
	if t.set.regression() {
		quality = fmt.Sprintf("RMSE %.4g on the held-out rows", math.Sqrt(2*best.score.loss/best.score.rows())/t.set.TargetFactor)
	}
	t.opt.Note("settings tried on %d rows: scaling %s, bandwidth %.4g, learning rate %.4g; %s", n, t.set.Scale, t.set.Bandwidth, t.set.LearningRate, quality)
	t.noteTradeOff()
	return nil
}

// candidates scales the sample and returns all combinations of scaling and
// bandwidth (unless they are given) with the first learning rate.
func (t *tuner) candidates(s *survey) (all []candidate, err error) {
	scales := []rows.Scale{t.set.Scale}
	if t.set.Scale == "" {
		scales = []rows.Scale{rows.ScaleStandard, rows.ScaleUnit}
	}
	factors := []float64{1.0 / 8, 1.0 / 4, 1.0 / 2, 1, 2}
	if t.set.Bandwidth != 0 {
		factors = []float64{1}
	}
	t.rates = []float64{16, 4, 64}
	switch {
	case t.set.LearningRate != 0:
		t.rates = []float64{1}
	// For a loss with a curvature, 2/curvature is the largest learning rate at which
	// no rows, however similar, make the errors grow.
	case t.loss.Name() == loss.SquaredError{}.Name():
		t.rates = []float64{2, 1, 3} // the curvature is 1
	case t.loss.Name() == loss.SquaredHinge{}.Name():
		t.rates = []float64{1, 0.5, 1.5} // the curvature is 2
	case t.stream:
		t.rates = []float64{4, 1, 16}
	case s.rows <= tuneSmall: // large steps would memorize so few rows
		t.rates = []float64{4, 1, 16, 64}
	}
	for i, scale := range scales {
		if err := t.addSample(s, scale); err != nil {
			return nil, err
		}
		for _, f := range factors {
			all = append(all, candidate{scaling: i, factor: f, rate: t.rates[0]})
		}
	}
	return all, nil
}

// addSample adds the sample under the given scaling.
func (t *tuner) addSample(s *survey, scale rows.Scale) error {
	set := t.set
	set.Scale = scale
	choose := set.Bandwidth == 0
	if choose {
		set.Bandwidth = 1
	}
	sc, err := s.complete(&set, func(string, ...any) {})
	if err != nil {
		return err
	}
	b := scaledSample{median: 1}
	if b.model, err = newModel(set, sc); err != nil {
		return err
	}
	for _, row := range slices.Concat(s.head, s.judged) {
		if b.x, err = b.model.append(b.x, &row); err != nil {
			return s.source.at(&row, err)
		}
		y, err := b.model.target(&row)
		if err != nil {
			return s.source.at(&row, err)
		}
		b.y = append(b.y, y)
	}
	if b.dim = set.Dim; b.dim > wide*len(b.y) {
		b.x, b.dim = rotated(b.x, len(b.y), b.dim), len(b.y)
	}
	if choose {
		if b.median = MedianDistance(min(len(s.head), tuneMedian), b.dim, b.x); b.median == 0 {
			b.median = MedianDistance(len(s.head), b.dim, b.x)
		}
		if b.median == 0 {
			return errSameRows
		}
	}
	t.samples = append(t.samples, b)
	return nil
}

// wide is the number of features per row above which the sample is rotated.
const wide = 4

// rotated returns n rows of n features that have the inner products of the n rows of x: a
// Cholesky factor of their Gram matrix. A kernel depends only on the inner products. The
// component of a row outside the span of the rows before is dropped if it is so small that
// rounding decides it.
func rotated(x []float32, n, dim int) []float32 {
	gram, out := make([]float32, n*n), make([]float32, n*n)
	gemm.MulABT(n, n, dim, 1, x, dim, x, dim, 0, gram, n, runtime.GOMAXPROCS(0))
	for i := range n {
		for j := range i + 1 {
			left := float64(gram[i*n+j])
			for k := range j {
				left -= float64(float64(out[i*n+k]) * float64(out[j*n+k]))
			}
			switch pivot := float64(out[j*n+j]); {
			case i == j && left > 1e-5*float64(gram[i*n+i]):
				out[i*n+i] = float32(math.Sqrt(left))
			case i != j && pivot > 0:
				out[i*n+j] = float32(left / pivot)
			}
		}
	}
	return out
}

// settings returns the settings of a candidate that learns the given number of rows, 0 if
// this is not known yet. Unless the source is a stream, the learning rate falls, and the
// dictionary becomes fixed if the candidate has an order.
func (t *tuner) settings(c *candidate, learn int) Settings {
	b := t.samples[c.scaling]
	set := b.model.settings
	if t.set.Bandwidth == 0 {
		set.Bandwidth = b.median * c.factor
	}
	set.Dim = b.dim
	set.LearningRate *= c.rate
	falls := !t.stream && t.set.LearningRate == 0
	if c.order > 0 {
		set.limit(c.order)
		if t.freeBatch && !t.stream {
			set.enlargeBatch(learn, falls)
		}
	}
	if learn > 0 {
		set.schedule(learn, falls, c.order > 0 && !t.stream)
	}
	return set
}

// halve runs the rounds and returns the best candidate. The first rounds use part of
// the rows. Later rounds use all rows and more and more passes, until these no longer
// help.
func (t *tuner) halve(ctx context.Context, all []candidate, train int) (best *candidate, err error) {
	first, each := tuneFirst, 2
	switch {
	case t.stream:
		each = 1
	case t.all == len(t.perm): // a small file: there is time for it
		first, each = 2*tuneFirst, 4
	}
	rows := min(first, train)
	learn := each * rows
	if !t.stream {
		learn = max(learn, min(2*first, 16*rows))
	}
	for round := 0; ; round++ {
		t.opt.Note("tuning: %d settings, %d rows each", len(all), learn)
		if err := t.round(ctx, all, rows, learn); err != nil {
			return nil, err
		}
		done := t.spent > tuneBudget || rows == train && (t.stream || 2*learn > tunePasses*train)
		if rows == train || done {
			if best == nil || t.better(&all[0].score, &best.score) {
				winner := all[0]
				best, t.passes = &winner, float64(learn)/float64(rows)
			} else {
				done = true
			}
		}
		if done {
			return best, nil
		}
		if rows == train {
			learn *= 2
		} else {
			rows = min(2*rows, train)
			learn = max(learn, each*rows)
		}
		least := 2
		if t.all > len(t.perm) && learn > each*rows {
			least = 1
		}
		all = all[:min(len(all), max(least, len(all)/tuneKeep))]
		if round == 0 { // go on with all learning rates
			first := all
			all = nil
			for _, c := range first {
				for _, rate := range t.rates {
					c.rate = rate
					all = append(all, c)
				}
			}
		}
	}
}

// round trains and scores all candidates, each in all folds, and sorts them from the
// best to the worst.
func (t *tuner) round(ctx context.Context, all []candidate, rows, learn int) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	spent := make([]int64, len(all))
	for i := range all {
		g.Go(func() (err error) {
			all[i].score, all[i].folds = heldOut{}, 0
			spent[i], err = t.extend(ctx, &all[i], t.folds, rows, learn)
			return err
		})
	}
	err := g.Wait()
	for _, n := range spent {
		t.spent += n
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return t.compare(&a.score, &b.score) })
	return err
}

// extend trains a candidate on further folds, each with other rows held out, until it has
// the given number of folds. It returns the multiply-adds spent.
func (t *tuner) extend(ctx context.Context, c *candidate, folds, rows, learn int) (spent int64, err error) {
	for ; c.folds < folds; c.folds++ {
		n, err := t.try(ctx, c, c.folds, rows, learn)
		if err != nil {
			return spent, err
		}
		spent += n
	}
	return spent, nil
}

// try trains a candidate and scores it on the held-out rows. A candidate that
// diverges is worse than any other. The order of the rows depends only on the fold.
// try returns the multiply-adds spent.
func (t *tuner) try(ctx context.Context, c *candidate, fold, rows, learn int) (spent int64, err error) {
	b := &t.samples[c.scaling]
	perm, at := t.perm, fold // once every part has been held out, the rows are divided again
	if each := len(perm) / t.held; fold >= each {
		perm, at = rand.New(rand.NewPCG(tuneSeed, uint64(fold/each)<<32)).Perm(len(perm)), fold%each
	}
	from, to := at*t.held, (at+1)*t.held
	held, train := perm[from:to], slices.Concat(perm[:from], perm[to:])
	held, train = held[:min(len(held), max(learn/2, 1))], train[:rows]
	if fold == 0 { // only once: judging a row twice adds no information
		held = slices.Concat(held, t.extra)
	}
	set := t.settings(c, learn)
	cfg, err := set.config()
	if err != nil {
		return 0, err
	}
	cfg.Threads = 1
	l, err := polk.New(cfg)
	if err != nil {
		return 0, err
	}
	rng := rand.New(rand.NewPCG(tuneSeed, uint64(fold)+1))
	x, y := make([]float32, set.Batch*set.Dim), make([]float64, set.Batch)
	for next := 0; learn > 0; {
		if ctx.Err() != nil {
			return spent, ErrStopped
		}
		n := min(set.Batch, learn)
		for i := range n {
			j := train[next]
			copy(x[i*set.Dim:], b.row(j))
			y[i] = b.y[j]
			if next++; next == len(train) {
				rng.Shuffle(next, func(i, j int) { train[i], train[j] = train[j], train[i] })
				next = 0
			}
		}
		learn -= n
		if _, err := l.Step(context.Background(), n, x, y); err != nil { // not ctx: it would judge an interrupted step
			t.judge(c, nil, held)
			return spent, nil
		}
		order := int64(l.Expansion().Order())
		switch step := l.Last(); {
		case l.Steps() > set.FixedFrom && l.Steps() <= set.FixedTo:
			spent += order * order * int64(l.Expansion().Outputs)
		case cfg.Pruner == nil || cfg.Pruner.Heuristic.Inverse():
			spent += int64(step.Active) * order * order
		default:
			spent += int64(step.Removed) * (tuneRemoved + order)
		}
	}
	c.size = max(c.size, l.Expansion().Order())
	t.judge(c, l.Expansion(), held)
	return spent + l.KernelEvals()*int64(set.Dim+16) + int64(c.size*len(held)*set.Dim), nil
}

// judge adds the held-out rows to the score of a candidate with the functions e. e is nil
// if the candidate has diverged.
func (t *tuner) judge(c *candidate, e *kernel.Expansion, held []int) {
	b := &t.samples[c.scaling]
	outputs := b.model.outputs()
	f := make([]float64, len(held)*outputs)
	if e != nil {
		x := make([]float32, 0, len(held)*b.dim)
		for _, j := range held {
			x = append(x, b.row(j)...)
		}
		e.Scores(len(held), x, f, 1)
	}
	for i, j := range held {
		scores := f[i*outputs : (i+1)*outputs]
		value := t.loss.Value(scores, b.y[j])
		if e == nil || value-value != 0 {
			value = math.Inf(1)
		}
		c.score.loss += value
		wrong := 0
		if !t.set.regression() && (math.IsInf(value, 1) || loss.Decide(scores) != b.y[j]) {
			wrong = 1
		}
		c.score.wrong += wrong
		if t.byErrors() {
			value = float64(wrong)
		}
		c.score.each = append(c.score.each, value)
	}
}

// byErrors reports whether candidates are compared by their errors. Regressions, and
// losses whose purpose is probabilities, are compared by their risk instead.
func (t *tuner) byErrors() bool {
	_, probabilistic := t.loss.(loss.Probabilistic)
	return !t.set.regression() && !probabilistic
}

// compare orders scores from the best to the worst.
func (t *tuner) compare(a, b *heldOut) int {
	if t.byErrors() && a.wrong != b.wrong {
		return cmp.Compare(a.wrong, b.wrong)
	}
	return cmp.Compare(a.loss, b.loss)
}

// better reports whether a is better than b by more than chance: by half the
// standard deviation of a count of errors, or by 2 % of the risk.
func (t *tuner) better(a, b *heldOut) bool {
	if t.byErrors() {
		return float64(b.wrong-a.wrong) > math.Sqrt(float64(b.wrong))/2
	}
	return a.loss < 0.98*b.loss
}

// epochs returns the number of passes over the file, given the number of rows of the
// sample. If the sample is the whole file, these are the passes chosen on the sample.
// Otherwise there are fewer: the passes shrink by the same factor by which the steps
// grow. tuneTaken limits the passes from above, tuneLeast from below.
func (t *tuner) epochs(sample int) int {
	passes := float64(t.passes * math.Sqrt(float64(sample)/float64(t.all)))
	taken := tuneTaken
	if t.parsimonious {
		passes, taken = max(passes, orderPasses), 8*taken
	}
	return max(tuneLeast, min(int(math.Ceil(passes-1e-9)), taken/t.all))
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
