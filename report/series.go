package report

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"image/color"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/compare"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/report/plot"
)

// A Series is the runs of one method with one set of hyper-parameters on one data
// set and task, over seeds and draws.
type Series struct {
	Label string
	Run   experiments.Run  // the first planned
	Runs  []*record.Record // by draw and seed
	Cells []string         // table cells that the runs feed
	Rank  int              // in a figure, among its method's planned series: 0 for the largest model order

	planned []experiments.Planned
	own     *plot.Look // in place of its method's, where another series of the figure has that
}

// group makes the series of planned runs, in the order of their first runs.
func (b *builder) group(planned []experiments.Planned) (out []*Series) {
	_, groups := grouped(planned, func(p experiments.Planned) string {
		return p.Run.Data.Name + "\x00" + p.Run.Data.Variant + "\x00" + p.Run.Task + "\x00" + p.Group
	})
	for _, of := range groups {
		s := &Series{Label: of[0].Series, Run: of[0].Run, Runs: b.records(of), planned: of}
		for _, p := range of {
			for _, c := range p.Cells {
				s.Cells = appendNew(s.Cells, c)
			}
		}
		out = append(out, s)
	}
	return out
}

// series makes the series of all planned runs that fit, by data set and task,
// POLK first and each method's from the largest model order down.
func (b *builder) series(fits func(experiments.Planned) bool) []*Series {
	out := b.group(b.planned(fits))
	slices.SortStableFunc(out, func(x, y *Series) int {
		p, q := x.Run, y.Run
		return cmp.Or(
			cmp.Compare(p.Data.Name, q.Data.Name),
			cmp.Compare(p.Data.Variant, q.Data.Variant),
			-cmp.Compare(p.Task, q.Task),
			cmp.Compare(polkFirst(p.Method), polkFirst(q.Method)),
			cmp.Compare(b.variant(x), b.variant(y)),
			cmp.Compare(q.Params.Budget, p.Params.Budget),
			cmp.Compare(p.Params.Parsimony, q.Params.Parsimony),
			cmp.Compare(x.Label, y.Label))
	})
	return out
}

// rank numbers the series of each method and task in their order.
func rank(series []*Series) {
	for i, s := range series[min(1, len(series)):] {
		if before := series[i]; before.Run.Method == s.Run.Method && before.Run.Task == s.Run.Task {
			s.Rank = before.Rank + 1
		}
	}
}

// byTask splits series, in their order, by data set and task.
func byTask(series []*Series) [][]*Series {
	_, out := grouped(series, func(s *Series) string { return s.dataName() + "\x00" + s.Run.Task })
	return out
}

// allRuns fits every planned run.
func allRuns(experiments.Planned) bool { return true }

// polkFirst orders methods by name, POLK before the others.
func polkFirst(method string) string {
	if method == experiments.MethodPOLK {
		return ""
	}
	return method
}

// compareRuns orders runs by draw and seed.
func compareRuns(a, b *record.Record) int {
	return cmp.Or(
		cmp.Compare(a.Header.Run.Data.Draw, b.Header.Run.Data.Draw),
		cmp.Compare(a.Header.Run.Seed, b.Header.Run.Seed),
		cmp.Compare(a.Header.ID, b.Header.ID))
}

// dataName names the data set of the series and its variant.
func (s *Series) dataName() string {
	if v := s.Run.Data.Variant; v != "" {
		return s.Run.Data.Name + " (" + v + ")"
	}
	return s.Run.Data.Name
}

// numbersKept returns how many numbers the method keeps at the mean model order of the
// runs, NaN where that is not known.
func (s *Series) numbersKept() float64 {
	if len(s.Runs) == 0 {
		return math.NaN()
	}
	return s.Run.Numbers(finalStats(s.Runs, experiments.RiskTest)[qOrder].Mean, s.Runs[0].Header.DataFacts)
}

