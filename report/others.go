package report

import (
	"cmp"
	"fmt"
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
	var risk, errors, order, wall []float64
	for _, r := range runs {
		if r.Header.Run.HasRisk() {
			risk = append(risk, r.Final.TestRisk)
		}
		errors = append(errors, 100*r.Final.TestError)
		order = append(order, r.Final.ModelOrder)
		wall = append(wall, r.Final.Timing.Wall)
	}
	return append(row, cmp.Or(statOf(risk).full(qRisk), whyDash), statOf(errors).full(qError), statOf(order).full(qOrder), seconds(statOf(wall)))
}
