package polk

import (
	"math"
	"strings"
	"testing"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/prune"
)

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s    Schedule
		t    int
		want float64
	}{
		{Constant(6), 0, 6}, {Constant(6), math.MaxInt, 6},
		{Inverse{2, 10}, 0, 2}, {Inverse{2, 10}, 10, 1}, {Inverse{2, 10}, 30, 0.5}, {Inverse{2, 10}, 990, 0.02},
	} {
		if got := c.s.Rate(c.t); !(math.Abs(got-c.want) <= 1e-15*c.want) {
			t.Errorf("%+v: η_%d = %v, want %v", c.s, c.t, got, c.want)
		}
	}
}

func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		b          BudgetRule
		rate, want float64
	}{
		{Parsimony(0.04), 6, 0.04 * math.Pow(6, 1.5)},
		{Parsimony(0.016), 24, 0.016 * math.Pow(24, 1.5)},
		{Parsimony(0), 24, 0},
		{SquaredRate{}, 0.5, 0.25},
	} {
		if got := c.b.Epsilon(c.rate); !(math.Abs(got-c.want) <= 1e-15*c.want) {
			t.Errorf("%v: ε(%v) = %v, want %v", c.b, c.rate, got, c.want)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	change := func(f func(*Config)) Config {
		c := testConfig(hinge)
		f(&c)
		return c
	}
	merging := mustPruner(t, "merging", prune.Params{"order": 8})
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"zero":        {Config{}, "must be given"},
		"dimension 0": {change(func(c *Config) { c.Dim = 0 }), "dimension 0"},
		"−1 classes":  {change(func(c *Config) { c.Classes = -1 }), "-1 classes"},
		"one class":   {change(func(c *Config) { c.Classes = 1 }), "1 classes"},
		"λ < 0":       {change(func(c *Config) { c.Regularizer = -1e-9 }), "regularizer"},
		"λ NaN":       {change(func(c *Config) { c.Regularizer = nan }), "regularizer"},
		"λ infinite":  {change(func(c *Config) { c.Regularizer = inf }), "regularizer"},
		"η 0":         {change(func(c *Config) { c.LearningRate = Constant(0) }), "learning rate 0"},
		"η infinite":  {change(func(c *Config) { c.LearningRate, c.Regularizer = Constant(inf), 0 }), "learning rate +Inf"},
		"η = 1/λ":     {change(func(c *Config) { c.LearningRate, c.Regularizer = Constant(4), 0.25 }), "not below 1/λ = 4"},
		"η₀ 0":        {change(func(c *Config) { c.LearningRate = Inverse{0, 1} }), "learning rate 0"},
		"horizon 0":   {change(func(c *Config) { c.LearningRate = Inverse{1, 0} }), "horizon 0"},
		"K < 0":       {change(func(c *Config) { c.Budget = Parsimony(-0.1) }), "parsimony constant -0.1"},
		"η NaN":       {change(func(c *Config) { c.LearningRate = Constant(nan) }), "learning rate NaN"},
		"K NaN":       {change(func(c *Config) { c.Budget = Parsimony(nan) }), "parsimony constant NaN"},
		"bandwidth 0": {change(func(c *Config) { c.Kernel = kernel.Gaussian{} }), "bandwidth 0"},
		"merging":     {change(func(c *Config) { c.Kernel, c.Pruner = kernel.Polynomial{Degree: 2}, merging }), "for the gaussian kernel only, not the polynomial"},
	} {
		l, err := New(c.cfg)
		if err == nil || l != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
	}
	// Several faults are all reported.
	_, err := New(change(func(c *Config) { c.LearningRate, c.Budget = Constant(-1), Parsimony(-1) }))
	if err == nil || !strings.Contains(err.Error(), "learning rate") || !strings.Contains(err.Error(), "parsimony") {
		t.Errorf("two faults: %v", err)
	}
	for name, cfg := range map[string]Config{
		"η just below 1/λ": change(func(c *Config) { c.LearningRate, c.Regularizer = Constant(math.Nextafter(4, 0)), 0.25 }),
		"λ 0":              change(func(c *Config) { c.Regularizer, c.LearningRate = 0, Constant(1e6) }),
		"K 0":              change(func(c *Config) { c.Budget = Parsimony(0) }),
		"binary":           change(func(c *Config) { c.Loss, c.Classes = loss.BinaryLogistic{}, 0 }),
	} {
		if _, err := New(cfg); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
