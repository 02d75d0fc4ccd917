package evidence

import (
	"encoding/json"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/record"
)

// A Document is an assessment for programs. A number that is not bounded or not
// there is left out; one that is not finite is a string, as in records.
type Document struct {
	Profile string            `json:"profile"`          // smoke, quick or full
	Assume  map[string]string `json:"assume,omitempty"` // alternatives assumed instead of what was chosen, by assumption
	Counts  struct {
		Cells     Counts `json:"cells"`
		Sentences Counts `json:"sentences"`
		Theorems  Counts `json:"theorems"`
		Half      Counts `json:"cells_half_margin"`  // cells, with all margins halved
		Twice     Counts `json:"cells_twice_margin"` // the same, doubled
	} `json:"counts"` // claims by verdict
	Scorecard Scorecard       `json:"scorecard"`         // the numbers of the cells, by whether choices were made with them in view
	Claims    []ClaimDocument `json:"claims"`            // in the order of the ledger
	Changes   []Change        `json:"changes,omitempty"` // from what is assumed otherwise
	Missing   []RunDocument   `json:"missing,omitempty"` // runs that claims need and that have no record
}

// A ClaimDocument is one claim of a Document.
type ClaimDocument struct {
	ID          string         `json:"id"`                       // as 'runall explain' takes it
	Cell        bool           `json:"cell"`                     // the claim is a cell of Table 2 or 3
	Section     string         `json:"section"`                  // of the paper
	Quote       string         `json:"quote"`                    // the paper's words or numbers
	Verdict     stats.Verdict  `json:"verdict"`                  // the worst of the tests'
	Half        stats.Verdict  `json:"half_margin"`              // the verdict with margins halved
	Twice       stats.Verdict  `json:"twice_margin"`             // the same, doubled
	Within      *bool          `json:"within_one_run,omitempty"` // of a cell: all its tests'
	Explained   bool           `json:"explained"`                // the ledger says why the claim deviates
	Assumptions []string       `json:"assumptions,omitempty"`    // IDs of those that the claim rests on
	ByResult    []string       `json:"by_result,omitempty"`      // those of them that were chosen with the paper's numbers in view
	Tests       []TestDocument `json:"tests"`                    // all that count for the verdict
}

// A TestDocument is one test of a ClaimDocument.
type TestDocument struct {
	ID        string        `json:"id"`                        // within the claim
	Kind      string        `json:"kind"`                      // of comparison
	Of        string        `json:"of"`                        // the quantity, in words
	To        string        `json:"to,omitempty"`              // the quantity that it is compared with, in words
	Paper     *float64      `json:"paper,omitempty"`           // the paper's number
	Low       *float64      `json:"low,omitempty"`             // the target
	High      *float64      `json:"high,omitempty"`            // the same
	Value     *record.Float `json:"value,omitempty"`           // estimate from the runs
	From      *record.Float `json:"from,omitempty"`            // of the 90 % interval
	Until     *record.Float `json:"until,omitempty"`           // of the same
	Basis     stats.Basis   `json:"basis,omitempty"`           // how the interval was made; "point" if there is none
	Runs      []string      `json:"runs"`                      // IDs
	OtherRuns []string      `json:"other_runs,omitempty"`      // IDs of those compared with
	Verdict   stats.Verdict `json:"verdict"`                   // of this test
	Half      stats.Verdict `json:"half_margin"`               // the verdict with the margin halved; the verdict if there is none
	Twice     stats.Verdict `json:"twice_margin"`              // the same, doubled
	RunFrom   *record.Float `json:"one_run_from,omitempty"`    // of the 90 % interval for the value of one new run, averaged as the paper's; of cells with three runs
	RunUntil  *record.Float `json:"one_run_until,omitempty"`   // of the same
	Within    *bool         `json:"within_one_run,omitempty"`  // the paper's number is in that interval
	TestFrom  *record.Float `json:"new_test_from,omitempty"`   // of the same interval with as many new test rows; of errors on one test set
	TestUntil *record.Float `json:"new_test_until,omitempty"`  // of the same
	InTest    *bool         `json:"within_new_test,omitempty"` // the paper's number is in that interval
	Set       bool          `json:"set,omitempty"`             // of a cell's number: it is a setting, not a result
	TargetOf  []string      `json:"target_of,omitempty"`       // of a cell's number: the choices made with it in view, IDs of assumptions
	Explained string        `json:"explained,omitempty"`       // why the test deviates
	Note      string        `json:"note,omitempty"`            // what the reader has to know of the verdict
}

// A RunDocument names a run.
type RunDocument struct {
	ID     string `json:"id"`     // of the run; its record is ID.jsonl
	Spec   string `json:"spec"`   // that plans it
	Series string `json:"series"` // as in tables and figures
	Draw   uint64 `json:"draw"`   // of generated data; 0 if there is none
	Seed   uint64 `json:"seed"`   // of the order of the samples
}

// Document returns the assessment as a JSON document.
func (a *Assessment) Document() *Document {
	d := new(Document)
	d.Counts.Cells, d.Counts.Sentences, d.Counts.Theorems = a.Counts()
	d.Counts.Half, d.Counts.Twice = a.CellsAt(0.5), a.CellsAt(2)
	d.Scorecard = a.Scorecard()
	for _, c := range a.Claims {
		d.Claims = append(d.Claims, c.document(c.Tests))
	}
	for _, p := range a.Missing {
		d.Missing = append(d.Missing, runDocument(p))
	}
	return d
}

