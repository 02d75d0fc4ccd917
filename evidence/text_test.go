package evidence

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0.123456: "0.1235", 16: "16", 16118.4: "16118", -1930.2: "−1930", -0.5: "−0.5", 1e-7: "1e−07",
		math.Inf(1): "∞", math.Inf(-1): "−∞",
	} {
		if got := number(v); got != want {
			t.Errorf("%v becomes %s, want %s", v, got, want)
		}
	}
}