// numbers is numbersKept for readers, "" where it is not known.
func (s *Series) numbers() string {
	n := s.numbersKept()
	if math.IsNaN(n) {
		return ""
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

// values returns a figure of every run of the series.
func (s *Series) values(of func(*record.Record) float64) []float64 {
	var out []float64
	for _, r := range s.Runs {
		out = append(out, of(r))
	}
	return out
}

// finalStats sums up what runs ended with: the risk, of no runs where the method
// has none, the error rate in per cent and the model order.
func finalStats(runs []*record.Record, risk string) (out [quantityCount]Stat) {
	var values [quantityCount][]float64
	for _, r := range runs {
		for q, v := range finalOf(r, risk) {
			if q != qRisk || r.Header.Run.HasRisk() {
				values[q] = append(values[q], v)
			}
		}
	}
	for q, v := range values {
		out[q] = statOf(v)
	}
	return out
}

// runsOf are all runs of series, each with its series.
func runsOf(series []*Series) iter.Seq2[*Series, *record.Record] {
	return func(yield func(*Series, *record.Record) bool) {
		for _, s := range series {
			for _, r := range s.Runs {
				if !yield(s, r) {
					return
				}
			}
		}
	}
}

// traces draws a curve of each series.
func traces(series []*Series, curve func(*Series) []plot.Sample) (out []plot.Trace) {
	for _, s := range series {
		out = append(out, plot.Trace{Label: s.Label, Look: s.look(), Curve: curve(s), Flat: s.batch()})
	}
	return out
}

// legendOf names the lines of series.
func legendOf(series []*Series) (l plot.Legend) {
	for _, s := range series {
		l = append(l, plot.LineEntry(s.Label, s.look()))
	}
	return l
}

// line is a line of a CSV file, or a part of it. Numbers are written so that they are read
// back as they were.
func line(cells ...any) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		switch v := c.(type) {
		case float64:
			out[i] = words.Exact(v)
		case float32:
			out[i] = strconv.FormatFloat(float64(v), 'g', -1, 32)
		default:
			out[i] = fmt.Sprint(v)
		}
	}
	return out
}

// known is a part of a line that is empty where its cells are not known.
func known(is bool, cells ...any) []string {
	if !is {
		return make([]string, len(cells))
	}
	return line(cells...)
}

// line is the line of a run: its series, seed and draw, then more.
func (s *Series) line(r *record.Record, more ...any) []string {
	return append(line(s.Label, r.Header.Run.Seed, r.Header.Run.Data.Draw), line(more...)...)
}

// wall is the time that a run's training took.
func wall(r *record.Record) float64 { return r.Final.Timing.Wall }

// grey is the look of a method that has none of its own.
var grey = []experiments.Line{{Color: 0x333333, Width: 1.2}, {Color: 0x888888, Dash: []float64{4, 2}, Width: 1.2}}

// lookOf returns the look of a method's series of the given rank, 0 being the
// one with the largest model order.
func lookOf(method string, rank int) plot.Look {
	lines := grey
	if m := experiments.Method(method); m != nil && len(m.Lines) > 0 {
		lines = m.Lines
	}
	line := lines[rank%len(lines)]
	l := plot.Look{Color: plot.RGB(uint8(line.Color>>16), uint8(line.Color>>8), uint8(line.Color)), Width: vg.Length(line.Width)}
	for _, d := range line.Dash {
		l.Dash = append(l.Dash, vg.Length(d))
	}
	return l
}

// look is how the series is drawn in every picture.
func (s *Series) look() plot.Look {
	if s.own != nil {
		return *s.own
	}
	return lookOf(s.Run.Method, s.Rank)
}

// heuristicColors are told apart with the common colour deficiencies by their
// lightness where not by their hue. Blue is the reference's.
var heuristicColors = []color.NRGBA{
	plot.RGB(0xb8, 0x43, 0x00), plot.RGB(0x1b, 0x7a, 0x4b), plot.RGB(0xa6, 0x1e, 0x5c), plot.RGB(0x6a, 0x1b, 0x8a),
	plot.RGB(0xd0, 0x8a, 0x00), plot.RGB(0x1a, 0x1a, 0x1a), plot.RGB(0x5b, 0x8f, 0x2f), plot.RGB(0xc8, 0x5a, 0x8c), plot.RGB(0x7a, 0x5a, 0x3a),
}

// heuristicMarkers are told apart at the size of a letter.
var heuristicMarkers = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
}

