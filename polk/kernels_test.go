package polk

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"polkrepro/kernel"
	"polkrepro/loss"
)

// function is a kernel from outside package kernel, valid or invalid.
type function func(x, y []float32) float64

func (function) Name() string                  { return "function" }
func (k function) Eval(x, y []float32) float64 { return k(x, y) }
func (k function) Self(x []float32) float64    { return k(x, x) }
func (function) Validate() error               { return nil }

// TestWrongKernels: a function that is not a kernel leads to an error or to a finite model, never
// to a panic.
func TestWrongKernels(t *testing.T) {
	g := kernel.Gaussian{Bandwidth: 0.5}
	apart := func(value float64) function {
		return func(x, y []float32) float64 {
			if x[0] == y[0] {
				return 1
			}
			return value
		}
	}
	for name, tt := range map[string]struct {
		kernel function
		want   string // text of the error; empty for none
	}{
		"not a number": {apart(math.NaN()), "polk: κ(x, x') of samples 1 and 0 is NaN: not a kernel value"},
		"infinite":     {apart(math.Inf(1)), "polk: κ(x, x') of samples 1 and 0 is +Inf: not a kernel value"},
		"too large":    {apart(1e300), "polk: κ(x, x') of samples 1 and 0 is 1e+300: not a kernel value"},
		"negative":     {func(x, y []float32) float64 { return -g.Eval(x, y) }, "polk: κ(x, x) of sample 0 is -1, want 0 to 1e+100"},
		"indefinite":   {func(x, y []float32) float64 { return math.Tanh(float64(3*x[0]*y[0] - 1)) }, "want 0 to 1e+100"},
		"asymmetric":   {func(x, y []float32) float64 { return g.Eval(x, y) + float64(x[0]) }, "want 0 to 1e+100"},
		"zero":         {func(x, y []float32) float64 { return 0 }, ""},
		"random": {func(x, y []float32) float64 {
			if x[0] == y[0] {
				return 1
			}
			return 5 * math.Sin(1e4*float64(x[0]*y[0]))
		}, ""},
	} {
		cfg := testConfig(loss.MultiLogistic{})
		cfg.Kernel, cfg.Classes, cfg.Dim = tt.kernel, 2, 1
		l := mustNew(t, cfg)
		err := wander(l)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err == nil {
			checkFinite(t, l)
		}
	}
}

// TestLargestKernelValue: values up to largest are accepted, larger ones are errors.
func TestLargestKernelValue(t *testing.T) {
	for value, want := range map[float64]bool{largest: true, math.Nextafter(largest, math.Inf(1)): false} {
		cfg := testConfig(logistic)
		cfg.Kernel = function(func(x, y []float32) float64 { return value })
		if _, err := mustNew(t, cfg).Step(t.Context(), 2, []float32{1, 2, 3, 4}, []float64{0, 1}); (err == nil) != want {
			t.Errorf("κ = %v: error %v", value, err)
		}
	}
}

// wander takes up to 100 steps on random labels and returns the first error.
func wander(l *Learner) error {
	r := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float32, 8), make([]float64, 8)
	for range 100 {
		for i := range x {
			x[i], y[i] = float32(r.NormFloat64()), float64(r.IntN(2))
		}
		if _, err := l.Step(context.Background(), len(y), x, y); err != nil {
			return err
		}
	}
	return nil
}

// TestKernelEvals: KernelEvals counts the evaluations between a mini-batch and the dictionary, and
// among the samples that have a gradient.
func TestKernelEvals(t *testing.T) {
	cfg := testConfig(hinge)
	var count int64
	cfg.Kernel = counted{kernel.Gaussian{Bandwidth: 0.8}, &count}
	l := mustNew(t, cfg)
	mix := newMixture(rand.New(rand.NewPCG(3, 1)), cfg.Dim, cfg.Classes)
	for range 20 {
		mix.step(t, 8, l)
		if l.KernelEvals() != count {
			t.Fatalf("step %d: %d evaluations, counted %d", l.Steps(), l.KernelEvals(), count)
		}
	}
}

// counted is a kernel that counts its evaluations.
type counted struct {
	kernel.Kernel
	count *int64
}

func (k counted) Eval(x, y []float32) float64 {
	*k.count++
	return k.Kernel.Eval(x, y)
}
