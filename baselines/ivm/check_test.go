//go:build check

package ivm

import (
	"context"
	"math"
	"slices"
	"testing"

	"polkrepro/baselines/lbfgs"
	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

func errorRate(e *kernel.Expansion, s *data.Split) float64 {
	wrong := 0
	for i, y := range s.Y {
		if loss.Decide(e.Score(s.Row(i))) != y {
			wrong++
		}
	}
	return float64(wrong) / float64(s.N)
}

// multidist returns the draw of the figures, with the paper's kernel and λ and all points as
// candidates.
func multidist(t *testing.T) (Config, *data.Set) {
	t.Helper()
	set, err := data.Multidist(data.Calibrated, data.FigureDraw().Seed)
	testutil.NoError(t, err)
	return Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.6}, Classes: set.Classes, Dim: set.Train.Dim, Regularizer: 1e-6, Threads: 2,
	}, set
}

// full fits an expansion on all training points.
func full(t *testing.T, c Config, s *data.Split) *lbfgs.Result {
	t.Helper()
	r, err := lbfgs.Train(context.Background(), lbfgs.Config{
		Kernel: c.Kernel, Loss: loss.MultiLogistic{}, Classes: c.Classes, Dim: c.Dim, Regularizer: c.Regularizer,
		Tolerance: 1e-2, Threads: c.Threads,
	}, s.N, s.X, s.Y)
	testutil.NoError(t, err)
	return r
}

// TestCheckMultidist: when the authors' stopping rule ends the imports, the fit is certified and
// its error rate is near that of the expansion on all points. This command recorded the error
// rate:
//
//	go test -tags check -run TestCheckMultidist -v ./baselines/ivm
func TestCheckMultidist(t *testing.T) {
	const points, recorded, halfPoint = 24, 0.0316, 0.005
	c, set := multidist(t)
	all := full(t, c, set.Train)
	want := errorRate(all.Expansion, set.Test)
	r, err := Train(context.Background(), c, set.Train.N, set.Train.X, set.Train.Y)
	testutil.NoError(t, err)
	order, got := r.Expansion.Order(), errorRate(r.Expansion, set.Test)
	t.Logf("%d points (%s): H = %.5f, gap %.1g, error %.2f %%; all points: P = %.5f, gap %.1g, error %.2f %%",
		order, r.Reason, r.Objective, r.Gap, 100*got, all.Objective, all.Gap, 100*want)
	if r.Reason != Converged || !(math.Abs(float64(order-points)) <= 2) {
		t.Errorf("%d points (%s), want %d", order, r.Reason, points)
	}
	if !(r.Gap <= polishGap*r.Objective) || !(r.Objective >= all.Objective-all.Gap) || r.Objective > 1.03*all.Objective {
		t.Errorf("objective %v, gap %v; of all points %v, gap %v", r.Objective, r.Gap, all.Objective, all.Gap)
	}
	if !(math.Abs(got-recorded) <= halfPoint) || !(math.Abs(got-want) <= halfPoint) {
		t.Errorf("error %v, recorded %v, of all points %v", got, recorded, want)
	}
}

// TestCheckMNIST: the points imported from 6,000 images are the same as with all arithmetic in
// double precision and gonum's factorizations.
func TestCheckMNIST(t *testing.T) {
	want := []int{
		5053, 4164, 3521, 1802, 3696, 5670, 3118, 1967, 3933, 242, 2193, 103, 1117, 2749,
		1904, 3085, 707, 877, 5946, 1970, 5879, 5509, 2941, 2166, 3597, 4042, 5558, 4668,
		791, 862, 5266, 2243, 1222, 3433, 171, 1692, 3387, 4310, 1432, 2395,
	}
	r := mnist(t, 6000).train(t)
	if !slices.Equal(r.Imported, want) {
		t.Errorf("imported %v, want %v", r.Imported, want)
	}
	const objective = 0.32000335953157216
	if !(math.Abs(r.Objective-objective) <= polishGap*objective) {
		t.Errorf("H = %v, want %v", r.Objective, objective)
	}
}
