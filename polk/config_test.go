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
		what      string
		got, want float64
	}{
		{"Constant", Constant(6).Rate(math.MaxInt), 6},
		{"InverseTime at 0", InverseTime{2, 10}.Rate(0), 2},
		{"InverseTime at 10", InverseTime{2, 10}.Rate(10), 1},
		{"InverseTime at 990", InverseTime{2, 10}.Rate(990), 0.02},
		{"Parsimony", Parsimony(0.016).Epsilon(24), 0.016 * math.Pow(24, 1.5)},
		{"Parsimony 0", Parsimony(0).Epsilon(24), 0},
		{"SquaredRate", SquaredRate{}.Epsilon(0.5), 0.25},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-15*c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
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
		"zero": {Config{}, "polk: Kernel <nil>: must be set\npolk: Loss <nil>: must be set\npolk: Dim 0: must be at least 1\npolk: LearningRate <nil>: must be set\npolk: Budget <nil>: must be set"},
		"two problems": {change(func(c *Config) { c.Classes, c.Regularizer, c.Threads = -3, nan, -1 }),
			"polk: Classes -3: must be at least 2 for the loss multi-hinge\npolk: Regularizer NaN: must be finite and at least 0\npolk: Threads -1: must be at least 0"},
		"Dim 0: ":      {change(func(c *Config) { c.Dim = 0 }), "Dim 0: "},
		"−1 classes":   {change(func(c *Config) { c.Classes = -1 }), "Classes -1: "},
		"one class":    {change(func(c *Config) { c.Classes = 1 }), "Classes 1: "},
		"λ < 0":        {change(func(c *Config) { c.Regularizer = -1e-9 }), "Regularizer "},
		"λ NaN":        {change(func(c *Config) { c.Regularizer = nan }), "Regularizer "},
		"λ infinite":   {change(func(c *Config) { c.Regularizer = inf }), "Regularizer "},
		"η 0":          {change(func(c *Config) { c.LearningRate = Constant(0) }), "learning rate 0"},
		"η infinite":   {change(func(c *Config) { c.LearningRate, c.Regularizer = Constant(inf), 0 }), "learning rate +Inf"},
		"η = 1/λ":      {change(func(c *Config) { c.LearningRate, c.Regularizer = Constant(4), 0.25 }), "learning rate 4 in step 0: must be positive, finite and below 1/λ = 4"},
		"η₀ 0":         {change(func(c *Config) { c.LearningRate = InverseTime{0, 1} }), "learning rate 0"},
		"horizon 0":    {change(func(c *Config) { c.LearningRate = InverseTime{1, 0} }), "learning rate NaN"},
		"horizon < 0":  {change(func(c *Config) { c.LearningRate = InverseTime{1, -1000} }), "learning rate NaN"},
		"K < 0":        {change(func(c *Config) { c.LearningRate, c.Budget = Constant(1), Parsimony(-0.1) }), "budget ε = -0.1"},
		"η NaN":        {change(func(c *Config) { c.LearningRate = Constant(nan) }), "learning rate NaN"},
		"K NaN":        {change(func(c *Config) { c.Budget = Parsimony(nan) }), "budget ε = NaN"},
		"no heuristic": {change(func(c *Config) { c.Pruner = new(prune.Instance) }), "Pruner without a heuristic: must be made by prune.New or prune.Find"},
		"fixed":        {change(func(c *Config) { c.Pruner, c.FixedTo = merging, 8 }), "FixedTo 8: must be"},
		"bandwidth 0":  {change(func(c *Config) { c.Kernel = kernel.Gaussian{} }), "bandwidth 0"},
		"merging":      {change(func(c *Config) { c.Kernel, c.Pruner = kernel.Polynomial{Degree: 2}, merging }), "Pruner merging (order=8): must be used with the gaussian kernel, not the polynomial"},
	} {
		l, err := New(c.cfg)
		if err == nil || l != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
	}
	// A rate is checked in its step: here 2, 4, then infinite.
	l := mustNew(t, change(func(c *Config) { c.LearningRate = rates{2, 4, inf} }))
	for i, want := range []string{"", "", "learning rate +Inf in step 2"} {
		if _, err := l.Step(t.Context(), 1, []float32{1, 2}, []float64{1}); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("step %d: %v", i, err)
		}
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

// rates are the learning rates of the first steps.
type rates []float64

func (r rates) Rate(t int) float64 { return r[t] }
