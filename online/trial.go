package online

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A candidate is one combination of the settings to choose.
type candidate struct {
	scaling int     // index of the tuner's samples
	factor  float64 // bandwidth over the median distance
	rate    float64 // learning rate over the loss's default
	order   int     // model order; 0 for any size
	noise   float64 // of recursive least squares; else 0
	score   heldOut
	folds   int // number of folds in the score
	size    int // largest order of its models
}

// heldOut is the score of a candidate on held-out rows.
type heldOut struct {
	wrong  int
	loss   float64   // sum
	each   []float64 // for each row its weight times its error, 0 or 1, or times its loss; candidates are compared by it
	weight []float64 // of each row
	class  []int32   // of each row; nil for a regression
	called []int32   // class predicted for each row, or −1
	right  []bool    // whether each row is predicted rightly
}

func (h *heldOut) rows() float64 { return float64(len(h.each)) }

// A trial says how much of the sample a candidate learns in each fold.
type trial struct {
	rows  int  // different rows of the sample
	learn int  // rows in all, over the passes
	more  bool // whether the rows of tuner.more are learned too, and count as different rows
}

// round trains and scores all candidates, each in all folds, and sorts them from the
// best to the worst.
func (t *tuner) round(ctx context.Context, all []candidate, of trial) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	spent := make([]int64, len(all))
	for i := range all {
		g.Go(func() (err error) {
			all[i].score, all[i].folds = heldOut{}, 0
			spent[i], err = t.extend(ctx, &all[i], t.folds, of)
			return err
		})
	}
	err := g.Wait()
	for _, n := range spent {
		t.spent += n
	}
	t.sort(all)
	return err
}

// sort sorts candidates from the best to the worst.
func (t *tuner) sort(all []candidate) {
	slices.SortStableFunc(all, func(a, b candidate) int { return t.compare(&a.score, &b.score) })
}

// extend trains a candidate on further folds, each with other rows held out, until it has
// the given number of folds. It returns the multiply-adds spent.
func (t *tuner) extend(ctx context.Context, c *candidate, folds int, of trial) (spent int64, err error) {
	for ; c.folds < folds; c.folds++ {
		n, err := t.try(ctx, c, c.folds, of)
		if err != nil {
			return spent, err
		}
		spent += n
	}
	return spent, nil
}

// fold returns the rows of the sample that are held out in a fold and those that are left. Once
// every part has been held out, the rows are divided again.
func (t *tuner) fold(fold, held int) (out, left []int) {
	if t.ordered {
		return nil, t.perm
	}
	perm, at := t.perm, fold
	if each := len(perm) / held; fold >= each {
		perm, at = rand.New(rand.NewPCG(tuneSeed, uint64(fold/each)<<32)).Perm(len(perm)), fold%each
	}
	from, to := at*held, (at+1)*held
	return perm[from:to:to], slices.Concat(perm[:from], perm[to:])
}

// try trains a candidate and scores it on the held-out rows. A candidate that
// diverges is worse than any other. The order of the rows depends only on the fold.
// try returns the multiply-adds spent.
func (t *tuner) try(ctx context.Context, c *candidate, fold int, of trial) (spent int64, err error) {
	held, train := t.fold(fold, t.held)
	held, train = held[:min(len(held), max(of.learn/2, 1))], train[:of.rows]
	if of.more {
		train = append(train, t.more...)
	}
	if fold == 0 { // only once: judging a row twice adds no information
		held = slices.Concat(held, t.extra)
	}
	set := t.settings(c, of.learn)
	cfg, err := set.config()
	if err != nil {
		return 0, err
	}
	cfg.Threads = 1
	l, err := polk.New(cfg)
	if err != nil {
		return 0, err
	}
	b := &t.samples[c.scaling]
	learn := of.learn
	if t.exact && set.FixedTo > 0 { // then only the weights would change
		learn = min(learn, set.FixedFrom*set.Batch)
	}
	spent, err = teach(ctx, l, &set, b, slices.Clone(train), learn, fold)
	e := l.Expansion()
	switch {
	case err == errDiverged:
		e, err = nil, nil
	case err != nil:
		return spent, err
	case t.exact:
		s := newLeastSquares(e)
		for _, j := range train {
			s.add(b.row(j), b.y[j:j+1], b.w[j])
		}
		s.solve()
	}
	c.size = max(c.size, l.Expansion().Order())
	t.judge(c, e, held, t.loss.Value)
	return spent + l.KernelEvals()*int64(set.Dim+16) + int64(c.size*len(held)*set.Dim), nil
}

// errDiverged is returned by teach if the training diverges.
var errDiverged = polk.ErrDiverged

