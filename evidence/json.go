package evidence

import (
	"encoding/json"

	"polkrepro/evidence/stats"
	"polkrepro/record"
)

// A Document is an assessment in JSON. A number that is unbounded or missing is left out; a
// number that is not finite is a string, as in records.
type Document struct {
	Profile string            `json:"profile"`          // profile of the runs: smoke, quick or full
	Assume  map[string]string `json:"assume,omitempty"` // alternatives assumed instead of the chosen values, by assumption; missing if there are none
	Counts  struct {
		Cells     Counts `json:"cells"`
		Sentences Counts `json:"sentences"`
		Theorems  Counts `json:"theorems"`
		Half      Counts `json:"cells_half_margin"`  // cells, with all margins halved
		Twice     Counts `json:"cells_twice_margin"` // cells, with all margins doubled
	} `json:"counts"` // numbers of claims by verdict
	Scorecard Scorecard       `json:"scorecard"`         // verdicts on the numbers of the cells, by whether choices were made with the numbers in view
	Claims    []ClaimDocument `json:"claims"`            // claims, in the ledger's order
	Changes   []Change        `json:"changes,omitempty"` // changes of verdicts due to the assumed alternatives; missing if there are none
	Missing   []RunDocument   `json:"missing,omitempty"` // runs that claims need and that have no record; missing if there are none
}

// A ClaimDocument is one claim of a Document.
type ClaimDocument struct {
	ID          string         `json:"id"`                       // ID of the claim, as 'runall explain' takes it
	Cell        bool           `json:"cell"`                     // whether the claim is a cell of Table 2 or 3
	Section     string         `json:"section"`                  // section of the paper
	Quote       string         `json:"quote"`                    // the paper's words or numbers
	Verdict     stats.Verdict  `json:"verdict"`                  // worst verdict of the tests
	Half        stats.Verdict  `json:"half_margin"`              // verdict with all margins halved
	Twice       stats.Verdict  `json:"twice_margin"`             // verdict with all margins doubled
	Within      *bool          `json:"within_one_run,omitempty"` // whether every number of the cell may come from one run; missing for other claims and if not known
	Explained   bool           `json:"explained"`                // whether the claim deviates and the ledger explains why
	Assumptions []string       `json:"assumptions,omitempty"`    // IDs of the assumptions that the claim depends on
	ByResult    []string       `json:"by_result,omitempty"`      // IDs of the claim's assumptions whose values were chosen with the paper's numbers in view
	Tests       []TestDocument `json:"tests"`                    // tests that count for the verdict
}

// A TestDocument is one test of a ClaimDocument.
type TestDocument struct {
	ID        string        `json:"id"`                        // ID of the test within the claim
	Kind      string        `json:"kind"`                      // kind of comparison
	Of        string        `json:"of"`                        // tested quantity, in words
	To        string        `json:"to,omitempty"`              // quantity that it is compared with, in words; missing if there is none
	Paper     *float64      `json:"paper,omitempty"`           // the paper's number; missing if it is not printed
	Low       *float64      `json:"low,omitempty"`             // lower end of the target interval; missing if unbounded
	High      *float64      `json:"high,omitempty"`            // upper end of the target interval; missing if unbounded
	Value     *record.Float `json:"value,omitempty"`           // estimate from the runs; missing if not run
	From      *record.Float `json:"from,omitempty"`            // lower end of the 90 % interval of the estimate
	Until     *record.Float `json:"until,omitempty"`           // upper end of the 90 % interval of the estimate
	Basis     stats.Basis   `json:"basis,omitempty"`           // method of the interval; "point" if there is no interval
	Runs      []string      `json:"runs"`                      // IDs of the runs
	OtherRuns []string      `json:"other_runs,omitempty"`      // IDs of the runs compared with; missing if there are none
	Verdict   stats.Verdict `json:"verdict"`                   // verdict of the test
	Half      stats.Verdict `json:"half_margin"`               // verdict with the margin halved; equal to verdict if there is no margin
	Twice     stats.Verdict `json:"twice_margin"`              // verdict with the margin doubled; equal to verdict if there is no margin
	RunFrom   *record.Float `json:"one_run_from,omitempty"`    // lower end of the 90 % interval for the value of one new run, averaged as the paper's; only for cells with at least three runs, none diverged
	RunUntil  *record.Float `json:"one_run_until,omitempty"`   // upper end of the interval that begins at one_run_from
	Within    *bool         `json:"within_one_run,omitempty"`  // whether the paper's number is in the interval from one_run_from to one_run_until
	TestFrom  *record.Float `json:"new_test_from,omitempty"`   // lower end of the 90 % interval for one new run on as many new test rows; only for errors on one test set
	TestUntil *record.Float `json:"new_test_until,omitempty"`  // upper end of the interval that begins at new_test_from
	InTest    *bool         `json:"within_new_test,omitempty"` // whether the paper's number is in the interval from new_test_from to new_test_until
	Set       bool          `json:"set,omitempty"`             // whether the number of the cell is a setting, not a result
	TargetOf  []string      `json:"target_of,omitempty"`       // IDs of the assumptions that were chosen with the number of the cell in view
	Explained string        `json:"explained,omitempty"`       // explanation of the deviation; missing if there is none
	Note      string        `json:"note,omitempty"`            // remark on the verdict, such as missing runs; missing if there is none
}

