package lbfgs

import (
	"math"
	"strings"
	"testing"

	"polkrepro/kernel"
	"polkrepro/loss"
)

// basic is a valid configuration for samples of two features.
var basic = Config{
	Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: loss.MultiHinge{}, Classes: 2, Dim: 2, Regularizer: 0.1,
}

func with(change func(*Config)) Config {
	c := basic
	change(&c)
	return c
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x, y := []float32{0, 1, 2, 3, 4, 5}, []float64{0, 1, 1}
	huge := []float32{0, 1, 2, 3, 4, 1e20}
	for _, c := range []struct {
		want   string
		config Config
		n      int
		x      []float32
		y      []float64
	}{
		{"Classes 1: ", with(func(c *Config) { c.Classes = 1 }), 3, x, y},
		{"Regularizer 0: ", with(func(c *Config) { c.Regularizer = 0 }), 3, x, y},
		{"Regularizer NaN: ", with(func(c *Config) { c.Regularizer = nan }), 3, x, y},
		{"Regularizer +Inf: ", with(func(c *Config) { c.Regularizer = inf }), 3, x, y},
		{"Tolerance NaN: ", with(func(c *Config) { c.Tolerance = nan }), 3, x, y},
		{"Tolerance 1: ", with(func(c *Config) { c.Tolerance = 1 }), 3, x, y},
		{"MaxIterations -1: ", with(func(c *Config) { c.MaxIterations = -1 }), 3, x, y},
		{"Memory -1: ", with(func(c *Config) { c.Memory = -1 }), 3, x, y},
		{"Threads -2: ", with(func(c *Config) { c.Threads = -2 }), 3, x, y},
		{"Loss: must be set", with(func(c *Config) { c.Loss = nil }), 3, x, y},
		{"Loss: squared-hinge is not supported: must be multi-hinge or multi-logistic", with(func(c *Config) { c.Loss = loss.SquaredHinge{} }), 3, x, y},
		{"sample 1: label 2 ", basic, 3, x, []float64{0, 2, 1}}, // package dataset tests other invalid samples
		{"kernel values overflow", with(func(c *Config) { c.Kernel = kernel.Polynomial{Degree: 9} }), 3, huge, y},
	} {
		c.config.Trace = func(float64, float64) error {
			t.Errorf("want %q: an iteration was made", c.want)
			return nil
		}
		r, err := Train(t.Context(), c.config, c.n, c.x, c.y)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "lbfgs: ") || r != nil {
			t.Errorf("want %q: result %v, error %v", c.want, r, err)
		}
	}
	if _, err := Train(t.Context(), basic, 3, x, y); err != nil {
		t.Errorf("what the others were made of: %v", err)
	}
}
