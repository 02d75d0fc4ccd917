package report

import (
	"math"
	"testing"
)

// TestInterval compares with t(0.95, 2) = 2.920 of printed tables: 2 ± 2.920/√3.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		values         []float64
		text, interval string
	}{
		{[]float64{1, 2, 3}, "2.00 ± 1.00", "0.31 to 3.69"},
		{[]float64{2, 2, 2}, "2.00 ± 0.00", "2.00"},
		{[]float64{1, 3}, "2.00 ± 1.41", ""},
		{[]float64{2}, "2.00", ""},
		{[]float64{1, 2, 3, math.Inf(1)}, "1 of 4 diverged", ""},
		{nil, "", ""},
	} {
		s := statOf(c.values)
		full := c.text
		if c.interval != "" {
			full += " (" + c.interval + ")"
		}
		if s.text(qError) != c.text || s.interval(qError) != c.interval || s.full(qError) != full {
			t.Errorf("%v: %q, %q, %q; want %q, %q", c.values, s.text(qError), s.interval(qError), s.full(qError), c.text, c.interval)
		}
	}
}
