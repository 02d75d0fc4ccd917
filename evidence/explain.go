package evidence

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
)

// A Subject is a claim, or one test of it, to explain.
type Subject struct {
	Claim *ClaimResult
	Tests []Finding
}

// Find returns the claim with the given ID, or one test of it for the ID CLAIM.TEST.
func (a *Assessment) Find(id string) (Subject, bool) {
	for i := range a.Claims {
		c := &a.Claims[i]
		if c.Claim.ID == id {
			return Subject{c, c.Tests}, true
		}
		for j, t := range c.Tests {
			if c.Claim.ID+"."+t.Test.ID == id {
				return Subject{c, c.Tests[j : j+1]}, true
			}
		}
	}
	return Subject{}, false
}

// Using returns the IDs of the claims that the runs of a cell answer.
func (a *Assessment) Using(cell string) (ids []string) {
	uses := func(t experiments.Test) bool {
		return slices.ContainsFunc(t.Selectors(), func(s experiments.Selector) bool { return s.Cell == cell })
	}
	for _, c := range a.Claims {
		if slices.ContainsFunc(c.Claim.Tests, uses) {
			ids = append(ids, c.Claim.ID)
		}
	}
	return ids
}

// An Explanation writes the origin of verdicts.
type Explanation struct {
	Ledger  *experiments.Ledger
	Command func(spec string) string // returns the command that reruns a spec
}

// Write writes the origin of a verdict: the claim, its assumptions, its tests, their runs, and the
// commands that repeat the runs.
func (e *Explanation) Write(w io.Writer, s Subject) error {
	out := bufio.NewWriter(w)
	c := s.Claim.Claim
	fmt.Fprintf(out, "%s: %s\n%s", c.ID, s.Claim.Verdict, c.Section)
	if c.Cell {
		fmt.Fprintf(out, " prints risk/error/order %s\n", c.Quote)
	} else {
		fmt.Fprintf(out, ": “%s”\n", c.Quote)
	}
	if c.Note != "" {
		fmt.Fprintf(out, "%s\n", strings.TrimSpace(c.Note))
	}
	for i := range s.Tests {
		writeTest(out, &s.Tests[i])
	}
	if len(c.Assumptions) > 0 {
		fmt.Fprintf(out, "\nIt rests on these assumptions:\n")
	}
	for _, id := range c.Assumptions {
		a := e.Ledger.Assumption(id)
		fmt.Fprintf(out, "  %s (%s): %s\n", id, a.How, a.Chosen)
	}
	if specs := s.specs(); len(specs) > 0 {
		fmt.Fprintf(out, "\nTo run it again:\n")
		for _, spec := range specs {
			fmt.Fprintf(out, "  %s\n", e.Command(spec))
		}
	}
	return out.Flush()
}

// WriteErratum writes an error of the printed paper, its correction, and the reason for it.
func WriteErratum(w io.Writer, e *experiments.Erratum) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: %s\n%s (line %d of the LaTeX source)\n\n  printed  %s\n  right    %s\n  because  %s\n", e.ID, e.Kind, e.Place, e.Line, e.Printed, e.Right, e.How)
	if len(e.Tests) > 0 {
		fmt.Fprintf(out, "  tests    %s\n", strings.Join(e.Tests, ", "))
	}
	if len(e.Claims) > 0 {
		fmt.Fprintf(out, "  claims   %s\n", strings.Join(e.Claims, ", "))
	}
	if e.Assumption != "" {
		fmt.Fprintf(out, "  chosen   assumption %s\n", e.Assumption)
	}
	return out.Flush()
}

// writeTest writes a test and the runs that answer it.
func writeTest(out io.Writer, f *Finding) {
	fmt.Fprintf(out, "\n%s: %s\n  claimed   %s of %s", f.Test.ID, f.Verdict, f.Test.Kind, f.Measured())
	if f.Test.To != nil {
		fmt.Fprintf(out, " to %s", f.Compared())
	}
	fmt.Fprintf(out, ": %s", f.Target)
	if f.Test.Paper != nil {
		fmt.Fprintf(out, "; the paper's is %s", f.Paper)
	}
	fmt.Fprintf(out, "\n")
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "  %-9s %s\n", name, text)
		}
	}
	line("because", strings.TrimSpace(f.Reason))
	if f.Verdict != stats.NotRun {
		fmt.Fprintf(out, "  measured  %s (%s)\n", f.Ours, f.Ours.Basis)
	}
	if f.Margins() != nil {
		fmt.Fprintf(out, "  margins   at half of it %s\n", twoVerdicts(f.Margins(), ", at twice "))
	}
	line("new run", f.where("", f.NewRun, ": the value of a new run, in nine of ten cases"))
	line("new rows", f.where("", f.NewTest, ": the same on as many other test rows"))
	line("note", f.Note())
	if f.Verdict == stats.Deviates || f.Verdict == stats.Inconclusive {
		line("explained", f.Test.Explained)
	}
	writeRuns(out, f.Measured(), &f.Of)
	if f.Test.To != nil {
		writeRuns(out, f.Compared(), &f.To)
	}
}

// describe returns a selector in words. runs is the name of a cell's runs.
func describe(s experiments.Selector, runs string) string {
	if s.Spec != "" {
		return cmp.Or(experiments.Measured[s.Quantity], "model "+s.Quantity) + " of " + cmp.Or(s.Series, s.Label+" of spec "+s.Spec)
	}
	out := cmp.Or(modeWords[s.Quantity], s.Quantity) + " of " + runs
	switch {
	case s.Below != nil:
		out = fmt.Sprintf("samples until the %s is below %s", out, words.Four(*s.Below))
	case s.Samples > 0:
		out += fmt.Sprintf(" after %d samples", s.Samples)
	}
	if s.Figure != "" {
		out += " in figure " + s.Figure
	}
	return out
}

// specs returns the specs that plan the subject's runs.
func (s *Subject) specs() (specs []string) {
	add := func(spec string) {
		if !slices.Contains(specs, spec) {
			specs = append(specs, spec)
		}
	}
	for _, t := range s.Tests {
		for _, side := range []Side{t.Of, t.To} {
			for _, r := range side.Runs {
				add(r.Spec)
			}
			for _, p := range side.Missing {
				add(p.Spec)
			}
		}
	}
	return specs
}

// writeRuns writes a side's runs as a table.
func writeRuns(out io.Writer, title string, s *Side) {
	fmt.Fprintf(out, "  %s:\n", title)
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "    value\tdraw\tseed\tseries\tevaluations\trevision\tfile\tdigest")
	for _, r := range s.Runs {
		h := r.Record.Header
		fmt.Fprintf(t, "    %s\t%d\t%d\t%s\t%d\t%s\t%s\t%s\n", words.Four(r.Value), r.Run.Data.Draw, r.Run.Seed, r.Series,
			len(r.Record.Points), h.Provenance.Code(), r.Record.Path, r.Record.Final.Digest)
	}
	for _, m := range s.Missing {
		fmt.Fprintf(t, "    missing\t%d\t%d\t%s\t\t\t%s.jsonl\t\n", m.Run.Data.Draw, m.Run.Seed, m.Series, m.ID)
	}
	t.Flush()
}
