package online

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"polkrepro/loss"
	"polkrepro/polk/prune"
)

const (
	orderFirst  = 4
	orderMost   = 1024 // largest order tried, but at most one element per orderShare rows of the source
	orderShare  = 8
	orderLeast  = 64      // orders up to this are tried however few the rows
	orderBudget = 1 << 37 // multiply-adds after which no larger order is tried
	orderPasses = 16      // fewest passes
	orderVaried = 128     // largest order for which other learning rates are tried
	orderTaken  = 1 << 14 // rows of the sample after which no further pass begins
	orderLines  = 8       // most lines of a trade-off

	fixedRows = 8       // rows to learn for each element before the dictionary is fixed
	fixedCost = 1 << 28 // or more: while rows × order² is below this, up to half of all rows
)

// Defaults of TrainOptions.Tolerance: how much worse than the best a model may be.
const (
	DefaultTolerance     = 0.005 // of all rows: half a percentage point
	DefaultRiskTolerance = 0.05  // of the risk
)

// A Tried is a model order that was tried, with its results on held-out rows.
type Tried struct {
	Order   int     `json:"order"`             // model order, in elements
	Error   float64 `json:"error"`             // fraction of rows predicted wrongly; for a regression, the RMSE
	Measure float64 `json:"measure,omitempty"` // what orders were compared by, if neither error nor risk: balanced error, 1 − F1, or error of weighted rows
	Risk    float64 `json:"risk"`              // mean loss
	Numbers int     `json:"numbers"`           // number of features and weights of all elements
	Chosen  bool    `json:"chosen,omitempty"`  // whether the order was chosen, by the tolerance or as the requested order
}

// orderWithin returns the largest order of TrainOptions.Size.
func (s *Settings) orderWithin(size int, of *survey) (int, error) {
	l, err := loss.ByName(s.Loss)
	if err != nil {
		return 0, err
	}
	dim := cmp.Or(s.Dim, of.dim)
	scaling, element := 8*dim, 4*(dim+l.Outputs(max(len(s.Labels), of.labels.Len())))
	if size < scaling+element {
		return 0, fmt.Errorf("%s: the scaling of %d features and one element take %d bytes, more than the %d of --size", of.source.name(), dim, scaling+element, size)
	}
	return min(MaxOrder, (size-scaling)/element), nil
}

// limit bounds the order by KOMP with merging.
func (s *Settings) limit(order int) {
	s.Pruner, s.PrunerParams = prunerMerge, prune.Params{"order": float64(order)}
}

// schedule plans the steps in which the given number of rows is learned. If falls is set,
// the learning rate falls to 0 over these steps. If fixed is set, the dictionary stops
// changing once it has seen enough rows. Learning only its weights is faster, and better,
// since pruning no longer discards anything learned.
func (s *Settings) schedule(rows int, falls, fixed bool) {
	steps := (rows + s.Batch - 1) / s.Batch
	if falls {
		s.DecaySteps = steps
	}
	if !fixed {
		return
	}
	order := int(s.PrunerParams["order"])
	seen := max(fixedRows*order, min(rows/2, fixedCost/(order*order)))
	if from := (seen + s.Batch - 1) / s.Batch; from < steps {
		s.FixedFrom, s.FixedTo = from, steps
	}
}

// enlargeBatch makes the mini-batches of a large file larger, up to four times the
// default, to take fewer steps: a step costs more than its rows. For losses with a
// bounded gradient, η grows with the batch if rate is set, so that the weight of a
// sample after its step, η/N times its gradient, is unchanged. For other losses the
// curvature limits η itself.
func (s *Settings) enlargeBatch(rows int, rate bool) {
	for s.Batch < 4*DefaultBatch && rows >= 256*s.Batch {
		s.Batch *= 2
		if rate && !unboundedGradient(s.Loss) {
			s.LearningRate *= 2
		}
	}
}

// An orderSearch compares model orders.
type orderSearch struct {
	*tuner
	best  *candidate  // of any size, from which orders take rate and bandwidth
	ref   *candidate  // best scored on the same rows as the orders; nil for exact weights
	tried []candidate // from the smallest order to the largest
	of    trial
	most  int // folds: a model of any size makes them expensive
}

// tradeOff tries larger and larger orders, until twice as many elements gain little and the model
// is within the tolerance of the best that was tried, of any size included; or only the requested
// order. It returns the candidate of the smallest order within the tolerance (if there is none,
// the best candidate tried), and a description of all that was tried.
func (t *tuner) tradeOff(ctx context.Context, best *candidate) (*candidate, []Tried, error) {
	o := orderSearch{tuner: t, best: best, most: mostFolds}
	if err := o.begin(ctx); err != nil {
		return nil, nil, err
	}
	order, largest := t.orders(o.ref)
	now := *best
	now.factor *= 4
	for ; order <= largest && (len(o.tried) == 0 || !o.enough() && t.spent < orderBudget); order *= 2 {
		var err error
		if now, err = o.try(ctx, now, order); err != nil {
			return nil, nil, err
		}
		o.tried = append(o.tried, now)
	}
	chosen := o.choose()
	if t.opt.Order > 0 || chosen == 0 {
		return &o.tried[chosen], o.describe(chosen), nil
	}
	between, err := o.try(ctx, o.tried[chosen], (o.tried[chosen].order+o.tried[chosen-1].order)/2)
	if err != nil {
		return nil, nil, err
	}
	o.tried = slices.Insert(o.tried, chosen, between)
	chosen = o.choose()
	return &o.tried[chosen], o.describe(chosen), nil
}

