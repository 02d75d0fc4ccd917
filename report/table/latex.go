package table

import (
	"cmp"
	"fmt"
	"strings"
)

// LaTeX returns the table as a float for the packages booktabs and graphicx, in the layout of
// Markdown, with a tabular for each data set. What is wider than a line or too high for the page
// is made smaller.
func (t *Table) LaTeX() string {
	parts := [][]*Block{nil} // the blocks of each data set
	for i, blk := range t.Blocks {
		if i > 0 && blk.Data != t.Blocks[i-1].Data {
			parts = append(parts, nil)
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], blk)
	}
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs}, \\usepackage{graphicx} and \\usepackage[T1]{fontenc}\n")
	b.WriteString("\\begin{table}[t]\\centering\\scriptsize\\setlength{\\tabcolsep}{3pt}\n")
	for _, part := range parts {
		height := fmt.Sprintf("%.2f\\textheight", 0.75/float64(len(parts)))
		fmt.Fprintf(&b, "\\resizebox*{!}{\\ifdim\\totalheight>%[1]s %[1]s\\else\\totalheight\\fi}{%%\n", height)
		b.WriteString("\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n")
		t.wideGrid(part).latex(&b)
		b.WriteString("}}\\par\\medskip\n")
	}
	notes := append([]string{cmp.Or(t.Caption, t.Title+".")}, t.notes()...)
	fmt.Fprintf(&b, "\\caption{%s}\n\\label{tab:polkrepro-%s}\n\\end{table}\n", latexEscape(strings.Join(notes, " ")), strings.ToLower(t.Name))
	return b.String()
}

// latex writes the grid as a tabular.
func (g *Grid) latex(b *strings.Builder) {
	spec := ""
	for _, left := range g.Left {
		spec += map[bool]string{true: "l", false: "r"}[left]
	}
	fmt.Fprintf(b, "\\begin{tabular}{@{}%s@{}}\n\\toprule\n%s\\midrule\n", spec, latexRow(g.Header))
	for _, row := range g.Rows {
		b.WriteString(latexRow(row))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}")
}

// latexRow writes a row. A cell of several lines is a tabular of its own.
func latexRow(row []string) string {
	out := make([]string, len(row))
	for i, cell := range row {
		lines := strings.Split(cell, "<br>")
		for j, line := range lines {
			lines[j] = latexEscape(line)
		}
		if out[i] = lines[0]; len(lines) > 1 {
			out[i] = "\\begin{tabular}[t]{@{}l@{}}" + strings.Join(lines, `\\`) + "\\end{tabular}"
		}
	}
	return strings.Join(out, " & ") + " \\\\\n"
}

// latexChars maps LaTeX's special characters, and the characters beyond ASCII that the reports
// use, to LaTeX.
var latexChars = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '%': `\%`, '_': `\_`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`,
	'|': `\textbar{}`, '"': `\textquotedbl{}`,
	'±': `$\pm$`, '−': `$-$`, '×': `$\times$`, '·': `$\cdot$`, '—': `---`, '–': `--`, '…': `\ldots{}`,
	'Δ': `$\Delta$`, 'λ': `$\lambda$`, 'η': `$\eta$`, 'ε': `$\varepsilon$`, 'κ': `$\kappa$`, 'σ': `$\sigma$`,
	'γ': `$\gamma$`, '≤': `$\le$`, '≥': `$\ge$`, '∞': `$\infty$`, '→': `$\to$`, '²': `$^2$`, '³': `$^3$`,
	'⁶': `$^6$`, '‖': `$\Vert$`, '√': `$\surd$`, '∇': `$\nabla$`, 'φ': `$\phi$`, '\u0302': `$^\wedge$`, '\u0303': `$^\sim$`,
	'₀': `$_0$`, '✓': `$\surd$`, '≠': `$\ne$`, '½': `$\frac12$`, '’': `'`, '‘': "`", '“': "``", 'ö': `\"{o}`, '”': `''`, '\u00a0': `~`,
}

// latexEscape escapes plain text for LaTeX. Newlines and tabs become spaces. Other control
// characters, and characters beyond ASCII that latexChars lacks, become question marks.
func latexEscape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch t, ok := latexChars[r]; {
		case ok:
			b.WriteString(t)
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r < ' ' || r > '~':
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
