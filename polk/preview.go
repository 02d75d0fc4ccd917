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
		l.ahead.komp.known = new(projections)
	}
	a := l.ahead
	a.f.Set(l.f)
	if a.previewed != l.t {
		a.previewed, a.komp.repaired.order, a.komp.known.rows = l.t, 0, 0
	}
	a.cfg, a.t, a.entries, a.entered = cfg, l.t, maps.Clone(l.entries), l.entered
	a.komp.supervision = l.komp.supervision
	a.komp.borrow(&l.komp.inverse)
	if err = a.restoreKept(kept); err == nil {
		_, err = a.StepWeighted(ctx, n, x, y, weights)
	}
	return a.f, err
}

// borrow makes k use g, without copying it, until own is called.
func (k *komp) borrow(g *inverseGram) {
	if !k.borrowed {
		k.spare = k.inverse
	}
	k.inverse, k.borrowed = *g, true
}

// own replaces a borrowed K and P by a copy of g. It must be called before they change.
func (k *komp) own(g *inverseGram) {
	if k.borrowed {
		k.spare.set(g)
		k.inverse, k.spare, k.borrowed = k.spare, inverseGram{}, false
	}
}

// replaceElements applies the outcome of the loop to the dictionary and its weights alone, in the
// order of delete and insert.
func (k *komp) replaceElements() {
	m, c := k.dict, k.f.Outputs
	for j := m - 1; j >= 0; j-- {
		if !k.present[j] {
			k.f.Remove(j)
		}
	}
	for _, p := range k.keptNew {
		k.f.Append(k.b.points.At(p), k.weights[(m+p)*c:(m+p+1)*c])
	}
}

// projections are rows of T that previews of one step have computed. As rows of a mini-batch arrive, each
// preview begins with the samples of the one before.
type projections struct {
	rows          int
	order         [3]bool   // summation orders of the products that they come from
	values, coeff []float64 // rows×M: kernel values to the dictionary, and T
}

// summation returns the orders in which the products of n rows with K and P are summed.
func (k *komp) summation(n int) [3]bool {
	m, r := k.inverse.order, k.inverse.rank
	return [3]bool{gemm.InLanes(n, m, m), gemm.InLanes(n, r, m), gemm.InLanes(n, m, r)}
}

// recall copies the first rows of T from the previews before, if these have the bits of a product of all
// rows, and returns their number. So many rows are left that their product has them, too.
func (k *komp) recall() (rows int) {
	p, n, m := k.known, k.b.n, k.inverse.order
	if p == nil || p.order != k.summation(n) {
		return 0
	}
	for rows < min(n, p.rows) && slices.Equal(p.values[rows*m:(rows+1)*m], k.b.toDict[rows*m:(rows+1)*m]) {
		rows++
	}
	for rows > 0 && rows < n && k.summation(n-rows) != p.order {
		rows--
	}
	copy(k.coeff, p.coeff[:rows*m])
	return rows
}

// mostKnown bounds the numbers that projections keep, of each kind.
const mostKnown = 1 << 22

// remember keeps the rows of T from the given one on for the next previews.
func (k *komp) remember(from int) {
	if p, n, m := k.known, k.b.n, k.inverse.order; p != nil && n*m <= mostKnown {
		p.rows, p.order = n, k.summation(n)
		p.values = append(p.values[:from*m], k.b.toDict[from*m:n*m]...)
		p.coeff = append(p.coeff[:from*m], k.coeff[from*m:]...)
	}
}
