package polk

import (
	"context"
	"maps"

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
	}
	a := l.ahead
	a.f.Set(l.f)
	if a.previewed != l.t {
		a.previewed, a.komp.repaired.order = l.t, 0
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
