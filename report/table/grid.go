package table

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

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
	g := &Grid{Header: header, Left: make([]bool, len(header))}
	for i := range g.Left {
		g.Left[i] = true
	}
	return g
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

// Pad sets a row in columns of the given widths.
func (g *Grid) Pad(row []string, widths []int) []string {
	out := make([]string, len(widths))
	for i, w := range widths {
		space := strings.Repeat(" ", max(0, w-utf8.RuneCountInString(row[i])))
		if g.Left[i] {
			out[i] = row[i] + space
		} else {
			out[i] = space + row[i]
		}
	}
	return out
}

// text writes the grid for a terminal in columns of the given widths, with a line below the
// header.
func (g *Grid) text(b *strings.Builder, widths []int) {
	rule, total := make([]string, len(widths)), 0
	for i, n := range widths {
		rule[i] = strings.Repeat("─", n)
		total += n + 2
	}
	line := func(cells []string) {
		b.WriteString(strings.TrimRight(" "+strings.Join(cells, "  "), " \n") + "\n")
	}
	line(g.Pad(g.Header, widths))
	b.WriteString(strings.Repeat("─", total) + "\n")
	for _, row := range g.Rows {
		if row == nil {
			line(rule)
		} else {
			line(g.Pad(row, widths))
		}
	}
}

// Markdown writes the grid as a Markdown table; rules are left out.
func (g *Grid) Markdown(b *strings.Builder) {
	escaped := &Grid{Header: markdownRow(g.Header), Left: g.Left}
	for _, row := range g.Rows {
		if row != nil {
			escaped.Rows = append(escaped.Rows, markdownRow(row))
		}
	}
	widths := escaped.Widths()
	line := func(row []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(escaped.Pad(row, widths), " | ")) }
	line(escaped.Header)
	for i, n := range widths {
		rule := ":" + strings.Repeat("-", n+1)
		if !g.Left[i] {
			rule = strings.Repeat("-", n+1) + ":"
		}
		b.WriteString("|" + rule)
	}
	b.WriteString("|\n")
	for _, row := range escaped.Rows {
		line(row)
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
