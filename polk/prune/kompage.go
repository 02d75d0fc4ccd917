package prune

import (
	"context"

	"polkrepro/internal/portable"
)

func init() {
	Register(Heuristic{
		Name:  "komp-age",
		About: "KOMP to a fixed order whose costs fade with age, for streams that drift",
		Params: []Param{Order, {
			Name: "memory", About: "steps in which the cost of an element falls to 1/e", Above: Bound(0), Default: Bound(200),
		}},
		NewInverse: func(p Params) InversePruner { return kompAge{p.Int("order"), p.Float("memory")} },
	})
}

// kompAge removes argmin_j ‖w_j‖²/[K⁻¹]_jj·exp(−age_j/memory) and refits.
type kompAge struct {
	order  int
	memory float64
}

func (p kompAge) Prune(_ context.Context, s InverseState) error {
	if s.Len() <= p.order {
		return nil
	}
	fade := make([]float64, s.Total())
	for j := range fade {
		fade[j] = portable.Exp(-float64(s.Age(j)) / p.memory)
	}
	for s.Len() > p.order {
		s.Remove(Least(s, func(j int) float64 { return s.Cost(j) * fade[j] }))
	}
	return nil
}
