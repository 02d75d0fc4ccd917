package report

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"

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
func (b *builder) group(planned []experiments.Planned) []*Series {
	byKey := map[string]*Series{}
	var out []*Series
	for _, p := range planned {
		key := p.Run.Data.Name + "\x00" + p.Run.Data.Variant + "\x00" + p.Run.Task + "\x00" + p.Group
		s := byKey[key]
		if s == nil {
			s = &Series{Label: p.Series, Run: p.Run}
			byKey[key] = s
			out = append(out, s)
		}
		s.planned = append(s.planned, p)
		for _, c := range p.Cells {
			s.Cells = appendNew(s.Cells, c)
		}
	}
	for _, s := range out {
		s.Runs = b.records(s.planned)
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
			cmp.Compare(b.order(x), b.order(y)),
			cmp.Compare(q.Params.Budget, p.Params.Budget),
			cmp.Compare(p.Params.Parsimony, q.Params.Parsimony),
			cmp.Compare(x.Label, y.Label))
	})
	return out
}

// byTask splits series, in their order, by data set and task.
func byTask(series []*Series) [][]*Series {
	var out [][]*Series
	for i, s := range series {
		if i == 0 || s.dataName() != series[i-1].dataName() || s.Run.Task != series[i-1].Run.Task {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], s)
	}
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

// rowOf begins the line of a run in a CSV file: its series, seed and draw, then more.
func (s *Series) rowOf(r *record.Record, more ...string) []string {
	run := r.Header.Run
	return append([]string{s.Label, strconv.FormatUint(run.Seed, 10), strconv.FormatUint(run.Data.Draw, 10)}, more...)
}

// exact writes numbers so that they are read back as they were.
func exact(values ...float64) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = words.Exact(v)
	}
	return out
}

// wall is the time that a run's training took.
func wall(r *record.Record) float64 { return r.Final.Timing.Wall }
