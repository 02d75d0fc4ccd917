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
		cfg.Pruner, err = prune.New(cfg.Pruner.Heuristic, cfg.Pruner.Params)
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
		a.previewed = l.t
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
