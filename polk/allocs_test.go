//go:build !race

package polk

import (
	"math/rand/v2"
	"testing"

	"polkrepro/loss"
)

// A step that folds no element allocates nothing once the buffers have grown. (Under the race detector sync.Pool drops
// items at random, and gemm allocates again.)
func TestStepDoesNotAllocate(t *testing.T) {
	for _, cost := range []loss.Loss{hinge, logistic} {
		cfg := testConfig(cost)
		cfg.Dim = 3
		m := newMixture(rand.New(rand.NewPCG(5, 5)), cfg.Dim, cfg.Classes)
		m.spread = 1.5
		l := mustNew(t, cfg)
		var xs [][]float32
		var ys [][]float64
		for range 310 {
			x, y := m.batch(32)
			xs, ys = append(xs, x), append(ys, y)
		}
		next, removed := 0, 0
		step := func() {
			mustStep(t, l, 32, xs[next], ys[next])
			removed += l.Last().Removed
			next++
		}
		for range 200 {
			step()
		}
		removed = 0
		if a := testing.AllocsPerRun(100, step); a > 0 {
			t.Errorf("%s: %v allocations a step", cost.Name(), a)
		}
		if removed == 0 {
			t.Errorf("%s: no removal was measured", cost.Name())
		}
	}
}
