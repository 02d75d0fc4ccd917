package prunetest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"polkrepro/polk/prune"
)

// A pruner is given by a function that prunes to an order.
type pruner struct {
	order int
	f     func(ctx context.Context, s prune.State, order int) error
}

func (p pruner) Prune(ctx context.Context, s prune.State) error { return p.f(ctx, s, p.order) }

// dropLeast drops the elements with the least scores until order are left.
func dropLeast(s prune.Elements, order int, score func(j int) float64) {
	for s.Len() > order {
		s.Drop(prune.Least(s, score))
	}
}

// sound drops the lightest elements.
func sound(_ context.Context, s prune.State, order int) error {
	dropLeast(s, order, s.Norm2)
	return nil
}

// byNumber removes the elements with the least mean of ‖w_j‖² over their lives. It keeps and
// saves the sums by the elements' numbers, which change from step to step.
type byNumber struct {
	order int
	kept  struct{ Steps, Sums []float64 }
}

func (b *byNumber) Prune(_ context.Context, s prune.State) error {
	k := &b.kept
	for len(k.Sums) < s.Total() {
		k.Steps, k.Sums = append(k.Steps, 0), append(k.Sums, 0)
	}
	for j := range s.Total() {
		k.Steps[j]++
		k.Sums[j] += s.Norm2(j)
	}
	for s.Len() > b.order {
		j := prune.Least(s, func(j int) float64 { return k.Sums[j] / k.Steps[j] })
		s.Drop(j)
		k.Steps[j], k.Sums[j] = 0, 0
	}
	return nil
}

func (b *byNumber) Kept() any { return &b.kept }

// failures returns the names of the checks that a heuristic fails.
func failures(of func(order int) prune.Pruner) map[string]error {
	h := prune.Heuristic{
		Name: "test", About: "for tests", Params: []prune.Param{prune.Order},
		New: func(p prune.Params) prune.Pruner { return of(p.Int("order")) },
	}
	out := make(map[string]error)
	for _, c := range checks {
		if err := c.run(setup{h, prune.Params{"order": 7}}); err != nil {
			out[c.name] = err
		}
	}
	return out
}

// TestBrokenOnesFail: each of these faults is found by the check for it, and a sound pruner passes.
func TestBrokenOnesFail(t *testing.T) {
	for name, err := range failures(func(order int) prune.Pruner { return pruner{order, sound} }) {
		t.Errorf("a sound one fails %q: %v", name, err)
	}
	calls := 0
	for check, f := range map[string]func(ctx context.Context, s prune.State, order int) error{
		"keeps its budget": func(ctx context.Context, s prune.State, order int) error {
			return sound(ctx, s, order+1)
		},
		"is determined by the seed": func(_ context.Context, s prune.State, order int) error {
			dropLeast(s, order, func(int) float64 { return rand.Float64() })
			return nil
		},
		"ends when the context does": func(ctx context.Context, s prune.State, order int) error {
			if ctx.Err() != nil {
				return errors.New("stopped")
			}
			return sound(ctx, s, order)
		},
		"goes on from a saved learner": func(_ context.Context, s prune.State, order int) error {
			for s.Len() > order {
				calls++
				s.Drop(prune.Least(s, func(j int) float64 { return math.Sin(float64(calls * (j + 1))) }))
			}
			return nil
		},
	} {
		if failed := failures(func(order int) prune.Pruner { return pruner{order, f} }); failed[check] == nil {
			t.Errorf("no failure of %q, only %v", check, failed)
		}
	}
	const want = "keeps by element, not by number"
	if failed := failures(func(order int) prune.Pruner { return &byNumber{order: order} }); failed[want] == nil || !strings.Contains(failed[want].Error(), "it leaves the elements [") {
		t.Errorf("no failure of %q that names the elements, only %v", want, failed)
	}
}
