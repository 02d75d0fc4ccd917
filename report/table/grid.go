package table

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// A table has the same bytes in every locale. East Asian widths would make ± wide in some locales.
func init() { twwidth.SetEastAsian(false) }

// A Grid is a header and rows of cells, one line each. A nil row is a rule. All
// blocks of a table, and the tables of a summary, have columns of common widths,
// which is why the cells are padded here.
type Grid struct {
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

// text writes the grid for a terminal in columns of the given widths.
func (g *Grid) text(b *strings.Builder, widths []int) {
	var out strings.Builder
	t := tablewriter.NewTable(&out,
		tablewriter.WithRenderer(renderer.NewBlueprint(bare)),
		tablewriter.WithConfig(verbatim),
		tablewriter.WithTrimSpace(tw.Off))
	t.Header(g.Pad(g.Header, widths))
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("─", n)
	}
	for _, row := range g.Rows {
		if row == nil {
			row = rule
		}
		must(t.Append(g.Pad(row, widths)))
	}
	must(t.Render())
	for l := range strings.Lines(out.String()) {
		b.WriteString(strings.TrimRight(l, " \n") + "\n")
	}
}

// must panics with an error of tablewriter or encoding/csv. Neither fails for rows of strings
// that are written to memory.
func must(err error) {
	if err != nil {
		panic("table: a table of strings: " + err.Error())
	}
}

// bare is a rendition without lines, except for the line below the header.
var bare = tw.Rendition{
	Borders: tw.BorderNone,
	Symbols: tw.NewSymbols(tw.StyleLight),
	Settings: tw.Settings{
		Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
		Lines:      tw.Lines{ShowHeaderLine: tw.On, ShowTop: tw.Off, ShowBottom: tw.Off, ShowFooterLine: tw.Off},
	},
}

// verbatim leaves cells as they are.
var (
	verbatim     = tablewriter.Config{Header: verbatimCell, Row: verbatimCell}
	verbatimCell = tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft},
	}
)

// Markdown writes the grid as a Markdown table; rules are left out.
func (g *Grid) Markdown(b *strings.Builder) {
	aligns := make([]tw.Align, len(g.Left))
	for i, left := range g.Left {
		aligns[i] = tw.AlignRight
		if left {
			aligns[i] = tw.AlignLeft
		}
	}
	t := tablewriter.NewTable(b,
		tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithConfig(verbatim),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: aligns}))
	t.Header(markdownRow(g.Header))
	for _, row := range g.Rows {
		if row != nil {
			must(t.Append(markdownRow(row)))
		}
	}
	must(t.Render())
}

// Escape escapes a text so that it is not read as Markdown.
func Escape(s string) string { return markdownEscapes.Replace(s) }

var markdownEscapes = strings.NewReplacer("|", `\|`, "<br>", "<br>", "<", "&lt;", "\n", " ", "*", `\*`, "_", `\_`)

// markdownRow escapes a row.
func markdownRow(row []string) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = Escape(cell)
	}
	return out
}
