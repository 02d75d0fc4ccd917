package export

import (
	"io"

	"polkrepro/harness"
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

// LaTeX writes the paper's tables, without verdicts, as a document that pdflatex compiles as
// it is, each table on a page of its own. A single table, for a document that has booktabs,
// is report.Table's LaTeX.
func (f *Folder) LaTeX(w io.Writer) error {
	r := report.Build(report.Input{
		Planned: harness.Recorded(f.specs, f.Plan, f.Records.Records), Records: f.Records.Records, Profile: f.Profile, FullCells: f.fullCells(),
	})
	return latex(w, r.Tables)
}

func latex(w io.Writer, tables []*report.Table) error {
	_, err := io.WriteString(w, latexHead)
	for _, t := range tables {
		if err == nil {
			err = t.LaTeX(w)
		}
		if err == nil {
			_, err = io.WriteString(w, "\\clearpage\n")
		}
	}
	if err == nil {
		_, err = io.WriteString(w, latexTail)
	}
	return err
}
