package charset

import "testing"

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"plain":                      "plain",
		"0.10 ± 0.01   4.1 ± 0.4  x": "0.10 +- 0.01  4.1 +- 0.4 x",
		"0.10          4.1        x": "0.10          4.1        x",
		"κ(x, x') = ‖x−x'‖²":         "kappa(x, x') = ||x-x'||^2",
		"folder/été.csv":             "folder/été.csv",
		"  indented →":               "  indented ->",
		"─────":                      "-----",
		"a   ":                       "a   ",
	} {
		if got := Line(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
