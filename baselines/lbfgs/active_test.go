package lbfgs

import (
	"math/rand/v2"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// farApart is a hinge problem with most samples outside the margin.
func farApart(n int) (c Config, x []float32, y []float64) {
	c = Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.MultiHinge{}, Classes: 3, Dim: 2, Regularizer: 1e-5, Tolerance: 1e-3,
		partSize: 100,
	}
	x, y = samples(rand.New(rand.NewPCG(11, uint64(n))), n, c.Dim, c.Classes)
	for i, class := range y {
		x[i*c.Dim] += 1.8 * float32(class)
	}
	return c, x, y
}

// begun returns a solver of farApart that has run up to the first choice of samples.
func begun(t *testing.T, n int) (s *solver, x []float32) {
	t.Helper()
	c, x, y := farApart(n)
	s = solverOf(t, c, n, x, y)
	s.config.MaxIterations = firstChoice
	testutil.NoError(t, s.run(t.Context()))
	return s, x
}

// TestSelection: samples are set aside, but the result solves the whole problem and has weights on
// all samples, in float64 and in float32.
func TestSelection(t *testing.T) {
	const n = 600
	c, x, y := farApart(n)
	without := c
	without.partSize = n + 1
	want := train(t, without, n, x, y)
	for _, exact := range []int{0, 100} {
		c.exactSize = exact
		evals := int64(n * n)
		if exact > 0 { // K is in float32
			evals *= 2
		}
		s := solverOf(t, c, n, x, y)
		testutil.NoError(t, s.run(t.Context()))
		if len(s.selection.samples) == 0 || s.n >= n/2 {
			t.Errorf("%d of %d samples are kept", s.n, n)
		}
		got := train(t, c, n, x, y)
		near(t, c, want, got, scoresOf(want.Expansion, x), scoresOf(got.Expansion, x))
		if got.Expansion.Order() != n || got.KernelEvals != evals {
			t.Errorf("weights on %d samples, %d kernel values", got.Expansion.Order(), got.KernelEvals)
		}
	}
}

// TestWrongSelection: whichever samples are set aside, the run ends with the certificate.
func TestWrongSelection(t *testing.T) {
	const n = 300
	s, x := begun(t, n)
	f, u := s.expand()
	margins, active := s.all.margins(f.kw)
	easiest := make([]int, 0, n)
	for i, v := range margins {
		if v >= 1 {
			easiest = append(easiest, i)
		}
	}
	if active == 0 || len(easiest) < n/4 {
		t.Fatalf("%d samples have a gradient: the test does not test what it says", active)
	}
	s.keep(easiest[:n/4], f, u)
	s.selection.whole = false
	s.config.MaxIterations = 5000
	testutil.NoError(t, s.run(t.Context()))
	r, err := s.certify(t.Context(), x)
	testutil.NoError(t, err)
	converged(t, s.config, r)
}
