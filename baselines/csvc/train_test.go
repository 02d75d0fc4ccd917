package csvc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
)

var gaussian = Config{Kernel: kernel.Gaussian{Bandwidth: 0.7}, C: 1}

// TestCacheBytes: a small cache gives the same model but takes more kernel values.
func TestCacheBytes(t *testing.T) {
	p := blobs(8, 500, 3, 3)
	c := gaussian
	c.C = 20
	want, figures := train(t, c, p)
	for _, rows := range []int64{0, 60} {
		c.CacheBytes = max(1, rows*4*400)
		m, st := train(t, c, p)
		if !slices.Equal(m.Expansion.W, want.Expansion.W) || !slices.Equal(m.Rho, want.Rho) {
			t.Errorf("%d bytes: another model", c.CacheBytes)
		}
		for q, s := range st {
			if s.KernelEvals <= figures[q].KernelEvals {
				t.Errorf("%d bytes: %d kernel values, no more than the %d with all rows kept", c.CacheBytes, s.KernelEvals, figures[q].KernelEvals)
			}
			if limit := max(c.CacheBytes, int64(leastRows*4*s.N)); s.CacheBytes > limit {
				t.Errorf("a pair of %d points took %d bytes, limit %d", s.N, s.CacheBytes, limit)
			}
		}
	}
}

// TestStats: pairs are in the order of their classes' first occurrence, and their statistics fit
// the model.
func TestStats(t *testing.T) {
	p := blobs(9, 200, 2, 4)
	m, st := train(t, gaussian, p)
	if want := []int{3, 2, 1, 0}; !slices.Equal(m.Labels, want) {
		t.Fatalf("labels %v, first occurrence is %v", m.Labels, want)
	}
	q := 0
	for a, plus := range m.Labels {
		for _, minus := range m.Labels[a+1:] {
			s := st[q]
			if s.Plus != plus || s.Minus != minus || s.Rho != m.Rho[q] || s.Iterations == 0 {
				t.Errorf("pair %d is %+v, want classes %d and %d and ρ = %v", q, s, plus, minus, m.Rho[q])
			}
			svs := 0
			for j := range m.NumSV() {
				if m.Expansion.Weights(j)[q] != 0 {
					svs++
				}
			}
			if svs != s.SVs {
				t.Errorf("pair %d: %d weights are not 0, %d support vectors", q, svs, s.SVs)
			}
			q++
		}
	}
	if q != len(st) {
		t.Errorf("%d pairs, said to be %d", q, len(st))
	}
}

// TestOneVsAll: each class's decision function is that of the two-class problem of this class
// against all others, and the largest decision value decides.
func TestOneVsAll(t *testing.T) {
	p, test := blobs(12, 300, 2, 4), blobs(13, 500, 2, 4)
	c := gaussian
	c.OneVsAll, c.Tolerance = true, 1e-6
	m, st := train(t, c, p)
	if len(st) != 4 || len(m.Rho) != 4 {
		t.Fatalf("%d problems, %d constants", len(st), len(m.Rho))
	}
	values, predicted := make([]float64, 4*test.n), make([]float64, test.n)
	m.Decisions(test.n, test.x, values, 1)
	m.Predict(test.n, test.x, predicted, 1)
	support := make(map[string]bool)
	for q, label := range m.Labels {
		two := &problem{p.n, p.dim, 2, p.x, make([]float64, p.n)}
		for i, y := range p.y {
			if int(y) != label {
				two.y[i] = 1
			}
		}
		alone := c
		alone.OneVsAll = false
		b, bst := train(t, alone, two)
		sign := 1.0 // +1 if the class occurs first
		if b.Labels[0] != 0 {
			sign = -1
		}
		if s := st[q]; s.Plus != label || s.Minus != -1 || s.N != p.n || !(math.Abs(s.Objective-bst[0].Objective) <= 1e-5) {
			t.Errorf("class %d: %+v, alone %+v", label, s, bst[0])
		}
		one := make([]float64, test.n)
		b.Decisions(test.n, test.x, one, 1)
		for i, v := range one {
			if !(math.Abs(sign*v-values[4*i+q]) <= 1e-4) {
				t.Fatalf("class %d, point %d: decision value %v, alone %v", label, i, values[4*i+q], sign*v)
			}
		}
		for j := range b.NumSV() {
			support[fmt.Sprint(b.Expansion.Dict.At(j))] = true
		}
	}
	for i, y := range predicted {
		if f := values[4*i : 4*i+4]; f[slices.Index(m.Labels, int(y))] != slices.Max(f) {
			t.Fatalf("point %d is said to be %v, with decision values %v", i, y, f)
		}
	}
	if m.NumSV() != len(support) {
		t.Errorf("%d support vectors, alone %d", m.NumSV(), len(support))
	}
}

