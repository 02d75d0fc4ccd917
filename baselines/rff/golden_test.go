package rff

import (
	"context"
	"math"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

func errorRate(m *Model, s *data.Split) float64 {
	f := make([]float64, s.N*m.Classes)
	m.Scores(s.N, s.X, f, 2)
	return learnertest.ErrorRate(f, s.Y)
}

// TestGoldenMultidist: the figure draw, at POLK's model orders. The errors were
// recorded by
//
//	go test -run TestGoldenMultidist -v ./baselines/rff
func TestGoldenMultidist(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it a minute")
	}
	set, err := data.Multidist(data.Calibrated, data.FigureDraw().Seed)
	if err != nil {
		t.Fatal(err)
	}
	train := set.Train
	const tolerance, halfPoint = 1e-2, 0.005
	for _, g := range []struct {
		loss     loss.Loss
		order    int
		recorded float64 // error
	}{
		{loss.MultiHinge{}, 16, 0.0340},
		{loss.MultiHinge{}, 129, 0.0336},
		{loss.MultiLogistic{}, 16, 0.0324},
		{loss.MultiLogistic{}, 75, 0.0324},
	} {
		r, err := Train(context.Background(), Config{
			Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: g.loss, Classes: set.Classes, Dim: train.Dim,
			Regularizer: 1e-6, Frequencies: g.order, Seed: 1, Tolerance: tolerance, Threads: 2,
		}, train.N, train.X, train.Y, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := errorRate(r.Model, set.Test)
		t.Logf("%s, %d frequencies: objective %.5f, gap %.1g, error %.2f %%", g.loss.Name(), g.order, r.Objective, r.Gap, 100*got)
		if !r.Converged || !(r.Gap <= tolerance*r.Objective) {
			t.Errorf("%s, %d frequencies: gap %v of %v after %d iterations", g.loss.Name(), g.order, r.Gap, r.Objective, r.Iterations)
		}
		if r.Model.Order() != g.order {
			t.Errorf("%s: order %d, want %d", g.loss.Name(), r.Model.Order(), g.order)
		}
		if math.Abs(got-g.recorded) > halfPoint {
			t.Errorf("%s, %d frequencies: error %v, recorded %v", g.loss.Name(), g.order, got, g.recorded)
		}
	}
}
