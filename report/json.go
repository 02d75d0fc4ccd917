package report

import (
	"polkrepro/compare"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/spec"
)

// A Document holds the numbers of a report in JSON. A number that is missing or not finite is
// null.
type Document struct {
	Profile string           `json:"profile"` // profile of the runs: smoke, quick or full
	Series  []SeriesDocument `json:"series"`  // series of all runs in the report
	Notes   []string         `json:"notes"`   // missing results, with reasons

	Standings []*compare.Standing `json:"standings,omitempty"` // ranks of the methods over the data sets of the user's specs, one for each task; missing if there are none
}

// A SeriesDocument summarizes the runs of one method with one set of hyper-parameters on one
// data set and task, over seeds and draws.
type SeriesDocument struct {
	Data    string         `json:"data"`              // name of the data set
	Variant string         `json:"variant,omitempty"` // variant of generated data; missing if there is none
	Task    string         `json:"task"`              // ksvm, klr or the name of a loss, such as squared-error for a regression
	Method  string         `json:"method"`            // name of the method, as in specs
	Label   string         `json:"label"`             // label, as in tables and figures
	Cells   []string       `json:"cells,omitempty"`   // IDs of the cells of the paper's tables that the runs feed, as 'runall verify --json' has them beside the paper's numbers; missing if there are none
	Planned int            `json:"planned"`           // number of planned runs
	Varied  string         `json:"varied,omitempty"`  // what differs between runs on a user's rows: orders of one split, splits, or orders of one training file; missing for other data and for a single run
	RunIDs  []string       `json:"run_ids"`           // IDs of the runs with a record: run_id in the files of 'runall export'
	Risk    Stat           `json:"test_risk"`         // risk on the test set; over no runs if the method has no risk
	Error   Stat           `json:"error_percent"`     // error on the test set, in percent
	Order   Stat           `json:"model_order"`       // model order, in elements
	Seconds Stat           `json:"training_seconds"`  // training time without evaluations, in seconds
	Numbers words.Nullable `json:"numbers_kept"`      // numbers that a learner of a stream keeps from one sample to the next, at the mean model order; null if unknown
}

// Document returns the report for programs.
func (r *Report) Document() *Document {
	d := &Document{Profile: r.Input.Profile, Series: []SeriesDocument{}, Notes: append([]string{}, r.Missing()...), Standings: r.Standings}
	for _, s := range newBuilder(r.Input).series(allRuns) {
		run, final, ids := s.Run, finalStats(s.Runs, paper.RiskTest), make([]string, len(s.Runs))
		for i, r := range s.Runs {
			ids[i] = r.Header.ID
		}
		d.Series = append(d.Series, SeriesDocument{
			Data: run.Data.Name, Variant: run.Data.Variant, Task: run.Task, Method: run.Method, Label: s.Label, Cells: s.Cells,
			Planned: len(s.planned), Varied: spec.Varied(s.planned), RunIDs: ids, Risk: final[qRisk], Error: final[qError], Order: final[qOrder],
			Seconds: statOf(s.values(wall)), Numbers: words.Nullable(s.numbersKept()),
		})
	}
	return d
}
