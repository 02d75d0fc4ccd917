package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// LaTeX returns the table as floats for the packages booktabs and graphicx, one for each block. What
// is wider than a line or too high for the page is made smaller. The notes are in the last caption.
func (t *Table) LaTeX() string {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs}, \\usepackage{graphicx} and \\usepackage[T1]{fontenc}\n")
	grids := t.grids()
	for i, g := range grids {
		caption, label := []string{cmp.Or(t.Caption, t.Title+".")}, "tab:polkrepro-"+strings.ToLower(cmp.Or(t.Label, t.Name))
		if g.title != "" {
			caption, label = append(caption, g.title+"."), fmt.Sprintf("%s-%d", label, i+1)
		}
		if i == len(grids)-1 {
			caption = append(caption, t.notes()...)
		}
		float, size := "table", "scriptsize"
		if t.Compact {
			size = "footnotesize"
			if g.chars() > columnChars {
				float = "table*"
			}
		}
		fmt.Fprintf(&b, "\\begin{%s}[t]\\centering\\%s\\setlength{\\tabcolsep}{3pt}\n", float, size)
		b.WriteString("\\resizebox*{!}{\\ifdim\\totalheight>0.75\\textheight 0.75\\textheight\\else\\totalheight\\fi}{%\n")
		b.WriteString("\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n")
		g.latex(&b)
		fmt.Fprintf(&b, "}}\n\\caption{%s}\n\\label{%s}\n\\end{%s}\n", latexEscape(strings.Join(caption, " ")), label, float)
	}
	return b.String()
}

// columnChars is the number of characters of a table, with two for each gap, that fit a column of two.
const columnChars = 60

// chars returns the width of the grid in characters.
func (g *Grid) chars() int {
	n := 2 * len(g.Header)
	for _, w := range g.Widths() {
		n += w
	}
	return n
}

// latex writes the grid as a tabular.
func (g *Grid) latex(b *strings.Builder) {
	spec := ""
	for _, left := range g.Left {
		spec += map[bool]string{true: "l", false: "r"}[left]
	}
	fmt.Fprintf(b, "\\begin{tabular}{@{}%s@{}}\n\\toprule\n", spec)
	for _, row := range slices.Concat([][]string{g.Header, nil}, g.Rows) {
		if row == nil {
			b.WriteString("\\midrule\n")
			continue
		}
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = marked(cell, `\textbf{`, "}", latexEscape)
		}
		b.WriteString(strings.Join(cells, " & ") + " \\\\\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}")
}

// latexChars maps LaTeX's special characters, and the characters beyond ASCII that the reports
// use, to LaTeX.
var latexChars = strings.NewReplacer(
	"\\", `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`,
	"^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "<", `\textless{}`, ">", `\textgreater{}`,
	"|", `\textbar{}`, `"`, `\textquotedbl{}`,
	"±", `$\pm$`, "−", `$-$`, "×", `$\times$`, "·", `$\cdot$`, "—", `---`, "–", `--`, "…", `\ldots{}`,
	"Δ", `$\Delta$`, "λ", `$\lambda$`, "η", `$\eta$`, "ε", `$\varepsilon$`, "κ", `$\kappa$`, "σ", `$\sigma$`,
	"γ", `$\gamma$`, "τ", `$\tau$`, "δ", `$\delta$`, "≤", `$\le$`, "≥", `$\ge$`, "∞", `$\infty$`, "→", `$\to$`, "²", `$^2$`, "³", `$^3$`,
	"⁶", `$^6$`, "‖", `$\Vert$`, "√", `$\surd$`, "∇", `$\nabla$`, "φ", `$\phi$`, "\u0302", `$^\wedge$`, "\u0303", `$^\sim$`,
	"₀", `$_0$`, "✓", `$\surd$`, "≠", `$\ne$`, "½", `$\frac12$`, "’", `'`, "‘", "`", "“", "``", "ö", `\"{o}`, "”", `''`, "\u00a0", `~`,
	"\n", " ", "\t", " ",
)

// latexEscape escapes plain text for LaTeX. Newlines and tabs become spaces.
func latexEscape(s string) string { return ASCII(latexChars.Replace(s)) }

// ASCII puts question marks in place of control characters and characters beyond ASCII.
func ASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
