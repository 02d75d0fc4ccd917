// Package table has the one model of a report's table, and writes it with several faces: text,
// Markdown, CSV and LaTeX. Package page writes the same model in HTML.
package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Table either compares results with the paper, block by block, or is plain: a header and rows.
type Table struct {
	Name    string // stem of its files: table2
	Title   string
	Caption string   // of the LaTeX table (default: Title)
	Blocks  []*Block // of a table that compares with the paper
	Header  []string // of a plain table
	Rows    [][]string
	Numbers [][]string // lines of the CSV file, a header first, with one number in a cell (default: Header and Rows)
	Notes   []string
	Compact bool   // for a paper: in LaTeX as wide as a column, or as the page if it is wider
	Label   string // of the LaTeX table (default: Name)
	Legend  string // note on verdicts, after the second of Notes; empty if the table has no verdicts
}

// A Face is one way to write a table.
type Face struct {
	Name, Ext string
	Of        func(*Table) string
}

// Faces are all faces except HTML.
var Faces = []Face{
	{"text", "txt", (*Table).Text},
	{"markdown", "md", (*Table).Markdown},
	{"csv", "csv", (*Table).CSV},
	{"latex", "tex", (*Table).LaTeX},
}

// A Block is the part of a table on one task and data set.
type Block struct {
	Data    string // multidist
	Title   string // Multi-KSVM
	Risk    string // the risk that the paper prints for the data set: test risk
	Heading string // data set, title and risk
	Rows    []*Row
}

// A Row is one method on the block's task and data set.
type Row struct {
	Cell  string // ID of the cell: table2.multidist.ksvm.bsgd
	Title string
	Extra bool // not a row of the printed table
	Runs  int
	Lines []Line
}

// A Line is one line of a cell: the paper's numbers, results of the runs, or verdicts on them.
// Every face except CSV shows these lines.
type Line struct {
	Label string    // paper, ours, 90 %, Δ, draw 447, verdict, new run or new rows
	Cells [3]string // the risk, the error and the model order
	Runs  string
	Why   string // in place of cells and runs: why there are none
}

// Headings are the columns of a Line's cells.
var Headings = [3]string{"risk", "error (%)", "model order"}

// Write writes the face with the given name. It panics if there is none.
func (t *Table) Write(w io.Writer, face string) error {
	i := slices.IndexFunc(Faces, func(f Face) bool { return f.Name == face })
	_, err := io.WriteString(w, Faces[i].Of(t))
	return err
}

// notes are the notes with the legend.
func (t *Table) notes() []string {
	if t.Legend == "" {
		return t.Notes
	}
	return slices.Insert(slices.Clone(t.Notes), min(2, len(t.Notes)), t.Legend)
}

// Text returns the table for a terminal, one block after the other.
func (t *Table) Text() string {
	var b strings.Builder
	b.WriteString(t.Title + "\n")
	grids := t.grids()
	widths := make([]int, len(grids[0].Header))
	for _, g := range grids {
		for i, n := range g.Widths() {
			widths[i] = max(widths[i], n)
		}
	}
	for _, g := range grids {
		b.WriteString("\n")
		if g.title != "" {
			b.WriteString(g.title + "\n")
		}
		g.text(&b, widths)
	}
	for i, n := range t.notes() {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(Wrap(n, NoteWidth, "  ") + "\n")
	}
	return b.String()
}

// NoteWidth is the width to which notes are wrapped.
const NoteWidth = 96

// grids lays the table out, with a grid for each block: the lines of a cell below each other.
func (t *Table) grids() []*Grid {
	if t.Blocks == nil {
		return []*Grid{t.Grid()}
	}
	var out []*Grid
	for _, blk := range t.Blocks {
		g := &Grid{
			title:  blk.Heading,
			Header: slices.Concat([]string{"method", ""}, Headings[:], []string{"runs"}),
			Left:   []bool{true, true, false, false, false, true},
		}
		for i, row := range blk.Rows {
			if row.Extra && (i == 0 || !blk.Rows[i-1].Extra) {
				g.Rows = append(g.Rows, nil)
			}
			title := row.Title
			for _, l := range row.Lines {
				g.Rows = append(g.Rows, []string{title, l.Label, l.Cells[0], l.Cells[1], l.Cells[2], l.Runs + l.Why})
				title = ""
			}
		}
		out = append(out, g)
	}
	return out
}

// Grid lays a plain table out.
func (t *Table) Grid() *Grid {
	g := &Grid{Header: t.Header, Rows: t.Rows, Left: make([]bool, len(t.Header))}
	for i := range t.Header {
		g.Left[i] = true
		for _, row := range t.Rows {
			g.Left[i] = g.Left[i] && !numeric(row[i])
		}
	}
	return g
}

// Best is the mark at the beginning of a cell that is set in bold, or with a star in text.
const Best = "\uE001"

// marked writes a cell with escape, and puts a marked one between the given words.
func marked(cell, before, after string, escape func(string) string) string {
	if best, ok := strings.CutPrefix(cell, Best); ok {
		return before + escape(best) + after
	}
	return escape(cell)
}

// numeric reports whether a cell begins with a number.
func numeric(s string) bool {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, Best), " ")
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// Markdown returns the table in Markdown.
func (t *Table) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", Escape(t.Title))
	for _, g := range t.grids() {
		b.WriteString("\n")
		if g.title != "" {
			b.WriteString(Escape(g.title) + "\n\n")
		}
		g.Markdown(&b)
	}
	notes := t.notes()
	for _, n := range notes {
		fmt.Fprintf(&b, "\n- %s", Escape(n))
	}
	if len(notes) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// CSV returns the table's numbers as a CSV file.
func (t *Table) CSV() string {
	if t.Numbers != nil {
		return CSV(t.Numbers)
	}
	return CSV(slices.Concat([][]string{t.Header}, t.Rows))
}

// CSV returns lines as a CSV file.
func CSV(lines [][]string) string {
	var b strings.Builder
	must(csv.NewWriter(&b).WriteAll(lines))
	return b.String()
}

// Wrap breaks a line between words at the given width and indents all lines after the first.
func Wrap(s string, width int, indent string) string {
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
