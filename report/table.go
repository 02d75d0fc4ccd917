package report

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/record"
)

// A Table is one model with several faces: Text, Markdown, CSV and LaTeX. It
// either compares with the paper, block by block, or is plain: a header and
// rows.
type Table struct {
	Name    string // stem of its files: table2
	Title   string
	Caption string // of the LaTeX table (default: Title)
	Blocks  []*Block
	Header  []string
	Rows    [][]string
	Numeric [][]string // the CSV file of a table of the user's own, a header first: one number a cell; nil: as Header and Rows
	Notes   []string
}

// A Block is the part of a table on one task and data set.
type Block struct {
	Data  string // multidist
	Task  string // ksvm
	Title string // Multi-KSVM
	Risk  string // train or test: which risk the paper prints for the data set
	Rows  []*Row
}

// all are the rows of all blocks, each with its block.
func (t *Table) all() iter.Seq2[*Block, *Row] {
	return func(yield func(*Block, *Row) bool) {
		for _, blk := range t.Blocks {
			for _, row := range blk.Rows {
				if !yield(blk, row) {
					return
				}
			}
		}
	}
}

// A Row is one method on the block's task and data set.
type Row struct {
	ID    string
	Title string
	Extra bool // not a row of the printed table
	Cell  Cell
}

// A Cell compares what the paper prints with what the runs gave. The
// quantities are the risk, the error rate in per cent, and the model order.
type Cell struct {
	ID      string
	Printed [3]string            // as printed, "—" for a dash
	Paper   [3]*float64          // nil for a dash
	Ours    [3]Stat              // a risk of no runs where the method has none
	Draw    *DrawCell            // of the draw that the figures show; nil where there are no draws
	Why     string               // why there are no runs; empty if there are
	Dash    string               // why the paper leaves a number out; empty if it prints all three
	Lost    string               // how many runs are missing; empty if none
	Judged  [3]*evidence.Finding // verdicts on the printed numbers; nil where there is none

	ByResult []string // the choices that the verdicts rest on which were made with the paper's numbers in view
	Gap      float64  // of a batch method that ended before its tolerance: the largest certified gap by the objective
}

// A DrawCell is the run on the draw of the means that the figures show.
type DrawCell struct {
	Draw   uint64
	Values [3]float64
}

// table makes one of the paper's tables.
func (b *builder) table(pt *experiments.PaperTable) *Table {
	t := &Table{
		Name:    pt.ID,
		Title:   fmt.Sprintf("Table %d. Results on %s", pt.Number, pt.Title),
		Caption: fmt.Sprintf("The paper's Table %d beside this reproduction: results on %s.", pt.Number, strings.TrimRight(pt.Title, ".")),
	}
	for _, col := range pt.Columns {
		t.Blocks = append(t.Blocks, b.block(pt, col))
	}
	t.Notes = b.tableNotes(t)
	return t
}

// block makes the part of a table on one task and data set.
func (b *builder) block(pt *experiments.PaperTable, col experiments.PaperColumn) *Block {
	blk := &Block{Data: col.Data, Task: col.Task, Title: col.Title, Risk: b.paper.Data[col.Data].Risk}
	for i, row := range slices.Concat(pt.Rows, pt.Extra) {
		id := pt.CellID(col, row)
		planned := b.planned(func(p experiments.Planned) bool { return slices.Contains(p.Cells, id) })
		pc, printed := b.paper.Cells[id]
		extra := i >= len(pt.Rows)
		if extra && !printed && len(planned) == 0 {
			continue
		}
		blk.Rows = append(blk.Rows, &Row{
			ID: row.ID, Title: row.Title, Extra: extra,
			Cell: b.cell(id, blk, row, pc, planned),
		})
	}
	return blk
}

// cell makes a cell from the runs that feed it.
func (b *builder) cell(id string, blk *Block, row experiments.PaperRow, pc experiments.PaperCell, planned []experiments.Planned) Cell {
	c := Cell{ID: id, Paper: [3]*float64{pc.Risk, pc.Error, pc.Order}, Lost: evidence.Lost(len(planned), b.gaps(planned))}
	c.Printed = printed(pc)
	if pc.Reason != "" {
		c.Dash = b.paper.Reasons[pc.Reason]
		if c.Dash == "" {
			c.Dash = pc.Reason
		}
	}
	if b.in.Assessment != nil {
		for q, name := range Quantities {
			if s, ok := b.in.Assessment.Find(id + "." + name); ok {
				c.Judged[q], c.ByResult = &s.Tests[0], s.Claim.ByResult
			}
		}
	}
	runs := b.records(planned)
	if len(runs) == 0 {
		c.Lost, c.ByResult = "", nil
		c.Why = b.why(c, blk, row, planned)
		return c
	}
	c.Ours = finalStats(runs, blk.Risk)
	c.Draw = b.drawCell(runs, blk.Risk)
	c.Gap = largestGap(runs)
	return c
}

// A verdictStyle is how a face says verdicts.
type verdictStyle struct {
	verdict         func(stats.Verdict) string
	margins         string // of the verdicts at half and at twice the margin
	within, outside string // what follows the interval of a new run that has the printed number, or has not
	note            string // below the table
}

