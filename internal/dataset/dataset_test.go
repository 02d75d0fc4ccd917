package dataset

import (
	"math"
	"strings"
	"testing"

	"polkrepro/kernel"
)

// TestProblems: one error reports all problems.
func TestProblems(t *testing.T) {
	p := Problems{Package: "own"}
	p.If(false, "Threads", 1, "nothing")
	p.Model(kernel.Gaussian{Bandwidth: 1}, 2, 1)
	if err := p.Err(); err != nil {
		t.Error(err)
	}
	p.If(true, "Threads", -1, "at least 0")
	p.Kernel(nil)
	p.Model(kernel.Gaussian{}, 1, 0)
	if err := p.Err(); err == nil || err.Error() != "own: Threads -1: must be at least 0\nown: Kernel <nil>: must be set\n"+
		"own: Classes 1: must be at least 2\nown: Dim 0: must be at least 1\nown: Kernel: kernel: bandwidth 0: must be positive and finite" {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	x, y := []float32{0, 1, 2, 3, 4, 5}, []float64{0, 1, 1}
	with := func(i int, v float64) []float32 {
		changed := append([]float32(nil), x...)
		changed[i] = float32(v)
		return changed
	}
	for _, tt := range []struct {
		want   string // part of the error; "" if the training set is valid
		n, dim int
		x      []float32
		y      []float64
	}{
		{"", 3, 2, x, y},
		{"want 4 features and 2 labels, got 6 and 3", 2, 2, x, y},
		{"want 6 features and 3 labels, got 6 and 2", 3, 2, x, y[:2]},
		{"0 samples", 0, 2, nil, nil},
		{"dimension 0", 3, 0, nil, y},
		{"sample 1: feature 0 is NaN", 3, 2, with(2, math.NaN()), y},
		{"sample 2: feature 1 is -Inf", 3, 2, with(5, math.Inf(-1)), y},
		{"sample 1: label 2 is not a class 0 … 1", 3, 2, x, []float64{0, 2, 1}},
		{"sample 0: label -1 ", 3, 2, x, []float64{-1, 0, 1}},
		{"sample 2: label 0.5 ", 3, 2, x, []float64{0, 0, 0.5}},
		{"sample 2: label NaN ", 3, 2, x, []float64{0, 0, math.NaN()}},
	} {
		err := Check(tt.n, tt.dim, 2, tt.x, tt.y)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	if err := Check(3, 2, 1, x, []float64{-0.5, 1e300, 0}); err != nil {
		t.Error(err)
	}
	if err := Check(3, 2, 1, x, []float64{0, 1, math.Inf(1)}); err == nil || !strings.Contains(err.Error(), "sample 2: target +Inf is not a finite number") {
		t.Error(err)
	}
}
