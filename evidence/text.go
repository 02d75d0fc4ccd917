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
// a test, and counts them. The columns "½" and "2×" have the verdicts at half and at twice
// the margins, "new run" the interval for one evaluation of a cell's next run.
func (a *Assessment) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "claim\tpaper\ttarget\tours [90 %]\truns\tverdict\t½ margin\t2× margin\tnew run [90 %]\tpaper's in it\tnote")
	for i := range a.Claims {
		c := &a.Claims[i]
		half, twice := "", ""
		if c.HasMargin() {
			half, twice = c.At(0.5).String(), c.At(2).String()
		}
		fmt.Fprintf(t, "%s\t\t\t\t\t%s\t%s\t%s\t\t%s\t%s\n", c.Claim.ID, c.Outcome(), half, twice, yes(c.Within()), c.note())
		for j := range c.Tests {
			r := &c.Tests[j]
			w := r.margins()
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Test.ID, r.paper(), r.target(), r.ours(), r.runs(), r.Verdict,
				w[0], w[1], r.oneRun(), yes(r.Within()), r.Note)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	cells, sentences, theorems := a.Counts()
	in, of, numbers, ofNumbers := a.WithinOneRun()
	_, err := fmt.Fprintf(w, `
cells of Tables 2 and 3: %s
sentences and captions: %s
theorems of Table 1: %s
cells at half the margins: %s
cells at twice the margins: %s
printed numbers inside the interval of a new run: %d of %d; cells with all of theirs inside: %d of %d (of three runs or more)
`, cells, sentences, theorems, a.CellsAt(0.5), a.CellsAt(2), numbers, ofNumbers, in, of)
	return err
}

// note is the claim's section and what it rests on by result.
func (c *ClaimResult) note() string {
	if len(c.ByResult) == 0 {
		return c.Claim.Section
	}
	return c.Claim.Section + "; by result: " + strings.Join(c.ByResult, ", ")
}

// yes answers a question, or nothing where the answer is not known.
func yes(answer, known bool) string {
	switch {
	case !known:
		return ""
	case answer:
		return "yes"
	}
	return "no"
}

// margins are the verdicts at half and at twice the margin in words, empty where there
// is none.
func (r *TestResult) margins() [2]string {
	if r.Test.Margin == 0 {
		return [2]string{}
	}
	return [2]string{r.At(0.5).String(), r.At(2).String()}
}

// oneRun is the interval for one evaluation of one run.
func (r *TestResult) oneRun() string {
	if r.OneRun.Basis == "" {
		return ""
	}
	return number(r.OneRun.Low) + " to " + number(r.OneRun.High)
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
