//go:build !race

package bsgd

import "testing"

// Nothing is allocated once the buffers have grown. (Under the race detector
// sync.Pool drops what it is given at random, and gemm allocates again.)
func TestStepDoesNotAllocate(t *testing.T) {
	for _, maintenance := range strategies {
		for _, most := range []int{4, tailMost} {
			c := config(maintenance, 20)
			c.LearningRate = 0.05 // keeps violations coming
			x, y := stream(8, 600, c.Dim, c.Classes, 0.5)
			l := splitAt(learner(t, c), most)
			step := func() {
				if err := l.Step(len(y), x, y); err != nil {
					t.Fatal(err)
				}
			}
			step()
			before := l.maintenances
			if a := testing.AllocsPerRun(3, step); a > 0 {
				t.Errorf("%s: %v allocations in %d samples", maintenance, a, len(y))
			}
			if l.maintenances == before {
				t.Errorf("%s: no maintenance was measured", maintenance)
			}
		}
	}
}
