package lbfgs

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// weightsAfter returns Weights after the given number of iterations. Initial weights are uniform
// in ±start, and the memory is 10 pairs.
func weightsAfter(t rapid.TB, c Config, start float64, n int, x []float32, y []float64, iterations int) *Weights {
	t.Helper()
	c.Memory = 10
	w, err := NewWeights(c, start, 1, n, x, y)
	testutil.NoError(t, err)
	for range iterations {
		testutil.NoError(t, w.iterate(context.Background()))
	}
	return w
}

// literally returns P and ∇P at weights, C×N, by their definitions.
func literally(c Config, gram mat.Symmetric, y, weights []float64) (value float64, gradient []float64) {
	n := len(y)
	k := make([][]float64, c.Classes) // K·w_c
	for q := range k {
		k[q] = make([]float64, n)
		mat.NewVecDense(n, k[q]).MulVec(gram, mat.NewVecDense(n, weights[q*n:(q+1)*n]))
	}
	u, f, g := make([]float64, len(weights)), make([]float64, c.Classes), make([]float64, c.Classes)
	for i := range n {
		for q := range f {
			f[q] = k[q][i]
			value += c.Regularizer / 2 * weights[q*n+i] * f[q]
		}
		value += c.Loss.Gradient(g, f, y[i]) / float64(n)
		for q := range g {
			u[q*n+i] = g[q]/float64(n) + c.Regularizer*weights[q*n+i]
		}
	}
	gradient = make([]float64, len(weights))
	for q := range f {
		mat.NewVecDense(n, gradient[q*n:(q+1)*n]).MulVec(gram, mat.NewVecDense(n, u[q*n:(q+1)*n]))
	}
	return value, gradient
}

// TestGradientOverWeights: the gradient agrees with differences of the objective in each weight.
func TestGradientOverWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n, x, y := drawConfig(t, 8)
		at := weightsAfter(t, c, rapid.Float64Range(0.01, 1).Draw(t, "start"), n, x, y, rapid.IntRange(1, 5).Draw(t, "iterations"))
		gram := denseGram(c.Kernel, x, c.Dim)
		value, _ := literally(c, gram, y, at.now.f.w)
		if !(math.Abs(value-at.now.objective) <= 1e-12*(1+value)) {
			t.Fatalf("objective %v, literally %v", at.now.objective, value)
		}
		const h = 1e-6
		for i, got := range at.now.inWeights().w {
			v := at.now.f.w[i]
			at.now.f.w[i] = v + h
			up, _ := literally(c, gram, y, at.now.f.w)
			at.now.f.w[i] = v - h
			down, _ := literally(c, gram, y, at.now.f.w)
			at.now.f.w[i] = v
			left, right := (value-down)/h, (up-value)/h
			// P is convex along each weight: at a kink, any slope between those of the two chords
			// is right.
			if !(got >= left-1e-6) || got > right+1e-6 {
				t.Fatalf("slope %d is %v, differences say %v to %v", i, got, left, right)
			}
		}
	})
}

// TestWeakWolfe: each iteration satisfies the weak Wolfe conditions, with objectives and gradients
// computed by definition, and evaluations are counted.
func TestWeakWolfe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n, x, y := drawConfig(t, 20)
		at := weightsAfter(t, c, 0.1, n, x, y, 0)
		gram := denseGram(c.Kernel, x, c.Dim)
		taken := 0
		for range 12 {
			before := append([]float64(nil), at.now.f.w...)
			value0, g0 := literally(c, gram, y, before)
			testutil.NoError(t, at.iterate(context.Background()))
			if at.ended {
				break
			}
			taken++
			if h := at.Health(); h["gradient_norm"] < 1e-7 {
				break // slopes are rounding errors
			}
			value, g := literally(c, gram, y, at.now.f.w)
			var slope0, slope float64
			for i, v := range before {
				slope0 += g0[i] * (at.now.f.w[i] - v)
				slope += g[i] * (at.now.f.w[i] - v)
			}
			if rounding := 1e-12 * (1 + value0); !(slope0 < 0) || !(value <= value0+decrease*slope0+rounding) || !(slope >= weakFraction*slope0-rounding) {
				t.Fatalf("iteration %d: P from %v to %v, slopes %v and %v", taken, value0, value, slope0, slope)
			}
		}
		if h := at.Health(); h["iterations"] != float64(taken) || h["evaluations"] < h["iterations"]+1 || h["products"] < 2*h["iterations"]+2 {
			t.Fatalf("%d iterations: %v", taken, h)
		}
	})
}

// TestWeightsReachTheMinimum: with the logistic loss, many iterations come to within a
// thousandth of the certified minimum.
func TestWeightsReachTheMinimum(t *testing.T) {
	c, x, y := threeClasses(loss.MultiLogistic{})
	least := train(t, c, len(y), x, y)
	at := weightsAfter(t, c, 0.1, len(y), x, y, 300)
	got := risk(c.Loss, scoresOf(at.Expansion(), x), y) + c.Regularizer/2*at.Expansion().NormSq(1)
	t.Logf("objective %v after %d iterations, the minimum is %v", got, at.iterations, least.Objective)
	if !(got >= least.Objective-least.Gap) || got > 1.001*least.Objective {
		t.Errorf("objective %v, the minimum is %v", got, least.Objective)
	}
}

// TestHingeFromZero: at f = 0 all classes tie, and if kernel values are nearly equal, no step
// along the hinge's subgradient lowers the objective. From other weights, steps do.
func TestHingeFromZero(t *testing.T) {
	c, x, y := threeClasses(loss.MultiHinge{})
	c.Classes = 4
	for i := range y {
		y[i] = float64(i % c.Classes)
		x[i*c.Dim] += 5 * float32(y[i])
	}
	c.Kernel = kernel.Gaussian{Bandwidth: 20}
	at := weightsAfter(t, c, 0, len(y), x, y, 20)
	if h := at.Health(); h["iterations"] != 0 || h["ended"] != 1 || h["objective"] != 1 {
		t.Errorf("from 0: %v", h)
	}
	at = weightsAfter(t, c, 5e-4, len(y), x, y, 20)
	if h := at.Health(); h["ended"] != 0 || h["objective"] >= 1 {
		t.Errorf("from ±5e-4: %v", h)
	}
}

func TestWeightsErrors(t *testing.T) {
	x, y := []float32{0, 1, 2, 3}, []float64{0, 1}
	good := Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.MultiHinge{}, Classes: 2, Dim: 2, Regularizer: 0.1}
	bad := good
	bad.Dim = 1
	for want, c := range map[string]struct {
		Config
		start float64
	}{
		"Regularizer 0":          {Config{Kernel: good.Kernel, Loss: good.Loss, Classes: 2, Dim: 2}, 0},
		"initial weights in ±-1": {good, -1},
		"want 2 features":        {bad, 0},
	} {
		if _, err := NewWeights(c.Config, c.start, 1, 2, x, y); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	w, err := NewWeights(good, 0.1, 1, 2, x, y)
	testutil.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.iterate(ctx); err == nil || w.KernelEvals() != 0 {
		t.Errorf("with a context that has ended: %v", err)
	}
}
