package fsgd

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

const lambda = 0.05

var rates = polk.InverseTime{Initial: 0.5, Horizon: 40}

// points returns points of three classes in the plane; the last point occurs twice.
func points() (x []float32, y []float64) {
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 60 {
		c := float64(i % 3)
		x, y = append(x, float32(c+r.Float64()), float32(c*c/2+r.Float64())), append(y, c)
	}
	return append(x, x[len(x)-2:]...), append(y, 0)
}

func learner(t *testing.T, x []float32) *Learner {
	t.Helper()
	l, err := New(Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.7}, Loss: loss.MultiLogistic{}, Classes: 3, Dim: 2, Regularizer: lambda, LearningRate: rates, Points: x,
	})
	testutil.NoError(t, err)
	return l
}

// TestLiteral compares with the update as printed, whose dictionary grows with every step. Lazy
// shrinking, its renormalization, and adding up the weights of a point do not change the function.
func TestLiteral(t *testing.T) {
	x, y := points()
	l := learner(t, x)
	f := kernel.NewExpansion(l.cfg.Kernel, 2, 3)
	r := rand.New(rand.NewPCG(1, 2))
	grad := make([]float64, 3)
	seen := map[int]bool{}
	for step := range 300 {
		i := r.IntN(len(y))
		at := x[2*i : 2*i+2]
		l.cfg.Loss.Gradient(grad, testutil.Score(f, at), y[i])
		for k := range f.W {
			f.W[k] *= 1 - rates.Rate(step)*lambda
		}
		for q := range grad {
			grad[q] *= -rates.Rate(step)
		}
		f.Append(at, grad)
		learnertest.Step(t, l, at, y[i:i+1])
		seen[min(i, 59)] = true // point 60 is point 59
		if step == 100 {
			l.shrink *= 1e-101 // as after very many steps
			for k := range l.w {
				l.w[k] *= 1e101
			}
		}
	}
	if !(l.shrink >= 1e-100) {
		t.Errorf("shrink is %v", l.shrink)
	}
	if l.Order() != len(seen) || l.Expansion().Order() != len(seen) {
		t.Errorf("order %d and %d, want %d", l.Order(), l.Expansion().Order(), len(seen))
	}
	values, normSq := l.Values()
	var want float64 // Σ‖f_c‖² of the literal expansion
	for j := range f.Order() {
		for q, v := range testutil.Score(f, f.Dict.At(j)) {
			want += f.Weights(j)[q] * v
		}
	}
	if !(math.Abs(normSq-want) <= 1e-9*want) {
		t.Errorf("Σ‖f_c‖² is %v, by definition %v", normSq, want)
	}
	for i := range y {
		at := x[2*i : 2*i+2]
		own := testutil.Score(l.Expansion(), at)
		for q, v := range testutil.Score(f, at) {
			if !(math.Abs(values[3*i+q]-v) <= 1e-9) || !(math.Abs(own[q]-v) <= 1e-9) {
				t.Fatalf("f_%d at point %d: %v and %v, by definition %v", q, i, values[3*i+q], own[q], v)
			}
		}
	}
}

// faulty is a loss that becomes infinite after *left evaluations.
type faulty struct {
	loss.MultiLogistic
	left *int
}

func (f faulty) Gradient(grad, scores []float64, y float64) float64 {
	if *f.left--; *f.left < 0 {
		return math.Inf(1)
	}
	return f.MultiLogistic.Gradient(grad, scores, y)
}

// TestErrors: samples outside Config.Points and invalid configurations are errors. So is a loss
// that is not finite, which leaves the model of the samples before it.
func TestErrors(t *testing.T) {
	x, y := points()
	left := 2
	l, err := New(Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.7}, Loss: faulty{left: &left}, Classes: 3, Dim: 2, Regularizer: lambda, LearningRate: rates, Points: x,
	})
	testutil.NoError(t, err)
	if _, err := l.Step(t.Context(), 3, x[:6], y[:3]); !errors.Is(err, polk.ErrDiverged) || l.Order() != 2 || l.KernelEvals() != 2*61 {
		t.Errorf("error %v, order %d, %d kernel values", err, l.Order(), l.KernelEvals())
	}
	if _, err := l.Step(t.Context(), 1, []float32{100, 100}, y[:1]); err == nil || !strings.Contains(err.Error(), "sample 1 of 1: it is not in Config.Points") {
		t.Errorf("another point: error %v", err)
	}
	for _, cfg := range []Config{
		{Kernel: kernel.Gaussian{}, Classes: 3, Dim: 2, Points: x},
		{Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: 1, Dim: 2, Points: x},
		{Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: 3, Dim: 3, Points: x},
		{Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: 3, Dim: 2},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}
