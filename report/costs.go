package report

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"polkrepro/compare"
	"polkrepro/report/plot"
)

// A costCurve is the error of a method, or heuristic, at several costs.
type costCurve struct {
	name    string
	remarks map[compare.Measure]string // below the name, on errors at equal order and at equal time
	points  []costPoint
}

// A costPoint is a mean final error in per cent with its standard deviation, at a mean
// model order and a mean processor time.
type costPoint struct{ order, seconds, err, sd float64 }

// A costStudy is what two figures of errors show: against model order and against time.
type costStudy struct {
	name, title, task, about string
	reference                costCurve // in every panel
	others                   []costCurve
	looks                    map[string]plot.Look // by name
	rules                    []float64            // model orders that are compared
}

// costs are the quantities on the x axes. Points are joined only if it is the model order, because
// a larger order does not always take more time.
var costs = []struct {
	suffix, title, label string
	measure              compare.Measure
	apart                bool
	of                   func(costPoint) float64
}{
	{"-order", "model order", "model order", compare.ErrorAtOrder, false, func(p costPoint) float64 { return p.order }},
	{"-time", "training time", "CPU (s)", compare.ErrorAtTime, true, func(p costPoint) float64 { return p.seconds }},
}

// Widths of the lines in small multiples: of the reference, which is in every panel, and of the
// panel's own method.
const (
	referenceWidth = 0.9
	ownWidth       = 1.1
)

// costFigures makes both figures of a study, each with a panel for each of the others.
func costFigures(s costStudy) (out []*Figure) {
	for _, by := range costs {
		trace := func(c costCurve, width vg.Length, dots bool) plot.Trace {
			t := plot.Trace{Label: c.name, Look: s.looks[c.name].Of(width), Deviation: true, Dots: dots, Apart: by.apart}
			for _, p := range slices.SortedStableFunc(slices.Values(c.points), func(a, b costPoint) int { return cmp.Compare(by.of(a), by.of(b)) }) {
				t.Curve = append(t.Curve, plot.Sample{X: by.of(p), Mean: p.err, Low: p.err - p.sd, High: p.err + p.sd})
			}
			return t
		}
		reference := trace(s.reference, referenceWidth, by.apart)
		var panels []*plot.Panel
		for _, c := range s.others {
			pn := &plot.Panel{Title: c.name, Remark: c.remarks[by.measure], XLabel: by.label, Traces: []plot.Trace{reference}}
			if c.name != s.reference.name {
				pn.Traces = append(pn.Traces, trace(c, ownWidth, true))
			}
			if !by.apart {
				pn.Rules = s.rules
			}
			panels = append(panels, pn)
		}
		p := plot.Small(errorOf(s.task).test, panels)
		p.Legend = plot.Legend{plot.LineEntry(reference.Label, reference.Look)}
		if by.apart {
			p.Legend[0] = plot.IconEntry(reference.Label, reference.Mark)
		}
		out = append(out, &Figure{
			Name: s.name + by.suffix, Title: s.title + ": error against " + by.title, Drawing: p,
			Caption: fmt.Sprintf("Final %s on the test set against %s: means and their standard deviation. In each panel %s is blue. %s",
				errorOf(s.task).caption, by.title, reference.Label, s.about),
		})
	}
	return out
}
