package report

import (
	"fmt"
	"slices"
	"strings"

	"polkrepro/paper"
	"polkrepro/report/plot"
	"polkrepro/report/table"
	"polkrepro/spec"
)

// A Figure is one of the paper's figures, or one that supplements them.
type Figure struct {
	Name    string // stem of its files: figure2
	Title   string
	Caption string
	Alt     string // text for readers who can't see the picture (default: Title)
	Missing string // why there is no picture; empty if there is one
	Drawing plot.Drawing
	Data    func() [][]string // numbers behind the figure as lines of a CSV file, a header first (default: the curves)
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
		case paper.FigureCurves:
			b.curves(f, pf, b.series(func(p spec.Planned) bool { return slices.Contains(p.Figures, pf.ID) }))
		case paper.FigureDecision:
			b.decisions(f, pf)
		case paper.FigureData:
			b.dataSets(f, pf)
		}
		out = append(out, f)
	}
	others := b.streams(func(p spec.Planned) bool {
		s := spec.SupplementOf(p.Spec)
		return b.notOfPaper(p) || s != "" && s != spec.OpenQuestions // its dozens of series are in a table instead
	}, func(i int) string { return fmt.Sprintf("S%d", i+2) })
	if f := b.standIns(); f != nil {
		out = append(out, f)
	}
	return append(out, others...)
}

// CSV returns the numbers behind the figure as a CSV file: those of Data, or a line for each point
// of each curve. It returns an empty string if there are none.
func (f *Figure) CSV() string {
	p, curves := f.Drawing.(*plot.Picture)
	switch {
	case f.Missing != "" || f.Data == nil && !curves:
		return ""
	case f.Data != nil:
		return table.CSV(f.Data())
	}
	rows := [][]string{strings.Fields("panel series x mean low high")}
	for _, pn := range p.Panels {
		for _, t := range pn.Traces {
			for _, s := range t.Curve {
				rows = append(rows, line(strings.TrimSpace(pn.Title+" "+pn.YLabel), t.Label, s.X, s.Mean, s.Low, s.High))
			}
		}
	}
	return table.CSV(rows)
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
