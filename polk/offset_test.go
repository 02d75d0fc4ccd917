package polk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"polkrepro/internal/race"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// TestTrainingFarFromOrigin: a Gaussian kernel knows differences only, so
// learning points that are moved away from the origin is learning them where
// they were, to rounding. Offsets are in units of a spread of which float32
// still has 64 steps at 10⁸; some are just within what Block64 leaves to
// products, where the Gram matrix has its largest errors.
func TestTrainingFarFromOrigin(t *testing.T) {
	if race.Enabled {
		t.Skip("arithmetic alone")
	}
	const steps, n = 150, 32
	for _, budget := range []Parsimony{0.05, 1e-4} {
		for _, offset := range []float64{10, 50, 100, 1000, 1e5, 1e8} {
			spread := max(1, offset*0x1p-18)
			cfg := testConfig(hinge)
			cfg.Budget = budget
			cfg.Kernel = kernel.Gaussian{Bandwidth: 0.8 * spread}
			near, far := mustNew(t, cfg), mustNew(t, cfg)
			m := newMixture(rand.New(rand.NewPCG(3, 9)), 2, 3)
			move := func(x []float32) (at, back []float32) {
				for _, v := range x {
					moved := float32(offset + spread*float64(v))
					at, back = append(at, moved), append(back, float32(float64(moved)-offset))
				}
				return at, back
			}
			for range steps {
				x, y := m.batch(n)
				at, back := move(x)
				mustStep(t, near, n, back, y)
				mustStep(t, far, n, at, y)
				checkFinite(t, far)
			}
			name := fmt.Sprintf("offset %v, K = %v", offset, float64(budget))
			wrong := [2]int{}
			x, y := m.batch(2000)
			at, back := move(x)
			for i := range y {
				for q, f := range [][]float64{near.f.Score(back[2*i : 2*i+2]), far.f.Score(at[2*i : 2*i+2])} {
					if loss.Decide(f) != y[i] {
						wrong[q]++
					}
				}
			}
			if math.Abs(float64(wrong[0]-wrong[1])) > 10 { // 0.5 points
				t.Errorf("%s: %d of %d wrong, %d at the origin", name, wrong[1], len(y), wrong[0])
			}
			if a, b := near.f.Order(), far.f.Order(); math.Abs(float64(a-b)) > 0.1*float64(a)+2 {
				t.Errorf("%s: order %d, %d at the origin", name, b, a)
			}
			t.Logf("%s: order %d and %d, wrong %v, health %v", name, near.f.Order(), far.f.Order(), wrong, far.Health())
		}
	}
}
