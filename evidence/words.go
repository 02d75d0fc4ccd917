package evidence

import (
	"polkrepro/experiments"

	"polkrepro/evidence/stats"
)

// Words are a test and its result as text, for a table that is not WriteText's.
type Words struct {
	Of, To string // what is measured, and what it is compared with; To is empty for one mean
	Paper  string // the statistic of the paper's numbers, or a dash
	Target string // the interval in which the statistic is claimed to be
	Ours   string // the estimate; empty if there are no records
	From   string // the estimate's 90 % interval as "2.311 to 2.484"; empty where there is none
	Runs   string // on each side
	Reason string // for the margin or bound, if there is one

	Half, Twice string // the verdict at half and at twice the margin; empty where there is none
	OneRun      string // the interval for one evaluation of one run of a cell; empty if not known
	Within      string // whether the paper's number is in it: yes, no or empty
}

// Words returns a test's result in words; the ledger has the reasons.
func (r *TestResult) Words(l *experiments.Ledger) Words {
	w := Words{
		Of: describe(r.Test.Of), Paper: r.paper(), Target: r.target(), Runs: r.runs(),
		Reason: (&Explanation{Ledger: l}).reason(r.Test),
		OneRun: r.oneRun(), Within: yes(r.Within()),
	}
	w.Half, w.Twice = r.margins()[0], r.margins()[1]
	if r.Test.To != nil {
		w.To = describe(*r.Test.To)
	}
	if e := r.Estimate; r.Verdict != stats.NotRun {
		w.Ours = number(e.Value)
		if e.Basis != stats.Point {
			w.From = number(e.Low) + " to " + number(e.High)
		}
	}
	return w
}
