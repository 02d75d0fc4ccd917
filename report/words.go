package report

import (
	"cmp"

	"polkrepro/experiments"
)

// Words are one quantity of a cell as text, for a face that is not of this
// package.
type Words struct {
	Quantity   string // risk, error or order
	Paper      string // as printed, or a dash
	Ours       string // mean ± standard deviation; a dash where the method has no such value
	Interval   string // 90 % interval of the mean; empty if there is none
	Difference string // ours against the paper's, as in all faces; empty if there is none
	Draw       string // of the draw that the figures show; empty if there is none
}

// Words returns the three quantities of the cell in words. Of a cell without
// runs only the paper's are given; Why says why.
func (c *Cell) Words() [3]Words {
	var out [3]Words
	for q, name := range []string{experiments.QuantityRisk, experiments.QuantityError, experiments.QuantityOrder} {
		w := Words{Quantity: name, Paper: c.Printed[q]}
		if c.Why == "" {
			w.Ours = cmp.Or(c.Ours[q].text(q), whyDash)
			w.Interval = c.Ours[q].interval(q)
			w.Difference = difference(c.Ours[q], c.Paper[q], q)
		}
		if c.Draw != nil && c.Ours[q].N > 0 {
			w.Draw = number(c.Draw.Values[q], q, c.Draw.Values[q])
		}
		out[q] = w
	}
	return out
}
