package table

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// narrow measures texts. Characters that are wide in some locales alone, such as ±, are narrow
// in all, so that a table does not depend on the locale.
var narrow = runewidth.Condition{}

// A Grid is a header and rows of cells, one line each. A nil row is a rule.
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
			w[i] = max(w[i], narrow.StringWidth(cell))
		}
	}
	return w
}

// Pad sets a row in columns of the given widths.
func (g *Grid) Pad(row []string, widths []int) []string {
	out := make([]string, len(widths))
	for i, cell := range row {
		space := strings.Repeat(" ", max(0, widths[i]-narrow.StringWidth(cell)))
		if g.Left[i] {
			out[i] = cell + space
		} else {
			out[i] = space + cell
		}
	}
	return out
}

// text writes the grid for a terminal in columns of the given widths.
func (g *Grid) text(b *strings.Builder, widths []int) {
	rules := make([]string, len(widths))
	for i, n := range widths {
		rules[i] = strings.Repeat("─", n)
	}
	line := func(cells []string) string { return strings.TrimRight(" "+strings.Join(cells, "  "), " ") + "\n" }
	b.WriteString(line(g.Pad(g.Header, widths)))
	if len(g.Rows) > 0 {
		b.WriteString("─" + strings.Join(rules, "──") + "─\n")
	}
	for _, row := range g.Rows {
		if row == nil {
			b.WriteString(line(rules))
		} else {
			b.WriteString(line(g.Pad(row, widths)))
		}
	}
}

// Markdown writes the grid as a Markdown table; rules are left out.
func (g *Grid) Markdown(b *strings.Builder) {
	out := Grid{Header: markdownRow(g.Header), Left: g.Left}
	for _, row := range g.Rows {
		if row != nil {
			out.Rows = append(out.Rows, markdownRow(row))
		}
	}
	widths := out.Widths()
	var aligns strings.Builder
	for i, n := range widths {
		widths[i] = max(1, n) // an empty column has room for its alignment
		dashes := strings.Repeat("-", widths[i]+1)
		if g.Left[i] {
			aligns.WriteString("|:" + dashes)
		} else {
			aligns.WriteString("|" + dashes + ":")
		}
	}
	line := func(row []string) string { return "| " + strings.Join(out.Pad(row, widths), " | ") + " |\n" }
	b.WriteString(line(out.Header) + aligns.String() + "|\n")
	for _, row := range out.Rows {
		b.WriteString(line(row))
	}
}

// Escape keeps a text from being read as Markdown.
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
