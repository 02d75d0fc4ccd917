package report

import (
	"strconv"

	"gonum.org/v1/plot/vg"

	"polkrepro/evidence"
	"polkrepro/report/plot"
)

// placeboLooks are the looks of the kinds of placebo, in their order.
var placeboLooks = []plot.Look{
	{Color: plot.RGB(0x6a, 0x3d, 0x9a), Width: 1.2},
	{Color: plot.RGB(0x22, 0x22, 0x22), Dash: []vg.Length{6, 2}, Width: 1.2},
	{Color: plot.RGB(0x55, 0x55, 0x55), Dash: []vg.Length{2.5, 1.5}, Width: 1.2},
	{Color: plot.RGB(0x88, 0x88, 0x88), Dash: []vg.Length{1, 1.5}, Width: 1.2},
}

// PlaceboFigure makes the figure of the joint search on perturbed or exchanged numbers in place
// of the printed ones: the distribution, over the draws, of the most cells that one combination
// of alternatives reproduces. A vertical line marks the result for the printed numbers.
func PlaceboFigure(p *evidence.PlaceboReport) *Figure {
	panel := &plot.Panel{
		XLabel: "cells reproduced by the best combination, of " + strconv.Itoa(p.Cells), YLabel: "draws (%)",
		XMax: float64(p.Cells),
	}
	picture := &plot.Picture{Panels: []*plot.Panel{panel}, Height: 1.4 * plot.PanelHeight}
	highest := 0.0
	for i, k := range p.Kinds {
		t := plot.Trace{Label: k.Name, Look: placeboLooks[i], Dots: true}
		for cells, n := range k.Most {
			share := 100 * float64(n) / float64(k.Draws)
			highest = max(highest, share)
			t.Curve = append(t.Curve, plot.Single(float64(cells), share))
		}
		panel.Traces = append(panel.Traces, t)
		picture.Legend = append(picture.Legend, plot.LineEntry(k.Name, t.Look))
	}
	printed, most := plot.Look{Color: plot.RGB(0, 0, 0), Width: 1}, float64(p.Most)
	panel.Traces = append(panel.Traces, plot.Trace{Label: "as printed", Look: printed, Curve: []plot.Sample{plot.Single(most, 0), plot.Single(most, highest)}})
	picture.Legend = append(picture.Legend, plot.LineEntry("as printed", printed))
	return &Figure{Name: "placebo", Drawing: picture}
}
