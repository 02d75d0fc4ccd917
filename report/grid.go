package report

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// A grid is a header and rows of cells, one line each, as tablewriter takes
// them. A nil row is a rule.
type grid struct {
	header []string
	rows   [][]string
	left   []bool // columns set flush left; the others are numbers, set flush right
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

// text renders the grid for a terminal in columns of the given widths.
func (g *grid) text(w io.Writer, widths []int) error {
	var b strings.Builder
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(bare)),
		tablewriter.WithConfig(verbatim),
		tablewriter.WithTrimSpace(tw.Off))
	t.Header(g.pad(g.header, widths))
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("─", n)
	}
	for _, row := range g.rows {
		if row == nil {
			row = rule
		}
		if err := t.Append(g.pad(row, widths)); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	return writeTrimmed(w, b.String())
}

// writeTrimmed writes lines without the spaces at their ends.
func writeTrimmed(w io.Writer, s string) error {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n"))
	return err
}

// bare is a rendition without lines other than that below the header.
var bare = tw.Rendition{
	Borders: tw.BorderNone,
	Symbols: tw.NewSymbols(tw.StyleLight),
	Settings: tw.Settings{
		Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
		Lines:      tw.Lines{ShowHeaderLine: tw.On, ShowTop: tw.Off, ShowBottom: tw.Off, ShowFooterLine: tw.Off},
	},
}

// verbatim leaves cells as they are.
var verbatim = tablewriter.Config{
	Header: tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft},
	},
	Row: tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft},
	},
}

// markdown renders the grid as a Markdown table; rules are left out.
func (g *grid) markdown(w io.Writer) error {
	aligns := make([]tw.Align, len(g.left))
	for i, left := range g.left {
		aligns[i] = tw.AlignRight
		if left {
			aligns[i] = tw.AlignLeft
		}
	}
	t := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithConfig(verbatim),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: aligns}))
	t.Header(markdownRow(g.header))
	for _, row := range g.rows {
		if row == nil {
			continue
		}
		if err := t.Append(markdownRow(row)); err != nil {
			return err
		}
	}
	return t.Render()
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
