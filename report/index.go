package report

import (
	"fmt"
	"io"
	"strings"

	"polkrepro/report/table"
)

// Index writes the report's first page in Markdown: the tables, the pictures,
// and what is missing and why.
func (r *Report) Index(w io.Writer) error {
	var b strings.Builder
	heading, contents := "Results beside the paper's", ", with the verdicts on the paper's claims"
	if own := r.Input.Own; own != "" {
		heading, contents = "Results of "+table.Escape(own), ""
	}
	fmt.Fprintf(&b, "# %s\n\n", heading)
	if p := r.Input.Profile; p != "" {
		fmt.Fprintf(&b, "Profile: %s.\n\n", p)
	}
	if r.Page != "" {
		fmt.Fprintf(&b, "As one page%[2]s: [%[1]s](%[1]s).\n\n", r.Page, contents)
	}
	for _, t := range r.Tables {
		indexTable(&b, t)
	}
	for _, f := range r.Figures {
		indexFigure(&b, f)
	}
	for _, s := range r.Parts {
		fmt.Fprintf(&b, "# %s\n\n%s\n\n", table.Escape(s.Title), table.Escape(s.Text))
		for _, f := range s.Figures {
			indexFigure(&b, f)
		}
	}
	indexTable(&b, r.Runs)
	if missing := r.Missing(); len(missing) > 0 {
		b.WriteString("## What is missing, and why\n\n")
		for _, l := range missing {
			fmt.Fprintf(&b, "- %s\n", table.Escape(l))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// indexTable writes a table and where its other faces are.
func indexTable(b *strings.Builder, t *Table) {
	fmt.Fprintf(b, "## %s\n\n%s\n", table.Escape(t.Title), t.MarkdownBody())
	fmt.Fprintf(b, "Also as [text](tables/%[1]s.txt), [CSV](tables/%[1]s.csv) and [LaTeX](tables/%[1]s.tex).\n\n", t.Name)
}

// indexFigure shows a figure or says why it is missing.
func indexFigure(b *strings.Builder, f *Figure) {
	fmt.Fprintf(b, "## %s\n\n", table.Escape(f.Title))
	if f.Missing != "" {
		fmt.Fprintf(b, "No picture: %s.\n\n", table.Escape(f.Missing))
		return
	}
	fmt.Fprintf(b, "![%[1]s](figures/%[1]s.svg)\n\n%[2]s\n\n", f.Name, table.Escape(f.Caption))
	others := "[PNG](figures/%[1]s.png) and [PDF](figures/%[1]s.pdf)"
	if f.hasNumbers() {
		others = "[PNG](figures/%[1]s.png), [PDF](figures/%[1]s.pdf) and [CSV](figures/%[1]s.csv)"
	}
	fmt.Fprintf(b, "Also as "+others+".\n\n", f.Name)
}
