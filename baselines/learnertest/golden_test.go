package learnertest_test

import (
	"context"
	"math"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/baselines/nystrom"
	"polkrepro/baselines/rff"
	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// TestGoldenMultidist: the convex fits on the figure draw, at POLK's model orders. The
// errors were recorded by
//
//	go test -run TestGoldenMultidist -v ./baselines/learnertest
func TestGoldenMultidist(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it a minute")
	}
	set, err := data.Multidist(data.Calibrated, data.FigureDraw().Seed)
	if err != nil {
		t.Fatal(err)
	}
	train, k := set.Train, kernel.Gaussian{Bandwidth: 0.6}
	const lambda, tolerance, halfPoint = 1e-6, 1e-2, 0.005
	for _, g := range []struct {
		loss         loss.Loss
		order        int
		nystrom, rff float64 // recorded errors
	}{
		{loss.MultiHinge{}, 16, 0.0348, 0.0340},
		{loss.MultiHinge{}, 129, 0.0336, 0.0336},
		{loss.MultiLogistic{}, 16, 0.0324, 0.0324},
		{loss.MultiLogistic{}, 75, 0.0324, 0.0324},
	} {
		hold := func(name string, m *model, converged bool, objective, gap, recorded float64) {
			got := learnertest.ErrorRate(m.Scores(set.Test.N, set.Test.X, 2), set.Test.Y)
			t.Logf("%s, %s, order %d: objective %.5f, gap %.1g, error %.2f %%", name, g.loss.Name(), m.Order, objective, gap, 100*got)
			if !converged || !(gap <= tolerance*objective) || m.Order != g.order || math.Abs(got-recorded) > halfPoint {
				t.Errorf("%s, %s, order %d: converged %v with gap %v of %v, order %d, error %v, recorded %v",
					name, g.loss.Name(), g.order, converged, gap, objective, m.Order, got, recorded)
			}
		}
		n, err := nystrom.Train(context.Background(), nystrom.Config{
			Kernel: k, Loss: g.loss, Classes: set.Classes, Dim: train.Dim,
			Regularizer: lambda, Landmarks: g.order, Seed: 1, Tolerance: tolerance, Threads: 2,
		}, train.N, train.X, train.Y, nil)
		if err != nil {
			t.Fatal(err)
		}
		hold("nystrom", expansion(n.Expansion), n.Converged, n.Objective, n.Gap, g.nystrom)
		r, err := rff.Train(context.Background(), rff.Config{
			Kernel: k, Loss: g.loss, Classes: set.Classes, Dim: train.Dim,
			Regularizer: lambda, Frequencies: g.order, Seed: 1, Tolerance: tolerance, Threads: 2,
		}, train.N, train.X, train.Y, nil)
		if err != nil {
			t.Fatal(err)
		}
		hold("rff", fourier(r.Model), r.Converged, r.Objective, r.Gap, g.rff)
	}
}
