package page

import (
	"strconv"

	"polkrepro/report"
	"polkrepro/report/table"
)

// resultTable is one of the report's tables with the verdicts on its cells.
type resultTable struct {
	*table.Table
	Blocks []resultBlock // none of a plain table
}

// resultBlock is the part of a table on one task and data set.
type resultBlock struct {
	*table.Block
	Rows []resultRow
}

// resultRow is one method.
type resultRow struct {
	*table.Row
	Lost  string // how many of its runs are missing
	Cells []resultCell
}

// resultCell is one quantity of a method.
type resultCell struct {
	Quantity string
	Lines    []resultLine
	Sort     string
	Verdict  *verdictView // nil where the paper prints nothing that is claimed
	Claim    string       // anchor of the claim
}

// resultLine is a line of a cell.
type resultLine struct{ Label, Class, Text string }

// lineClasses are the lines of a cell in the style sheet.
var lineClasses = map[string]string{"paper": "paper", "ours": "ours", "90 %": "interval"}

// newResultTable lays a table out with the verdicts on its cells.
func newResultTable(t *table.Table, cells map[string]*report.Cell) resultTable {
	out := resultTable{Table: t}
	for _, blk := range t.Blocks {
		b := resultBlock{Block: blk}
		for _, r := range blk.Rows {
			c := cells[r.Cell]
			b.Rows = append(b.Rows, resultRow{r, c.Lost, resultCells(r, c)})
		}
		out.Blocks = append(out.Blocks, b)
	}
	return out
}

// resultCells lays a cell's quantities out.
func resultCells(row *table.Row, from *report.Cell) []resultCell {
	var out []resultCell
	for q, judged := range from.Judged {
		c := resultCell{Quantity: report.Quantities[q]}
		for _, l := range row.Lines {
			switch {
			case l.Label == "verdict": // a link
			case l.Why != "":
				c.Lines = append(c.Lines, resultLine{l.Label, "why", from.Why})
			case l.Cells[q].Text != "":
				c.Lines = append(c.Lines, resultLine{l.Label, lineClasses[l.Label], l.Cells[q].Text})
			}
		}
		if s := from.Ours[q]; s.Diverged > 0 {
			c.Sort = "inf"
		} else if s.N > 0 {
			c.Sort = strconv.FormatFloat(s.Mean, 'g', 6, 64)
		}
		if judged != nil {
			c.Verdict, c.Claim = verdictOf(judged.Verdict, judged.Outcome()), anchor(from.ID)
		}
		out = append(out, c)
	}
	return out
}
