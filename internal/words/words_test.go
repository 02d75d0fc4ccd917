package words

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(1, "cell"), "1 cell"}, {Count(0, "cell"), "0 cells"},
		{OneLine(" a\n\tb "), "a b"}, {Shorten("äöü", 3), "äöü"}, {Shorten("äöüß", 3), "äö…"}, {Shorten("a bc", 3), "a…"},
		{Yes(true, true), "yes"}, {Yes(false, true), "no"}, {Yes(true, false), ""},
		{Exact(-0.1), "-0.1"}, {Plain(-1e-7), "−1e−07"}, {Plain(1249), "1249"},
		{Four(0.31409), "0.3141"}, {Four(-12345.6), "−12346"}, {Four(999.96), "1000"}, {Four(math.Inf(1)), "∞"}, {Four(math.Inf(-1)), "−∞"}, {Four(1e-5), "1e−05"}, {Four(math.NaN()), "NaN"},
		{Decimals(-1.25, 1), "−1.2"},
		{Signed(0.004, 2), "0.00"}, {Signed(-0.004, 2), "0.00"}, {Signed(0.5, 2), "+0.50"}, {Signed(-12.4, 0), "−12"}, {Signed(math.Inf(1), 0), "+Inf"},
		{Grouped(9999), "9999"}, {Grouped(12_000), "12,000"}, {Grouped(1_234_567), "1,234,567"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if Finite(math.NaN()) || Finite(math.Inf(-1)) || !Finite(0) {
		t.Error("Finite")
	}
}
