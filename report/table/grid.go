package table

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// A Grid is a header and rows of cells, one line each. A nil row is a rule. All
// blocks of a table, and the tables of a summary, have columns of common widths,
// which is why the cells are padded here.
type Grid struct {
	title  string // of a block
	Header []string
	Rows   [][]string
	Left   []bool // columns set flush left; the others are numbers, set flush right
}

// NewGrid returns a grid without rows whose columns are set flush left.
func NewGrid(header ...string) *Grid {
	return &Grid{Header: header, Left: slices.Repeat([]bool{true}, len(header))}
}

// Widths returns the width of each column.
func (g *Grid) Widths() []int {
	w := make([]int, len(g.Header))
	for _, row := range append([][]string{g.Header}, g.Rows...) {
		for i, cell := range row {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// Pad pads the cells of a row to the given widths.
func (g *Grid) Pad(row []string, widths []int) []string {
	out := make([]string, len(widths))
	for i, w := range widths {
		if g.Left[i] {
			w = -w
		}
		out[i] = fmt.Sprintf("%*s", w, row[i])
	}
	return out
}

// render writes the grid with one of tablewriter's renderers. It leaves out the rows for which
// prepare returns no cells.
func (g *Grid) render(b *strings.Builder, with tw.Renderer, prepare func(row []string) []string) {
	cell := tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone}}
	for _, left := range g.Left {
		align := tw.AlignRight
		if left {
			align = tw.AlignLeft
		}
		cell.Alignment.PerColumn = append(cell.Alignment.PerColumn, align)
	}
	t := tablewriter.NewTable(b,
		tablewriter.WithRenderer(with),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell}),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithEastAsian(tw.Off)) // the same bytes in every locale: some make ± wide
	t.Header(prepare(g.Header))
	for _, row := range g.Rows {
		if cells := prepare(row); len(cells) > 0 {
			must(t.Append(cells))
		}
	}
	must(t.Render())
}

// must panics with an error of tablewriter or encoding/csv. Neither fails for rows of strings
// that are written to memory.
func must(err error) {
	if err != nil {
		panic("table: a table of strings: " + err.Error())
	}
}

// text writes the grid for a terminal in columns of the given widths.
func (g *Grid) text(b *strings.Builder, widths []int) {
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("─", n)
	}
	// No lines, except for the one below the header.
	bare := tw.Rendition{Borders: tw.BorderNone, Settings: tw.Settings{Separators: tw.Separators{BetweenColumns: tw.Off}}}
	var out strings.Builder
	g.render(&out, renderer.NewBlueprint(bare), func(row []string) []string {
		if row == nil {
			row = rule
		}
		cells := g.Pad(row, widths)
		for i := range cells {
			cells[i] = strings.Replace(cells[i], Best, "*", 1)
		}
		return cells
	})
	for l := range strings.Lines(out.String()) {
		b.WriteString(strings.TrimRight(l, " \n") + "\n")
	}
}

// Markdown writes the grid as a Markdown table; rules are left out.
func (g *Grid) Markdown(b *strings.Builder) {
	g.render(b, renderer.NewMarkdown(), func(row []string) []string {
		var cells []string
		for _, cell := range row {
			cells = append(cells, marked(cell, "**", "**", Escape))
		}
		return cells
	})
}

// Escape escapes a text so that it is not read as Markdown.
func Escape(s string) string { return markdownEscapes.Replace(s) }

var markdownEscapes = strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ", "*", `\*`, "_", `\_`)
