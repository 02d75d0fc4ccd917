package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"polkrepro/internal/charset"
	"polkrepro/report/table"
)

// The size of a summary's text. The tables of the paper are no wider than
// summaryNarrow.
const (
	SummaryLines  = 60  // at most
	SummaryWidth  = 100 // columns at most; a longer path is not broken
	summaryNarrow = 80
)

// Text writes the summary in at most SummaryLines lines of width columns, from
// 80 to SummaryWidth (default SummaryWidth); in ASCII if the terminal shows
// nothing else.
func (s *Summary) Text(w io.Writer, width int, ascii bool) error {
	t := summaryText{width: min(max(cmp.Or(width, SummaryWidth), summaryNarrow), SummaryWidth), encode: func(s string) string { return s }}
	if ascii {
		t.encode = charset.ASCII
	}
	blocks := s.blocks()
	paper := len(blocks) > 0
	title := "The paper's Tables 2 and 3 → this reproduction" + s.profileText()
	heading, series := s.series(paper)
	var tail []string
	if paper {
		tail = t.items("", s.verdicts())
	}
	tail = append(tail, t.items("Missing", s.missing(blocks))...)
	tail = append(tail, t.items("", s.where(paper))...)
	head := t.tables(title, blocks, true)
	if need := len(series) + 2; len(head)+need+len(tail) > SummaryLines {
		head = t.tables(title, blocks, false)
	}
	lines := append(head, t.series(heading, series, SummaryLines-len(head)-len(tail))...)
	lines = append(lines, tail...)
	if lines[0] == "" {
		lines = lines[1:]
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// summaryText lays the parts of a summary out.
type summaryText struct {
	width  int
	encode func(string) string
}

// tables lays the paper's tables out, a line a method; with empty lines between
// the blocks if spaced.
func (t summaryText) tables(title string, blocks []summaryBlock, spaced bool) []string {
	if len(blocks) == 0 {
		return nil
	}
	g := table.Grid{Header: make([]string, summaryColumns), Left: make([]bool, summaryColumns)}
	g.Left[0] = true
	for q := range quantityCount {
		g.Left[4*q+4] = true // marks
	}
	for _, b := range blocks {
		for _, r := range b.rows {
			cells := r.cells
			for i, s := range cells {
				cells[i] = t.encode(s)
			}
			cells[0] = "  " + cells[0]
			g.Rows = append(g.Rows, cells[:])
		}
	}
	widths := g.Widths()
	header := []string{strings.Repeat(" ", widths[0])}
	for q, name := range []string{"risk", "error (%)", "model order"} {
		group := 3
		for _, n := range widths[4*q+1 : 4*q+5] {
			group += n
		}
		header = append(header, fmt.Sprintf("%-*s", group, name))
	}
	lines := []string{t.encode(title), strings.TrimRight(strings.Join(append(header, "runs"), "   "), " ")}
	for i, b := range blocks {
		if spaced && i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, t.encode(b.heading))
		for _, r := range b.rows {
			cells := g.Pad(g.Rows[0], widths)
			g.Rows = g.Rows[1:]
			if r.why != "" {
				lines = append(lines, cells[0]+"   "+t.encode(r.why))
				continue
			}
			parts := []string{cells[0]}
			for q := range quantityCount {
				parts = append(parts, strings.Join(cells[4*q+1:4*q+5], " "))
			}
			lines = append(lines, strings.TrimRight(strings.Join(append(parts, cells[summaryColumns-1]), "   "), " "))
		}
	}
	return lines
}

// series lays a table of series out in at most room lines.
func (t summaryText) series(heading string, rows [][]string, room int) []string {
	room -= 2 // an empty line and the heading
	if len(rows) == 0 || room < 2 {
		return nil
	}
	more := 0
	if len(rows) > room {
		rows, more = rows[:room-1], len(rows)-room+1
	}
	name := slices.Index(rows[0], "series") // the last column of text
	g := table.Grid{Header: rows[0], Left: make([]bool, len(rows[0]))}
	for i := range g.Left {
		g.Left[i] = i <= name
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, s := range row {
			cells[i] = t.encode(s)
		}
		g.Rows = append(g.Rows, cells)
	}
	widths := g.Widths()
	total := 2 * len(widths)
	for _, n := range widths {
		total += n
	}
	if over := total - t.width; over > 0 {
		widths[name] = max(12, widths[name]-over)
	}
	lines := []string{"", t.fit(heading, t.width)}
	for _, row := range g.Rows {
		row[name] = t.fit(row[name], widths[name])
		lines = append(lines, strings.TrimRight("  "+strings.Join(g.Pad(row, widths), "  "), " "))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more, see tables/runs.txt of the report", more))
	}
	return lines
}

// items lays items out in two columns, each in a line, or in two if the command
// does not fit beside the text.
func (t summaryText) items(heading string, items []summaryItem) []string {
	if len(items) == 0 {
		return nil
	}
	lines, indent := []string{""}, ""
	if heading != "" {
		lines, indent = append(lines, heading), "  "
	}
	widest := 0
	for _, i := range items {
		widest = max(widest, utf8.RuneCountInString(t.encode(i.word)))
	}
	for _, i := range items {
		word := t.encode(i.word)
		line := indent + word + strings.Repeat(" ", widest-utf8.RuneCountInString(word)) + "  "
		start := len(line)
		text, command := t.encode(i.text), t.encode(i.command)
		switch {
		case text == "" || command == "":
			line += text + command
		case utf8.RuneCountInString(line+text+": "+command) > t.width:
			line += text + ":\n" + strings.Repeat(" ", min(start, 4)) + command
		default:
			line += text + ": " + command
		}
		lines = append(lines, strings.Split(line, "\n")...)
	}
	return lines
}

// fit encodes a text and shortens it to a width.
func (t summaryText) fit(s string, width int) string {
	s = t.encode(s)
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:width-3])) + "..."
}
