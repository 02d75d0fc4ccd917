package report

import (
	"encoding/csv"
	"io"
	"strconv"
)

// CSV writes the numbers behind the figure, a line for each evaluation of
// each run. The error rate is in per cent.
func (f *Figure) CSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	if err := cw.Write([]string{"series", "seed", "draw", "samples", "train_risk", "test_risk", "error_percent", "model_order"}); err != nil {
		return err
	}
	for _, s := range f.Series {
		for _, r := range s.Runs {
			run := r.Header.Run
			for _, p := range r.Points {
				row := []string{s.Label, strconv.FormatUint(run.Seed, 10), strconv.FormatUint(run.Data.Draw, 10),
					strconv.Itoa(p.Samples), exact(p.TrainRisk), exact(p.TestRisk), exact(100 * p.TestError), strconv.Itoa(p.ModelOrder)}
				if err := cw.Write(row); err != nil {
					return err
				}
			}
		}
	}
	cw.Flush()
	return cw.Error()
}
