package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report/plot"
)

// A specEntry is the series of one entry of a spec, which differ in their model order alone, by
// the largest first.
type specEntry struct {
	name   string
	series []*Series
}

// entriesOf groups series by the entries of specs, in their order.
func entriesOf(all []*Series) []specEntry {
	var out []specEntry
	seen := make(map[string]int)
	for _, s := range all {
		key := s.planned[0].Spec + "\x00" + s.planned[0].Label
		i, ok := seen[key]
		if !ok {
			i = len(out)
			seen[key] = i
			out = append(out, specEntry{name: entryName(s)})
		}
		out[i].series = append(out[i].series, s)
	}
	return out
}

// entryName is what figures call an entry: its method and, if it has one, its label.
func entryName(s *Series) string {
	title := s.Run.Method
	if m := experiments.Method(title); m != nil {
		title = m.Title
	}
	if label := s.planned[0].Label; label != s.Run.Method {
		title += " (" + label + ")"
	}
	return title
}

// entryLooks are those of entries, of which the first is the reference.
func entryLooks(all []specEntry) map[string]plot.Look {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name
	}
	return badges(names, names[0])
}

// mostCurves is how many series a panel shows.
const mostCurves = 8

// distinct gives the series of a figure of the user's own looks that differ.
func distinct(series []*Series) {
	taken := make(map[string]bool)
	for i, s := range series {
		key := func() string { return fmt.Sprint(s.look().Color, s.look().Dash) }
		for k := 0; taken[key()] && k < len(heuristicColors); k++ {
			s.own = &plot.Look{Color: heuristicColors[(i+k)%len(heuristicColors)], Width: 1.2}
		}
		taken[key()] = true
	}
}

// entryDashes tell apart the series of an entry.
var entryDashes = [][]vg.Length{nil, {4, 2}, {1, 1.5}, {5, 1.5, 1, 1.5}}

// smaller shows more series than a panel can in small multiples, a panel for each entry of
// the spec.
func (f *Figure) smaller(ylabel string, series []*Series, of func(record.Point) float64) {
	if len(series) <= mostCurves {
		return
	}
	all := entriesOf(series)
	for i := 0; i < len(all); i++ { // as many as there are dashes
		if rest := all[i].series; len(rest) > len(entryDashes) {
			all[i].series = rest[:len(entryDashes)]
			all = slices.Insert(all, i+1, specEntry{all[i].name, rest[len(entryDashes):]})
		}
	}
	looks := entryLooks(all)
	trace := func(s *Series, look plot.Look) plot.Trace {
		return plot.Trace{Look: look, Curve: deviated(finiteAt(s.Runs, of)), Deviation: true}
	}
	reference := looks[all[0].name].Of(referenceWidth)
	first := trace(all[0].series[0], reference)
	others := all[min(1, len(all)-1):]
	p := small(&plot.Small{YLabel: ylabel}, len(others))
	p.Legend = plot.Legend{plot.LineEntry(all[0].series[0].Label, reference)}
	for _, e := range others {
		var labels []string
		pn := &plot.Panel{Traces: []plot.Trace{first}}
		for i, s := range e.series {
			look := looks[e.name].Of(ownWidth)
			look.Dash = entryDashes[i]
			labels, pn.Traces = append(labels, s.Label), append(pn.Traces, trace(s, look))
		}
		pn.Title = together(labels)
		p.Panels = append(p.Panels, pn)
	}
	f.Drawing = p
	f.Caption = fmt.Sprintf("Small multiples of the %s against the number of training samples processed, a panel for each method: means over runs, bands are their standard deviation. "+
		"Of several series, the first in the title is solid, the next are dashed. In each panel %s is blue. The CSV file has all quantities.",
		ylabel, series[0].Label)
}
