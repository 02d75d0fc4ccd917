// Package report turns records into the paper's tables and figures.
//
// [Build] makes the model of a report from what was planned and what was
// recorded; it never trains anything. A [Table] is one model (package table) with
// faces: text for a terminal, Markdown, CSV and LaTeX. A [Figure] has a title, a caption, a
// drawing (package plot), written as SVG, PNG and PDF, and the numbers behind it, as CSV; a contact sheet shows all of the paper's.
// A forest plot of the verdicts of package evidence is the first figure.
// [Report.WriteAll] writes all of it into a folder. Package page, below this
// one, makes it one HTML file with the verdicts on the paper's claims.
//
// Nothing is left out in silence: a cell or a figure without records says why
// it has none, and a value that can't be drawn is counted in the caption.
// Equal input gives equal bytes in every file.
package report
