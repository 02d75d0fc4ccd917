package evidence

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
	"polkrepro/paper"
)

// Find returns the claim with the given ID, or for the ID CLAIM.TEST the claim with that test alone.
func (a *Assessment) Find(id string) (c ClaimResult, ok bool) {
	for _, c := range a.Claims {
		if c.Claim.ID == id {
			return c, true
		}
		for j, t := range c.Tests {
			if c.Claim.ID+"."+t.Test.ID == id {
				c.Tests = c.Tests[j : j+1]
				return c, true
			}
		}
	}
	return c, false
}

// Explain writes the origin of a verdict: the claim, its tests with their runs, its assumptions in l,
// and the commands that repeat the runs. command returns the command that reruns a spec.
func (r *ClaimResult) Explain(w io.Writer, l *ledger.Ledger, command func(spec string) string) error {
	out := bufio.NewWriter(w)
	c := r.Claim
	quote := "“" + c.Quote + "”"
	if c.Cell {
		quote = "risk/error/order " + c.Quote
	}
	fmt.Fprintf(out, "%s: %s\n%s: %s\n", c.ID, r.Verdict, c.Section, quote)
	if c.Note != "" {
		fmt.Fprintf(out, "%s\n", strings.TrimSpace(c.Note))
	}
	var assumptions, commands []string
	for i := range r.Tests {
		f := &r.Tests[i]
		writeTest(out, f)
		for _, side := range []Side{f.Of, f.To} {
			for _, p := range side.plan {
				if line := command(p.Spec); !slices.Contains(commands, line) {
					commands = append(commands, line)
				}
			}
		}
	}
	for _, id := range c.Assumptions {
		a := l.Assumption(id)
		assumptions = append(assumptions, fmt.Sprintf("%s (%s): %s", a.ID, a.How, a.Chosen))
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(out, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	list("It rests on these assumptions", assumptions)
	list("To run it again", commands)
	return out.Flush()
}

// writeTest writes a test and the runs that answer it.
func writeTest(out io.Writer, f *Finding) {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "  %-11s %s\n", name, text)
		}
	}
	fmt.Fprintf(out, "\n%s: %s\n", f.Test.ID, f.Verdict)
	line(f.Test.Kind, f.Sentence())
	line("because", strings.TrimSpace(f.Reason))
	line("estimate", string(f.Ours.Basis))
	if at := f.Margins(); at != nil {
		line("margins", fmt.Sprintf("at half of it %s, at twice %s", at[0], at[1]))
	}
	line("new run", f.where(f.NewRun, ": the value of a new run, in nine of ten cases"))
	line("new rows", f.where(f.NewTest, ": the same on as many other test rows"))
	line("note", f.Note())
	if f.Verdict == stats.Deviates || f.Verdict == stats.Inconclusive {
		line("explained", f.Test.Explained)
	}
	writeRuns(out, f.Measured(), &f.Of)
	if f.Test.To != nil {
		writeRuns(out, f.Compared(), &f.To)
	}
}

// describe returns a selector in words.
func describe(s ledger.Selector) string {
	if s.Spec != "" {
		return cmp.Or(paper.Measured[s.Quantity], "model "+s.Quantity) + " of " + cmp.Or(s.Series, s.Label+" of spec "+s.Spec)
	}
	out := cmp.Or(modeWords[s.Quantity], s.Quantity) + " of " + s.Cell
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
