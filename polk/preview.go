package polk

import (
	"context"
	"maps"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// Preview returns the functions that StepWeighted would leave, with the same bits, and takes no step.
// They are valid until the next call of Preview. It takes less time than StepWeighted: the step of a copy
// of l changes K_DD and its inverse only if it can't do without, and they are copied only then.
func (l *Learner) Preview(ctx context.Context, n int, x []float32, y, weights []float64) (*kernel.Expansion, error) {
	cfg := l.cfg
	kept, err := l.kept()
	if err == nil && cfg.Pruner != nil {
		cfg.Pruner, err = prune.New(cfg.Pruner.Heuristic(), cfg.Pruner.Params())
	}
	if err != nil {
		return nil, err
	}
	if l.ahead == nil {
		l.ahead = newLearner(cfg, kernel.NewExpansion(cfg.Kernel, cfg.Dim, l.f.Outputs))
		l.ahead.komp.dict.known = new(projections)
	}
	a := l.ahead
	a.f.Set(l.f)
	if a.previewed != l.t {
		a.previewed, a.komp.dict.known.rows = l.t, 0
		a.komp.dict.repaired.clear()
	}
	a.use(cfg)
	a.t, a.entries, a.entered = l.t, maps.Clone(l.entries), l.entered
	a.komp.dict.supervision = l.komp.dict.supervision
	a.komp.dict.borrow(&l.komp.dict.inverse)
	if err = a.restoreKept(kept); err == nil {
		_, err = a.StepWeighted(ctx, n, x, y, weights)
	}
	return a.f, err
}

// projections are rows of T that previews of one step have computed. As rows of a mini-batch arrive, each
// preview begins with the samples of the one before.
type projections struct {
	rows          int
	order         [3]bool // summation orders of the products that they come from
	values, coeff matrix  // rows×M: kernel values to the dictionary, and T
}

// summation returns the orders in which the products of n rows with K and P are summed.
func (d *dictionary) summation(n int) [3]bool {
	m, r := d.inverse.order(), d.inverse.rank()
	return [3]bool{gemm.InLanes(n, m, m), gemm.InLanes(n, r, m), gemm.InLanes(n, m, r)}
}

// recall copies the first rows of T from the previews before, if these have the bits of a product of all
// rows, and returns their number. So many rows are left that their product has them, too.
func (d *dictionary) recall(e *entering) (rows int) {
	p := d.known
	if p == nil || p.order != d.summation(e.n) {
		return 0
	}
	for rows < min(e.n, p.rows) && slices.Equal(p.values.Row(rows), e.toDict.Row(rows)) {
		rows++
	}
	for rows > 0 && rows < e.n && d.summation(e.n-rows) != p.order {
		rows--
	}
	e.coeff.Copy(p.coeff.Rows(0, rows))
	return rows
}

// mostKnown bounds the numbers that projections keep, of each kind.
const mostKnown = 1 << 22

// remember keeps the rows of T from the given one on for the next previews.
func (d *dictionary) remember(e *entering, from int) {
	if p, n, m := d.known, e.n, d.inverse.order(); p != nil && n*m <= mostKnown {
		p.rows, p.order = n, d.summation(n)
		p.values, p.coeff = p.values.Reshaped(n, m), p.coeff.Reshaped(n, m)
		p.values.Rows(from, n).Copy(e.toDict.Rows(from, n))
		p.coeff.Rows(from, n).Copy(e.coeff.Rows(from, n))
	}
}
