package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"polkrepro/experiments"
	"polkrepro/report/plot"
)

// A Figure is one of the paper's figures, or one that supplements them.
type Figure struct {
	Name    string // stem of its files: figure2
	Title   string
	Caption string
	Missing string // why there is no picture; empty where there is one
	Drawing plot.Drawing
	Data    func() [][]string // the numbers behind it as lines of a CSV file, a header first; nil if there are none
	Series  []*Series         // of a figure of curves over samples

	number int // 0 for a figure that is not the paper's
}

// figures makes all figures.
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
	others := b.streams(b.supplementary, func(i int) string { return fmt.Sprintf("S%d", i+2) })
	if f := b.standIns(); f != nil {
		out = append(out, f)
	}
	return append(out, others...)
}

// hasNumbers says whether there are numbers behind the figure.
func (f *Figure) hasNumbers() bool { return f.Missing == "" && f.Data != nil }

// CSV writes the numbers behind the figure, if there are any:
//
//   - of curves, a line for each evaluation of each run, the error rate in per
//     cent;
//   - of decision surfaces, a line for each node of a grid on the plane and
//     each dictionary element, with the class decided for there and, where
//     scores are logits, the probability of that class;
//   - of data in the plane, a line for each point shown and each mean of a
//     component, with its class;
//   - of the forest plot, a line for each test, with its place on the axis;
//   - of the combinations of alternatives, a line for all that reproduce the same
//     with as many choices by result.
func (f *Figure) CSV(w io.Writer) error {
	if !f.hasNumbers() {
		return nil
	}
	return csv.NewWriter(w).WriteAll(f.Data())
}

// SVG draws the figure. It is an error to draw one that is missing.
func (f *Figure) SVG() ([]byte, error) {
	if f.Drawing == nil {
		return nil, fmt.Errorf("report: %s is missing: %s", f.Name, f.Missing)
	}
	return plot.Render(f.Drawing, "svg")
}
