package report

import (
	"strings"
	"unicode/utf8"
)

// A grid is a header and rows of cells, one line each. A nil row is a rule. All
// blocks of a table, and the tables of a summary, have columns of common widths,
// which is why the cells are padded here.
type grid struct {
	header []string
	rows   [][]string
	left   []bool // columns set flush left; the others are numbers, set flush right
}

// leftGrid returns a grid without rows whose columns are set flush left.
func leftGrid(header ...string) *grid {
	g := &grid{header: header, left: make([]bool, len(header))}
	for i := range g.left {
		g.left[i] = true
	}
	return g
}

// widths returns the width of each column.
func (g *grid) widths() []int {
	w := make([]int, len(g.header))
	for _, row := range append([][]string{g.header}, g.rows...) {
		for i, cell := range row {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// pad sets a row in columns of the given widths.
func (g *grid) pad(row []string, widths []int) []string {
	out := make([]string, len(widths))
	for i, w := range widths {
		space := strings.Repeat(" ", max(0, w-utf8.RuneCountInString(row[i])))
		if g.left[i] {
			out[i] = row[i] + space
		} else {
			out[i] = space + row[i]
		}
	}
	return out
}

// text writes the grid for a terminal in columns of the given widths.
func (g *grid) text(b *strings.Builder, widths []int) {
	line := func(cells []string) {
		b.WriteString(strings.TrimRight(" "+strings.Join(cells, "  "), " ") + "\n")
	}
	line(g.pad(g.header, widths))
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("─", n)
		b.WriteString(rule[i] + "──")
	}
	b.WriteString("\n")
	for _, row := range g.rows {
		if row == nil {
			row = rule
		}
		line(g.pad(row, widths))
	}
}

// markdown writes the grid as a Markdown table; rules are left out.
func (g *grid) markdown(b *strings.Builder) {
	cells := &grid{header: markdownRow(g.header), left: g.left}
	for _, row := range g.rows {
		if row != nil {
			cells.rows = append(cells.rows, markdownRow(row))
		}
	}
	widths := cells.widths()
	line := func(row []string) {
		b.WriteString("| " + strings.Join(cells.pad(row, widths), " | ") + " |\n")
	}
	line(cells.header)
	for i, n := range widths {
		if g.left[i] {
			b.WriteString("|:" + strings.Repeat("-", n+1))
		} else {
			b.WriteString("|" + strings.Repeat("-", n+1) + ":")
		}
	}
	b.WriteString("|\n")
	for _, row := range cells.rows {
		line(row)
	}
}

// markdownEscapes keep a cell's text from being read as markup.
var markdownEscapes = strings.NewReplacer("|", `\|`, "<br>", "<br>", "<", "&lt;", "\n", " ", "*", `\*`, "_", `\_`)

// markdownRow escapes a row.
func markdownRow(row []string) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = markdownEscapes.Replace(cell)
	}
	return out
}
