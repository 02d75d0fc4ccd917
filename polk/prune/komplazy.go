package prune

import (
	"context"
	"math"
)

func init() {
	Register(Heuristic{
		Name:  "komp-lazy",
		About: "KOMP that waits until there are more than M elements and then leaves (1 − slack)·M",
		Params: []Param{Order, {
			Name: "slack", About: "part of the elements that goes at a time", Above: Bound(0), Most: Bound(0.9), Default: Bound(0.1),
		}},
		NewInverse: func(p Params) InversePruner { return kompLazy{p.Int("order"), p.Float("slack")} },
	})
}

// kompLazy is kompOrder with pauses: most steps remove nothing, and new
// elements are judged when later steps have had their say in their weights.
type kompLazy struct {
	order int
	slack float64
}

func (k kompLazy) Limits(s Step) (order int, err2 float64) {
	if s.Len <= k.order {
		return s.Len, 0
	}
	return max(1, int(math.Ceil((1-k.slack)*float64(k.order)))), math.Inf(1)
}

func (k kompLazy) Prune(ctx context.Context, s InverseState) error { return greedy(ctx, s, k) }
