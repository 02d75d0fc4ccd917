package table

import (
	"strconv"
	"strings"
	"testing"
)

func TestLaTeXEscape(t *testing.T) {
	for in, want := range map[string]string{
		"a_b & 5 % of $x^2$ {#~\\}": `a\_b \& 5 \% of \$x\textasciicircum{}2\$ \{\#\textasciitilde{}\textbackslash{}\}`,
		"0.1 ± 0.2 — λ日\n":          `0.1 $\pm$ 0.2 --- $\lambda$? `,
	} {
		if got := latexEscape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestLaTeXSizes checks that a user's own table shrinks with its width and is turned sideways in
// the end. A table of the paper that is wide or has many lines is tiny.
func TestLaTeXSizes(t *testing.T) {
	wide := func(n int) *Table {
		return &Table{Name: "x", Header: []string{"h"}, Rows: [][]string{{strings.Repeat("w", n)}}}
	}
	own := func(n int) *Table {
		tb := wide(n)
		tb.Numbers = tb.Rows
		return tb
	}
	lines := func(n int) *Table {
		row := &Row{ID: "a"}
		for i := range n {
			row.Lines = append(row.Lines, Line{Label: strconv.Itoa(i)})
		}
		return &Table{Name: "x", Blocks: []*Block{{Rows: []*Row{row}}}}
	}
	for i, c := range []struct {
		of          *Table
		float, size string
	}{
		{own(footnoteWidth), "table}[t]", "footnotesize"},
		{own(footnoteWidth + 1), "table}[t]", "scriptsize"},
		{own(scriptWidth), "table}[t]", "scriptsize"},
		{own(scriptWidth + 1), "sidewaystable}", "scriptsize"},
		{wide(scriptWidth), "table}[t]", "scriptsize"},
		{wide(scriptWidth + 1), "table}[t]", "tiny"},
		{lines(scriptLines / 2), "table}[t]", "scriptsize"},
		{lines(scriptLines), "table}[t]", "tiny"},
	} {
		if got, want := c.of.LaTeX(), "\\begin{"+c.float+"\\centering\\"+c.size+"\\"; !strings.Contains(got, want) {
			t.Errorf("%d: no %s in\n%.300s", i, want, got)
		}
	}
}

func TestMarkdownEscapes(t *testing.T) {
	tb := &Table{Name: "x", Title: "a|b*c", Header: []string{"h|1"}, Rows: [][]string{{"<b>_|_"}}}
	text := tb.Markdown()
	for _, want := range []string{`a\|b\*c`, `h\|1`, `&lt;b>\_\|\_`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
