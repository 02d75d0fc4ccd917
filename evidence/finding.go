package evidence

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
)

// A Number is one of the numbers of a Finding: a value, an interval or both, as its basis
// says. Without a basis there is none. It is rounded and worded here alone.
type Number stats.Estimate

// The bases of numbers that are no estimates.
const (
	Printed     stats.Basis = "printed"      // a value of the paper's
	Target      stats.Basis = "target"       // an interval
	ExactTarget stats.Basis = "exact target" // the same, with all its digits
)

// String returns the number in four digits: "2.4", "2.4 [2.3, 2.5]", or of an interval
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
	case n.Basis == ExactTarget && math.IsInf(n.Low, -1): // with the millionth that is left to rounding
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

// Bounds returns the ends of a target as they are declared, nil where it has none.
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

// A Finding is what the records say of one test of a claim. Every face lays it out: text,
// Markdown, JSON, JUnit, the tables' cells, the page and the forest plot.
type Finding struct {
	Test    experiments.Test
	Verdict stats.Verdict
	Of, To  Side   // the runs; To is empty for a test of one mean
	Paper   Number // the statistic of the paper's numbers
	Target  Number // what is claimed of it
	Ours    Number // the estimate from the runs; NaN if there is none
	NewRun  Number // of a cell's test: where the value of one new run will be, if that is known
	NewTest Number // the same of an error on one test set, with as many new test rows
	Reason  string // for the margin or bound
	Gap     *Gap   // the runs that are missing, or why those that are there don't answer
	Remark  string // what else the reader has to know of the verdict
}

// NewFinding returns that of a test that nothing answers.
func NewFinding(t experiments.Test) Finding {
	f := Finding{Test: t, Verdict: stats.NotRun, Ours: Number(stats.Single(math.NaN())), Reason: t.Reason}
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

// At returns the verdict with the margin taken so many times: the verdict itself for a
// test that has none.
func (f *Finding) At(margins float64) stats.Verdict {
	if f.Verdict == stats.NotRun || f.Test.Margin == 0 {
		return f.Verdict
	}
	low, high := f.Test.TargetAt(margins)
	return stats.Judge(stats.Estimate(f.Ours), low, high)
}

// Margins returns the verdicts at half and at twice the margin; none if there is no margin.
func (f *Finding) Margins() []stats.Verdict {
	if f.Test.Margin == 0 {
		return nil
	}
	return []stats.Verdict{f.At(0.5), f.At(2)}
}

// Within reports whether the printed number lies where that of a new run will be, NewRun or
// NewTest, and whether that is known.
func (f *Finding) Within(n Number) (within, known bool) {
	if n.Basis == "" || f.Test.Paper == nil {
		return false, false
	}
	return n.Low <= *f.Test.Paper && *f.Test.Paper <= n.High, true
}

// Explained reports whether the test deviates and the ledger says why.
func (f *Finding) Explained() bool { return f.Verdict == stats.Deviates && f.Test.Explained != "" }

// Outcome words the verdict: "deviates, explained" if the ledger explains the deviation.
func (f *Finding) Outcome() string { return verdictText(f.Verdict, f.Explained()) }

// Measured is what the test measures, and Compared what it is compared with, which is
// empty for one mean.
func (f *Finding) Measured() string { return describe(f.Test.Of, f.Test.Of.Cell) }

// Compared is what the test compares with; it is empty for a test of one mean.
func (f *Finding) Compared() string {
	if f.Test.To == nil {
		return ""
	}
	return describe(*f.Test.To, f.Test.To.Cell)
}

// Printed is the paper's number, or a dash.
func (f *Finding) Printed() string { return cmp.Or(f.Paper.String(), words.Dash) }

// Estimated is the estimate with its interval; it is empty of a test that was not run.
func (f *Finding) Estimated() string {
	if f.Verdict == stats.NotRun {
		return ""
	}
	return f.Ours.String()
}

// Runs is the number of runs on each side.
func (f *Finding) Runs() string {
	s := strconv.Itoa(len(f.Of.Runs))
	if f.Test.To != nil {
		s += " : " + strconv.Itoa(len(f.To.Runs))
	}
	return s
}

// OneRun says where the value of a new run would be, and whether the paper's number is
// there; it is empty where that is not known.
func (f *Finding) OneRun() string { return f.where("", f.NewRun, "") }

// where says that of NewRun or NewTest between two texts.
func (f *Finding) where(before string, n Number, after string) string {
	within, known := f.Within(n)
	if !known {
		return ""
	}
	not := ""
	if !within {
		not = "not "
	}
	return fmt.Sprintf("%s%s, the paper's %sin it%s", before, n, not, after)
}

// Note is what the reader has to know of the verdict; it is empty if there is nothing.
func (f *Finding) Note() string { return cmp.Or(f.Gap.Note(), f.Remark) }

// Difference says of a test that is not reproduced what was measured and what the paper has.
func (f *Finding) Difference() string {
	line := f.Test.ID + " " + f.Verdict.String()
	if f.Verdict != stats.NotRun && f.Test.Paper != nil {
		line += fmt.Sprintf(": %s where the paper prints %s", f.Ours, f.Paper)
	}
	return line + f.Also(func(note string) string { return note })
}

// Also says where a new run would be, and what the reader has to know of the verdict; note
// prepares that, which may quote the error of a run that failed.
func (f *Finding) Also(note func(string) string) string {
	text := f.where("; a new run ", f.NewRun, "") + f.where("; on other test rows ", f.NewTest, "")
	if n := f.Note(); n != "" {
		text += "; " + note(n)
	}
	return text
}

// verdictText words a verdict.
func verdictText(v stats.Verdict, explained bool) string {
	if explained {
		return v.String() + ", explained"
	}
	return v.String()
}
