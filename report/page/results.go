package page

import (
	"strconv"

	"polkrepro/evidence"
	"polkrepro/report"
)

// resultTable is one of the report's tables: blocks beside the paper, or rows.
type resultTable struct {
	Name   string
	Title  string
	Blocks []resultBlock
	Plain  *Table
	Notes  []string
}

// resultBlock is the part of a table on one task and data set.
type resultBlock struct {
	Heading string
	Rows    []resultRow
}

// resultRow is one method.
type resultRow struct {
	Title string
	Extra bool
	ID    string // of its cell
	Runs  int
	Lost  string
	Why   string // why there are no runs
	Cells []resultCell
}

// resultCell is one quantity of a method.
type resultCell struct {
	report.Words
	Sort    string
	Verdict *verdictView // nil where the paper prints nothing that is claimed
	Claim   string       // anchor of the claim
}

// newResultTable lays a table out with the verdicts on its cells.
func newResultTable(t *report.Table, a *evidence.Assessment) resultTable {
	out := resultTable{Name: t.Name, Title: t.Title, Notes: t.Notes}
	if t.Blocks == nil {
		plain := PlainTable(t)
		out.Plain, out.Notes = &plain, nil
		return out
	}
	for _, blk := range t.Blocks {
		b := resultBlock{Heading: blk.Heading()}
		for _, r := range blk.Rows {
			b.Rows = append(b.Rows, newResultRow(r, a))
		}
		out.Blocks = append(out.Blocks, b)
	}
	return out
}

// newResultRow lays a row out.
func newResultRow(r *report.Row, a *evidence.Assessment) resultRow {
	out := resultRow{Title: r.Title, Extra: r.Extra, ID: r.Cell.ID, Lost: r.Cell.Lost, Why: r.Cell.Why}
	for q, w := range r.Cell.Words() {
		c := resultCell{Words: w}
		if s := r.Cell.Ours[q]; s.N > 0 {
			out.Runs = s.N
			c.Sort = strconv.FormatFloat(s.Mean, 'g', 6, 64)
			if s.Diverged > 0 {
				c.Sort = "inf"
			}
		}
		if s, ok := a.Find(r.Cell.ID + "." + w.Quantity); ok {
			c.Verdict, c.Claim = verdictOf(s.Tests[0].Verdict, s.Tests[0].Test.Explained), anchor(s.Claim.Claim.ID)
		}
		out.Cells = append(out.Cells, c)
	}
	return out
}

// PlainTable is one of the report's tables that is a header and rows.
func PlainTable(t *report.Table) Table {
	return Table{Title: t.Title, Header: t.Header, Rows: t.Rows, Notes: t.Notes}
}