// TestSeparable: classes that are far apart are predicted without error, also if only two of ten
// occur.
func TestSeparable(t *testing.T) {
	p := blobs(13, 100, 2, 10)
	for i := range p.n {
		p.y[i] = 3 + 5*float64(i%2)
		p.x[2*i] = float32(10*p.y[i]) + p.x[2*i+1]
	}
	m, st := train(t, gaussian, p)
	got := make([]float64, p.n)
	m.Predict(p.n, p.x, got, 2)
	if !slices.Equal(got, p.y) || len(st) != 1 || !slices.Equal(m.Labels, []int{3, 8}) {
		t.Errorf("labels %v, %d pairs, predicted %v", m.Labels, len(st), got)
	}
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x, y := []float32{0, 1, 2, 3}, []float64{0, 1, 1, 0}
	huge, large := []float32{0, 1, -2, 2e20}, []float32{0, 1, -2, 2e10}
	bad := func(c Config, change func(*Config)) Config { change(&c); return c }
	for _, c := range []struct {
		want           string
		config         Config
		n, dim, labels int
		x              []float32
		y              []float64
	}{
		{"C 0: ", bad(gaussian, func(c *Config) { c.C = 0 }), 4, 1, 2, x, y},
		{"C NaN: ", bad(gaussian, func(c *Config) { c.C = nan }), 4, 1, 2, x, y},
		{"C +Inf: ", bad(gaussian, func(c *Config) { c.C = inf }), 4, 1, 2, x, y},
		{"Tolerance NaN: ", bad(gaussian, func(c *Config) { c.Tolerance = nan }), 4, 1, 2, x, y},
		{"CacheBytes -1: ", bad(gaussian, func(c *Config) { c.CacheBytes = -1 }), 4, 1, 2, x, y},
		{"Threads -2: ", bad(gaussian, func(c *Config) { c.Threads = -2 }), 4, 1, 2, x, y},
		{"bandwidth 0: ", bad(gaussian, func(c *Config) { c.Kernel = kernel.Gaussian{} }), 4, 1, 2, x, y},
		{"Classes 1: ", gaussian, 4, 1, 1, x, y},
		{"sample 1: label 2 ", gaussian, 4, 1, 2, x, []float64{0, 2, 1, 0}}, // package dataset tests other invalid samples
		{"of one class", gaussian, 4, 1, 2, x, []float64{1, 1, 1, 1}},
		{"sample 3: ‖x‖² = 4e+40 ", gaussian, 4, 1, 2, huge, y},
		{"sample 3: ‖x‖² = 4e+20 or κ(x, x) = 1.6e+41 ", Config{Kernel: kernel.Polynomial{Degree: 2}, C: 1}, 4, 1, 2, large, y},
	} {
		c.config.Classes, c.config.Dim = c.labels, c.dim
		m, err := Train(t.Context(), c.config, c.n, c.x, c.y)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "csvc: ") || m != nil {
			t.Errorf("want %q: model %v, error %v", c.want, m, err)
		}
	}
	fits := gaussian
	fits.Classes, fits.Dim = 2, 1
	if _, err := Train(t.Context(), fits, 4, x, y); err != nil {
		t.Errorf("what the others were made of: %v", err)
	}
}

// TestCancel: a cancelled run ends with the context's error and without a model, whether the
// context ends before the run or during it.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := blobs(14, 100, 2, 3)
	c := gaussian
	c.Threads = 2
	m, err := Train(ctx, p.config(c), p.n, p.x, p.y)
	if !errors.Is(err, context.Canceled) || m != nil {
		t.Errorf("cancelled before: model %v, error %v", m, err)
	}
	c.Threads = 1
	_, st := train(t, c, p)
	if m, err = Train(&learnertest.Countdown{Context: t.Context(), Left: st[0].Iterations + 2}, p.config(c), p.n, p.x, p.y); !errors.Is(err, context.Canceled) || m != nil {
		t.Errorf("cancelled in the second pair: model %v, error %v", m, err)
	}
	c, p = hard()
	s := solverOf(c, p)
	if err := s.solve(&learnertest.Countdown{Context: t.Context(), Left: 50}); !errors.Is(err, context.Canceled) || s.iteration != 50 {
		t.Errorf("cancelled in iteration 50: error %v in iteration %d", err, s.iteration)
	}
}
