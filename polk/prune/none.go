package prune

import "context"

func init() {
	Register(Heuristic{
		Name:  "none",
		About: "keeps every element: stochastic gradient descent without a budget",
		New:   func(Params) Pruner { return none{} },
	})
}

// none keeps every element, without any budget.
type none struct{}

func (none) Prune(context.Context, State) error { return nil }
