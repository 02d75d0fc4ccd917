package evidence

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
)

// WriteText writes the verdicts as a table, a line a claim and below it a line
// a test, and counts them.
func (a *Assessment) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "claim\tpaper\ttarget\tours [90 %]\truns\tverdict\tnote")
	for i := range a.Claims {
		c := &a.Claims[i]
		fmt.Fprintf(t, "%s\t\t\t\t\t%s\t%s\n", c.Claim.ID, c.Outcome(), c.Claim.Section)
		for _, r := range c.Tests {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Test.ID, r.paper(), r.target(), r.ours(), r.runs(), r.Verdict, r.Note)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	cells, sentences, theorems := a.Counts()
	_, err := fmt.Fprintf(w, "\ncells of Tables 2 and 3: %s\nsentences and captions: %s\ntheorems of Table 1: %s\n", cells, sentences, theorems)
	return err
}

// String returns the counts in words.
func (n Counts) String() string {
	s := fmt.Sprintf("%d of %d reproduced", n.Reproduced, n.Total())
	for _, part := range []struct {
		n    int
		what string
	}{
		{n.Deviates, "deviating"}, {n.Inconclusive, "inconclusive"}, {n.NotRun, "not run"},
	} {
		if part.n > 0 {
			s += fmt.Sprintf(", %d %s", part.n, part.what)
		}
		if part.what == "deviating" && n.Explained > 0 {
			s += fmt.Sprintf(" (%d explained)", n.Explained)
		}
	}
	return s
}

// number writes four digits of a number, all digits of a large one.
func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	}
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if math.Abs(v) >= 1000 {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strings.ReplaceAll(s, "-", "−")
}

func (r *TestResult) paper() string {
	if r.Test.Paper == nil {
		return "—"
	}
	return number(*r.Test.Paper)
}

// target words the interval in which the statistic is claimed to be.
func (r *TestResult) target() string {
	switch {
	case r.Test.Kind == experiments.KindLess:
		return "< 0"
	case r.Test.Of.Spec != "" && math.IsInf(r.Low, -1): // with the millionth that is left to rounding
		return "≤ " + plain(r.High)
	case math.IsInf(r.Low, -1):
		return "≤ " + number(r.High)
	case math.IsInf(r.High, 1):
		return "≥ " + number(r.Low)
	}
	return number(r.Low) + " to " + number(r.High)
}

func (r *TestResult) ours() string {
	e := r.Estimate
	switch {
	case r.Verdict == stats.NotRun:
		return ""
	case e.Basis == stats.Point:
		return number(e.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", number(e.Value), number(e.Low), number(e.High))
}

func (r *TestResult) runs() string {
	s := strconv.Itoa(len(r.Of.Runs))
	if r.Test.To != nil {
		s += " : " + strconv.Itoa(len(r.To.Runs))
	}
	return s
}
