package lbfgs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/loss"
)

// TestHardestFirst: the order is that of the margins that the model of the
// first samples gives, and holds every sample once.
func TestHardestFirst(t *testing.T) {
	c, _, _ := threeClasses(loss.MultiHinge{})
	c.exactSize, c.MaxIterations = 100, pilotIterations
	const n = 600 // more than are scored at once
	x, y := samples(rand.New(rand.NewPCG(3, 3)), n, c.Dim, c.Classes)
	order, err := hardestFirst(context.Background(), c.withDefaults(), n, x, y)
	if err != nil {
		t.Fatal(err)
	}
	pilot := train(t, c, 100, x[:100*c.Dim], y[:100])
	f := scoresOf(pilot.Expansion, x)
	margin := func(i int) float64 {
		least := math.Inf(1)
		for class, v := range f[i*3 : (i+1)*3] {
			if class != int(y[i]) {
				least = min(least, f[i*3+int(y[i])]-v)
			}
		}
		return least
	}
	for k, i := range order[1:] {
		if before := margin(order[k]); margin(i) < before-1e-4 {
			t.Fatalf("margin %v after %v", margin(i), before)
		}
	}
	if first, last := margin(order[0]), margin(order[n-1]); !(first < 0 && last > 0) {
		t.Errorf("margins from %v to %v: the test does not test what it says", first, last)
	}
	slices.Sort(order)
	for i, v := range order {
		if v != i {
			t.Fatalf("%d samples, sample %d is not among them once", len(order), i)
		}
	}
}
