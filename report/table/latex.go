package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits for a table to fit a page in scriptsize: scriptWidth characters, summed over the widest
// cells of a plain table's columns, and scriptLines lines of a table that compares with the paper.
const (
	footnoteWidth = 100 // the limit in footnotesize, for the user's own tables
	scriptWidth   = 130
	scriptLines   = 75
)

// LaTeX returns the table as a float for the booktabs package. It has a part for each data set,
// with the tasks side by side, and in each row a line for the paper and lines for the runs.
func (t *Table) LaTeX() string {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}\n")
	size, width := "scriptsize", 0
	var body strings.Builder
	if t.Blocks == nil {
		for _, n := range t.plainGrid().Widths() {
			width += n
		}
		t.latexPlain(&body)
	} else {
		t.latexBlocks(&body)
	}
	float, place := "table", "[t]"
	switch {
	case t.Numbers == nil || t.Blocks != nil:
	case width <= footnoteWidth:
		size = "footnotesize"
	case width > scriptWidth: // rotated on a separate page, not set smaller
		float, place, width = "sidewaystable", "", 0
		b.WriteString("% needs \\usepackage{rotating}\n")
	}
	if width > scriptWidth || t.Blocks != nil && strings.Count(body.String(), "\n") > scriptLines {
		size = "tiny"
	}
	fmt.Fprintf(&b, "\\begin{%s}%s\\centering\\%s\\setlength{\\tabcolsep}{3pt}\n%s", float, place, size, body.String())
	notes := append([]string{cmp.Or(t.Caption, t.Title+".")}, t.notes(short)...)
	fmt.Fprintf(&b, "\\caption{%s}\n\\label{tab:polkrepro-%s}\n\\end{%s}\n", latexEscape(strings.Join(notes, " ")), strings.ToLower(t.Name), float)
	return b.String()
}

// latexPlain writes a plain table.
func (t *Table) latexPlain(b *strings.Builder) {
	g := t.plainGrid()
	spec := ""
	for _, left := range g.Left {
		spec += map[bool]string{true: "l", false: "r"}[left]
	}
	fmt.Fprintf(b, "\\begin{tabular}{@{}%s@{}}\n\\toprule\n%s \\\\\n\\midrule\n", spec, latexCells(g.Header...))
	for _, row := range g.Rows {
		b.WriteString(latexCells(row...) + " \\\\\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
}

// latexBlocks writes a table that compares with the paper.
func (t *Table) latexBlocks(b *strings.Builder) {
	var parts [][]*Block // blocks of one data set
	tasks := 1
	for i, blk := range t.Blocks {
		if i == 0 || blk.Data != t.Blocks[i-1].Data {
			parts = append(parts, nil)
		}
		last := &parts[len(parts)-1]
		*last = append(*last, blk)
		tasks = max(tasks, len(*last))
	}
	fmt.Fprintf(b, "\\begin{tabular}{@{}ll%s@{}}\n\\toprule\n", strings.Repeat("rrr", tasks))
	for i, part := range parts {
		if i > 0 {
			b.WriteString("\\midrule[\\heavyrulewidth]\n")
		}
		latexData(b, part)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
}

// latexData writes the part of a table on one data set.
func latexData(b *strings.Builder, blocks []*Block) {
	fmt.Fprintf(b, "\\multicolumn{2}{@{}l}{\\texttt{%s}}", latexEscape(blocks[0].Data))
	for _, blk := range blocks {
		fmt.Fprintf(b, " & \\multicolumn{3}{c}{%s}", latexEscape(blk.Title))
	}
	b.WriteString(" \\\\\n")
	for i := range blocks {
		fmt.Fprintf(b, "\\cmidrule(lr){%d-%d}", 3+3*i, 5+3*i)
	}
	b.WriteString("\nAlgorithm & ")
	for _, blk := range blocks {
		fmt.Fprintf(b, " & %s & error (\\%%) & order", blk.Risk)
	}
	b.WriteString(" \\\\\n\\midrule\n")
	rows := rowIDs(blocks)
	for i, id := range rows {
		if id.Extra && (i == 0 || !rows[i-1].Extra) {
			b.WriteString("\\midrule\n")
		}
		latexMethod(b, blocks, id)
	}
}

// latexMethod writes the lines of one method: a line for each label, with that line of
// each block's cell.
func latexMethod(b *strings.Builder, blocks []*Block, id *Row) {
	columns := make([]map[string]string, len(blocks))
	var labels, counts []string // counts: number of runs behind each cell
	for i, blk := range blocks {
		columns[i] = make(map[string]string)
		row, next := blk.row(id.ID), 0
		if row.Runs > 0 {
			counts = append(counts, strconv.Itoa(row.Runs))
		}
		for _, l := range row.Lines {
			columns[i][l.Label] = "& " + latexCells(l.Cells[0].Text, l.Cells[1].Text, l.Cells[2].Text)
			if l.Why != "" {
				columns[i][l.Label] = fmt.Sprintf("& \\multicolumn{3}{c}{\\emph{%s}}", latexEscape(l.Why))
			}
			at := slices.Index(labels, l.Label)
			if at < 0 {
				at = next
				labels = slices.Insert(labels, at, l.Label)
			}
			next = at + 1
		}
	}
	for n, label := range labels {
		name, runs := "", ""
		if n == 0 {
			name = id.Title
		}
		if label == "ours" && len(counts) > 0 {
			runs = " (n = " + strings.Join(slices.Compact(counts), ", ") + ")"
		}
		fmt.Fprintf(b, "%s & %s", latexEscape(name), latexEscape(label+runs))
		for _, column := range columns {
			b.WriteString(" " + cmp.Or(column[label], "& & &"))
		}
		b.WriteString(" \\\\\n")
	}
}

// latexCells writes neighbouring cells.
func latexCells(cells ...string) string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = latexEscape(c)
	}
	return strings.Join(out, " & ")
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