// A RunDocument names a run.
type RunDocument struct {
	ID     string `json:"id"`     // ID of the run; its record is ID.jsonl
	Spec   string `json:"spec"`   // name of the spec that plans the run
	Series string `json:"series"` // name of the series, as in tables and figures
	Draw   uint64 `json:"draw"`   // draw of generated data; 0 if there is none
	Seed   uint64 `json:"seed"`   // seed of the order of the samples
}

// Document returns the assessment as a JSON document.
func (a *Assessment) Document() *Document {
	d := new(Document)
	d.Counts.Cells, d.Counts.Sentences, d.Counts.Theorems = a.Counts()
	d.Counts.Half, d.Counts.Twice = a.CellsAt(0.5), a.CellsAt(2)
	d.Scorecard = a.Scorecard()
	for _, c := range a.Claims {
		d.Claims = append(d.Claims, c.document())
	}
	for _, p := range a.Missing {
		d.Missing = append(d.Missing, RunDocument{p.ID, p.Spec, p.Series, p.Run.Data.Draw, p.Run.Seed})
	}
	return d
}

// document returns the claim as a JSON document.
func (c *ClaimResult) document() ClaimDocument {
	d := ClaimDocument{
		ID: c.Claim.ID, Cell: c.Claim.Cell, Section: c.Claim.Section, Quote: c.Claim.Quote,
		Verdict: c.Verdict, Half: c.At(0.5), Twice: c.At(2), Explained: c.Explained(), Assumptions: c.Claim.Assumptions, ByResult: c.ByResult,
		Tests: make([]TestDocument, len(c.Tests)),
	}
	if within, known := c.Within(); known {
		d.Within = &within
	}
	for i := range c.Tests {
		d.Tests[i] = c.Tests[i].document()
	}
	return d
}

// MarshalJSON implements json.Marshaler.
func (c ClaimResult) MarshalJSON() ([]byte, error) { return json.Marshal(c.document()) }

// JSONSchemaAlias returns a value of the type whose fields the JSON has.
func (ClaimResult) JSONSchemaAlias() any { return ClaimDocument{} }

func (f *Finding) document() TestDocument {
	d := TestDocument{
		ID: f.Test.ID, Kind: f.Test.Kind, Of: f.Measured(), To: f.Compared(), Paper: f.Test.Paper,
		Set: f.Test.Set, TargetOf: f.Test.TargetOf, Runs: f.Of.ids(), OtherRuns: f.To.ids(), Verdict: f.Verdict, Half: f.At(0.5), Twice: f.At(2), Note: f.Note(),
	}
	d.Low, d.High = f.Target.Bounds()
	if within, known := f.Within(f.NewRun); known {
		d.RunFrom, d.RunUntil, d.Within = new(record.Float(f.NewRun.Low)), new(record.Float(f.NewRun.High)), &within
	}
	if within, known := f.Within(f.NewTest); known {
		d.TestFrom, d.TestUntil, d.InTest = new(record.Float(f.NewTest.Low)), new(record.Float(f.NewTest.High)), &within
	}
	if f.Explained() {
		d.Explained = f.Test.Explained
	}
	if e := f.Ours; f.Verdict != stats.NotRun {
		d.Value, d.From, d.Until, d.Basis = new(record.Float(e.Value)), new(record.Float(e.Low)), new(record.Float(e.High)), e.Basis
	}
	return d
}

// ids returns the IDs of the runs.
func (s *Side) ids() []string {
	out := make([]string, len(s.Runs))
	for i, r := range s.Runs {
		out[i] = r.ID
	}
	return out
}