// begin sets the rows of the trials, and scores the model of any size on them. That model learns
// the sample alone: with the further rows of a large file it would take too long.
func (o *orderSearch) begin(ctx context.Context) error {
	t := o.tuner
	o.of.rows = len(t.perm) - t.held
	o.of.learn = o.of.rows
	if !t.stream {
		t.passes = max(t.passes, orderPasses)
		o.of.learn = max(o.of.rows, int(min(t.passes*float64(o.of.rows), orderTaken)))
	}
	if t.exact {
		t.spent = 0
		return nil
	}
	ref := *o.best
	ref.score, ref.folds = heldOut{}, 0
	spent, err := t.extend(ctx, &ref, t.folds, o.of)
	if o.most = min(mostFolds, int(orderBudget*int64(t.folds)/max(1, spent))); t.ordered {
		o.most = 1 // no other rows are held out
	}
	o.ref = &ref
	if len(t.more) > 0 {
		o.of.more = true
		o.of.learn = max(o.of.learn, 2*(o.of.rows+len(t.more)))
	}
	t.spent = 0
	return err
}

// orders returns the first order to try and the largest.
func (t *tuner) orders(ref *candidate) (first, largest int) {
	if t.opt.Order > 0 {
		return t.opt.Order, t.opt.Order
	}
	largest = min(orderMost, max(orderLeast, t.all/orderShare))
	if ref != nil {
		largest = min(largest, max(orderFirst, ref.size-1))
	}
	for first = orderFirst; first < len(t.samples[0].model.settings.Labels) && 2*first <= largest; {
		first *= 2
	}
	return first, largest
}

// try scores an order, given the best candidate of a smaller one. While it is not clear whether the
// order is within the tolerance, further rows are held out.
func (o *orderSearch) try(ctx context.Context, now candidate, order int) (candidate, error) {
	t := o.tuner
	t.opt.Note("tuning: order %d", order)
	all := t.variants(now, o.best, order, len(o.tried) == 0)
	if err := t.round(ctx, all, o.of); err != nil {
		return now, err
	}
	now = all[0]
	ref := o.ref
	if ref == nil || t.opt.Order > 0 {
		return now, nil
	}
	for t.unsure(&now.score, &ref.score) && len(now.score.each) < judgedRows && now.folds < o.most {
		folds := now.folds + 1
		for _, c := range []*candidate{&now, ref} {
			if _, err := t.extend(ctx, c, folds, o.of); err != nil {
				return now, err
			}
		}
	}
	return now, nil
}

// variants returns the candidates of an order: one with the bandwidth and the rate of now,
// the best candidate of half the order, and others that vary these.
func (t *tuner) variants(now candidate, best *candidate, order int, first bool) (all []candidate) {
	now.order, now.size = order, 0
	add := func(factor, rate float64) {
		c := now
		c.factor *= factor
		c.rate *= rate
		all = append(all, c)
	}
	add(1, 1)
	if t.set.Bandwidth == 0 {
		if first || now.factor > best.factor {
			add(0.5, 1)
		}
		if first {
			add(0.25, 1)
		}
	}
	if t.byErrors() && t.set.LearningRate == 0 && order <= orderVaried {
		if first || now.rate == best.rate {
			add(1, 4)
		} else {
			add(1, 0.25)
		}
	}
	return all
}

// top returns the best of all that was tried.
func (o *orderSearch) top() *candidate {
	best := o.ref
	for i := range o.tried {
		if c := &o.tried[i]; best == nil || o.excess(&c.score, &best.score) < 0 {
			best = c
		}
	}
	return best
}

// enough reports whether no larger order needs to be tried.
func (o *orderSearch) enough() bool {
	n := len(o.tried)
	if n < 2 {
		return false
	}
	last, before := &o.tried[n-1].score, &o.tried[n-2].score
	return o.within(last, &o.top().score) && o.within(before, last)
}

// choose returns the smallest order within the tolerance of the best that was tried. If there is
// none, it returns the best order, and says so.
func (o *orderSearch) choose() int {
	top := o.top()
	for i := range o.tried {
		if o.opt.Order > 0 || o.within(&o.tried[i].score, &top.score) {
			return i
		}
	}
	chosen := len(o.tried) - 1
	for i := range slices.Backward(o.tried) {
		if o.excess(&o.tried[i].score, &o.tried[chosen].score) <= 0 {
			chosen = i
		}
	}
	o.opt.Note("no tried order up to %d is within the tolerance of the best (any size: %d elements); using the best tried (see --order, --tolerance 0)", o.tried[len(o.tried)-1].order, top.size)
	return chosen
}

