package portable

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0x1p-104, 4).Draw(t, "x")
		got, want := Log(x), math.Log(x)
		// 2 ulp: Log and math.Log are each within 1 ulp of the exact value.
		if !(math.Abs(got-want) <= 0x1p-51*math.Abs(want)) {
			t.Errorf("Log(%v) = %v, math.Log gives %v", x, got, want)
		}
	})
	if got := Log(1); got != 0 {
		t.Errorf("Log(1) = %v", got)
	}
}

func TestExp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-40, 40).Draw(t, "x")
		got, want := Exp(x), math.Exp(x)
		if !(math.Abs(got-want) <= 0x1p-50*want) { // 4 ulp
			t.Errorf("Exp(%v) = %v, math.Exp gives %v", x, got, want)
		}
	})
	if got := Exp(0); got != 1 {
		t.Errorf("Exp(0) = %v", got)
	}
}
