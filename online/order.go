package online

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"polkrepro/polk/prune"
)

// The model order is chosen by training with orders of 4, 8, 16 … elements on the
// sample, until the error on held-out rows is as good as that of a model of any size,
// and then with the order halfway between the last two.
const (
	orderFirst  = 4
	orderMost   = 1024 // largest order tried, but at most one element per orderShare rows of the source
	orderShare  = 16
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
	Order   int     `json:"order"`            // model order, in elements
	Error   float64 `json:"error"`            // fraction of rows predicted wrongly; for a regression, the RMSE
	Risk    float64 `json:"risk"`             // mean loss
	Numbers int     `json:"numbers"`          // number of features and weights of all elements
	Chosen  bool    `json:"chosen,omitempty"` // whether the order was chosen, by the tolerance or as the requested order
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

// tradeOff trains with larger and larger orders, or only with the requested order. It
// returns the candidate of the smallest order that is within the tolerance of best (if
// there is none, the best candidate tried), and a description of all orders tried.
func (t *tuner) tradeOff(ctx context.Context, s *survey, best *candidate) (*candidate, []Tried, error) {
	n := len(t.perm)
	for i := range s.judged {
		t.extra = append(t.extra, n+i)
	}
	rows := n - t.held
	learn := rows
	if !t.stream {
		t.passes = max(t.passes, orderPasses)
		learn = max(rows, int(min(t.passes*float64(rows), orderTaken)))
	}
	ref := *best
	ref.score, ref.folds = heldOut{}, 0
	spent, err := t.extend(ctx, &ref, t.folds, rows, learn)
	if err != nil {
		return nil, nil, err
	}
	most := min(tuneFolds, int(orderBudget*int64(t.folds)/max(1, spent))) // folds; the model of any size makes them expensive
	t.spent = 0
	order, largest := orderFirst, min(orderMost, max(orderLeast, t.all/orderShare), max(orderFirst, ref.size-1))
	for order < len(t.samples[0].model.settings.Labels) && 2*order <= largest {
		order *= 2
	}
	if t.opt.Order > 0 {
		order, largest = t.opt.Order, t.opt.Order
	}
	var tried []candidate
	now := *best
	now.factor *= 4
	tryOrder := func(order int) error {
		t.opt.Note("tuning: order %d", order)
		all := t.variants(now, best, order, len(tried) == 0)
		if err := t.round(ctx, all, rows, learn); err != nil {
			return err
		}
		now = all[0]
		for t.unsure(&now.score, &ref.score) && len(now.score.each) < tuneJudged && now.folds < most {
			folds := now.folds + 1
			for _, c := range []*candidate{&now, &ref} {
				if _, err := t.extend(ctx, c, folds, rows, learn); err != nil {
					return err
				}
			}
		}
		tried = append(tried, now)
		return nil
	}
	good := func() bool { return len(tried) > 0 && t.within(&now.score, &ref.score) }
	for ; order <= largest && !good() && (len(tried) == 0 || t.spent < orderBudget); order *= 2 {
		if err := tryOrder(order); err != nil {
			return nil, nil, err
		}
	}
	chosen := len(tried) - 1
	switch {
	case t.opt.Order > 0:
	case !good():
		for i := range slices.Backward(tried) {
			if value(tried[i].score.each) <= value(tried[chosen].score.each) {
				chosen = i
			}
		}
		t.opt.Note("no tried order up to %d is within the tolerance of the best (any size: %d elements); using the best tried (see --order, --tolerance 0)", now.order, ref.size)
	case chosen > 0: // the order halfway between the last two may do as well
		if err := tryOrder((now.order + tried[chosen-1].order) / 2); err != nil {
			return nil, nil, err
		}
		tried[chosen], tried[chosen+1] = tried[chosen+1], tried[chosen]
		if !good() {
			chosen++
		}
	}
	return &tried[chosen], t.describe(append(tried[:len(tried):len(tried)], ref), chosen), nil
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

// value returns the quantity by which candidates are compared: the error rate or the risk.
func value(each []float64) float64 {
	sum := 0.0
	for _, v := range each {
		sum += v
	}
	return sum / float64(len(each))
}

// slack returns how much worse than h a candidate may be. For errors this is at least one
// row, since no smaller difference can be observed.
func (t *tuner) slack(h *heldOut) float64 {
	if t.byErrors() {
		return max(cmp.Or(t.opt.Tolerance, DefaultTolerance), 1/h.rows())
	}
	return float64(cmp.Or(t.opt.Tolerance, DefaultRiskTolerance) * value(h.each))
}

// within reports whether a is worse than b by at most the tolerance, on the rows that both
// were judged by.
func (t *tuner) within(a, b *heldOut) bool {
	n := min(len(a.each), len(b.each))
	return value(a.each[:n]) <= value(b.each[:n])+t.slack(b)
}

// unsure reports whether the standard error of the row-by-row difference between a and b
// is larger than the tolerance. For errors, two disagreements in each direction are added,
// since a few rows that agree say little about the next row.
func (t *tuner) unsure(a, b *heldOut) bool {
	n := min(len(a.each), len(b.each))
	var sum, squares float64
	for i, v := range a.each[:n] {
		d := v - b.each[i]
		sum += d
		squares += float64(d * d)
	}
	if t.byErrors() {
		squares += 4
	}
	distinct := min(n, len(t.perm)+len(t.extra)) // a row held out twice adds no information
	return math.Sqrt(max(0, squares-sum*sum/float64(n))/float64(n)/float64(distinct)) > t.slack(b)
}

// describe returns the trade-off to store in the model: one line for each order tried. If
// there are many, it keeps the largest orders and the chosen one. It omits lines whose risk
// is not finite.
func (t *tuner) describe(tried []candidate, chosen int) (lines []Tried) {
	m := t.samples[0].model
	for i, c := range tried {
		risk := c.score.loss / c.score.rows()
		if math.IsInf(risk, 0) || i <= len(tried)-orderLines && i != chosen {
			continue
		}
		line := Tried{Order: c.size, Risk: risk, Numbers: c.size * (m.settings.Dim + m.outputs()), Chosen: i == chosen}
		if line.Error = float64(c.score.wrong) / c.score.rows(); m.Regression() {
			line.Error = math.Sqrt(2*risk) / m.settings.TargetFactor
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
	t.opt.Note("%8s %10s %10s %10s", "order", what, "risk", "numbers")
	for _, l := range t.set.TradeOff {
		value, mark := fmt.Sprintf("%.2f", 100*l.Error), ""
		if t.set.regression() {
			value = fmt.Sprintf("%.4g", l.Error)
		}
		if l.Chosen {
			mark = "  chosen"
		}
		t.opt.Note("%8d %10s %10.4g %10d%s", l.Order, value, l.Risk, l.Numbers, mark)
	}
}
