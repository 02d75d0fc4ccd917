package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"polkrepro/internal/words"
)

// Text writes the table for a terminal: a block after another, and in each
// cell a line for the paper, one for the runs, one for their difference and
// one for the figures' draw.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(t.Title + "\n")
	grids := t.textGrids()
	widths := grids[0].widths()
	for _, g := range grids[1:] {
		for i, n := range g.widths() {
			widths[i] = max(widths[i], n)
		}
	}
	for i, g := range grids {
		b.WriteString("\n")
		if t.Blocks != nil {
			b.WriteString(t.Blocks[i].Heading() + "\n")
		}
		g.text(&b, widths)
	}
	for i, n := range t.notes(marks) {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(wrap(n, noteWidth, "  ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// noteWidth is the width to which notes are wrapped.
const noteWidth = 96

// textGrids lays the table out for a terminal, a grid a block.
func (t *Table) textGrids() []*grid {
	if t.Blocks == nil {
		return []*grid{t.plainGrid()}
	}
	var out []*grid
	for _, blk := range t.Blocks {
		g := &grid{
			header: []string{"method", "", "risk", "error (%)", "model order", "runs"},
			left:   []bool{true, true, false, false, false, true},
		}
		for i, row := range blk.Rows {
			if row.Extra && (i == 0 || !blk.Rows[i-1].Extra) {
				g.rows = append(g.rows, nil)
			}
			title := row.Title
			for _, l := range row.Cell.Lines() {
				g.rows = append(g.rows, []string{title, l.Label, l.Values[qRisk], l.Values[qError], l.Values[qOrder], l.Runs + l.Why})
				title = ""
			}
		}
		out = append(out, g)
	}
	return out
}

// whyWidth is what a column holds of why there are no runs; the notes below
// the table hold all of it.
const whyWidth = 36

// A Line is one line of a cell: what the paper prints, a part of what the runs gave, or
// what is said of it. Every face but CSV lays these out.
type Line struct {
	Label  string                // paper, ours, 90 %, Δ, draw 447, verdict or new run
	Values [quantityCount]string // of the risk, the error and the model order
	Runs   string
	Why    string // in place of values and runs: why there are none
}

// Lines returns the lines of a cell, the paper's first, with marks for verdicts.
func (c *Cell) Lines() []Line { return c.lines(marks) }

// lines returns the lines of a cell: the paper's, those of the runs and the verdicts.
func (c *Cell) lines(style verdictStyle) []Line {
	out := []Line{{Label: "paper", Values: c.Printed}}
	switch c.Why {
	case "":
	case whyDash:
		return out
	default:
		return append(out, Line{Label: "ours", Why: words.Shorten(c.Why, whyWidth)})
	}
	own := Line{Label: "ours", Runs: strconv.Itoa(c.Runs())}
	interval, diff, draw := Line{Label: "90 %"}, Line{Label: "Δ"}, Line{Runs: "1, the figures'"}
	for q, s := range c.Ours {
		own.Values[q] = cmp.Or(s.text(q), whyDash)
		interval.Values[q], diff.Values[q] = s.interval(q), difference(s, c.Paper[q], q)
		draw.Values[q] = whyDash
		if c.Draw != nil && s.N > 0 {
			draw.Values[q] = number(c.Draw.Values[q], q, c.Draw.Values[q])
		}
	}
	out = append(out, own)
	for _, l := range []Line{interval, diff} {
		if l.Values != [quantityCount]string{} {
			out = append(out, l)
		}
	}
	if c.Draw != nil {
		draw.Label = fmt.Sprintf("draw %d", c.Draw.Draw)
		out = append(out, draw)
	}
	return append(out, c.judgedLines(style)...)
}

// plainGrid lays a plain table out.
func (t *Table) plainGrid() *grid {
	g := &grid{header: t.Header, rows: t.Rows, left: make([]bool, len(t.Header))}
	for i := range t.Header {
		g.left[i] = true
		for _, row := range t.Rows {
			g.left[i] = g.left[i] && !numeric(row[i])
		}
	}
	return g
}

// numeric says whether a cell holds a number.
func numeric(s string) bool {
	s, _, _ = strings.Cut(s, " ")
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// Markdown writes the table in Markdown, in the paper's layout: a row for
// each method and a column for each data set and task.
func (t *Table) Markdown(w io.Writer) error {
	_, err := fmt.Fprintf(w, "**%s**\n\n%s", markdownEscapes.Replace(t.Title), t.markdownBody(marks))
	return err
}

// markdownBody returns the table in Markdown without its title.
func (t *Table) markdownBody(style verdictStyle) string {
	var b strings.Builder
	t.wideGrid(style).markdown(&b)
	notes := t.notes(style)
	for _, n := range notes {
		fmt.Fprintf(&b, "\n- %s", markdownEscapes.Replace(n))
	}
	if len(notes) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// wideGrid lays the table out like the paper's.
func (t *Table) wideGrid(style verdictStyle) *grid {
	if t.Blocks == nil {
		return t.plainGrid()
	}
	header := []string{"Algorithm"}
	for _, blk := range t.Blocks {
		header = append(header, blk.Heading())
	}
	g := leftGrid(header...)
	for _, id := range t.rowIDs() {
		row := []string{id.Title}
		for _, blk := range t.Blocks {
			row = append(row, blk.wideCell(id.ID, style))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// rowIDs returns the table's rows, those of the paper first, each once.
func (t *Table) rowIDs() []*Row {
	seen := map[string]bool{}
	var out []*Row
	for _, extra := range []bool{false, true} {
		for _, r := range t.all() {
			if r.Extra == extra && !seen[r.ID] {
				seen[r.ID] = true
				out = append(out, r)
			}
		}
	}
	return out
}

// row returns the block's row of an ID, or nil.
func (blk *Block) row(id string) *Row {
	for _, r := range blk.Rows {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// wideCell writes a cell with its lines one below the other, and a dash where
// there is nothing.
func (blk *Block) wideCell(id string, style verdictStyle) string {
	r := blk.row(id)
	if r == nil {
		return ""
	}
	var lines []string
	for _, l := range r.Cell.lines(style) {
		text := l.Why
		if text == "" {
			for q, v := range l.Values {
				l.Values[q] = cmp.Or(v, whyDash)
			}
			text = strings.Join(l.Values[:], " / ")
		}
		if l.Label == "ours" && l.Runs != "" {
			text += " (n = " + l.Runs + ")"
		}
		lines = append(lines, l.Label+": "+text)
	}
	if len(r.Cell.ByResult) > 0 {
		lines = append(lines, "by result: "+strings.Join(r.Cell.ByResult, ", "))
	}
	return strings.Join(lines, "<br>")
}

// csvHeader names the columns of a table's CSV file.
var csvHeader = []string{"table", "data", "task", "method", "extra", "quantity", "paper", "mean", "sd", "low", "high", "runs", "diverged", "figure_draw", "figure_draw_value", "reason",
	"verdict", "verdict_half_margin", "verdict_twice_margin", "one_run_low", "one_run_high", "paper_in_one_run"}

// CSV writes the table's numbers, a line for each quantity of each cell; a
// plain table is written as it is.
func (t *Table) CSV(w io.Writer) error {
	rows := slices.Concat([][]string{t.Header}, t.Rows)
	if t.Numeric != nil {
		rows = t.Numeric
	}
	if t.Blocks != nil {
		rows = [][]string{csvHeader}
		for blk, r := range t.all() {
			rows = append(rows, t.csvRows(blk, r)...)
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// csvRows returns the lines of one cell.
func (t *Table) csvRows(blk *Block, r *Row) [][]string {
	var out [][]string
	for q, name := range Quantities {
		c := &r.Cell
		row := []string{t.Name, blk.Data, blk.Task, r.ID, strconv.FormatBool(r.Extra), name,
			"", "", "", "", "", strconv.Itoa(c.Ours[q].N), strconv.Itoa(c.Ours[q].Diverged), "", "", c.reason(q), "", "", "", "", "", ""}
		if c.Paper[q] != nil {
			row[6] = c.Printed[q]
		}
		if c.Ours[q].N > 0 {
			row[7], row[8] = words.Exact(c.Ours[q].Mean), words.Exact(c.Ours[q].SD)
		}
		if c.Ours[q].Interval {
			row[9], row[10] = words.Exact(c.Ours[q].Low), words.Exact(c.Ours[q].High)
		}
		if c.Draw != nil && c.Ours[q].N > 0 {
			row[13], row[14] = strconv.FormatUint(c.Draw.Draw, 10), words.Exact(c.Draw.Values[q])
		}
		if r := c.Judged[q]; r != nil && c.Why == "" {
			row[16], row[17], row[18] = r.Verdict.String(), r.At(0.5).String(), r.At(2).String()
			if within, known := r.Within(); known {
				row[19], row[20], row[21] = words.Exact(r.NewRun.Low), words.Exact(r.NewRun.High), strconv.FormatBool(within)
			}
		}
		out = append(out, row)
	}
	return out
}

// reason says why a number is missing, ours or the paper's.
func (c *Cell) reason(q int) string {
	why := c.Why
	if why == whyDash {
		why = ""
	}
	dash := c.Dash
	if c.Paper[q] != nil {
		dash = ""
	}
	return words.Message(sentence(why, dash))
}

// wrap breaks a line between words at the given width and indents what
// follows the first.
func wrap(s string, width int, indent string) string {
	var b strings.Builder
	n := 0
	for _, word := range strings.Fields(s) {
		k := len([]rune(word))
		switch {
		case n == 0:
		case n+1+k > width:
			b.WriteString("\n" + indent)
			n = len(indent)
		default:
			b.WriteString(" ")
			n++
		}
		b.WriteString(word)
		n += k
	}
	return b.String()
}
