package report

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"polkrepro/experiments"
	"polkrepro/record"
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

// entryBadges are those of entries, of which the first is the reference.
func entryBadges(all []specEntry) map[string]badge {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name
	}
	return badges(names, names[0])
}

// entryPanels makes small multiples of entries: the first, whose lines are in every panel, with
// each of the others, or alone.
func entryPanels(all []specEntry, m *multiples, panel func(specEntry) facet) *multiples {
	others := all[min(1, len(all)-1):]
	m.columns = min(facetColumns, len(others))
	m.height = min(panelHeight, facetHeight*facetColumns/vg.Length(m.columns))
	for _, e := range others {
		m.panels = append(m.panels, panel(e))
	}
	return m
}

// mostCurves is how many series a panel shows.
const mostCurves = 8

// smaller gives the series of a figure of the user's own looks that differ or, if they are
// more than a panel can show, small multiples in place of its panels.
func (f *Figure) smaller(ylabel string, series []*Series, of func(record.Point) float64) {
	if len(series) > mostCurves {
		f.content = &entryCurves{f.content, ylabel, series, of}
		f.Caption = fmt.Sprintf("Small multiples of the %s against the number of training samples processed, a panel for each method: means over runs, bands are their standard deviation. "+
			"Of several series, the first in the title is solid, the next are dashed. In each panel %s is blue. The CSV file has all quantities.",
			ylabel, series[0].Label)
		return
	}
	taken := make(map[string]bool)
	for i, s := range series {
		key := func() string { return fmt.Sprint(s.look().color, s.look().dash) }
		for k := 0; taken[key()] && k < len(heuristicColors); k++ {
			s.own = &look{color: heuristicColors[(i+k)%len(heuristicColors)], width: 1.2}
		}
		taken[key()] = true
	}
}

// entryDashes tell apart the series of an entry.
var entryDashes = [][]vg.Length{nil, {4, 2}, {1, 1.5}, {5, 1.5, 1, 1.5}}

// entryCurves are the contents of a figure of more series than a panel shows: a panel for
// each entry of the spec, over the samples processed.
type entryCurves struct {
	content // of all series in one panel; its numbers
	ylabel  string
	series  []*Series
	of      func(record.Point) float64
}

func (c *entryCurves) drawing() drawing {
	all := entriesOf(c.series)
	for i := 0; i < len(all); i++ { // as many as there are dashes
		if rest := all[i].series; len(rest) > len(entryDashes) {
			all[i].series = rest[:len(entryDashes)]
			all = slices.Insert(all, i+1, specEntry{all[i].name, rest[len(entryDashes):]})
		}
	}
	looks := entryBadges(all)
	first := c.line(all[0].series[0], looks[all[0].name], nil, 0.9)
	m := &multiples{ylabel: c.ylabel, legend: legend{strokeEntry(plainLetters(all[0].series[0].Label), looks[all[0].name].line(0.9))}}
	return entryPanels(all, m, func(e specEntry) facet {
		var labels []string
		f := facet{xlabel: "samples processed", lines: []facetLine{first}}
		for i, s := range e.series {
			labels = append(labels, s.Label)
			f.lines = append(f.lines, c.line(s, looks[e.name], entryDashes[i], 1.1))
		}
		f.title = together(labels)
		return f
	})
}

// line is the mean of a series over its runs with its standard deviation.
func (c *entryCurves) line(s *Series, b badge, dash []vg.Length, width vg.Length) facetLine {
	l := facetLine{badge: b, width: width, dash: dash}
	at := finiteAt(s.Runs, c.of)
	for _, n := range slices.Sorted(maps.Keys(at)) {
		if len(at[n]) > 0 {
			l.points, l.half = append(l.points, plotter.XY{X: float64(n), Y: mean(at[n])}), append(l.half, deviation(at[n]))
		}
	}
	return l
}
