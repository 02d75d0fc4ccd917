package export

import (
	"io"

	"polkrepro/report"
)

// The document around the tables: what they need, and nothing that a small TeX
// installation lacks.
const (
	latexHead = `\documentclass{article}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[margin=12mm]{geometry}
\usepackage{booktabs}
\begin{document}
`
	latexTail = `\end{document}
`
)

// LaTeX writes tables as a document that pdflatex compiles as it is, each table
// on a page of its own. A single table, for a document that has booktabs, is
// report.Table's LaTeX.
func LaTeX(w io.Writer, tables []*report.Table) error {
	if _, err := io.WriteString(w, latexHead); err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.LaTeX(w); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\\clearpage\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, latexTail)
	return err
}
