package rows

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
)

func TestCanonicalLabel(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", "+1": "1", "1.0": "1", "+1.0": "1", "-1": "-1", "-1.0": "-1", "0": "0", "-0": "0", "+0.0": "0", "-0.0": "0",
		"1.00": "1", "1.000000": "1", "1.000000000000000000e+00": "1", "-1.200000000000000000e+01": "-12", "1.500000000000000000e+00": "1.500000000000000000e+00", "01": "01", "00501": "00501", "+01": "+01", "250.0": "250", "250.00": "250", "250.1": "250.1", "+0.5": "+0.5",
		"1e1": "1e1", "1_1": "1_1", "0xA": "0xA", "1.": "1", "1.0e0": "1.0e0", "01.0": "01.0", ".0": ".0", "+": "+", "-.0": "-.0", "++1": "++1", "elm": "elm", "elm.0": "elm.0",
		"9007199254740993": "9007199254740993", "18446744073709551617.0": "18446744073709551617", "info": "info", "nano": "nano",
	} {
		if got, err := CanonicalLabel(text); err != nil || got != want {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"": "missing", "nan": "not finite", "-Inf": "not finite", "+infinity": "not finite", strings.Repeat("x", 257): "longer than 256"} {
		if got, err := CanonicalLabel(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", "+1.": "1", ".5": "0.5", "-2.5E-1": "-0.25", "007": "7", "999999999": "9.99999999e+08", "9999999999": "9.999999999e+09", "1e-999": "0", "-0": "-0",
		"1_1": "not a number", "0x1p3": "not a number", "0X1P3": "not a number", "0x1p99999": "not a number", "1_0e999": "not a number",
		"": "missing", ".": "not a number", "1e": "not a number", "1 ": "not a number", "१": "not a number",
		"1e999": "out of range", "nan": "not finite", "Inf": "not finite", "-infinity": "not finite",
	} {
		v, err := ParseNumber(text)
		if got := fmt.Sprint(v); err == nil && got != want || err != nil && err.Error() != want {
			t.Errorf("%q is %v (%v), want %s", text, v, err, want)
		}
	}
}

// rat returns the exact value of a decimal text, as math/big computes it. It returns nil for
// other texts, and for exponents that would take too long to expand.
func rat(text string) *big.Rat {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if strings.ContainsAny(text, "_xX/ ") || strings.Trim(mantissa, "+-.0123456789") != "" {
		return nil
	}
	if len(strings.TrimLeft(exponent, "+-0")) > 3 {
		if _, err := strconv.ParseInt(exponent, 10, 62); err == nil && strings.Trim(mantissa, "+-.0") == "" {
			return rat(mantissa)
		}
		return nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}

// checkLabels compares the results of CanonicalLabel and Labels for some texts with exact
// arithmetic.
func checkLabels(t interface {
	Fatalf(string, ...any)
}, texts ...string) {
	var set Labels
	var kept []string
	numbers := true
	for _, text := range texts {
		label, err := CanonicalLabel(text)
		if err != nil {
			continue
		}
		if again, err := CanonicalLabel(label); err != nil || again != label {
			t.Fatalf("%q is %q, and that is %q (%v)", text, label, again, err)
		}
		r := rat(text)
		if c := rat(label); (r == nil) != (c == nil) || r != nil && r.Cmp(c) != 0 {
			t.Fatalf("%q is %v, and %q is %v", text, r, label, c)
		}
		if _, ok := parseDecimal(text); r != nil && !ok {
			t.Fatalf("%q is no number, want %v", text, r)
		}
		same := slices.ContainsFunc(kept, func(k string) bool { return r != nil && k != label && rat(k) != nil && rat(k).Cmp(r) == 0 })
		switch err := set.Add(label); {
		case same != (err != nil):
			t.Fatalf("%q after %q: error %v, want one: %v", label, kept, err, same)
		case err == nil && !slices.Contains(kept, label):
			kept = append(kept, label)
			numbers = numbers && r != nil
		}
	}
	if set.Len() != len(kept) {
		t.Fatalf("%d labels, want %q", set.Len(), kept)
	}
	if numbers {
		slices.SortFunc(kept, func(a, b string) int { return rat(a).Cmp(rat(b)) })
		if got := set.Sorted(); !slices.Equal(got, kept) {
			t.Fatalf("sorted %q, want %q", got, kept)
		}
	}
}

// Labels count as the same number if and only if they are equal in exact arithmetic,
// however they are written and however long they are.
func TestLabelsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.StringMatching(`[+-]?(0{0,2}[0-9]{1,20}|12|120|0\.12|250)(\.0{1,3}|\.[12]0{0,2})?(e[+-]?[0-9]{1,2})?`)
		checkLabels(t, rapid.SliceOfN(label, 1, 8).Draw(t, "labels")...)
	})
}

// Labels are too many to be classes if more than half of the rows, and at least twenty, have
// a label that no other row has.
func TestUnrepeated(t *testing.T) {
	for _, tt := range []struct {
		once, twice int
		want        bool
		same        float64
	}{{19, 0, false, 1.0 / 19}, {20, 0, true, 1.0 / 20}, {20, 10, false, 60.0 / 1600}, {21, 10, true, 61.0 / 1681}} {
		var s Labels
		for i := range tt.once + 2*tt.twice {
			testutil.NoError(t, s.Add(fmt.Sprint(i%(tt.once+tt.twice))))
		}
		if got, same := s.Unrepeated(), s.Same(); got != tt.want || !(math.Abs(same-tt.same) <= 1e-12) {
			t.Errorf("%+v: %v, %v", tt, got, same)
		}
	}
}

func FuzzLabels(f *testing.F) {
	f.Add("250.1", "250.10", "2501e-1")
	f.Add("+1", "1.0", "1e0")
	f.Add("9007199254740992", "9007199254740993", "0x1p53")
	f.Add("-0", "0e99999999999999999999", ".0")
	f.Add("1_1", "11", "nan")
	f.Add("0", "0e9999", "0.0")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		checkLabels(t, a, b, c)
		if len(a) > maxLabel {
			return
		}
		if v, err := ParseNumber(a); err == nil && rat(a) != nil {
			if want, _ := rat(a).Float64(); v != want {
				t.Errorf("%q is %v, want %v", a, v, want)
			}
		}
	})
}
