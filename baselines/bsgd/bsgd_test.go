package bsgd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/baselines/learnertest"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/polk"
)

var strategies = []string{Removal, Projection, Merging, KeepNewest}

// stream draws n samples from one Gaussian of unit variance per class. The means are spaced evenly
// on a circle of the given radius in the first two dimensions.
func stream(seed uint64, n, dim, classes int, radius float64) ([]float32, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := make([]float32, n*dim), make([]float64, n)
	for i := range n {
		c := rng.IntN(classes)
		y[i] = float64(c)
		for j := range dim {
			x[i*dim+j] = float32(rng.NormFloat64())
		}
		angle := 2 * math.Pi * float64(c) / float64(classes)
		x[i*dim] += float32(radius * math.Cos(angle))
		x[i*dim+1] += float32(radius * math.Sin(angle))
	}
	return x, y
}

func config(maintenance string, budget int) Config {
	return Config{
		Kernel: kernel.Gaussian{Bandwidth: 1.5}, Classes: 3, Dim: 4, Regularizer: 1e-3,
		LearningRate: polk.Constant(0.5), Budget: budget, Maintenance: maintenance,
	}
}

func learner(t testing.TB, c Config) *Learner {
	t.Helper()
	return learnertest.New(t, New, c)
}

// After every sample, the learner has the oracle's points and weights to 1e-8, and its degradation
// is the directly computed ‖f − f'‖².
func TestEqualsTheLiteralAlgorithm(t *testing.T) {
	for _, maintenance := range strategies {
		for _, schedule := range []polk.Schedule{polk.Constant(0.5), Pegasos(1e-3), polk.InverseTime{Initial: 0.5, Horizon: 40}} {
			for seed := range uint64(6) {
				t.Run(fmt.Sprintf("%s/%T/%d", maintenance, schedule, seed), func(t *testing.T) {
					c := config(maintenance, 5+4*int(seed%4))
					c.LearningRate = schedule
					c.Classes = 2 + int(seed%4)
					follow(t, splitAt(learner(t, c), 3*int(seed%3)), seed)
				})
			}
		}
	}
}

func follow(t *testing.T, l *Learner, seed uint64) {
	const n = 160
	c := l.config
	x, y := stream(seed, n, c.Dim, c.Classes, 1.5)
	o := &oracle{c: c}
	var sum float64
	for i := range n {
		learnertest.Step(t, l, x[i*c.Dim:(i+1)*c.Dim], y[i:i+1])
		o.step(x[i*c.Dim:(i+1)*c.Dim], int(y[i]))
		compare(t, i, elements(l), o.elem, 1e-8)
		got := l.Health()["degradation"] - sum
		sum += got
		if !(got >= 0) || !(math.Abs(got-o.cost) <= 1e-8*(1+sum)) {
			t.Fatalf("step %d: degradation %v, ‖f − f'‖² = %v", i, got, o.cost)
		}
	}
	if l.Health()["maintenances"] < 10 {
		t.Errorf("only %v maintenances: the test shows little", l.Health()["maintenances"])
	}
}

// One Step over all samples gives the same model as one Step per sample: the blocks in which
// kernel values are computed are not mini-batches.
func TestStepSizeDoesNotMatter(t *testing.T) {
	for _, maintenance := range strategies {
		for _, most := range []int{tailMost, 4} {
			c := config(maintenance, 12)
			x, y := stream(9, 300, c.Dim, c.Classes, 1.5)
			whole, single := splitAt(learner(t, c), most), learner(t, c)
			learnertest.Step(t, whole, x, y)
			for i := range y {
				learnertest.Step(t, single, x[i*c.Dim:(i+1)*c.Dim], y[i:i+1])
			}
			compare(t, 300, elements(whole), elements(single), 1e-9)
		}
	}
}

func TestBudgetIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config(rapid.SampledFrom(strategies).Draw(t, "maintenance"), rapid.IntRange(1, 10).Draw(t, "budget"))
		c.LearningRate = rapid.SampledFrom([]polk.Schedule{polk.Constant(0.5), Pegasos(1e-3)}).Draw(t, "schedule")
		c.Dim = rapid.IntRange(2, 5).Draw(t, "dim")
		// Coordinates from a coarse grid give plenty of duplicates.
		n := rapid.IntRange(1, 80).Draw(t, "n")
		x := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float32 {
			return float32(rapid.IntRange(-2, 2).Draw(t, "x"))
		}), n*c.Dim, n*c.Dim).Draw(t, "x")
		y := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(0, c.Classes-1).Draw(t, "y"))
		}), n, n).Draw(t, "y")
		l, err := New(c)
		testutil.NoError(t, err)
		for i := range n {
			learnertest.Step(t, l, x[i*c.Dim:(i+1)*c.Dim], y[i:i+1])
			if err := sound(l); err != nil {
				t.Fatalf("after %d samples: %v", i+1, err)
			}
		}
	})
}

func sound(l *Learner) error {
	e := l.Expansion()
	if e.Order() > l.config.Budget || len(e.W) != e.Order()*e.Outputs {
		return fmt.Errorf("order %d, %d weights", e.Order(), len(e.W))
	}
	for _, w := range e.W {
		if !finite(w) {
			return fmt.Errorf("weight %v", w)
		}
	}
	if d := l.Health()["degradation"]; !(d >= 0) {
		return fmt.Errorf("degradation %v", d)
	}
	return nil
}

