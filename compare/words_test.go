package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
)

func TestNumberWords(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Number(16), "16"}, {Number(123.6), "124"}, {Number(12.34), "12"}, {Number(0.0123), "0.012"}, {Number(1.25), "1.2"},
		{Numbers([]float64{8, 0.5}), "8, 0.50"},
		{PValue(0.0009), "< 0.001"}, {PValue(0.04), "0.040"},
		{twoDigits(math.Inf(1)), "+Inf"}, {twoDigits(0), "0"},
		{Anytime.Difference(-2), "−2.00"}, {Time.Difference(math.Log(2)), "×2.0"},
		{Time.Off(Comparison{Bend: math.Log(1.5)}), "a factor of 1.5"}, {ErrorAtOrder.Off(Comparison{Bend: 0.25}), "0.25 points"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
	unknown := Comparison{Test: stats.Test{Estimate: stats.Single(1)}}
	sure := Comparison{Test: stats.Test{Estimate: stats.Estimate{Value: 1, Low: 0, High: math.Log(8), Basis: stats.Paired}}}
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
	c := Comparison{Adjusted: 0.3, AdjustedExact: 0.01}
	for v, want := range map[Verdict]float64{Open: 0.01, TooCoarse: 0.3, Better: 0.3} {
		if c.Verdict = v; c.Decisive() != want {
			t.Errorf("%s: %v, want %v", v, c.Decisive(), want)
		}
	}
}

// TestDoubt checks that an interval that excludes 0 without a verdict says why, and that others say
// nothing.
func TestDoubt(t *testing.T) {
	c := Comparison{Test: stats.Test{Estimate: stats.Estimate{Value: 1, Low: 0.5, High: 1.5, Basis: stats.Paired}}, Bend: 0.75}
	for v, want := range map[Verdict]string{
		TooCoarse: "the interval excludes 0, but interpolation between runs may be off by up to 0.75 points",
		Open:      "the interval excludes 0 (p 0.020), but not after correction for 4 comparisons",
		Worse:     "",
	} {
		if c.Verdict = v; c.doubt(ErrorAtOrder, 0.02, 4) != want {
			t.Errorf("%s: %q", v, c.doubt(ErrorAtOrder, 0.02, 4))
		}
	}
	if c.Verdict, c.Low = Open, -0.5; c.doubt(ErrorAtOrder, 0.02, 4) != "" {
		t.Errorf("of an interval about 0: %q", c.doubt(ErrorAtOrder, 0.02, 4))
	}
}

// TestFieldFront checks that the front is over all heuristics, by order or by time.
func TestFieldFront(t *testing.T) {
	tour, plan := made(t, 3, "test-a", "test-b")
	res := New(tour, experiments.ProfileSmoke, plan, recorded(plan, func(c experiments.Contest) (float64, float64, float64) {
		if c.Heuristic == "test-b" { // worse, and faster
			return 40 - c.Value/2, c.Value, 1 + c.Value/100
		}
		return 30 - c.Value/2, c.Value, c.Value
	}))
	names := func(m Measure) (out []string) {
		for _, p := range res.Fields[0].Front(m) {
			out = append(out, p.Heuristic+" "+Number(p.Value))
		}
		return out
	}
	if got := names(ErrorAtOrder); !slices.Equal(got, []string{"test-a 8", "test-a 16", "test-a 32"}) {
		t.Errorf("by order: %v", got)
	}
	if got := names(ErrorAtTime); !slices.Equal(got, []string{"test-b 8", "test-b 16", "test-b 32", "test-a 16", "test-a 32"}) {
		t.Errorf("by time: %v", got)
	}
}

// TestSummaryWords checks that each verdict has a list, and that missing runs and the time spent on
// exchanges with a process are reported.
func TestSummaryWords(t *testing.T) {
	tour, plan := made(t, 5, "test-a", "test-b", "test-c", "test-d", "test-e", "test-f")
	res := New(tour, experiments.ProfileSmoke, plan, recorded(plan, func(c experiments.Contest) (float64, float64, float64) {
		return 20 + wobble(c), c.Value, c.Value
	}))
	for i, v := range []Verdict{TooCoarse, Open, NotComparable, Worse, Better} {
		res.Fields[0].Entries[i+1].Compared[ErrorAtOrder].Verdict = v
	}
	runs := res.Fields[0].Entry("test-b").Runs
	for i := range runs {
		runs[i].Process = runs[i].Seconds / 4
	}
	res.Missing, res.Mixed = map[string]int{"test-d": 1, "test-e": 3}, "Mixed code."
	res.Standing.CD = 0.5
	res.Standing.Names, res.Standing.Mean = []string{"test-f", "test-a", "test-c", "test-e"}, []float64{1, 2, 2.25, 3}
	res.Standing.Absent = []string{"test-d"}
	words := res.Summary()
	if words[0] != "Mixed code." {
		t.Errorf("the code is not said first: %q", words[0])
	}
	text := strings.Join(words, "\n")
	says(t, text,
		"Not distinguishable on any: test-c. Undecided, because the grid is too coarse: test-b. Not comparable: test-d.",
		"Ahead by more than that: test-f. Within it: test-c. Behind: test-e. Not ranked, because not comparable everywhere: test-d.",
		"from each question to the answer: test-b (25 % of its time).",
		"1 run of test-d failed or is missing, and is left out.",
		"3 runs of test-e failed or are missing, and are left out.",
	)
	if strings.Contains(text, "Better on one, worse on another") || strings.Contains(text, "—") {
		t.Errorf("a list without members:\n%s", text)
	}
	if got := (&Result{Reference: "komp"}).Summary(); len(got) != 1 || got[0] != "There are no runs of komp to compare with." {
		t.Errorf("nothing to compare: %q", got)
	}
}