// badges gives each heuristic a colour and a marker that no other has. They
// follow from its name, so that one more heuristic rarely changes another's; the
// reference is POLK's blue.
func badges(names []string, reference string) map[string]plot.Look {
	out := map[string]plot.Look{reference: {Color: lookOf("polk", 0).Color, Marker: draw.CircleGlyph{}}}
	n := len(heuristicColors) * len(heuristicMarkers)
	taken := make([]bool, n)
	for _, name := range slices.Sorted(slices.Values(names)) {
		if name == reference {
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(name))
		i := int(h.Sum32() % uint32(n))
		for tries := 0; taken[i] && tries < n; tries++ {
			i = (i + 1) % n
		}
		taken[i] = true
		out[name] = plot.Look{Color: heuristicColors[i%len(heuristicColors)], Marker: heuristicMarkers[i/len(heuristicColors)]}
	}
	return out
}

// table1Looks are how the series of Table 1's figures look: a diminishing
// learning rate, then constant ones from the largest on.
var table1Looks = []plot.Look{
	{Color: plot.RGB(0x1b, 0x7a, 0x4b), Width: 1.3},
	{Color: plot.RGB(0x08, 0x30, 0x6b), Width: 1.2},
	{Color: plot.RGB(0x34, 0x90, 0xd6), Dash: []vg.Length{6, 2}, Width: 1.2},
	{Color: plot.RGB(0xb8, 0x43, 0x00), Dash: []vg.Length{3, 1.2}, Width: 1.2},
}

// unprojected is the look of the same series without projection.
func unprojected(l plot.Look) plot.Look {
	return plot.Look{Color: l.Color, Dash: []vg.Length{0.8, 1.2}, Width: 0.9}
}

// A specEntry is the series of one entry of a spec, which differ in their model order alone, by
// the largest first.
type specEntry struct {
	name   string
	series []*Series
}

// entriesOf groups series by the entries of specs, in their order.
func entriesOf(all []*Series) []specEntry {
	_, groups := grouped(all, func(s *Series) string { return s.planned[0].Spec + "\x00" + s.planned[0].Label })
	out := make([]specEntry, len(groups))
	for i, of := range groups {
		out[i] = specEntry{compare.MethodName(of[0].planned[0]), of}
	}
	return out
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
func (b *builder) distinct(series []*Series) {
	if b.in.Own == "" {
		return
	}
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
	var all []specEntry
	for _, e := range entriesOf(series) {
		for of := range slices.Chunk(e.series, len(entryDashes)) { // as many as there are dashes
			all = append(all, specEntry{e.name, of})
		}
	}
	looks := entryLooks(all)
	trace := func(s *Series, look plot.Look) plot.Trace {
		return plot.Trace{Look: look, Curve: deviated(finiteAt(s.Runs, of)), Deviation: true}
	}
	reference := looks[all[0].name].Of(referenceWidth)
	first := trace(all[0].series[0], reference)
	var panels []*plot.Panel
	for _, e := range all[min(1, len(all)-1):] {
		var labels []string
		pn := &plot.Panel{Traces: []plot.Trace{first}}
		for i, s := range e.series {
			look := looks[e.name].Of(ownWidth)
			look.Dash = entryDashes[i]
			labels, pn.Traces = append(labels, s.Label), append(pn.Traces, trace(s, look))
		}
		pn.Title, pn.Remark, _ = strings.Cut(together(labels), ", ")
		panels = append(panels, pn)
	}
	p := plot.Small(ylabel, false, panels)
	p.Legend = plot.Legend{plot.LineEntry(all[0].series[0].Label, reference)}
	f.Drawing, f.Series, f.Alt = p, nil, ""
	f.Caption = fmt.Sprintf("Small multiples of the %s against the number of training samples processed, a panel for each method: means over runs, bands are their standard deviation. "+
		"Of several series, the first below the name is solid, the next are dashed. In each panel %s is blue. The CSV file has all quantities.",
		ylabel, series[0].Label)
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// grouped splits values by their keys, in the order in which these come first.
func grouped[K comparable, V any](values []V, key func(V) K) (keys []K, groups [][]V) {
	at := make(map[K]int)
	for _, v := range values {
		k := key(v)
		i, ok := at[k]
		if !ok {
			i = len(keys)
			at[k] = i
			keys, groups = append(keys, k), append(groups, nil)
		}
		groups[i] = append(groups[i], v)
	}
	return keys, groups
}

// sentence joins parts with commas.
func sentence(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ")
}

// appendNew appends a value that is not among values.
func appendNew[T comparable](values []T, v T) []T {
	if slices.Contains(values, v) {
		return values
	}
	return append(values, v)
}