// The common factor is folded into the weights when it is small. The model equals that of the
// oracle, which has no such factor.
func TestScaleIsFolded(t *testing.T) {
	c := config(Removal, 10)
	c.Regularizer = 1
	c.LearningRate = polk.Constant(0.9) // divides the factor by 10 at every step
	follow := &oracle{c: c}
	l := learner(t, c)
	x, y := stream(2, 100, c.Dim, c.Classes, 1)
	for i := range y {
		follow.step(x[i*c.Dim:(i+1)*c.Dim], int(y[i]))
		learnertest.Step(t, l, x[i*c.Dim:(i+1)*c.Dim], y[i:i+1])
		if !(l.model.scale >= leastScale) {
			t.Fatalf("factor %v", l.model.scale)
		}
		compare(t, i, elements(l), follow.elem, 1e-12)
	}
}

func TestPolynomialKernel(t *testing.T) {
	for _, maintenance := range []string{Removal, Projection} {
		c := config(maintenance, 8)
		c.Kernel = kernel.Polynomial{Offset: 1, Degree: 3}
		c.LearningRate = polk.Constant(0.01)
		follow(t, learner(t, c), 11)
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	for _, maintenance := range strategies {
		for _, most := range []int{4, tailMost} {
			c := config(maintenance, 20)
			c.LearningRate = polk.Constant(0.05) // keeps violations coming
			x, y := stream(8, 600, c.Dim, c.Classes, 0.5)
			l := splitAt(learner(t, c), most)
			learnertest.DoesNotAllocate(t, l, x, y)
			if l.maintenances < 600 {
				t.Errorf("%s: %d maintenances: the test shows little", maintenance, l.maintenances)
			}
		}
	}
}

// A linear kernel in two dimensions has rank 2, and κ(0, 0) = 0.
func TestSingularKernel(t *testing.T) {
	c := config(Projection, 6)
	c.Kernel = kernel.Polynomial{Offset: 0, Degree: 1}
	c.Dim = 2
	x, y := stream(4, 300, 2, 3, 2)
	clear(x[:2])
	l := learner(t, c)
	learnertest.Step(t, l, x, y)
	if err := sound(l); err != nil || l.Expansion().Order() > 2 {
		t.Errorf("order %d, %v", l.Expansion().Order(), err)
	}
}

func TestBadSamplesLeaveNoTrace(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		name string
		x    float32
		y    float64
	}{
		{"feature 2 is NaN", nan, 0}, {"feature 2 is +Inf", inf, 0}, {"feature 2 is -Inf", -inf, 1},
		{"label 3", 0, 3}, {"label -1", 0, -1}, {"label 0.5", 0, 0.5}, {"label NaN", 0, math.NaN()},
		{"label +Inf", 0, math.Inf(1)},
	}
	c := config(Removal, 10)
	for _, tt := range tests {
		x, y := stream(6, 50, c.Dim, c.Classes, 1)
		l, clean := learner(t, c), learner(t, c)
		bad := 40
		for _, l := range []*Learner{l, clean} {
			learnertest.Step(t, l, x[:bad*c.Dim], y[:bad])
		}
		x[(bad+3)*c.Dim+2] = tt.x
		y[bad+3] = tt.y
		_, err := l.Step(t.Context(), 10, x[bad*c.Dim:], y[bad:])
		if err == nil || !strings.Contains(err.Error(), tt.name) || !strings.HasPrefix(err.Error(), "bsgd: sample 3: ") {
			t.Errorf("%s: error %v", tt.name, err)
		}
		compare(t, bad, elements(l), elements(clean), 0)
		if l.samples != clean.samples {
			t.Errorf("%s: %d samples counted", tt.name, l.samples)
		}
	}
}

// Features whose squares overflow float32 are finite, but their scores are not: Step fails.
func TestOverflowIsAnError(t *testing.T) {
	c := config(Removal, 10)
	c.Kernel = kernel.Polynomial{Offset: 1, Degree: 20}
	l := learner(t, c)
	x := []float32{1e30, 1e30, 0, 0}
	if _, err := l.Step(t.Context(), 1, x, []float64{0}); err == nil || l.Expansion().Order() != 0 {
		t.Errorf("error %v, order %d", err, l.Expansion().Order())
	}
	if _, err := l.Step(t.Context(), 2, x, []float64{0, 1}); err == nil {
		t.Error("missing samples are accepted")
	}
}

func TestBadConfigs(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		want string
		edit func(*Config)
	}{
		{"Budget 0: ", func(c *Config) { c.Budget = 0 }},
		{"Classes 1: ", func(c *Config) { c.Classes = 1 }},
		{"Kernel <nil>: ", func(c *Config) { c.Kernel = nil }},
		{"LearningRate <nil>: ", func(c *Config) { c.LearningRate = nil }},
		{"learning rate 0 in step 0", func(c *Config) { c.LearningRate = polk.Constant(0) }},
		{"learning rate NaN in step 0", func(c *Config) { c.LearningRate = polk.Constant(nan) }},
		{"LearningRate: learning rate 1000 in step 1: must be positive, finite and below 1/λ = 1000", func(c *Config) { c.LearningRate = polk.Constant(1000) }},
		{"learning rate 1000 in step 1", func(c *Config) { c.LearningRate = Pegasos(1e-3 / 2) }},
		{"Regularizer NaN", func(c *Config) { c.Regularizer = nan }},
		{"Regularizer -1", func(c *Config) { c.Regularizer = -1 }},
		{"learning rate +Inf in step 0", func(c *Config) { c.LearningRate = Pegasos(0) }},
		{`Maintenance "prayer": must be removal, projection, merging or keep-newest`, func(c *Config) { c.Maintenance = "prayer" }},
		{"Maintenance merging: must be used with the gaussian kernel", func(c *Config) {
			c.Maintenance, c.Kernel = Merging, kernel.Polynomial{Offset: 1, Degree: 2}
		}},
	}
	for _, tt := range tests {
		c := config(Removal, 10)
		tt.edit(&c)
		_, err := New(c)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "bsgd: ") {
			t.Errorf("want an error with %q, got %v", tt.want, err)
		}
	}
}
