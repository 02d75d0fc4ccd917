package polk

import (
	"context"
	"fmt"
	"math/rand/v2"

	"polkrepro/polk/prune"
)

// prune makes the dictionary of f + Σ b.w κ(b.x, ·) smaller, b the batch of the
// step.
func (l *Learner) prune(ctx context.Context, step prune.Step) error {
	p, k, b := l.cfg.Pruner, &l.komp, &l.batch
	if p == nil {
		k.project(b, 0, step.Epsilon*step.Epsilon)
		return nil
	}
	step.Rand = rand.New(rand.NewPCG(l.cfg.Seed, uint64(step.T)))
	var err error
	if g, ok := p.Pruner.(prune.Greedy); ok {
		order, err2 := g.Limits(step)
		k.project(b, order, err2)
	} else if p.Heuristic.Inverse {
		err = k.prune(ctx, b, p, l.common(step))
	} else {
		err = l.pruneUnrefitted(ctx, p, step)
	}
	l.age()
	if err != nil {
		return fmt.Errorf("polk: pruner %s: %w", p.Heuristic.Name, err)
	}
	return nil
}

// inverse reports whether the learner keeps K_DD⁻¹.
func (c *Config) inverse() bool { return c.Pruner == nil || c.Pruner.Heuristic.Inverse }

// common returns the part of the state that does not depend on how it is kept.
func (l *Learner) common(step prune.Step) common {
	return common{l: l, step: step, dict: l.f.Order()}
}

// age notes when the elements entered that the step has added, and forgets
// those that it has removed.
func (l *Learner) age() {
	m := l.f.Order()
	for j := range m {
		if id := l.f.Dict.ID(j); !l.knows(id) {
			l.born[id] = l.t
		}
	}
	if len(l.born) == m {
		return
	}
	born := make(map[uint64]int, m)
	for j := range m {
		id := l.f.Dict.ID(j)
		born[id] = l.born[id]
	}
	l.born = born
}

func (l *Learner) knows(id uint64) bool {
	_, ok := l.born[id]
	return ok
}

// common is what both kinds of prune.State share.
type common struct {
	l    *Learner
	step prune.Step
	dict int // elements before the step
}

func (c *common) Step() prune.Step { return c.step }
func (c *common) Old() int         { return c.dict }

// Age returns how many steps ago element j entered; new ones are not known yet.
func (c *common) Age(j int) int {
	if j >= c.dict {
		return 0
	}
	return c.l.t - c.l.born[c.l.f.Dict.ID(j)]
}

const absent = "polk: the pruner removes an element that is not present"
