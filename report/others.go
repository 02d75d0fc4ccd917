package report

import (
	"cmp"
	"fmt"

	"polkrepro/experiments"
)

// others makes the table of the runs on data that the paper does not have, a
// row a series; nil if none is planned.
func (b *builder) others() *Table {
	t := &Table{
		Name:    "tableS1",
		Title:   "Table S1. Results on data that the paper does not have",
		Caption: "Results on data that the paper does not have.",
		Header:  []string{"data", "task", "series", "runs", "test risk", "error (%)", "model order", "training (s)"},
		Notes: []string{
			"Mean ± standard deviation over runs, those of POLK and BSGD averaged over the last 5 % of the processed samples; in brackets the 90 % interval of the mean, Student's.",
		},
	}
	for _, s := range b.series(allRuns) {
		if _, ok := b.paper.Data[s.Run.Data.Name]; ok {
			continue
		}
		row := []string{s.dataName(), s.Run.Task, s.Label, fmt.Sprintf("%d of %d", len(s.Runs), len(s.planned))}
		if len(s.Runs) == 0 {
			t.Rows = append(t.Rows, append(row, "", "", "", ""))
			continue
		}
		for q, final := range finalStats(s.Runs, experiments.RiskTest) {
			row = append(row, cmp.Or(final.full(q), whyDash))
		}
		t.Rows = append(t.Rows, append(row, seconds(statOf(s.values(wall)))))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}
