package prunetest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"polkrepro/polk/prune"
)

// An ordered is a pruner given by a function that prunes to an order.
type ordered[State any] struct {
	order int
	f     func(ctx context.Context, s State, order int) error
}

func (o ordered[State]) Prune(ctx context.Context, s State) error { return o.f(ctx, s, o.order) }

type pruner = func(ctx context.Context, s prune.State, order int) error

func heuristic(f pruner) prune.Heuristic {
	return prune.Heuristic{
		Name: "test", About: "for tests", Params: []prune.Param{prune.Order},
		New: func(p prune.Params) prune.Pruner { return ordered[prune.State]{p.Int("order"), f} },
	}
}

// withInverse returns a heuristic whose pruners use the inverse. of makes the pruner of an order.
func withInverse(of func(order int) prune.InversePruner) prune.Heuristic {
	h := heuristic(nil)
	h.New, h.NewInverse = nil, func(p prune.Params) prune.InversePruner { return of(p.Int("order")) }
	return h
}

// dropLeast drops the elements with the least scores until order are left.
func dropLeast(s prune.Elements, order int, score func(j int) float64) {
	for s.Len() > order {
		s.Drop(prune.Least(s, score))
	}
}

// sound drops the lightest elements.
func sound[State prune.Elements](_ context.Context, s State, order int) error {
	dropLeast(s, order, s.Norm2)
	return nil
}

// failures returns the names of the checks that a heuristic fails.
func failures(h prune.Heuristic) map[string]error {
	out := make(map[string]error)
	for _, c := range checks {
		if err := guarded(c, setup{h, prune.Params{"order": 7}}); err != nil {
			out[c.name] = err
		}
	}
	return out
}

func TestSoundOnesPass(t *testing.T) {
	inverse := func(order int) prune.InversePruner {
		return ordered[prune.InverseState]{order, sound[prune.InverseState]}
	}
	for _, h := range []prune.Heuristic{heuristic(sound), withInverse(inverse)} {
		for name, err := range failures(h) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// last returns the last element that is present.
func last(s prune.State) int {
	for j := s.Total() - 1; j >= 0; j-- {
		if s.Present(j) {
			return j
		}
	}
	return -1
}

// Each of these faults is found by the check for it.
func TestBrokenOnesFail(t *testing.T) {
	calls := 0
	for _, c := range []struct {
		what, fails string
		prune       pruner
	}{
		{"keeps one too many", "keeps its budget",
			func(ctx context.Context, s prune.State, order int) error { return sound(ctx, s, order+1) }},
		{"adds copies", "adds nothing to the dictionary but new samples",
			func(_ context.Context, s prune.State, order int) error {
				for range 10 * min(1, s.Len()) {
					s.Add(s.Point(0), s.Weights(0))
				}
				return nil
			}},
		{"draws from a source of its own", "is determined by the seed",
			func(_ context.Context, s prune.State, order int) error {
				dropLeast(s, order, func(int) float64 { return rand.Float64() })
				return nil
			}},
		{"hides why it stopped", "ends when the context does",
			func(ctx context.Context, s prune.State, order int) error {
				if ctx.Err() != nil {
					return errors.New("stopped")
				}
				return sound(ctx, s, order)
			}},
		{"divides by the distance of duplicates", "bears duplicates",
			func(ctx context.Context, s prune.State, order int) error {
				for s.Len() > order {
					j := last(s)
					for i, k := range s.Row(j)[:j] {
						if s.Present(i) {
							s.Weights(i)[0] += 1e-9 / (1 - k)
						}
					}
					s.Drop(j)
				}
				return nil
			}},
		{"waits for a comparison that NaN never grants", "bears numbers that are not finite",
			func(_ context.Context, s prune.State, order int) error {
				for s.Len() > order {
					for j := range s.Total() {
						if s.Present(j) && s.Norm2(j) >= 0 && !math.IsInf(s.Norm2(j), 0) && s.Row(j)[j] > 0 {
							s.Drop(j)
							break
						}
					}
				}
				return nil
			}},
		{"takes an element for granted", "bears none and one element",
			func(ctx context.Context, s prune.State, order int) error {
				s.Norm2(s.Total() - 1)
				if s.Total() < 1 {
					s.Drop(0)
				}
				return sound(ctx, s, order)
			}},
		{"takes three classes for granted", "prunes any number of functions",
			func(ctx context.Context, s prune.State, order int) error {
				if s.Len() > order {
					_ = s.Weights(0)[2]
				}
				return sound(ctx, s, order)
			}},
		{"keeps something between steps", "goes on from a saved learner",
			func(_ context.Context, s prune.State, order int) error {
				for s.Len() > order {
					calls++
					s.Drop(prune.Least(s, func(j int) float64 { return math.Sin(float64(calls * (j + 1))) }))
				}
				return nil
			}},
	} {
		failed := failures(heuristic(c.prune))
		if failed[c.fails] == nil {
			t.Errorf("one that %s: no failure of %q, only %v", c.what, c.fails, failed)
		}
	}
}

// averaging removes the elements with the least mean of ‖w_j‖² over their lives.
type averaging struct {
	order                        int
	prune.PerElement[[2]float64] // number of steps and sum
}

func (a *averaging) Prune(_ context.Context, s prune.InverseState) error {
	a.Sync(s)
	for j := range s.Total() {
		v := a.Value(s, j)
		a.SetValue(s, j, [2]float64{v[0] + 1, v[1] + s.Norm2(j)})
	}
	for s.Len() > a.order {
		s.Remove(prune.Least(s, func(j int) float64 { v := a.Value(s, j); return v[1] / v[0] }))
	}
	return nil
}

// byNumber is averaging with sums kept by the elements' numbers, which change from step to step.
// It saves the sums, so only the order of the elements gives it away.
type byNumber struct {
	order       int
	steps, sums []float64
}

func (b *byNumber) Prune(_ context.Context, s prune.InverseState) error {
	for len(b.sums) < s.Total() {
		b.steps, b.sums = append(b.steps, 0), append(b.sums, 0)
	}
	for j := range s.Total() {
		b.steps[j]++
		b.sums[j] += s.Norm2(j)
	}
	for s.Len() > b.order {
		j := prune.Least(s, func(j int) float64 { return b.sums[j] / b.steps[j] })
		s.Remove(j)
		b.steps[j], b.sums[j] = 0, 0
	}
	return nil
}

func (b *byNumber) MarshalBinary() ([]byte, error) {
	return json.Marshal([][]float64{b.steps, b.sums})
}

func (b *byNumber) UnmarshalBinary(text []byte) error {
	var both [2][]float64
	err := json.Unmarshal(text, &both)
	b.steps, b.sums = both[0], both[1]
	return err
}

// A pruner that keeps its state by element passes the suite; one that keeps it by number fails.
func TestStatisticsOfElements(t *testing.T) {
	byElement := func(order int) prune.InversePruner { return &averaging{order: order} }
	for name, err := range failures(withInverse(byElement)) {
		t.Errorf("by element: %s: %v", name, err)
	}
	keptByNumber := func(order int) prune.InversePruner { return &byNumber{order: order} }
	const want = "keeps by element, not by number"
	if failed := failures(withInverse(keptByNumber)); failed[want] == nil {
		t.Errorf("by number: no failure of %q, only %v", want, failed)
	} else {
		t.Log(failed)
	}
}
