package report

import (
	"cmp"
	"math"

	"polkrepro/experiments"
	"polkrepro/internal/words"
)

// A Document is the numbers of a report for programs. A number that is not finite, or
// not there, is null.
type Document struct {
	Profile string           `json:"profile"` // smoke, quick or full
	Cells   []CellDocument   `json:"cells"`   // of the paper's Tables 2 and 3; empty for specs that have nothing to do with them
	Series  []SeriesDocument `json:"series"`  // all runs that the report is about
	Notes   []string         `json:"notes"`   // what is missing, and why
}

// A CellDocument is a cell of one of the paper's tables.
type CellDocument struct {
	ID     string           `json:"id"`            // as 'runall explain' takes it
	Data   string           `json:"data"`          // name of the data set
	Task   string           `json:"task"`          // ksvm or klr
	Method string           `json:"method"`        // the table's row
	Extra  bool             `json:"extra"`         // the row is not of the printed table
	RiskOf string           `json:"risk_of"`       // train or test: the risk that the paper prints
	Risk   QuantityDocument `json:"risk"`          // mean loss and λ/2 Σ‖f_c‖²
	Error  QuantityDocument `json:"error_percent"` // of the test set
	Order  QuantityDocument `json:"model_order"`   // elements
}

// A QuantityDocument is a number of a cell, the paper's and that of the runs.
type QuantityDocument struct {
	Paper words.Nullable `json:"paper"` // null where the paper prints a dash
	StatDocument
	Reason string `json:"reason,omitempty"` // why a number is missing
}

// A StatDocument is a mean over runs and its spread.
type StatDocument struct {
	Mean     words.Nullable `json:"mean"`     // of the runs that did not diverge
	SD       words.Nullable `json:"sd"`       // sample standard deviation; 0 for one run
	Low      words.Nullable `json:"low"`      // of the 90 % interval of the mean; null for fewer than 3 runs, or if one diverged
	High     words.Nullable `json:"high"`     // the same
	Runs     int            `json:"runs"`     // with a record
	Diverged int            `json:"diverged"` // runs whose value is not finite
}

// A SeriesDocument is the runs of one method with one set of hyper-parameters on one
// data set and task, over seeds and draws.
type SeriesDocument struct {
	Data    string         `json:"data"`              // name of the data set
	Variant string         `json:"variant,omitempty"` // of generated data
	Task    string         `json:"task"`              // ksvm, klr or regression
	Method  string         `json:"method"`            // as in specs
	Label   string         `json:"label"`             // as in tables and figures
	Planned int            `json:"planned"`           // runs
	RunIDs  []string       `json:"run_ids"`           // of those with a record; run_id in the files of 'runall export'
	Risk    StatDocument   `json:"test_risk"`         // of no runs where the method has none
	Error   StatDocument   `json:"error_percent"`     // of the test set
	Order   StatDocument   `json:"model_order"`       // elements
	Seconds StatDocument   `json:"training_seconds"`  // evaluations excluded
	Numbers words.Nullable `json:"numbers_kept"`      // by a learner of a stream, from one sample to the next, at the mean model order; null where that is not known
}

// Document returns the report for programs.
func (r *Report) Document() *Document {
	d := &Document{Profile: r.Input.Profile, Cells: []CellDocument{}, Series: []SeriesDocument{}, Notes: append([]string{}, r.Missing()...)}
	for _, t := range r.Tables {
		for blk, row := range t.All() {
			c := r.Cells[row.Cell]
			d.Cells = append(d.Cells, CellDocument{
				ID: c.ID, Data: blk.Data, Task: blk.Task, Method: row.ID, Extra: row.Extra, RiskOf: c.RiskOf,
				Risk: c.quantity(qRisk), Error: c.quantity(qError), Order: c.quantity(qOrder),
			})
		}
	}
	for _, s := range newBuilder(r.Input).series(allRuns) {
		d.Series = append(d.Series, s.document())
	}
	return d
}

func (c *Cell) quantity(q int) QuantityDocument {
	paper := cmp.Or(c.Paper[q], new(math.NaN()))
	return QuantityDocument{words.Nullable(*paper), c.Ours[q].document(), c.reason(q)}
}

func (s *Series) document() SeriesDocument {
	run := s.Run
	final := finalStats(s.Runs, experiments.RiskTest)
	d := SeriesDocument{
		Data: run.Data.Name, Variant: run.Data.Variant, Task: run.Task, Method: run.Method, Label: s.Label,
		Planned: len(s.planned), RunIDs: make([]string, len(s.Runs)),
		Risk: final[qRisk].document(), Error: final[qError].document(), Order: final[qOrder].document(),
		Seconds: statOf(s.values(wall)).document(), Numbers: words.Nullable(s.numbersKept()),
	}
	for i, r := range s.Runs {
		d.RunIDs[i] = r.Header.ID
	}
	return d
}

func (s Stat) document() StatDocument {
	if s.N == 0 {
		s.Mean, s.SD = math.NaN(), math.NaN()
	}
	if !s.Interval {
		s.Low, s.High = math.NaN(), math.NaN()
	}
	return StatDocument{words.Nullable(s.Mean), words.Nullable(s.SD), words.Nullable(s.Low), words.Nullable(s.High), s.N, s.Diverged}
}
