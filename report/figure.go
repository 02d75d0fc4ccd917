package report

import (
	"fmt"
	"slices"

	"polkrepro/experiments"
	"polkrepro/report/plot"
	"polkrepro/report/table"
)

// A Figure is one of the paper's figures, or one that supplements them.
type Figure struct {
	Name    string // stem of its files: figure2
	Title   string
	Caption string
	Alt     string // text for readers who can't see the picture (default: Title)
	Missing string // why there is no picture; empty if there is one
	Drawing plot.Drawing
	Data    func() [][]string // numbers behind the figure as lines of a CSV file, a header first; nil if there are none
	Series  []*Series         // set in a figure of curves over samples with a panel for each quantity

	number int // 0 for a figure that is not the paper's
}

// figures makes the paper's figures, the figure of the stand-ins and the curves of the
// supplementary runs. The other figures are made by forest, theory and parts.
func (b *builder) figures() []*Figure {
	var out []*Figure
	for _, pf := range b.paper.Figures {
		f := &Figure{Name: "figure" + pf.ID, Title: fmt.Sprintf("Figure %d. %s", pf.Number, pf.Title), number: pf.Number}
		switch pf.Kind {
		case experiments.FigureCurves:
			b.curves(f, pf, b.series(func(p experiments.Planned) bool { return slices.Contains(p.Figures, pf.ID) }))
		case experiments.FigureDecision:
			b.decisions(f, pf)
		case experiments.FigureData:
			b.dataSets(f, pf)
		}
		out = append(out, f)
	}
	others := b.streams(func(p experiments.Planned) bool {
		s := experiments.SupplementOf(p.Spec)
		return b.notOfPaper(p) || s != "" && s != experiments.OpenQuestions // its dozens of series are in a table instead
	}, func(i int) string { return fmt.Sprintf("S%d", i+2) })
	if f := b.standIns(); f != nil {
		out = append(out, f)
	}
	return append(out, others...)
}

// hasNumbers says whether there are numbers behind the figure.
func (f *Figure) hasNumbers() bool { return f.Missing == "" && f.Data != nil }

// CSV returns the numbers behind the figure as a CSV file, or an empty string if there are none.
// The file has these lines:
//
//   - of curves, a line for each evaluation of each run, with the error rate in
//     per cent;
//   - of decision surfaces, a line for each node of a grid on the plane and
//     each dictionary element, with the predicted class and, if the scores are
//     logits, its probability;
//   - of data in the plane, a line for each point shown and each component
//     mean, with its class;
//   - of the forest plot, a line for each test, with its position on the axis;
//   - of the combinations of alternatives, a line for each group with the same
//     number of choices by result, of cells and of numbers reproduced.
func (f *Figure) CSV() string {
	if !f.hasNumbers() {
		return ""
	}
	return table.CSV(f.Data())
}

// SVG returns the figure as SVG. The figure must not be missing.
func (f *Figure) SVG() ([]byte, error) { return plot.Render(f.Drawing, "svg") }

// Charts returns the panels of a figure of curves over samples, for a page that draws curves
// itself: readers can hide its lines, zoom in and read off values. It returns nil for any other
// figure and for a missing one.
func (f *Figure) Charts() []*plot.Panel {
	if p, ok := f.Drawing.(*plot.Picture); ok && f.Series != nil {
		return p.Panels
	}
	return nil
}