// teach makes a learner learn rows of a sample, in passes that shuffle them.
func teach(ctx context.Context, l *polk.Learner, set *Settings, b *scaledSample, train []int, learn, fold int) (spent int64, err error) {
	rng := rand.New(rand.NewPCG(tuneSeed, uint64(fold)+1))
	x, y, w := make([]float32, set.Batch*set.Dim), make([]float64, set.Batch), make([]float64, set.Batch)
	for next := 0; learn > 0; {
		if ctx.Err() != nil {
			return spent, ErrStopped
		}
		n := min(set.Batch, learn)
		for i := range n {
			j := train[next]
			copy(x[i*set.Dim:], b.row(j))
			y[i], w[i] = b.y[j], b.w[j]
			if next++; next == len(train) {
				rng.Shuffle(next, func(i, j int) { train[i], train[j] = train[j], train[i] })
				next = 0
			}
		}
		learn -= n
		if _, err := l.StepWeighted(context.Background(), n, x, y, w); err != nil { // not ctx: it would judge an interrupted step
			return spent, errDiverged
		}
		spent += cost(l, set)
	}
	return spent, nil
}

// removedCost is the cost of merging an element, in multiply-adds.
const removedCost = 1 << 16

// cost returns the multiply-adds of the learner's last step, apart from its kernel evaluations.
func cost(l *polk.Learner, set *Settings) int64 {
	order, step := int64(l.Expansion().Order()), l.Last()
	switch {
	case l.Steps() > set.FixedFrom && l.Steps() <= set.FixedTo:
		return order * order * int64(l.Expansion().Outputs)
	case set.Pruner == prunerMerging:
		return int64(step.Removed) * (removedCost + order)
	}
	return int64(step.Active) * order * order
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
	set.Dim, set.Scale = b.dim, b.scale()
	set.LearningRate *= c.rate
	falls := !t.stream && t.set.LearningRate == 0
	if c.noise > 0 {
		r := *set.Recursive
		r.Noise, r.Threshold, r.Budget = c.noise, recursiveRatio*c.noise, c.order
		set.Recursive = &r
		return set
	}
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

// judge adds held-out rows to the score of a candidate with the functions e. e is nil
// if the candidate has diverged.
func (t *tuner) judge(c *candidate, e *kernel.Expansion, held []int, lossOf func(f []float64, y float64) float64) {
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
		value, decided := lossOf(scores, b.y[j]), loss.Decide(scores)
		if e == nil || value-value != 0 {
			value, decided = math.Inf(1), math.NaN()
		}
		weight := b.w[j]
		if t.set.Metric != "" {
			weight = b.own[j]
		}
		c.score.add(value, weight, b.model, b.y[j], decided, t.byErrors())
	}
}

// add adds a row with its loss, weight, target, and the target that was decided for, or NaN.
func (h *heldOut) add(value, weight float64, m *Model, y, decided float64, byErrors bool) {
	h.loss += float64(weight * value)
	if !m.settings.regression() {
		right, called := decided == y, int32(-1)
		if decided == decided {
			called = int32(m.classOf(decided))
		}
		h.class, h.called, h.right = append(h.class, int32(m.classOf(y))), append(h.called, called), append(h.right, right)
		if !right {
			h.wrong++
		}
		if byErrors {
			value = 1
			if right {
				value = 0
			}
		}
	}
	h.each, h.weight = append(h.each, float64(weight*value)), append(h.weight, weight)
}

// mostFrequent returns how many rows would be wrong if the most frequent label were always
// predicted, and 0 for a regression.
func (h *heldOut) mostFrequent() int {
	counts := make(map[int32]int)
	most := 0
	for _, c := range h.class {
		counts[c]++
		most = max(most, counts[c])
	}
	return len(h.class) - most
}

// byErrors reports whether candidates are compared by their errors. Regressions, and
// losses whose purpose is probabilities, are compared by their risk instead, unless a metric is given.
func (t *tuner) byErrors() bool {
	_, probabilistic := t.loss.(loss.Probabilistic)
	return !t.set.regression() && (!probabilistic || t.set.Metric != "")
}

// compare orders scores from the best to the worst.
func (t *tuner) compare(a, b *heldOut) int {
	if t.byErrors() {
		if c := cmp.Compare(value(t.costs(a, len(a.each))), value(t.costs(b, len(b.each)))); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.loss, b.loss)
}

// better reports whether a is better than b by more than chance: by half the
// standard deviation of a count of errors, or by 2 % of the risk.
func (t *tuner) better(a, b *heldOut) bool {
	if t.byErrors() {
		costs := t.costs(b, len(b.each))
		return sum(costs)-sum(t.costs(a, len(a.each))) > math.Sqrt(gemm.Dot(costs, costs))/2
	}
	return a.loss < 0.98*b.loss
}

// difference returns the mean of a − b over the rows that both were judged by, and its standard
// error. For errors, two disagreements in each direction are added, since a few rows that agree
// say little about the next row. A row held out twice adds no information: at most distinct rows
// count.
func difference(a, b []float64, errors bool, distinct int) (mean, deviation float64) {
	n := min(len(a), len(b))
	var sum, squares float64
	for i, v := range a[:n] {
		d := v - b[i]
		sum += d
		squares += float64(d * d)
	}
	if errors {
		squares += 4
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(max(0, squares-float64(sum*mean)) / float64(n) / float64(min(n, distinct)))
}
