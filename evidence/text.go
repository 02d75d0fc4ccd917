package evidence

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// Rows lists the findings: a header, then a row for each claim and below it one for each test. The
// columns "½ margin" and "2× margin" have the verdicts at half and at twice the margins, "new run"
// the interval for the value of a cell's next run, and "new rows" the same on other test rows.
func (a *Assessment) Rows() [][]string {
	rows := [][]string{{"claim", "paper", "target", "ours [90 %]", "runs", "verdict", "½ margin", "2× margin",
		"new run [90 %]", "paper's in it", "new rows [90 %]", "paper's in it", "note"}}
	for _, c := range a.Claims {
		note := c.Claim.Section
		if len(c.ByResult) > 0 {
			note += "; by result: " + strings.Join(c.ByResult, ", ")
		}
		half, twice := halfAndTwice(c.Margins())
		rows = append(rows, []string{c.Claim.ID, "", "", "", "", c.Outcome(), half, twice, "", words.Yes(c.Within()), "", "", note})
		for _, f := range c.Tests {
			half, twice := halfAndTwice(f.Margins())
			rows = append(rows, []string{"  " + f.Test.ID, f.Printed(), f.Target.String(), f.Ours.String(), f.Runs(), f.Verdict.String(), half, twice,
				f.NewRun.String(), words.Yes(f.Within(f.NewRun)), f.NewTest.String(), words.Yes(f.Within(f.NewTest)), f.Note()})
		}
	}
	return rows
}

// WriteText writes the findings as a table, and then their counts.
func (a *Assessment) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range a.Rows() {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, n := range a.Tallies() {
		fmt.Fprintf(w, "%s: %s\n", n.What, n.Counts)
	}
	in, of, numbers, ofNumbers := a.WithinOneRun()
	s := a.Scorecard()
	_, err := fmt.Fprintf(w, `printed numbers inside the interval of a new run: %d of %d; cells with all of theirs inside: %d of %d (of three runs or more)
printed numbers that a choice had in view: %s
printed numbers that none had: %s
printed numbers that are settings: %s
`, numbers, ofNumbers, in, of, s.Targets, s.Others, s.Set)
	return err
}

// halfAndTwice returns the verdicts at half and at twice the margin, or "" if there are none.
func halfAndTwice(at []stats.Verdict) (half, twice string) {
	if at == nil {
		return "", ""
	}
	return at[0].String(), at[1].String()
}

// String returns the counts in words.
func (n Counts) String() string {
	s := fmt.Sprintf("%d of %d reproduced", n.Reproduced, n.Total())
	for _, other := range []struct {
		n      int
		format string
	}{{n.Deviates, ", %d deviating"}, {n.Explained, " (%d explained)"}, {n.Inconclusive, ", %d inconclusive"}, {n.NotRun, ", %d not run"}} {
		if other.n > 0 {
			s += fmt.Sprintf(other.format, other.n)
		}
	}
	return s
}

// A Tally counts the verdicts on claims of one kind.
type Tally struct {
	What string
	Counts
}

// Tallies counts the verdicts on cells, sentences and theorems, and on cells at other margins.
func (a *Assessment) Tallies() []Tally {
	cells, sentences, theorems := a.Counts()
	return []Tally{
		{"cells of Tables 2 and 3", cells}, {"sentences and captions", sentences}, {"theorems of Table 1", theorems},
		{"cells at half the margins", a.CellsAt(0.5)}, {"cells at twice the margins", a.CellsAt(2)},
	}
}