// value returns the quantity by which candidates are compared: the error rate or the risk.
func value(each []float64) float64 { return sum(each) / float64(len(each)) }

// excess returns how much worse a is than b, on the rows that both were judged by.
func (t *tuner) excess(a, b *heldOut) float64 {
	n := min(len(a.each), len(b.each))
	return value(t.costs(a, n)) - value(t.costs(b, n))
}

// slack returns how much worse than h a candidate may be. For errors this is at least one
// row, since no smaller difference can be observed.
func (t *tuner) slack(h *heldOut) float64 {
	if t.byErrors() {
		return max(cmp.Or(t.opt.Tolerance, DefaultTolerance), 1/h.rows())
	}
	return float64(max(0, cmp.Or(t.opt.Tolerance, DefaultRiskTolerance)) * value(h.each))
}

// within reports whether a is worse than b by at most the tolerance, and gives up no class.
func (t *tuner) within(a, b *heldOut) bool {
	return t.excess(a, b) <= t.slack(b) && !givesUp(a, b)
}

// givesUp reports whether a predicts a class rightly never, or markedly less often than b does: a
// tenth less often, and by more than the standard deviation of the number of its rows. The error
// hides that of a rare class.
func givesUp(a, b *heldOut) bool {
	n := min(len(a.right), len(b.right))
	found := make(map[int32][2]int)
	for i := range n {
		f := found[a.class[i]]
		if a.right[i] {
			f[0]++
		}
		if b.right[i] {
			f[1]++
		}
		found[a.class[i]] = f
	}
	for _, f := range found {
		if f[0] == 0 && f[1] > 1 || float64(f[1]-f[0]) > max(math.Sqrt(float64(f[1])), float64(f[1])/10) {
			return true
		}
	}
	return false
}

// unsure reports whether the standard error of the row-by-row difference between a and b
// is larger than the tolerance.
func (t *tuner) unsure(a, b *heldOut) bool {
	n := min(len(a.each), len(b.each))
	_, deviation := difference(t.costs(a, n), t.costs(b, n), t.byErrors(), len(t.perm)+len(t.extra))
	return deviation > t.slack(b)
}

// describe returns the trade-off to store in the model: one line for each order tried. If
// there are many, it keeps the largest orders and the chosen one. It omits lines whose risk
// is not finite.
func (o *orderSearch) describe(chosen int) (lines []Tried) {
	m, all := o.samples[0].model, o.tried
	if o.ref != nil {
		all = append(all[:len(all):len(all)], *o.ref)
	}
	for i, c := range all {
		risk := c.score.loss / c.score.rows()
		if math.IsInf(risk, 0) || i <= len(all)-orderLines && i != chosen {
			continue
		}
		line := Tried{Order: c.size, Risk: risk, Numbers: c.size * (m.settings.Dim + m.outputs()), Chosen: i == chosen}
		if line.Error = float64(c.score.wrong) / c.score.rows(); m.Regression() {
			line.Error = math.Sqrt(2*risk) / m.settings.TargetFactor
		} else if o.measureName() != "" {
			line.Measure = value(o.costs(&c.score, len(c.score.each)))
		}
		lines = append(lines, line)
	}
	return lines
}

// HeldOut returns the line of the chosen order, if there is a trade-off.
func (s Settings) HeldOut() (chosen Tried, ok bool) {
	i := slices.IndexFunc(s.TradeOff, func(l Tried) bool { return l.Chosen })
	if i < 0 {
		return chosen, false
	}
	return s.TradeOff[i], true
}

// noteTradeOff sends the orders tried to Note as a table and marks the chosen order.
func (t *tuner) noteTradeOff() {
	if len(t.set.TradeOff) == 0 {
		return
	}
	what := "error %"
	if t.set.regression() {
		what = "RMSE"
	}
	note := func(order, error, measure, risk, numbers any, mark string) {
		if t.measureName() != "" {
			error = fmt.Sprintf("%10v %10v", error, measure)
		}
		t.opt.Note("%8v %10v %10v %10v%s", order, error, risk, numbers, mark)
	}
	note("order", what, t.measureName(), "risk", "numbers", "")
	for _, l := range t.set.TradeOff {
		value, mark := fmt.Sprintf("%.2f", 100*l.Error), ""
		if t.set.regression() {
			value = fmt.Sprintf("%.4g", l.Error)
		}
		if l.Chosen {
			mark = "  chosen"
		}
		note(l.Order, value, fmt.Sprintf("%.2f", 100*l.Measure), fmt.Sprintf("%.4g", l.Risk), l.Numbers, mark)
	}
}
