package report

import (
	"fmt"
	"slices"

	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// sizesText introduces the part on error and size.
const sizesText = "A kernel model's size is its model order, for an SVM the number of its support vectors: prediction takes time and memory in proportion. " +
	"POLK is shown with both parsimony constants of each spec; a larger constant keeps fewer elements."

// sizePanels are the data sets whose hinge-loss runs are compared, with the specs of the runs.
var sizePanels = []struct {
	title string
	specs []string
}{
	{"MNIST", []string{"mnist-ksvm", "mnist-batch-ksvm"}},
	{"Fashion-MNIST", []string{"fashion-ksvm"}},
	{"letter", []string{"letter-ksvm"}},
}

// sizeMethods are the methods that are shown. Merging POLK is not the paper's.
var sizeMethods = []struct {
	label, method, pruner string
	rank                  int
}{
	{"POLK", spec.MethodPOLK, "", 0},
	{"merging POLK", spec.MethodPOLK, "komp-merge", 1},
	{"merging BSGD", "bsgd", "", 0},
	{"SVM (C-SVC)", "csvc", "", 0},
}

// sizes makes the figure of test error against model order, one panel for each data set that has
// been run.
func (b *builder) sizes() []*Figure {
	p := &plot.Picture{}
	for _, of := range sizePanels {
		pn := &plot.Panel{Title: of.title, XLabel: "model order, support vectors", YLabel: "test error (%)"}
		series := b.series(func(p spec.Planned) bool { return slices.Contains(of.specs, p.Spec) })
		for _, m := range sizeMethods {
			t := plot.Trace{Label: m.label, Look: lookOf(m.method, m.rank), Dots: true}
			for _, s := range series {
				final := finalStats(s.Runs, paper.RiskTest)
				fits := s.Run.Method == m.method && (m.method != spec.MethodPOLK || prunerOf(s) == m.pruner)
				if order := float64(final[qOrder].Mean); fits && words.Finite(order) {
					t.Curve = append(t.Curve, plot.Single(order, float64(final[qError].Mean)))
				}
			}
			slices.SortFunc(t.Curve, func(x, y plot.Sample) int { return int(x.X - y.X) })
			if len(t.Curve) > 0 {
				pn.Traces = append(pn.Traces, t)
			}
		}
		if pn.Span(); len(pn.Traces) > 1 {
			pn.Title = fmt.Sprintf("(%c) %s", 'a'+len(p.Panels), pn.Title)
			pn.XMin, pn.XMax = 50, 50_000 // the same in all panels
			p.Panels = append(p.Panels, pn)
		}
	}
	if len(p.Panels) == 0 {
		return nil
	}
	for _, m := range sizeMethods {
		p.Legend = append(p.Legend, plot.LineEntry(m.label, lookOf(m.method, m.rank)))
	}
	return []*Figure{{
		Name: "sizes", Title: "Error against size", Drawing: p,
		Caption: "Test error with the hinge loss against the number of elements or support vectors that the model keeps; means over runs.",
	}}
}

// prunerOf returns the name of the heuristic of a series of POLK, "" for the paper's.
func prunerOf(s *Series) string {
	if s.Run.Params.Pruner == "komp" {
		return ""
	}
	return s.Run.Params.Pruner
}
