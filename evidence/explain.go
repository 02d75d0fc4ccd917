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
	"polkrepro/record"
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

// An Explanation is the origin of a verdict: the claim, its assumptions, its tests, their runs, and
// the commands that repeat the runs.
type Explanation struct {
	Claim       ClaimDocument        `json:"claim"`       // claim, with the tests that were asked for
	Runs        []TraceDocument      `json:"runs"`        // runs that answer the tests, one entry for each test that a run answers
	Missing     []RunDocument        `json:"missing"`     // runs that the tests need and that have no record
	Assumptions []AssumptionDocument `json:"assumptions"` // assumptions that the claim depends on
	Commands    []string             `json:"commands"`    // commands that rerun the specs behind the tests

	of Subject
}

// A TraceDocument is a run that answers a test.
type TraceDocument struct {
	RunDocument
	Test        string       `json:"test"`        // ID of the test
	Other       bool         `json:"other"`       // whether the run is one that the test compares with
	Value       record.Float `json:"value"`       // value of the run, in the unit of the test
	Evaluations int          `json:"evaluations"` // number of evaluations in the record
	Revision    string       `json:"revision"`    // revision of the program that made the record; empty if unknown
	Dirty       bool         `json:"dirty"`       // whether there were changes to the revision
	File        string       `json:"file"`        // path of the record
	Digest      string       `json:"digest"`      // SHA-256 of the record's deterministic part
}

// An AssumptionDocument is a choice that the paper leaves open.
type AssumptionDocument struct {
	ID     string `json:"id"`     // ID of the assumption, as 'runall verify --assume' takes it
	How    string `json:"how"`    // how the value was chosen: blind, algebra or by result
	Chosen string `json:"chosen"` // chosen value
}

// Explain returns the origin of a verdict. command returns the command that reruns a spec.
func (s Subject) Explain(l *experiments.Ledger, command func(spec string) string) *Explanation {
	e := &Explanation{
		Claim: s.Claim.document(s.Tests), Runs: []TraceDocument{}, Missing: []RunDocument{},
		Assumptions: []AssumptionDocument{}, Commands: []string{}, of: s,
	}
	var specs []string
	for _, t := range s.Tests {
		for j, side := range []*Side{&t.Of, &t.To} {
			for _, r := range side.Runs {
				h := r.Record.Header
				e.Runs = append(e.Runs, TraceDocument{
					runDocument(r.Planned), t.Test.ID, j == 1, record.Float(r.Value), len(r.Record.Points),
					h.Provenance.Revision, h.Provenance.Dirty, r.Record.Path, r.Record.Final.Digest,
				})
				specs = append(specs, r.Spec)
			}
			for _, p := range side.Missing {
				e.Missing = append(e.Missing, runDocument(p))
				specs = append(specs, p.Spec)
			}
		}
	}
	for _, id := range s.Claim.Claim.Assumptions {
		a := l.Assumption(id)
		e.Assumptions = append(e.Assumptions, AssumptionDocument{id, a.How, a.Chosen})
	}
	for i, spec := range specs {
		if slices.Index(specs, spec) == i {
			e.Commands = append(e.Commands, command(spec))
		}
	}
	return e
}

// WriteText writes the explanation.
func (e *Explanation) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	c := e.of.Claim.Claim
	fmt.Fprintf(out, "%s: %s\n%s", c.ID, e.of.Claim.Verdict, c.Section)
	if c.Cell {
		fmt.Fprintf(out, " prints risk/error/order %s\n", c.Quote)
	} else {
		fmt.Fprintf(out, ": “%s”\n", c.Quote)
	}
	if c.Note != "" {
		fmt.Fprintf(out, "%s\n", strings.TrimSpace(c.Note))
	}
	for i := range e.of.Tests {
		writeTest(out, &e.of.Tests[i])
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(out, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	var assumptions []string
	for _, a := range e.Assumptions {
		assumptions = append(assumptions, fmt.Sprintf("%s (%s): %s", a.ID, a.How, a.Chosen))
	}
	list("It rests on these assumptions", assumptions)
	list("To run it again", e.Commands)
	return out.Flush()
}

// writeTest writes a test and the runs that answer it.
func writeTest(out io.Writer, f *Finding) {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "  %-9s %s\n", name, text)
		}
	}
	claimed := f.Test.Kind + " of " + f.Measured()
	if f.Test.To != nil {
		claimed += " to " + f.Compared()
	}
	claimed += ": " + f.Target.String()
	if f.Test.Paper != nil {
		claimed += "; the paper's is " + f.Paper.String()
	}
	fmt.Fprintf(out, "\n%s: %s\n", f.Test.ID, f.Verdict)
	line("claimed", claimed)
	line("because", strings.TrimSpace(f.Reason))
	if f.Verdict != stats.NotRun {
		line("measured", fmt.Sprintf("%s (%s)", f.Ours, f.Ours.Basis))
	}
	if at := f.Margins(); at != nil {
		line("margins", fmt.Sprintf("at half of it %s, at twice %s", at[0], at[1]))
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
