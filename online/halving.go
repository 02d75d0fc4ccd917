package online

import "context"

const (
	firstRows   = 500     // rows for each candidate in the first round, twice as many for a small file; doubled each round
	smallFile   = 500     // largest file, in rows, for which small learning rates are tried too
	keptShare   = 3       // one candidate in keptShare advances to the next round
	roundBudget = 1 << 31 // multiply-adds after which no further round begins, a second or two
)

// variations returns the candidates of halving: the best shape and that of the scaling before a
// metric was learned, with narrower and wider bandwidths.
func (t *tuner) variations(best *candidate) (all []candidate) {
	factors := []float64{1, 0.5, 2}
	if t.set.Bandwidth != 0 {
		factors = factors[:1]
	}
	shapes := []candidate{*best}
	if m := t.samples[best.scaling].metric; m != nil && t.set.Scale != ScaleLearned {
		shapes = append(shapes, m.without)
	}
	for _, c := range shapes {
		for _, f := range factors {
			all = append(all, candidate{scaling: c.scaling, factor: c.factor * f, rate: t.rates[0]})
		}
	}
	return all
}

// halve finds the best candidate by successive halving. All learn a few rows. Those that
// predict the held-out rows best go on with twice as many rows, then with twice as many
// passes, until that no longer helps.
func (t *tuner) halve(ctx context.Context, all []candidate, train int) (best *candidate, err error) {
	t.spent = 0
	first, each := firstRows, 2
	switch {
	case t.stream:
		each = 1
	case t.all == len(t.perm): // a small file: there is time for it
		first, each = 2*firstRows, 4
	}
	of := trial{rows: min(first, train)}
	of.learn = each * of.rows
	if !t.stream {
		of.learn = max(of.learn, min(2*first, 16*of.rows))
	}
	for round := 0; ; round++ {
		t.opt.Note("tuning: %d settings, %d rows each", len(all), of.learn)
		if err := t.round(ctx, all, of); err != nil {
			return nil, err
		}
		done := t.spent > roundBudget || of.rows == train && (t.stream || 2*of.learn > mostPasses*train)
		if of.rows == train || done {
			if best == nil || t.better(&all[0].score, &best.score) {
				winner := all[0]
				best, t.passes = &winner, float64(of.learn)/float64(of.rows)
			} else {
				done = true
			}
		}
		if done {
			return best, nil
		}
		if of.rows == train {
			of.learn *= 2
		} else {
			of.rows = min(2*of.rows, train)
			of.learn = max(of.learn, each*of.rows)
		}
		all = t.advance(all, round, of, each)
	}
}

// advance returns the candidates of the next round. After the first round, they have all
// learning rates.
func (t *tuner) advance(all []candidate, round int, of trial, each int) []candidate {
	least := 2
	if t.all > len(t.perm) && of.learn > each*of.rows {
		least = 1
	}
	all = all[:min(len(all), max(least, len(all)/keptShare))]
	if round > 0 {
		return all
	}
	var next []candidate
	for _, c := range all {
		for _, rate := range t.rates {
			c.rate = rate
			next = append(next, c)
		}
	}
	return next
}
