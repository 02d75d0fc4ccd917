package table

import (
	"strings"
	"testing"
)

func TestLaTeXEscape(t *testing.T) {
	for in, want := range map[string]string{
		"a_b & 5 % of $x^2$ {#~\\}": `a\_b \& 5 \% of \$x\textasciicircum{}2\$ \{\#\textasciitilde{}\textbackslash{}\}`,
		"0.1 ± 0.2 — λ日\n":          `0.1 $\pm$ 0.2 --- $\lambda$? `,
		"NORMA, τ = 160":            `NORMA, $\tau$ = 160`,
	} {
		if got := latexEscape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
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
