package report

import (
	"cmp"
	"math"

	"polkrepro/experiments"
	"polkrepro/internal/words"
)

// A Document holds the numbers of a report in JSON. A number that is missing or not finite is
// null.
type Document struct {
	Profile string           `json:"profile"` // profile of the runs: smoke, quick or full
	Cells   []CellDocument   `json:"cells"`   // cells of the paper's Tables 2 and 3; empty for specs that do not concern them
	Series  []SeriesDocument `json:"series"`  // series of all runs in the report
	Notes   []string         `json:"notes"`   // missing results, with reasons
}

// A CellDocument is a cell of one of the paper's tables.
type CellDocument struct {
	ID     string           `json:"id"`            // ID of the cell, as 'runall explain' takes it
	Data   string           `json:"data"`          // name of the data set
	Task   string           `json:"task"`          // ksvm or klr
	Method string           `json:"method"`        // row of the table
	Extra  bool             `json:"extra"`         // whether the row is not in the printed table
	RiskOf string           `json:"risk_of"`       // train or test: the data of the risk that the paper prints
	Risk   QuantityDocument `json:"risk"`          // risk: mean loss plus λ/2 Σ‖f_c‖²
	Error  QuantityDocument `json:"error_percent"` // error on the test set, in percent
	Order  QuantityDocument `json:"model_order"`   // model order, in elements
}

// A QuantityDocument is one quantity of a cell: the number in the paper and the numbers of the
// runs.
type QuantityDocument struct {
	Paper words.Nullable `json:"paper"` // number in the paper; null where it prints a dash
	Stat
	Reason string `json:"reason,omitempty"` // reason why a number is missing
}

// A SeriesDocument summarizes the runs of one method with one set of hyper-parameters on one
// data set and task, over seeds and draws.
type SeriesDocument struct {
	Data    string         `json:"data"`              // name of the data set
	Variant string         `json:"variant,omitempty"` // variant of generated data; missing if there is none
	Task    string         `json:"task"`              // ksvm, klr or the name of a loss, such as squared-error for a regression
	Method  string         `json:"method"`            // name of the method, as in specs
	Label   string         `json:"label"`             // label, as in tables and figures
	Planned int            `json:"planned"`           // number of planned runs
	RunIDs  []string       `json:"run_ids"`           // IDs of the runs with a record: run_id in the files of 'runall export'
	Risk    Stat           `json:"test_risk"`         // risk on the test set; over no runs if the method has no risk
	Error   Stat           `json:"error_percent"`     // error on the test set, in percent
	Order   Stat           `json:"model_order"`       // model order, in elements
	Seconds Stat           `json:"training_seconds"`  // training time without evaluations, in seconds
	Numbers words.Nullable `json:"numbers_kept"`      // numbers that a learner of a stream keeps from one sample to the next, at the mean model order; null if unknown
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
	return QuantityDocument{words.Nullable(*paper), c.Ours[q], c.reason(q)}
}

func (s *Series) document() SeriesDocument {
	run := s.Run
	final := finalStats(s.Runs, experiments.RiskTest)
	d := SeriesDocument{
		Data: run.Data.Name, Variant: run.Data.Variant, Task: run.Task, Method: run.Method, Label: s.Label,
		Planned: len(s.planned), RunIDs: make([]string, len(s.Runs)),
		Risk: final[qRisk], Error: final[qError], Order: final[qOrder],
		Seconds: statOf(s.values(wall)), Numbers: words.Nullable(s.numbersKept()),
	}
	for i, r := range s.Runs {
		d.RunIDs[i] = r.Header.ID
	}
	return d
}
