package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Text writes the table for a terminal: a block after another, and in each
// cell a line for the paper, one for the runs, one for their difference and
// one for the figures' draw.
func (t *Table) Text(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n", t.Title); err != nil {
		return err
	}
	grids := t.textGrids()
	widths := make([]int, len(grids[0].header))
	for _, g := range grids {
		for i, n := range g.widths() {
			widths[i] = max(widths[i], n)
		}
	}
	for i, g := range grids {
		heading := ""
		if t.Blocks != nil {
			heading = t.Blocks[i].Heading() + "\n"
		}
		if _, err := fmt.Fprintf(w, "\n%s", heading); err != nil {
			return err
		}
		if err := g.text(w, widths); err != nil {
			return err
		}
	}
	return t.textNotes(w)
}

// noteWidth is the width to which notes are wrapped.
const noteWidth = 96

// textNotes writes the notes, wrapped.
func (t *Table) textNotes(w io.Writer) error {
	var b strings.Builder
	for i, n := range t.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(wrap(n, noteWidth, "  ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

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
			g.rows = append(g.rows, row.lines()...)
		}
		out = append(out, g)
	}
	return out
}

// whyWidth is what a column holds of why there are no runs; the notes below
// the table hold all of it.
const whyWidth = 36

// lines lays a row out for a terminal.
func (r *Row) lines() [][]string {
	c := &r.Cell
	out := [][]string{{r.Title, "paper", c.Printed[0], c.Printed[1], c.Printed[2], ""}}
	if c.Why == whyDash {
		return out
	}
	if c.Why != "" {
		return append(out, []string{"", "ours", "", "", "", shorten(c.Why, whyWidth)})
	}
	for _, l := range c.ours() {
		out = append(out, []string{"", l.label, l.values[0], l.values[1], l.values[2], l.runs})
	}
	return out
}

// A cellLine is one line of what the runs of a cell gave.
type cellLine struct {
	label  string
	values [quantityCount]string
	runs   string
}

// ours returns the lines of a cell that has runs.
func (c *Cell) ours() []cellLine {
	own := cellLine{label: "ours", runs: strconv.Itoa(c.Runs())}
	interval, diff := cellLine{label: "90 %"}, cellLine{label: "Δ"}
	for q, s := range c.Ours {
		own.values[q] = cmp.Or(s.text(q), whyDash)
		interval.values[q] = s.interval(q)
		diff.values[q] = difference(s, c.Paper[q], q)
	}
	out := []cellLine{own}
	for _, l := range []cellLine{interval, diff} {
		if l.values != [quantityCount]string{} {
			out = append(out, l)
		}
	}
	if d := c.Draw; d != nil {
		l := cellLine{label: fmt.Sprintf("draw %d", d.Draw), runs: "1, the figures'"}
		for q, v := range d.Values {
			l.values[q] = whyDash
			if c.Ours[q].N > 0 {
				l.values[q] = number(v, q, v)
			}
		}
		out = append(out, l)
	}
	return out
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
	if _, err := fmt.Fprintf(w, "**%s**\n\n", markdownEscapes.Replace(t.Title)); err != nil {
		return err
	}
	return t.markdownBody(w)
}

// markdownBody writes the table in Markdown without its title.
func (t *Table) markdownBody(w io.Writer) error {
	if err := t.wideGrid().markdown(w); err != nil {
		return err
	}
	var b strings.Builder
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "\n- %s", markdownEscapes.Replace(n))
	}
	if len(t.Notes) > 0 {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wideGrid lays the table out like the paper's.
func (t *Table) wideGrid() *grid {
	if t.Blocks == nil {
		return t.plainGrid()
	}
	g := &grid{header: []string{"Algorithm"}, left: []bool{true}}
	for _, blk := range t.Blocks {
		g.header = append(g.header, blk.Heading())
		g.left = append(g.left, true)
	}
	for _, id := range t.rowIDs() {
		row := []string{id.Title}
		for _, blk := range t.Blocks {
			row = append(row, blk.wideCell(id.ID))
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
		for _, blk := range t.Blocks {
			for _, r := range blk.Rows {
				if r.Extra == extra && !seen[r.ID] {
					seen[r.ID] = true
					out = append(out, r)
				}
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

// wideCell writes a cell with its lines one below the other.
func (blk *Block) wideCell(id string) string {
	r := blk.row(id)
	if r == nil {
		return ""
	}
	c := &r.Cell
	lines := []string{"paper: " + strings.Join(c.Printed[:], " / ")}
	if c.Why != "" && c.Why != whyDash {
		lines = append(lines, "ours: "+shorten(c.Why, whyWidth))
	}
	if c.Why == "" {
		for _, l := range c.ours() {
			s := l.label + ": " + strings.Join(blankAsDash(l.values), " / ")
			if l.label == "ours" {
				s += " (n = " + l.runs + ")"
			}
			lines = append(lines, s)
		}
	}
	return strings.Join(lines, "<br>")
}

// blankAsDash writes a dash where there is nothing.
func blankAsDash(values [quantityCount]string) []string {
	for i, v := range values {
		if v == "" {
			values[i] = whyDash
		}
	}
	return values[:]
}

// csvHeader names the columns of a table's CSV file.
var csvHeader = []string{"table", "data", "task", "method", "extra", "quantity", "paper", "mean", "sd", "low", "high", "runs", "diverged", "figure_draw", "figure_draw_value", "reason"}

// CSV writes the table's numbers, a line for each quantity of each cell; a
// plain table is written as it is.
func (t *Table) CSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	if t.Blocks == nil {
		if err := cw.Write(t.Header); err != nil {
			return err
		}
		return cw.WriteAll(t.Rows)
	}
	if err := cw.Write(csvHeader); err != nil {
		return err
	}
	for _, blk := range t.Blocks {
		for _, r := range blk.Rows {
			if err := cw.WriteAll(t.csvRows(blk, r)); err != nil {
				return err
			}
		}
	}
	cw.Flush()
	return cw.Error()
}

// csvRows returns the lines of one cell.
func (t *Table) csvRows(blk *Block, r *Row) [][]string {
	var out [][]string
	for q, name := range quantityNames {
		c := &r.Cell
		row := []string{t.Name, blk.Data, blk.Task, r.ID, strconv.FormatBool(r.Extra), name,
			"", "", "", "", "", strconv.Itoa(c.Ours[q].N), strconv.Itoa(c.Ours[q].Diverged), "", "", c.reason(q)}
		if c.Paper[q] != nil {
			row[6] = c.Printed[q]
		}
		if c.Ours[q].N > 0 {
			row[7], row[8] = exact(c.Ours[q].Mean), exact(c.Ours[q].SD)
		}
		if c.Ours[q].Interval {
			row[9], row[10] = exact(c.Ours[q].Low), exact(c.Ours[q].High)
		}
		if c.Draw != nil && c.Ours[q].N > 0 {
			row[13], row[14] = strconv.FormatUint(c.Draw.Draw, 10), exact(c.Draw.Values[q])
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
	return oneLine(sentence(why, dash))
}

// exact writes a float64 so that it reads back as itself.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

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
