package lbfgs

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// drawConfig draws a small problem: its configuration, samples and labels.
func drawConfig(t *rapid.T, most int) (c Config, n int, x []float32, y []float64) {
	c = Config{
		Kernel:      drawGaussian(t),
		Loss:        rapid.SampledFrom(bothLosses).Draw(t, "loss"),
		Classes:     rapid.IntRange(2, 4).Draw(t, "classes"),
		Dim:         rapid.IntRange(1, 3).Draw(t, "dim"),
		Regularizer: rapid.SampledFrom([]float64{1, 1e-1, 1e-2}).Draw(t, "lambda"),
		Tolerance:   1e-4,
	}
	n = rapid.IntRange(1, most).Draw(t, "n")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	x, y = samples(r, n, c.Dim, c.Classes)
	return c, n, x, y
}

func drawKernel(t *rapid.T) kernel.Kernel {
	if rapid.Bool().Draw(t, "polynomial") {
		return kernel.Polynomial{Offset: 1, Degree: rapid.IntRange(1, 2).Draw(t, "degree")}
	}
	return drawGaussian(t)
}

func drawGaussian(t *rapid.T) kernel.Kernel {
	return kernel.Gaussian{Bandwidth: rapid.SampledFrom([]float64{0.2, 0.6, 2}).Draw(t, "bandwidth")}
}

func solverOf(t rapid.TB, c Config, n int, x []float32, y []float64) *solver {
	s, err := newSolver(context.Background(), c.withDefaults(), n, x, y)
	testutil.NoError(t, err)
	return s
}

// TestSingularKernel: if K is singular and in float32, iterations after the minimum is reached
// stay there.
func TestSingularKernel(t *testing.T) {
	c := Config{Kernel: kernel.Polynomial{Offset: 1, Degree: 2}, Loss: loss.MultiLogistic{}, Classes: 2, Dim: 3, Regularizer: 1, exactSize: 1}
	x, y := samples(rand.New(rand.NewPCG(0, 0)), 10, 3, 2)
	s := solverOf(t, c, 10, x, y)
	for range 30 {
		if !s.step() {
			break
		}
		if !(s.now.objective > 0.5) {
			t.Fatalf("objective %v", s.now.objective)
		}
	}
}

// TestLineSearch: the step satisfies the strong Wolfe conditions, and φ' is
// the derivative of φ.
func TestLineSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n, x, y := drawConfig(t, 30)
		s := solverOf(t, c, n, x, y)
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			if !s.step() {
				t.Skip("the minimum is reached")
			}
		}
		size := rapid.SampledFrom([]float64{1e-6, 1, 1e6}).Draw(t, "size")
		s.scale(s.direction, -size, s.now.gradient)
		l := s.lineFrom(s.now, s.direction)
		value0, slope0 := l.at(0)
		if math.Abs(slope0) < 1e-12*size {
			t.Skip("the minimum is reached")
		}
		step := l.search()
		value, slope := l.at(step)
		if !(step > 0) || !(math.Abs(slope) <= slopeFraction*math.Abs(slope0)) ||
			!(value <= value0+decrease*step*slope0+1e-14*math.Abs(value0)) {
			t.Fatalf("step %v: φ from %v to %v, φ' from %v to %v", step, value0, value, slope0, slope)
		}
		h := 1e-4 * step
		up, slopeUp := l.at(step + h)
		down, slopeDown := l.at(step - h)
		// φ is convex: its chords' slopes lie between φ' at their ends.
		rounding := 1e-14 * math.Abs(value0) / h
		if d := (up - down) / (2 * h); !(d >= slopeDown-rounding) || d > slopeUp+rounding {
			t.Fatalf("φ' = %v … %v, differences say %v", slopeDown, slopeUp, d)
		}
	})
}
