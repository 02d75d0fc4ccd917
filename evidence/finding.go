package evidence

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// A Number is a number of a Finding: a value, an interval or both, depending on its basis. A Number
// without a basis is missing. Only the methods of Number round and format it.
type Number stats.Estimate

// The bases of numbers that are not estimates.
const (
	Printed     stats.Basis = "printed"      // a value that the paper prints
	Target      stats.Basis = "target"       // the claimed interval
	ExactTarget stats.Basis = "exact target" // the same, with all its digits
)

// String formats the number with four digits: "2.4", "2.4 [2.3, 2.5]", or for an interval
// "2.3 to 2.5", "≤ 2.5" and "< 0".
func (n Number) String() string {
	switch n.Basis {
	case "":
		return ""
	case Printed, stats.Point:
		return words.Four(n.Value)
	case Target, ExactTarget, stats.OneRun:
		return n.Interval()
	}
	return fmt.Sprintf("%s [%s, %s]", words.Four(n.Value), words.Four(n.Low), words.Four(n.High))
}

// Interval returns the interval alone; it is empty if there is none.
func (n Number) Interval() string {
	switch {
	case n.Basis == "" || n.Basis == Printed || n.Basis == stats.Point:
		return ""
	case n.Basis == ExactTarget && math.IsInf(n.Low, -1): // all digits, with the millionth that is left to rounding
		return "≤ " + words.Plain(n.High)
	case n.target() && n.High == math.Nextafter(0, -1):
		return "< 0"
	case n.target() && math.IsInf(n.Low, -1):
		return "≤ " + words.Four(n.High)
	case n.target() && math.IsInf(n.High, 1):
		return "≥ " + words.Four(n.Low)
	}
	return words.Four(n.Low) + " to " + words.Four(n.High)
}

func (n Number) target() bool { return n.Basis == Target || n.Basis == ExactTarget }

// Bounds returns the ends of a target as declared, or nil where the target is unbounded.
func (n Number) Bounds() (low, high *float64) {
	if !math.IsInf(n.Low, 0) {
		low = &n.Low
	}
	if n.High == math.Nextafter(0, -1) {
		n.High = 0
	}
	if !math.IsInf(n.High, 0) {
		high = &n.High
	}
	return low, high
}

// A Finding is the result of one test of a claim. Every output lays it out: text, Markdown, JSON,
// JUnit, the tables' cells, the page and the forest plot.
type Finding struct {
	Test    ledger.Test
	Verdict stats.Verdict
	Of, To  Side   // the runs; To is empty for a test of one mean
	Paper   Number // the statistic of the paper's numbers
	Target  Number // the claimed interval of the statistic
	Ours    Number // the estimate from the runs; NaN without a basis if there is none
	NewRun  Number // for a test of a cell: interval for the value of one new run, if known
	NewTest Number // the same with as many new test rows, for an error on one test set
	Reason  string // reason for the margin or bound
	Gap     *Gap   // missing runs, or why the existing runs don't answer
	Remark  string // further note on the verdict
}

// NewFinding returns the finding of a test without an answer.
func NewFinding(t ledger.Test) Finding {
	nan := math.NaN()
	f := Finding{Test: t, Verdict: stats.NotRun, Ours: Number{Value: nan, Low: nan, High: nan}, Reason: t.Reason}
	low, high := t.Target()
	f.Target = Number{Low: low, High: high, Basis: Target}
	if t.Of.Spec != "" {
		f.Target.Basis = ExactTarget
	}
	if t.Paper != nil {
		f.Paper = Number{Value: *t.Paper, Basis: Printed}
	}
	return f
}

// At returns the verdict with the margin multiplied by margins, or the verdict itself for a test
// without a margin.
func (f *Finding) At(margins float64) stats.Verdict {
	if f.Verdict == stats.NotRun || f.Test.Margin == 0 {
		return f.Verdict
	}
	low, high := f.Test.TargetAt(margins)
	return stats.Judge(stats.Estimate(f.Ours), low, high)
}

// Margins returns the verdicts at half and at twice the margin, or nil if there is no margin.
func (f *Finding) Margins() []stats.Verdict {
	if f.Test.Margin == 0 {
		return nil
	}
	return []stats.Verdict{f.At(0.5), f.At(2)}
}

// Within reports whether the printed number lies in the interval n of a new run, NewRun or NewTest,
// and whether that is known.
func (f *Finding) Within(n Number) (within, known bool) {
	if n.Basis == "" || f.Test.Paper == nil {
		return false, false
	}
	return n.Low <= *f.Test.Paper && *f.Test.Paper <= n.High, true
}

// Explained reports whether the test deviates and the ledger says why.
func (f *Finding) Explained() bool { return f.Verdict == stats.Deviates && f.Test.Explained != "" }

// Outcome returns the verdict in words: "deviates, explained" if the ledger explains the deviation.
func (f *Finding) Outcome() string { return verdictText(f.Verdict, f.Explained()) }

// Measured describes the quantity that the test measures.
func (f *Finding) Measured() string { return describe(f.Test.Of) }

// Compared describes the quantity that the test compares with, or returns "" for a test of one
// mean.
func (f *Finding) Compared() string {
	if f.Test.To == nil {
		return ""
	}
	return describe(*f.Test.To)
}

// Printed returns the paper's number, or a dash.
func (f *Finding) Printed() string { return cmp.Or(f.Paper.String(), words.Dash) }

// Runs returns the number of runs on each side.
func (f *Finding) Runs() string {
	s := strconv.Itoa(len(f.Of.Runs))
	if f.Test.To != nil {
		s += " : " + strconv.Itoa(len(f.To.Runs))
	}
	return s
}

// OneRun returns the interval of a new run's value and whether the paper's number is in it, or ""
// if that is not known.
func (f *Finding) OneRun() string { return f.where(f.NewRun, "") }

// where returns the same as OneRun for n, NewRun or NewTest, before a text.
func (f *Finding) where(n Number, after string) string {
	within, known := f.Within(n)
	if !known {
		return ""
	}
	return fmt.Sprintf("%s, the paper's %sin it%s", n, map[bool]string{false: "not "}[within], after)
}

// Note returns the note on the verdict, or "" if there is none.
func (f *Finding) Note() string { return cmp.Or(f.Gap.Note(), f.Remark) }

// Sentence says in one line what was measured and what the paper claims: "error of
// table2.multidist.ksvm.bsgd: 4.597 [4.42, 4.77]; claimed 20.8 to 22.8, printed 21.8."
func (f *Finding) Sentence() string {
	text, claimed := f.Measured(), f.Target.String()
	if f.Test.To != nil {
		by := " minus "
		if f.Test.Kind == ledger.KindRatio {
			by = " divided by "
		}
		text += by + f.Compared()
	}
	if f.Test.Paper != nil {
		claimed += ", printed " + f.Paper.String()
	}
	return text + ": " + cmp.Or(f.Ours.String(), "not measured ("+f.Note()+")") + "; claimed " + claimed + "."
}

// verdictText returns a verdict in words.
func verdictText(v stats.Verdict, explained bool) string {
	return v.String() + map[bool]string{true: ", explained"}[explained]
}
