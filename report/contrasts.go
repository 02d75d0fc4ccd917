package report

import (
	"strconv"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// contrastTable lists differences between the errors of methods.
func contrastTable(contrasts []evidence.Contrast) *Table {
	t := &Table{
		Name: "tableS5", Title: "Table S5. Differences between methods", Caption: "Differences between the errors of methods.",
		Header:  []string{"data", "difference", "error of both (%)", "points", "90 %", "90 %, other test rows", "runs"},
		Numbers: [][]string{{"data", "difference", "of", "to", "points", "low", "high", "low_other_rows", "high_other_rows", "runs", "basis"}},
		Notes: []string{
			"Errors are means over runs. Runs on the same draw with the same order of the samples are pairs; the interval is Student's of their differences.",
			"Other test rows: with the binomial variance of both errors on the test rows that all runs share, an upper bound. On multidist and over draws of Brodatz the runs already differ in their test rows.",
		},
	}
	for _, c := range contrasts {
		span := func(e stats.Estimate) string {
			if e.Basis == stats.Point {
				return words.Dash
			}
			return words.Signed(e.Low, 2) + " to " + words.Signed(e.High, 2)
		}
		tested := words.Dash
		if c.Tested != c.Runs {
			tested = span(c.Tested)
		}
		t.Rows = append(t.Rows, []string{c.On, c.Title, number(c.Means[0], qError, c.Means[0]) + ", " + number(c.Means[1], qError, c.Means[1]),
			words.Signed(c.Runs.Value, 2), span(c.Runs), tested, strconv.Itoa(c.N)})
		t.Numbers = append(t.Numbers, line(c.On, c.Title, c.Means[0], c.Means[1], c.Runs.Value, c.Runs.Low, c.Runs.High, c.Tested.Low, c.Tested.High, c.N, c.Runs.Basis))
	}
	return t
}