// document returns the claim with some of its tests.
func (c *ClaimResult) document(tests []Finding) ClaimDocument {
	d := ClaimDocument{
		ID: c.Claim.ID, Cell: c.Claim.Cell, Section: c.Claim.Section, Quote: c.Claim.Quote,
		Verdict: c.Verdict, Half: c.At(0.5), Twice: c.At(2), Explained: c.Explained(), Assumptions: c.Claim.Assumptions, ByResult: c.ByResult,
		Tests: make([]TestDocument, len(tests)),
	}
	if within, known := c.Within(); known {
		d.Within = &within
	}
	for i := range tests {
		d.Tests[i] = tests[i].document()
	}
	return d
}

// MarshalJSON implements json.Marshaler.
func (c ClaimResult) MarshalJSON() ([]byte, error) { return json.Marshal(c.document(c.Tests)) }

// JSONSchemaAlias returns a value of the type whose fields the JSON has.
func (ClaimResult) JSONSchemaAlias() any { return ClaimDocument{} }

func runDocument(p experiments.Planned) RunDocument {
	return RunDocument{p.ID, p.Spec, p.Series, p.Run.Data.Draw, p.Run.Seed}
}

// An ExplanationDocument is where a verdict is from, for programs. Numbers are written
// as in a Document.
type ExplanationDocument struct {
	Claim       ClaimDocument        `json:"claim"`       // with the tests that were asked for
	Runs        []TraceDocument      `json:"runs"`        // that answer the tests, one for each test that a run answers
	Missing     []RunDocument        `json:"missing"`     // runs that the tests need and that have no record
	Assumptions []AssumptionDocument `json:"assumptions"` // that the claim rests on
	Commands    []string             `json:"commands"`    // that run it again
}

// A TraceDocument is a run that answers a test.
type TraceDocument struct {
	RunDocument
	Test        string       `json:"test"`        // ID
	Other       bool         `json:"other"`       // the run is one that the test compares with
	Value       record.Float `json:"value"`       // in the unit of the test
	Evaluations int          `json:"evaluations"` // in the record
	Revision    string       `json:"revision"`    // of the program that made the record; empty if not known
	Dirty       bool         `json:"dirty"`       // there were changes to the revision
	File        string       `json:"file"`        // path of the record
	Digest      string       `json:"digest"`      // SHA-256 of the record's deterministic part
}

// An AssumptionDocument is a choice that the paper leaves open.
type AssumptionDocument struct {
	ID     string `json:"id"`     // as 'runall verify --assume' takes it
	How    string `json:"how"`    // how it was chosen
	Chosen string `json:"chosen"` // what was chosen
}

// Document returns the explanation that Write writes, as a JSON document.
func (e *Explanation) Document(s Subject) *ExplanationDocument {
	d := &ExplanationDocument{
		Claim: s.Claim.document(s.Tests), Runs: []TraceDocument{}, Missing: []RunDocument{},
		Assumptions: []AssumptionDocument{}, Commands: []string{},
	}
	for _, t := range s.Tests {
		for j, side := range []*Side{&t.Of, &t.To} {
			for _, r := range side.Runs {
				h := r.Record.Header
				d.Runs = append(d.Runs, TraceDocument{
					runDocument(r.Planned), t.Test.ID, j == 1, record.Float(r.Value), len(r.Record.Points),
					h.Provenance.Revision, h.Provenance.Dirty, r.Record.Path, r.Record.Final.Digest,
				})
			}
			for _, p := range side.Missing {
				d.Missing = append(d.Missing, runDocument(p))
			}
		}
	}
	for _, id := range s.Claim.Claim.Assumptions {
		a := e.Ledger.Assumption(id)
		d.Assumptions = append(d.Assumptions, AssumptionDocument{id, a.How, a.Chosen})
	}
	for _, spec := range s.specs() {
		d.Commands = append(d.Commands, e.Command(spec))
	}
	return d
}

func (f *Finding) document() TestDocument {
	d := TestDocument{
		ID: f.Test.ID, Kind: f.Test.Kind, Of: f.Measured(), To: f.Compared(), Paper: f.Test.Paper,
		Set: f.Test.Set, TargetOf: f.Test.TargetOf, Runs: ids(f.Of), Verdict: f.Verdict, Half: f.At(0.5), Twice: f.At(2), Note: f.Note(),
	}
	d.Low, d.High = f.Target.Bounds()
	if within, known := f.Within(f.NewRun); known {
		d.RunFrom, d.RunUntil, d.Within = new(record.Float(f.NewRun.Low)), new(record.Float(f.NewRun.High)), &within
	}
	if within, known := f.Within(f.NewTest); known {
		d.TestFrom, d.TestUntil, d.InTest = new(record.Float(f.NewTest.Low)), new(record.Float(f.NewTest.High)), &within
	}
	if f.Test.To != nil {
		d.OtherRuns = ids(f.To)
	}
	if f.Explained() {
		d.Explained = f.Test.Explained
	}
	if e := f.Ours; f.Verdict != stats.NotRun {
		d.Value, d.From, d.Until, d.Basis = new(record.Float(e.Value)), new(record.Float(e.Low)), new(record.Float(e.High)), e.Basis
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
