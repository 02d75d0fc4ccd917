package evidence

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// WriteText writes the verdicts as a table, a line a claim and below it a line
// a test, and counts them. The columns "½" and "2×" have the verdicts at half and at twice
// the margins, "new run" the interval for the value of a cell's next run, "new rows" on other test rows.
func (a *Assessment) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "claim\tpaper\ttarget\tours [90 %]\truns\tverdict\t½ margin\t2× margin\tnew run [90 %]\tpaper's in it\tnew rows [90 %]\tpaper's in it\tnote")
	for i := range a.Claims {
		c := &a.Claims[i]
		fmt.Fprintf(t, "%s\t\t\t\t\t%s\t%s\t\t%s\t\t\t%s\n", c.Claim.ID, c.Outcome(), twoVerdicts(c.Margins(), "\t"), words.Yes(c.Within()), c.note())
		for j := range c.Tests {
			f := &c.Tests[j]
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Test.ID, f.Printed(), f.Target, f.Estimated(), f.Runs(), f.Verdict,
				twoVerdicts(f.Margins(), "\t"), f.NewRun, words.Yes(f.Within()), f.NewTest, words.Yes(f.WithinTest()), f.Note())
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	cells, sentences, theorems := a.Counts()
	in, of, numbers, ofNumbers := a.WithinOneRun()
	s := a.Scorecard()
	_, err := fmt.Fprintf(w, `
cells of Tables 2 and 3: %s
sentences and captions: %s
theorems of Table 1: %s
cells at half the margins: %s
cells at twice the margins: %s
printed numbers inside the interval of a new run: %d of %d; cells with all of theirs inside: %d of %d (of three runs or more)
printed numbers that a choice had in view: %s
printed numbers that none had: %s
printed numbers that are settings: %s
`, cells, sentences, theorems, a.CellsAt(0.5), a.CellsAt(2), numbers, ofNumbers, in, of, s.Targets, s.Others, s.Set)
	return err
}

// note is the claim's section and what it rests on by result.
func (c *ClaimResult) note() string {
	if len(c.ByResult) == 0 {
		return c.Claim.Section
	}
	return c.Claim.Section + "; by result: " + strings.Join(c.ByResult, ", ")
}

// twoVerdicts joins the verdicts at half and at twice the margin, nothing where there are
// none.
func twoVerdicts(at []stats.Verdict, between string) string {
	if at == nil {
		return between
	}
	return at[0].String() + between + at[1].String()
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
