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
	orderMost   = 1024 // largest that is tried, but no more than one element for orderShare rows of the source
	orderShare  = 16
	orderLeast  = 64      // that are tried even so
	orderBudget = 1 << 37 // multiply-adds after which no larger order is tried
	orderPasses = 16      // fewest
	orderVaried = 128     // largest order for which other learning rates are tried
	orderTaken  = 1 << 14 // rows of the sample after which no further pass begins
	orderLines  = 8       // most that a trade-off keeps

	fixedRows = 8       // rows that are learned for each element before the dictionary is fixed, unless
	fixedCost = 1 << 28 // the square of the order for each row comes to less, in at most half of all steps
)

// What a model may be worse by than the best, unless TrainOptions.Tolerance says.
const (
	DefaultTolerance     = 0.005 // of all rows: half a point
	DefaultRiskTolerance = 0.05  // of the risk
)

// A Tried is how a model order did on rows that were held out, as its share of the
// rows was predicted wrongly, and its risk.
type Tried struct {
	Order   int     `json:"order"`            // elements
	Error   float64 `json:"error"`            // fraction of the rows; of a regression the RMSE
	Risk    float64 `json:"risk"`             // mean loss
	Numbers int     `json:"numbers"`          // features and weights of all elements
	Chosen  bool    `json:"chosen,omitempty"` // by the tolerance, or as the order that was asked for
}

// limit bounds the order by KOMP that merges, where the kernel allows it.
func (s *Settings) limit(order int) {
	s.Pruner, s.PrunerParams = prunerMerge, prune.Params{"order": float64(order)}
	if cmp.Or(s.Kernel, KernelGaussian) != KernelGaussian {
		s.Pruner = prunerOrder
	}
}

// schedule spreads the learning of so many rows over steps: in these the learning rate
// falls to 0, and the dictionary stays what it is once it has seen rows enough. To learn
// its weights alone is quicker, and better, as nothing that was learned is pruned away.
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

// enlargeBatch makes the mini-batches of a large file larger, so that a step,
// which costs more than its rows, is taken less often: up to four times the
// default. A sample's weight after its step, η/N times its gradient, stays what
// it was for the losses whose gradient is bounded; for the others the curvature
// limits η itself.
func (s *Settings) enlargeBatch(rows int, rate bool) {
	for s.Batch < 4*DefaultBatch && rows >= 256*s.Batch {
		s.Batch *= 2
		if rate && !unboundedGradient(s.Loss) {
			s.LearningRate *= 2
		}
	}
}

// tradeOff trains with larger and larger orders, or with the one that is asked for, and
// returns the candidate of the smallest that is not worse than best by more than the
// tolerance, or else the best of them, and all that were tried.
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
	most := min(tuneFolds, int(orderBudget*int64(t.folds)/max(1, spent))) // folds, which the model of any size makes dear
	t.spent = 0
	order, largest := orderFirst, min(orderMost, max(orderLeast, t.all/orderShare), max(orderFirst, ref.size-1))
	for order < len(t.samples[0].model.settings.Labels) && 2*order <= largest {
		order *= 2
	}
	if t.opt.Order > 0 {
		order, largest = t.opt.Order, t.opt.Order
	}
	var tried []candidate
	var said watch
	now := *best
	now.factor *= 4
	tryOrder := func(order int) error {
		if said.due() {
			t.opt.Note("order %d is being tried", order)
		}
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

// variants returns the candidates of an order: the bandwidth and the rate of now, the
// best of half as many elements, and others beside it.
func (t *tuner) variants(now candidate, best *candidate, order int, first bool) (all []candidate) {
	now.order, now.size = order, 0
	add := func(factor, rate float64) {
		c := now
		c.factor *= factor
		c.rate *= rate
		all = append(all, c)
	}
	add(1, 1)
	if t.set.Kernel == KernelGaussian && t.set.Bandwidth == 0 {
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

// value is what candidates are compared by: the fraction of errors, or the risk.
func value(each []float64) float64 {
	sum := 0.0
	for _, v := range each {
		sum += v
	}
	return sum / float64(len(each))
}

// slack returns what another one may be worse by than h: of errors, by one at least,
// as no fewer can be told from none.
func (t *tuner) slack(h *heldOut) float64 {
	if t.byErrors() {
		return max(cmp.Or(t.opt.Tolerance, DefaultTolerance), 1/h.rows())
	}
	return float64(cmp.Or(t.opt.Tolerance, DefaultRiskTolerance) * value(h.each))
}

// within reports whether a is worse than b, on the rows that both were judged by, by no
// more than the tolerance.
func (t *tuner) within(a, b *heldOut) bool {
	n := min(len(a.each), len(b.each))
	return value(a.each[:n]) <= value(b.each[:n])+t.slack(b)
}

// unsure reports whether the standard error of the difference, row by row, is larger
// than the tolerance. Two disagreements either way are added: no one knows of the next
// row from a few that agree.
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

// describe returns what was tried, for the model: of many lines those of the largest
// orders, without any whose risk is not finite.
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

// HeldOut returns the line of the order that was chosen, if there is a trade-off.
func (s Settings) HeldOut() (chosen Tried, ok bool) {
	i := slices.IndexFunc(s.TradeOff, func(l Tried) bool { return l.Chosen })
	if i < 0 {
		return chosen, false
	}
	return s.TradeOff[i], true
}

// noteTradeOff says what was tried, the chosen order marked.
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
