package table

import (
	"bytes"
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

func TestMarkdownEscapes(t *testing.T) {
	tb := &Table{Name: "x", Title: "a|b*c", Header: []string{"h|1"}, Rows: [][]string{{"<b>_|_"}}}
	var b bytes.Buffer
	if err := tb.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`a\|b\*c`, `h\|1`, `&lt;b>\_\|\_`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
