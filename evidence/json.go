package evidence

import (
	"math"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/record"
)

// A Document is an assessment for programs. A number that is not bounded or not
// there is left out; one that is not finite is a string, as in records.
type Document struct {
	Profile string            `json:"profile"`
	Assume  map[string]string `json:"assume,omitempty"`
	Counts  struct {
		Cells     Counts `json:"cells"`
		Sentences Counts `json:"sentences"`
		Theorems  Counts `json:"theorems"`
	} `json:"counts"`
	Claims  []ClaimDocument `json:"claims"`
	Changes []Change        `json:"changes,omitempty"` // from what is assumed otherwise
	Missing []RunDocument   `json:"missing,omitempty"`
}

// A ClaimDocument is one claim of a Document.
type ClaimDocument struct {
	ID          string         `json:"id"`
	Cell        bool           `json:"cell"`
	Section     string         `json:"section"`
	Quote       string         `json:"quote"`
	Verdict     stats.Verdict  `json:"verdict"`
	Explained   bool           `json:"explained"`
	Assumptions []string       `json:"assumptions,omitempty"`
	Tests       []TestDocument `json:"tests"`
}

// A TestDocument is one test of a ClaimDocument.
type TestDocument struct {
	ID        string        `json:"id"`
	Kind      string        `json:"kind"`
	Of        string        `json:"of"`
	To        string        `json:"to,omitempty"`
	Paper     *float64      `json:"paper,omitempty"`
	Low       *float64      `json:"low,omitempty"`  // the target
	High      *float64      `json:"high,omitempty"` // the same
	Value     *record.Float `json:"value,omitempty"`
	From      *record.Float `json:"from,omitempty"`  // of the 90 % interval
	Until     *record.Float `json:"until,omitempty"` // of the same
	Basis     stats.Basis   `json:"basis,omitempty"`
	Runs      []string      `json:"runs"`                 // IDs
	OtherRuns []string      `json:"other_runs,omitempty"` // IDs of those compared with
	Verdict   stats.Verdict `json:"verdict"`
	Explained string        `json:"explained,omitempty"`
	Note      string        `json:"note,omitempty"`
}

// A RunDocument names a run.
type RunDocument struct {
	ID     string `json:"id"`
	Spec   string `json:"spec"`
	Series string `json:"series"`
	Draw   uint64 `json:"draw"`
	Seed   uint64 `json:"seed"`
}

// Document returns the assessment for programs.
func (a *Assessment) Document() *Document {
	d := new(Document)
	d.Counts.Cells, d.Counts.Sentences, d.Counts.Theorems = a.Counts()
	for i := range a.Claims {
		c := &a.Claims[i]
		out := ClaimDocument{
			ID: c.Claim.ID, Cell: c.Claim.Cell, Section: c.Claim.Section, Quote: c.Claim.Quote,
			Verdict: c.Verdict, Explained: c.Explained(), Assumptions: c.Claim.Assumptions,
		}
		for j := range c.Tests {
			out.Tests = append(out.Tests, c.Tests[j].document())
		}
		d.Claims = append(d.Claims, out)
	}
	for _, p := range a.Missing {
		d.Missing = append(d.Missing, RunDocument{p.ID, p.Spec, p.Series, p.Run.Data.Draw, p.Run.Seed})
	}
	return d
}

func (r *TestResult) document() TestDocument {
	d := TestDocument{
		ID: r.Test.ID, Kind: r.Test.Kind, Of: describe(r.Test.Of), Paper: r.Test.Paper,
		Low: bounded(r.Low), High: bounded(r.High),
		Runs: ids(r.Of), Verdict: r.Verdict, Note: r.Note,
	}
	if r.Test.To != nil {
		d.To, d.OtherRuns = describe(*r.Test.To), ids(r.To)
	}
	if r.Test.Kind == experiments.KindLess {
		d.High = new(float64)
	}
	if r.Verdict == stats.Deviates {
		d.Explained = r.Test.Explained
	}
	if e := r.Estimate; r.Verdict != stats.NotRun {
		value, from, until := record.Float(e.Value), record.Float(e.Low), record.Float(e.High)
		d.Value, d.From, d.Until, d.Basis = &value, &from, &until, e.Basis
	}
	return d
}

func ids(s Side) []string {
	out := make([]string, len(s.Runs))
	for i, r := range s.Runs {
		out[i] = r.ID
	}
	return out
}

// bounded returns nil for an infinite bound.
func bounded(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}
