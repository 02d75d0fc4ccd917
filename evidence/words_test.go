package evidence

import (
	"strings"
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
)

// TestWords compares the words of tests with the lines of the table for a
// terminal.
func TestWords(t *testing.T) {
	low, high, paper := 1.0, 3.0, 2.0
	l := &experiments.Ledger{Margins: map[string]experiments.Margin{"error": {Points: 1, Reason: "a margin's reason"}}}
	of := experiments.Selector{Cell: "table2.multidist.ksvm.polk", Quantity: "error"}
	to := experiments.Selector{Cell: "table2.multidist.ksvm.bsgd", Quantity: "error"}
	tests := []TestResult{
		{Test: experiments.Test{Kind: experiments.KindEquivalence, Of: of, Margin: 1, Paper: &paper}, Low: low, High: high, Verdict: stats.Reproduced, Estimate: stats.Mean([]float64{1, 2, 3})},
		{Test: experiments.Test{Kind: experiments.KindRatio, Of: of, To: &to, Reason: "its own"}, Low: low, High: high, Verdict: stats.Reproduced, Estimate: stats.Single(1.5)},
		{Test: experiments.Test{Kind: experiments.KindLess, Of: of, To: &to}, Verdict: stats.NotRun},
	}
	want := []Words{
		{Of: "error of " + of.Cell, Paper: "2", Target: "1 to 3", Ours: "2", From: "0.3141 to 3.686", Runs: "0", Reason: "a margin's reason", Half: "reproduced", Twice: "reproduced"},
		{Of: "error of " + of.Cell, To: "error of " + to.Cell, Paper: "—", Target: "1 to 3", Ours: "1.5", Runs: "0 : 0", Reason: "its own"},
		{Of: "error of " + of.Cell, To: "error of " + to.Cell, Paper: "—", Target: "< 0", Runs: "0 : 0"},
	}
	for i := range tests {
		r := &tests[i]
		got := r.Words(l)
		if got != want[i] {
			t.Errorf("words %+v\nwant  %+v", got, want[i])
		}
		line := got.Ours
		if got.From != "" {
			line += " [" + strings.ReplaceAll(got.From, " to ", ", ") + "]"
		}
		if line != r.ours() || got.Paper != r.paper() || got.Target != r.target() || got.Runs != r.runs() {
			t.Errorf("words %+v, in the terminal %q", got, r.ours())
		}
	}
}
