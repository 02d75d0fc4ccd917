package learnertest_test

import (
	"math"
	"testing"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/spec"
)

// goldens holds the results that
//
//	go test -tags check -run 'Golden|CheckMultidist' -v ./baselines/learnertest
//
// logged on an AVX-512 machine.
var goldens = []struct {
	draw      data.Draw
	loss      loss.Loss
	method    string
	order     int     // 0: all samples
	objective float64 // only for lbfgs, whose tolerance is the smallest
	error     float64
}{
	{data.FigureDraw(), loss.MultiHinge{}, "lbfgs", 0, 0.0865064, 0.0332},
	{data.FigureDraw(), loss.MultiLogistic{}, "lbfgs", 0, 0.0965042, 0.0316},
	{data.CalibratedDraws()[0], loss.MultiHinge{}, "lbfgs", 0, 0.0890198, 0.0364},
	{data.CalibratedDraws()[0], loss.MultiLogistic{}, "lbfgs", 0, 0.0952889, 0.0332},
	{data.FigureDraw(), loss.MultiHinge{}, "nystrom", 16, 0, 0.0348},
	{data.FigureDraw(), loss.MultiHinge{}, "nystrom", 129, 0, 0.0336},
	{data.FigureDraw(), loss.MultiLogistic{}, "nystrom", 16, 0, 0.0324},
	{data.FigureDraw(), loss.MultiLogistic{}, "nystrom", 75, 0, 0.0324},
}

// TestGoldenMultidist trains on the figures' draw, with Nyström features at POLK's model orders.
// 'make check' covers the other draw.
func TestGoldenMultidist(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it a minute")
	}
	holdGoldens(t, data.FigureDraw())
}

// holdGoldens trains the convex methods on one draw of the paper's data with the paper's
// parameters. The minimum must be found and certified, the error rate must be the recorded one,
// and L-BFGS on all samples must be as good as C-SVC.
func holdGoldens(t *testing.T, draw data.Draw) {
	set, err := data.Multidist(data.Calibrated, draw.Seed)
	testutil.NoError(t, err)
	for _, g := range goldens {
		if g.draw != draw {
			continue
		}
		tolerance, errorTolerance, least := 1e-2, 0.005, -1e-6 // least gap: rounding can make it negative
		if g.method == "lbfgs" {
			tolerance, errorTolerance, least = 1e-3, 0.002, 0
		}
		p := harness.BatchProblem{
			Problem: harness.Problem{
				Params: spec.Params{Regularizer: 1e-6, Tolerance: tolerance, Budget: g.order, Cost: 1},
				Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: g.loss, Classes: set.Classes, Dim: set.Train.Dim, Seed: 1, Train: set.Train,
			},
			Threads: 2, Progress: func(float64) {},
		}
		r := must(method(g.method).Train(t.Context(), p))
		order, objective, gap, converged := r.Model.Order(), r.Health["objective"], r.Health["gap"], r.Health["unconverged"] == 0
		got := errorRate(scored(r.Model, set.Classes), set.Test)
		t.Logf("draw %d, %s, %s, order %d: objective %.6g, gap %.2g, error %.2f %%",
			draw.Seed, g.method, g.loss.Name(), order, objective, gap, 100*got)
		if !converged || !(gap >= least && gap <= tolerance*objective) || g.order > 0 && order != g.order {
			t.Errorf("%s, %s: converged %v with gap %v, order %d, want %d", g.method, g.loss.Name(), converged, gap, order, g.order)
		}
		// On another machine, rounding may change objectives within their gaps, and error rates.
		if g.objective > 0 && !(math.Abs(objective-g.objective) <= 1e-3*g.objective) || !(math.Abs(got-g.error) <= errorTolerance) {
			t.Errorf("%s, %s: objective %.6g and error %v, want %.6g and %v", g.method, g.loss.Name(), objective, got, g.objective, g.error)
		}
		if g.method == "lbfgs" {
			p.Params.Tolerance = 0 // C-SVC's default
			c := must(method("csvc").Train(t.Context(), p))
			if peer := errorRate(scored(c.Model, set.Classes), set.Test); !(math.Abs(got-peer) <= 0.005) {
				t.Errorf("%s: error %v, C-SVC's is %v", g.loss.Name(), got, peer)
			}
		}
	}
}

// errorRate returns the fraction of the samples whose class is predicted wrongly.
func errorRate(m *model, s *data.Split) float64 {
	wrong := 0
	for i, y := range m.Predict(s.N, s.X) {
		if y != s.Y[i] {
			wrong++
		}
	}
	return float64(wrong) / float64(s.N)
}

func must[Result any](r Result, err error) Result {
	if err != nil {
		panic(err)
	}
	return r
}
