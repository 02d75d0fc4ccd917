package page

import (
	"strconv"

	"polkrepro/evidence"
	"polkrepro/report"
)

// resultTable is one of the report's tables with the verdicts on its cells.
type resultTable struct {
	*report.Table
	Blocks []resultBlock // none of a plain table
}

// resultBlock is the part of a table on one task and data set.
type resultBlock struct {
	*report.Block
	Rows []resultRow
}

// resultRow is one method.
type resultRow struct {
	*report.Row
	Cells []resultCell
}

// resultCell is one quantity of a method.
type resultCell struct {
	report.Words
	Sort    string
	Verdict *verdictView // nil where the paper prints nothing that is claimed
	OneRun  string       // the interval for one evaluation of one run; empty if not known
	Claim   string       // anchor of the claim
}

// newResultTable lays a table out with the verdicts on its cells.
func newResultTable(t *report.Table, a *evidence.Assessment) resultTable {
	out := resultTable{Table: t}
	for _, blk := range t.Blocks {
		b := resultBlock{Block: blk}
		for _, r := range blk.Rows {
			b.Rows = append(b.Rows, resultRow{r, resultCells(&r.Cell, a)})
		}
		out.Blocks = append(out.Blocks, b)
	}
	return out
}

// resultCells lays a cell's quantities out.
func resultCells(from *report.Cell, a *evidence.Assessment) []resultCell {
	var out []resultCell
	for q, w := range from.Words() {
		c := resultCell{Words: w}
		if s := from.Ours[q]; s.Diverged > 0 {
			c.Sort = "inf"
		} else if s.N > 0 {
			c.Sort = strconv.FormatFloat(s.Mean, 'g', 6, 64)
		}
		if s, ok := a.Find(from.ID + "." + w.Quantity); ok {
			c.Verdict, c.Claim = verdictOf(s.Tests[0].Verdict, s.Tests[0].Outcome()), anchor(s.Claim.Claim.ID)
			c.OneRun = from.OneRun(q)
		}
		out = append(out, c)
	}
	return out
}
