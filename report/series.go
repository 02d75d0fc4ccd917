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

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// A Series is the runs of one method with one set of hyper-parameters on one data
// set and task, over seeds and draws.
type Series struct {
	Label string
	Run   spec.Run         // first planned run
	Runs  []*record.Record // by draw and seed
	Cells []string         // table cells that the runs feed
	Rank  int              // position among its method's planned series in a figure: 0 for the largest model order

	planned []spec.Planned
	own     *plot.Look // replaces the method's look, which another series of the figure may have; nil by default
}

// group makes the series of planned runs, in the order of their first runs.
func (b *builder) group(planned []spec.Planned) (out []*Series) {
	_, groups := grouped(planned, func(p spec.Planned) string {
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

// series makes the series of all planned runs that fit, sorted by data set and task. POLK comes
// first, and each method's series are in descending order of the model order.
func (b *builder) series(fits func(spec.Planned) bool) []*Series {
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

// byTask splits series, in their order, by data set and task.
func byTask(series []*Series) [][]*Series {
	_, out := grouped(series, func(s *Series) string { return s.dataName() + "\x00" + s.Run.Task })
	return out
}

// allRuns fits every planned run.
func allRuns(spec.Planned) bool { return true }

// polkFirst returns a sort key that orders methods by name, POLK before the others.
func polkFirst(method string) string {
	if method == spec.MethodPOLK {
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

// numbersKept returns how many numbers the method keeps at the mean model order of the runs, NaN
// if that is unknown.
func (s *Series) numbersKept() float64 {
	if len(s.Runs) == 0 {
		return math.NaN()
	}
	return s.Run.Numbers(float64(finalStats(s.Runs, paper.RiskTest)[qOrder].Mean), s.Runs[0].Header.DataFacts)
}

// numbers writes numbersKept for readers, or "" if it is unknown.
func (s *Series) numbers() string {
	if n := s.numbersKept(); !math.IsNaN(n) {
		return fmt.Sprintf("%.0f", n)
	}
	return ""
}

// values returns a value of every run of the series.
func (s *Series) values(of func(*record.Record) float64) []float64 {
	var out []float64
	for _, r := range s.Runs {
		out = append(out, of(r))
	}
	return out
}

// finalStats returns the statistics of the runs' final risk, error rate in per cent and model
// order. The statistic of the risk leaves out runs whose method has no risk.
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

// trace returns a curve of the series as it looks in every picture.
func (s *Series) trace(curve []plot.Sample) plot.Trace {
	return plot.Trace{Label: s.Label, Look: s.look(), Curve: curve, Flat: s.batch()}
}

// traces returns a trace of each series, with the given curve.
func traces(series []*Series, curve func(*Series) []plot.Sample) (out []plot.Trace) {
	for _, s := range series {
		out = append(out, s.trace(curve(s)))
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

// line returns the cells of a line of a CSV file, or of a part of one. A float64 has enough digits
// to be read back exactly.
func line(cells ...any) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = fmt.Sprint(c)
		if v, ok := c.(words.Nullable); ok && !words.Finite(float64(v)) {
			out[i] = ""
		}
	}
	return out
}

// known returns a part of a line; its cells are empty if they are not known.
func known(is bool, cells ...any) []string {
	if !is {
		return make([]string, len(cells))
	}
	return line(cells...)
}

// grey holds the looks of a method that defines none.
var grey = []spec.Line{{Color: 0x333333, Width: 1.2}, {Color: 0x888888, Dash: []float64{4, 2}, Width: 1.2}}

// lookOf returns the look of a method's series of the given rank, 0 being the
// one with the largest model order.
func lookOf(method string, rank int) plot.Look {
	lines := grey
	if m := spec.Method(method); m != nil && len(m.Lines) > 0 {
		lines = m.Lines
	}
	line := lines[rank%len(lines)]
	l := plot.Look{Color: plot.RGB(uint8(line.Color>>16), uint8(line.Color>>8), uint8(line.Color)), Width: vg.Length(line.Width)}
	for _, d := range line.Dash {
		l.Dash = append(l.Dash, vg.Length(d))
	}
	return l
}

// look returns the look of the series in every picture.
func (s *Series) look() plot.Look {
	if s.own != nil {
		return *s.own
	}
	return lookOf(s.Run.Method, s.Rank)
}

// heuristicColors can be distinguished under the common colour deficiencies, by lightness if not
// by hue. Blue is reserved for the reference.
var heuristicColors = []color.NRGBA{
	plot.RGB(0xb8, 0x43, 0x00), plot.RGB(0x1b, 0x7a, 0x4b), plot.RGB(0xa6, 0x1e, 0x5c), plot.RGB(0x6a, 0x1b, 0x8a),
	plot.RGB(0xd0, 0x8a, 0x00), plot.RGB(0x1a, 0x1a, 0x1a), plot.RGB(0x5b, 0x8f, 0x2f), plot.RGB(0xc8, 0x5a, 0x8c), plot.RGB(0x7a, 0x5a, 0x3a),
}

// heuristicMarkers can be distinguished at the size of a letter.
var heuristicMarkers = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
}

// badges gives each heuristic a combination of colour and marker that no other heuristic has. It
// follows from the heuristic's name, so that an added heuristic rarely changes another's. The
// reference has POLK's blue.
func badges(names []string, reference string) map[string]plot.Look {
	out := map[string]plot.Look{reference: {Color: lookOf("polk", 0).Color, Marker: draw.CircleGlyph{}}}
	n := len(heuristicColors) * len(heuristicMarkers)
	taken := make([]bool, n)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
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

// table1Looks are the looks of the series in Table 1's figures: the diminishing learning rate,
// then the constant ones in descending order.
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

// distinct gives the series of a figure different looks in a report on the user's own specs.
func (b *builder) distinct(series []*Series) {
	if b.in.Own == "" {
		return
	}
	taken := make(map[string]bool)
	n := len(heuristicColors)
	for i, s := range series {
		key := func() string { return fmt.Sprint(s.look().Color, s.look().Dash) }
		for k := 0; taken[key()] && k < n*len(ownDashes); k++ {
			s.own = &plot.Look{Color: heuristicColors[(i+k)%n], Dash: ownDashes[k/n], Width: 1.2}
		}
		taken[key()] = true
	}
}

// ownDashes distinguish series of one colour.
var ownDashes = [][]vg.Length{nil, {4, 2}, {1, 1.5}, {5, 1.5, 1, 1.5}}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// grouped splits values by key. The keys are in the order of their first occurrence.
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

// appendNew appends v unless values contains it.
func appendNew[T comparable](values []T, v T) []T {
	if slices.Contains(values, v) {
		return values
	}
	return append(values, v)
}
