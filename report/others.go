package report

import (
	"cmp"
	"fmt"

	"polkrepro/experiments"
	"polkrepro/record"
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
	for _, g := range b.costGroups() {
		if _, ok := b.paper.Data[g.first.Run.Data.Name]; ok {
			continue
		}
		t.Rows = append(t.Rows, b.otherRow(g))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// otherRow sums a group up.
func (b *builder) otherRow(g *costGroup) []string {
	runs := b.records(g.planned)
	row := []string{g.name(), g.first.Run.Task, g.first.Series, fmt.Sprintf("%d of %d", len(runs), len(g.planned))}
	if len(runs) == 0 {
		return append(row, "", "", "", "")
	}
	var wall []float64
	for _, r := range runs {
		wall = append(wall, r.Final.Timing.Wall)
	}
	for q, s := range testStats(runs) {
		row = append(row, cmp.Or(s.full(q), whyDash))
	}
	return append(row, seconds(statOf(wall)))
}

// testStats sums up runs on the test set: the risk, of no runs where the method
// has none, the error and the model order.
func testStats(runs []*record.Record) (stats [quantityCount]Stat) {
	var values [quantityCount][]float64
	for _, r := range runs {
		final := finalOf(r, experiments.RiskTest)
		for q, v := range final {
			if q != qRisk || r.Header.Run.HasRisk() {
				values[q] = append(values[q], v)
			}
		}
	}
	for q, v := range values {
		stats[q] = statOf(v)
	}
	return stats
}
