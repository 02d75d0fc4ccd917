package compare

import (
	"math"
	"strings"
	"testing"

	"polkrepro/internal/words"
	"polkrepro/spec"
)

func TestNumberWords(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Number(16), "16"}, {Number(123.6), "124"}, {Number(12.34), "12"}, {Number(0.0123), "0.012"}, {Number(1.25), "1.2"},
		{Numbers([]float64{8, 0.5}), "8, 0.50"},
		{PValue(0.0009), "< 0.001"}, {PValue(0.04), "0.040"},
		{twoDigits(math.Inf(1)), "+Inf"}, {twoDigits(0), "0"},
		{Anytime.Difference(-2), "−2.00"}, {Time.Difference(words.Nullable(math.Log(2))), "×2.0"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
	none := words.Nullable(math.NaN())
	unknown := Comparison{Low: none, High: none}
	sure := Comparison{Low: 0, High: words.Nullable(math.Log(8))}
	if a, b, c := ErrorAtOrder.Interval(unknown), ErrorAtOrder.Interval(sure), Time.Interval(sure); a != "unknown" || b != "0.00 to +2.08" || c != "×1.0 to ×8.0" {
		t.Errorf("intervals %q, %q, %q", a, b, c)
	}
}

// says fails unless the text contains all wanted strings.
func says(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

// TestDecisive checks that the verdict "not distinguishable" is decided by p for no difference at
// all, and every other one by p beyond the error of interpolation.
func TestDecisive(t *testing.T) {
	c := Comparison{P: 0.3, PExact: 0.01}
	for v, want := range map[Verdict]words.Nullable{Open: 0.01, TooCoarse: 0.3, Better: 0.3} {
		if c.Verdict = v; c.Decisive() != want {
			t.Errorf("%s: %v, want %v", v, c.Decisive(), want)
		}
	}
}

// TestDoubt checks that an interval that excludes 0 without a verdict says why, and that others say
// nothing.
func TestDoubt(t *testing.T) {
	for _, c := range []struct {
		Comparison
		verdict Verdict
		reason  string
	}{
		{Comparison{Low: 0.5, High: 1.5, P: 0.3}, TooCoarse, "the interval excludes 0, but not by more than the possible error of interpolation between runs"},
		{Comparison{Low: 0.5, High: 1.5, PExact: 0.08}, Open, "the interval excludes 0 (p 0.020), but not after correction for 4 comparisons"},
		{Comparison{Low: 0.5, High: 1.5, Difference: 1}, Worse, ""},
		{Comparison{Low: -1.5, High: -0.5, Difference: -1}, Better, ""},
		{Comparison{Low: -0.5, High: 0.5, PExact: 0.08}, Open, ""},
		{Comparison{Low: words.Nullable(math.NaN()), High: words.Nullable(math.NaN()), PExact: 0.08}, Open, ""},
	} {
		if c.judge(0.02, 4); c.Verdict != c.verdict || c.Reason != c.reason {
			t.Errorf("%+v: %s, %q", c.Comparison, c.verdict, c.reason)
		}
	}
}

// TestSummaryWords checks that each verdict has a list, and that missing runs are reported.
func TestSummaryWords(t *testing.T) {
	tour, plan := made(t, 5, "test-a", "test-b", "test-c", "test-d", "test-e", "test-f")
	res := New(tour, spec.ProfileSmoke, plan, recorded(plan, func(c spec.ComparedRun) (float64, float64, float64) {
		return 20 + wobble(c), c.Value, c.Value
	}))
	for i, v := range []Verdict{TooCoarse, Open, NotComparable, Worse, Better} {
		res.DataSets[0].Entries[i+1].Compared[ErrorAtOrder].Verdict = v
	}
	res.MissingRuns, res.Missing, res.Mixed = 4, map[string]int{"test-d": 1, "test-e": 3}, "Mixed code."
	res.Standing.CD = 0.5
	res.Standing.Ranks = []Rank{{"test-f", 1}, {"test-a", 2}, {"test-c", 2.25}, {"test-e", 3}}
	res.Standing.Absent = []string{"test-d"}
	words := res.Summary()
	if words[0] != "Mixed code." {
		t.Errorf("the code is not said first: %q", words[0])
	}
	text := strings.Join(words, "\n")
	says(t, text,
		"Not distinguishable on any: test-c. Undecided, because the grid is too coarse: test-b. Not comparable: test-d.",
		"Ahead by more than that: test-f. Within it: test-c. Behind: test-e. Not ranked, because not comparable everywhere: test-d.",
		"Runs left out, because they failed or are missing: 4, of test-d, test-e.",
	)
	if strings.Contains(text, "Better on one, worse on another") || strings.Contains(text, "—") {
		t.Errorf("a list without members:\n%s", text)
	}
	if got := (&Result{Reference: "komp"}).Summary(); len(got) != 1 || got[0] != "There are no runs of komp to compare with." {
		t.Errorf("nothing to compare: %q", got)
	}
}