// marks say verdicts where there is little room, inWords where there is much.
var (
	marks = verdictStyle{
		stats.Verdict.Mark, " (½ %s, 2× %s)", " " + stats.Reproduced.Mark(), " " + stats.Deviates.Mark(),
		"verdict: ✓ reproduced, ≠ deviates, ? inconclusive; in brackets at half and at twice the margin. new run: where one evaluation in the last 5 % of a new run would be in nine of ten cases, of three runs or more; ✓ if the printed number is in it, ≠ if not.",
	}
	inWords = verdictStyle{
		stats.Verdict.String, " (half the margin: %s, twice: %s)", ", with the printed number", ", without the printed number",
		"new run: where one evaluation in the last 5 % of a new run would be in nine of ten cases, of three runs or more.",
	}
)

// judgedLines are the verdicts on the printed numbers: each with those at half and at
// twice the margin, and where one evaluation of one run would be.
func (c *Cell) judgedLines(style verdictStyle) []Line {
	verdicts, oneRun := Line{Label: "verdict"}, Line{Label: "new run"}
	for q, r := range c.Judged {
		if r == nil {
			continue
		}
		verdicts.Values[q] = style.verdict(r.Verdict)
		if at := r.Margins(); at != nil {
			verdicts.Values[q] += fmt.Sprintf(style.margins, style.verdict(at[0]), style.verdict(at[1]))
		}
		oneRun.Values[q] = c.oneRun(q, style)
	}
	return slices.DeleteFunc([]Line{verdicts, oneRun}, func(l Line) bool { return l.Values == [quantityCount]string{} })
}

// oneRun words where one evaluation of one run would be, and whether the printed number is
// there; empty if that is not known.
func (c *Cell) oneRun(q int, style verdictStyle) string {
	if c.Judged[q] == nil {
		return ""
	}
	within, known := c.Judged[q].Within()
	if !known {
		return ""
	}
	e, where := c.Judged[q].NewRun, style.outside
	if within {
		where = style.within
	}
	low, high := number(e.Low, q, e.High), number(e.High, q, e.High)
	if low != high {
		low += " to " + high
	}
	return low + where
}

// notes are the notes of the faces that show verdicts.
func (t *Table) notes(style verdictStyle) []string {
	for _, row := range t.all() {
		if row.Cell.Why == "" && row.Cell.Judged != [3]*evidence.Finding{} {
			return slices.Insert(slices.Clone(t.Notes), min(2, len(t.Notes)), style.note)
		}
	}
	return t.Notes
}

// largestGap returns the largest gap, by its objective, of the runs that ended
// before their tolerance was met; 0 if there are none.
func largestGap(runs []*record.Record) float64 {
	most := 0.0
	for _, r := range runs {
		if h := r.Final.Health; h["unconverged"] > 0 && h["objective"] > 0 {
			most = max(most, h["gap"]/h["objective"])
		}
	}
	return most
}

// why says why a cell has no runs: the paper's dash comes first where nobody
// plans anything, for then nothing is missing. A method's second series, such
// as polk-large, is in the paper's figures whatever its table holds.
func (b *builder) why(c Cell, blk *Block, row experiments.PaperRow, planned []experiments.Planned) string {
	second := strings.Contains(row.ID, "-")
	if len(planned) == 0 && !b.in.FullCells[c.ID] && !second && c.Dash != "" && c.Paper == [3]*float64{} {
		return whyDash
	}
	return b.absent(planned, blk.Data).Cell()
}

// drawCell picks, among runs on several draws of the means, the one on the
// figures' draw with the lowest seed.
func (b *builder) drawCell(runs []*record.Record, risk string) *DrawCell {
	for _, r := range runs {
		if d := r.Header.Run.Data.Draw; d != 0 && d == b.figureDraw {
			return &DrawCell{Draw: d, Values: finalOf(r, risk)}
		}
	}
	return nil
}

// finalOf returns a run's final risk, error rate in per cent and model order.
func finalOf(r *record.Record, risk string) [quantityCount]float64 {
	v := [quantityCount]float64{r.Final.TestRisk, 100 * r.Final.TestError, r.Final.ModelOrder}
	if risk == experiments.RiskTrain {
		v[qRisk] = r.Final.TrainRisk
	}
	return v
}

// printed returns the three numbers of a cell as the paper prints them.
func printed(pc experiments.PaperCell) [3]string {
	out := [3]string{whyDash, whyDash, whyDash}
	parts := strings.Split(pc.Printed, "/")
	for q, v := range []*float64{pc.Risk, pc.Error, pc.Order} {
		switch {
		case v == nil:
		case len(parts) == len(out):
			out[q] = strings.TrimSpace(parts[q])
		default:
			out[q] = number(*v, q, *v)
		}
	}
	return out
}

// Runs is the number of runs in the cell.
func (c *Cell) Runs() int { return c.Ours[qError].N }

// riskName names one of a data set's risks, train or test.
func riskName(risk string) string {
	if risk == experiments.RiskTrain {
		return "training risk"
	}
	return "test risk"
}

// Heading names a block: data set, task and which risk it shows.
func (blk *Block) Heading() string {
	return fmt.Sprintf("%s · %s (%s)", blk.Data, blk.Title, riskName(blk.Risk))
}
