package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/polk/prune"
	"polkrepro/record"
)

// Measured holds the measurements of a run, or their means over several runs. Errors are in per
// cent.
type Measured struct {
	Value     float64 // value of the heuristic's knob
	Order     float64 // final model order
	Error     float64 // final error rate
	Seconds   float64 // processor time of training, plus the time waited for a heuristic's separate process
	PeakOrder float64 // the largest model order at an evaluation
	MeanError float64 // over the stream: the area under the error rate against samples
}

// A Trial is one run of a tournament.
type Trial struct {
	Measured
	Replicate int
	Process   float64 // seconds that training waited for the heuristic's separate process

	finalOrder float64 // final model order, even where Order is the requested one
}

// newTrial returns the trial of a run with the given knob value from its record, which must have at
// least one evaluation.
func newTrial(value float64, replicate int, r *record.Record) Trial {
	run := Trial{Replicate: replicate, Process: r.Final.Timing.Pruner, finalOrder: r.Final.ModelOrder}
	run.Value, run.Order, run.Error, run.Seconds = value, run.finalOrder, 100*r.Final.TestError, r.Final.Timing.CPU+r.Final.Timing.Pruner
	var samples, errors []float64
	for _, p := range r.Points {
		samples, errors = append(samples, float64(p.Samples)), append(errors, 100*p.TestError)
		run.PeakOrder = max(run.PeakOrder, float64(p.ModelOrder))
	}
	run.MeanError = Area(samples, errors)
	return run
}

// A Measure is a quantity by which heuristics are compared. Less is better for every measure.
type Measure int

// The measures.
const (
	ErrorAtOrder Measure = iota // final error rate at equal model order, in points
	ErrorAtTime                 // final error rate at equal training time, in points
	Anytime                     // mean error rate over the stream at equal largest model order, in points
	Time                        // logarithm of the training time at equal model order
	measureCount
)

// measures holds for each measure its name in sentences and tables, its key in JSON documents, the
// cost at which heuristics are compared, and the function that returns the point of a run on the
// trade-off.
var measures = [measureCount]struct {
	name, key, cost string
	sample          func(r Measured) Sample
}{
	ErrorAtOrder: {"error at equal model order", "error_at_order", "model order", func(r Measured) Sample { return Sample{r.Order, r.Error} }},
	ErrorAtTime:  {"error at equal training time", "error_at_time", "training time", func(r Measured) Sample { return Sample{r.Seconds, r.Error} }},
	Anytime: {"mean error over the stream at equal largest model order", "mean_error_at_order", "largest model order",
		func(r Measured) Sample { return Sample{r.PeakOrder, r.MeanError} }},
	Time: {"training time at equal model order", "log_time_at_order", "model order", func(r Measured) Sample { return Sample{r.Order, math.Log(r.Seconds)} }},
}

// Measures returns all measures.
func Measures() []Measure { return []Measure{ErrorAtOrder, ErrorAtTime, Anytime, Time} }

// String names the measure.
func (m Measure) String() string { return measures[m].name }

// A Verdict says how a heuristic compares with the reference.
type Verdict string

// The verdicts.
const (
	Better        Verdict = "better"
	Worse         Verdict = "worse"
	Open          Verdict = "not distinguishable"
	TooCoarse     Verdict = "grid too coarse" // different, but perhaps only by the interpolation error
	TooFew        Verdict = "too few replicates"
	NotComparable Verdict = "not comparable" // no model order or time in common, or no runs
	IsReference   Verdict = "reference"
)

// A Comparison compares a heuristic with the reference by one measure.
type Comparison struct {
	stats.Test              // test of the mean difference over the levels, heuristic minus reference
	Levels        []float64 // model orders, or seconds, at which the two were compared
	Bend          float64   // possible interpolation error of the difference: the slack of the test
	Adjusted      float64   // P after Holm's correction for all heuristics of the field
	AdjustedExact float64   // the same with a slack of 0: the p-value of no difference at all
	Verdict       Verdict
	Reason        string // reason for NotComparable or TooFew, or why an interval that excludes 0 gives no verdict

	differences map[int][]float64 // differences at each level, by replicate
}

// Means holds the means over replicates of a heuristic at one value of its knob.
type Means struct {
	Measured
	Runs int // number of runs averaged: fewer than the field's replicates if runs failed or are missing
}

// An Entry is a heuristic on a field. The comparisons of an entry without runs say so.
type Entry struct {
	Heuristic prune.Heuristic
	Runs      []Trial
	Points    []Means // by the value of the knob, as in its grid
	Compared  [measureCount]Comparison
}

// A FieldResult holds the results of the heuristics on a field, a data set with a task.
type FieldResult struct {
	Name       string    `json:"name"`  // name of the field, as in the tournament
	Title      string    `json:"title"` // title for readers
	Data       string    `json:"data"`  // name of the data set
	Task       string    `json:"-"`
	Samples    int       `json:"samples"`    // number of training samples of a run
	Replicates int       `json:"replicates"` // number of runs of a heuristic at one value of its knob
	Levels     []float64 `json:"levels"`     // model orders at which heuristics are compared
	Entries    []*Entry  `json:"heuristics"` // results by heuristic, the reference first
}

// A Standing is the ranking of the heuristics that are comparable on all fields.
type Standing struct {
	stats.Ranking
	Names  []string // in the order of their mean ranks
	Absent []string // heuristics that are not comparable on some field
	Fields int
}

// A Result is the outcome of a tournament. In JSON, a number that is not finite is null.
type Result struct {
	Title       string         `json:"title"`                // title of the tournament
	Profile     string         `json:"profile"`              // profile of the runs: smoke, quick or full
	Reference   string         `json:"reference"`            // heuristic that the others are compared with
	Fields      []*FieldResult `json:"fields"`               // results by field, a data set with a task
	Standing    *Standing      `json:"standing,omitempty"`   // ranking over all fields; missing if fewer than two heuristics or blocks can be ranked
	MissingRuns int            `json:"missing_runs"`         // number of planned runs that have no record, or a record without an evaluation
	Mixed       string         `json:"mixed_code,omitempty"` // note on the runs of other code than this program's; missing if there are none
	Missing     map[string]int `json:"-"`                    // MissingRuns by heuristic
}

// New judges a tournament by the records of its runs. It leaves out and counts runs without a
// record, or with a record without evaluations. It leaves out fields without runs of the reference.
func New(t *experiments.Tournament, profile string, plan []experiments.Contest, records map[string]*record.Record) *Result {
	res := &Result{Title: t.Title, Profile: profile, Reference: t.Reference, Fields: []*FieldResult{}, Missing: make(map[string]int)}
	var shown []experiments.Planned
	for i := range t.Fields {
		of := &t.Fields[i]
		f := &FieldResult{
			Name: of.Name, Title: of.Title, Data: of.Data.Name, Task: of.Task, Samples: of.Samples(profile), Replicates: of.Replicates(profile), Levels: of.Levels,
		}
		for _, c := range plan {
			if c.Field != f.Name {
				continue
			}
			e := f.Entry(c.Heuristic)
			r := records[c.ID]
			if r == nil || len(r.Points) == 0 {
				res.Missing[c.Heuristic]++
				res.MissingRuns++
				continue
			}
			shown = append(shown, c.Planned)
			e.Runs = append(e.Runs, newTrial(c.Value, c.Replicate, r))
		}
		if len(f.Entries) == 0 || f.Reference().Heuristic.Name != t.Reference || len(f.Reference().Runs) == 0 {
			continue
		}
		f.compare()
		res.Fields = append(res.Fields, f)
	}
	res.Standing = standing(res.Fields)
	res.Mixed = experiments.MixedCode(shown)
	return res
}

// Runs returns the runs of a tournament.
func Runs(plan []experiments.Contest) []experiments.Planned {
	runs := make([]experiments.Planned, len(plan))
	for i, c := range plan {
		runs[i] = c.Planned
	}
	return runs
}

// Entry returns the entry of a heuristic or method, and adds one if there is none.
func (f *FieldResult) Entry(name string) *Entry {
	for _, e := range f.Entries {
		if e.Heuristic.Name == name {
			return e
		}
	}
	h, ok := prune.Lookup(name)
	if !ok {
		h = prune.Heuristic{Name: name} // a method
	}
	f.Entries = append(f.Entries, &Entry{Heuristic: h})
	return f.Entries[len(f.Entries)-1]
}

// Reference returns the reference's entry.
func (f *FieldResult) Reference() *Entry { return f.Entries[0] }

// compare computes the means and the comparisons from the runs.
func (f *FieldResult) compare() {
	for _, e := range f.Entries {
		e.average()
	}
	for _, m := range Measures() {
		levels := f.Levels
		if m == ErrorAtTime {
			levels = f.Reference().times()
		}
		f.Reference().Compared[m] = Comparison{Verdict: IsReference, Adjusted: 1, AdjustedExact: 1}
		var p, exact []float64
		var judged []*Comparison
		for _, e := range f.Entries[1:] {
			c := &e.Compared[m]
			*c = difference(e, f.Reference(), m, levels)
			if c.Verdict == "" {
				p, exact, judged = append(p, c.P), append(exact, c.AdjustedExact), append(judged, c)
			}
		}
		p, exact = stats.Holm(p), stats.Holm(exact)
		for i, c := range judged {
			alone := c.AdjustedExact
			c.Adjusted, c.AdjustedExact = p[i], exact[i]
			c.judge()
			c.Reason = c.doubt(m, alone, len(judged))
		}
	}
}

// average computes the means of the runs at each knob value.
func (e *Entry) average() {
	e.Points = nil
	for _, r := range e.Runs {
		i := slices.IndexFunc(e.Points, func(p Means) bool { return p.Value == r.Value })
		if i < 0 {
			i = len(e.Points)
			e.Points = append(e.Points, Means{Measured: Measured{Value: r.Value}})
		}
		p := &e.Points[i]
		p.Runs++
		w := 1 / float64(p.Runs)
		p.Order += w * (r.Order - p.Order)
		p.Error += w * (r.Error - p.Error)
		p.Seconds += w * (r.Seconds - p.Seconds)
		p.PeakOrder += w * (r.PeakOrder - p.PeakOrder)
		p.MeanError += w * (r.MeanError - p.MeanError)
	}
}

// curves returns the trade-off curve of each replicate.
func (e *Entry) curves(m Measure) map[int]Curve {
	samples := make(map[int][]Sample)
	for _, r := range e.Runs {
		samples[r.Replicate] = append(samples[r.Replicate], measures[m].sample(r.Measured))
	}
	curves := make(map[int]Curve)
	for replicate, s := range samples {
		curves[replicate] = NewCurve(s)
	}
	return curves
}

// At returns a measure at a level, a model order or a time, for all replicates that reach it.
func (e *Entry) At(m Measure, level float64) (out []float64) {
	curves := e.curves(m)
	for _, r := range slices.Sorted(maps.Keys(curves)) {
		if v, ok := curves[r].At(level); ok {
			out = append(out, v)
		}
	}
	return out
}

// Of returns what(run) for all runs at a value of the knob.
func (e *Entry) Of(value float64, what func(Trial) float64) (out []float64) {
	for _, r := range e.Runs {
		if r.Value == value {
			out = append(out, what(r))
		}
	}
	return out
}

// timeLevels is the number of training times at which heuristics are compared.
const timeLevels = 5

// times returns the training times at which others are compared with a heuristic: evenly spaced on
// a logarithmic scale over the range that all its replicates span.
func (e *Entry) times() []float64 {
	low, high := 0.0, math.Inf(1)
	for _, c := range e.curves(ErrorAtTime) {
		if a, b, ok := c.Range(); ok {
			low, high = max(low, a), min(high, b)
		}
	}
	if !(low > 0 && high > low) || math.IsInf(high, 0) {
		return nil
	}
	levels := make([]float64, timeLevels)
	for i := range levels {
		levels[i] = low * math.Pow(high/low, float64(i)/(timeLevels-1))
	}
	levels[timeLevels-1] = high // exactly: a rounding error could put it outside the range
	return levels
}

// difference compares a heuristic with the reference by one measure, at the levels that the curves
// of all replicates reach. It leaves Verdict empty if a verdict is possible; compare sets it later.
func difference(e, reference *Entry, m Measure, levels []float64) Comparison {
	c := Comparison{Adjusted: 1, AdjustedExact: 1, differences: make(map[int][]float64)}
	own, theirs := e.curves(m), reference.curves(m)
	replicates := slices.DeleteFunc(slices.Sorted(maps.Keys(own)), func(r int) bool { return len(theirs[r]) == 0 })
	bends := 0.0
	for _, level := range levels {
		var at []float64
		ownBend, theirBend := 0.0, 0.0
		for _, r := range replicates {
			a, ok1 := own[r].At(level)
			b, ok2 := theirs[r].At(level)
			if ok1 && ok2 {
				at = append(at, a-b)
			}
			ownBend += own[r].Bend(level) / float64(len(replicates))
			theirBend += theirs[r].Bend(level) / float64(len(replicates))
		}
		if len(at) == 0 || len(at) < len(replicates) {
			continue
		}
		bends += math.Abs(ownBend) + math.Abs(theirBend)
		c.Levels = append(c.Levels, level)
		for i, r := range replicates {
			c.differences[r] = append(c.differences[r], at[i])
		}
	}
	if len(c.Levels) == 0 {
		c.Verdict, c.Reason = NotComparable, apart(e, reference, m, levels, replicates)
		return c
	}
	c.Bend = bends / float64(len(c.Levels))
	means := make([]float64, len(replicates)) // over the levels
	for i, r := range replicates {
		for _, v := range c.differences[r] {
			means[i] += v / float64(len(c.differences[r]))
		}
	}
	c.Test, c.AdjustedExact = stats.PairedT(means, c.Bend), stats.PairedT(means, 0).P
	if c.N < stats.Fewest {
		c.Verdict, c.Reason = TooFew, fmt.Sprintf("%s in common, and a verdict needs %d", words.Count(c.N, "replicate"), stats.Fewest)
	}
	return c
}

// judge sets the verdict from the corrected p-values. Less is better for every measure.
func (c *Comparison) judge() {
	switch {
	case c.AdjustedExact > stats.Level:
		c.Verdict = Open
	case c.Adjusted > stats.Level:
		c.Verdict = TooCoarse
	case c.Value < 0:
		c.Verdict = Better
	default:
		c.Verdict = Worse
	}
}

// Decisive returns the corrected p-value behind the verdict: of no difference at all for Open,
// otherwise of no difference beyond the interpolation error.
func (c Comparison) Decisive() float64 {
	if c.Verdict == Open {
		return c.AdjustedExact
	}
	return c.Adjusted
}

// FrontPoint is a Pareto-optimal heuristic with a value of its knob.
type FrontPoint struct {
	Heuristic string
	Means
}

// Front returns the Pareto front over all heuristics: of the final error against the final
// model order for ErrorAtOrder, against the training time for ErrorAtTime, in the order of
// the cost.
func (f *FieldResult) Front(m Measure) []FrontPoint {
	var all []FrontPoint
	var samples []Sample
	for _, e := range f.Entries {
		for _, p := range e.Points {
			all, samples = append(all, FrontPoint{e.Heuristic.Name, p}), append(samples, measures[m].sample(p.Measured))
		}
	}
	var out []FrontPoint
	for _, i := range Front(samples) {
		out = append(out, all[i])
	}
	return out
}

// commonLevels returns the largest set of heuristics that can be compared at one level, and the
// levels at which the whole set can be compared.
func (f *FieldResult) commonLevels() (levels []float64, names []string) {
	at := func(level float64) []string {
		names := []string{f.Reference().Heuristic.Name}
		for _, e := range f.Entries[1:] {
			if slices.Contains(e.Compared[ErrorAtOrder].Levels, level) {
				names = append(names, e.Heuristic.Name)
			}
		}
		return names
	}
	for _, level := range f.Levels {
		if here := at(level); len(here) > len(names) {
			names = here
		}
	}
	for _, level := range f.Levels {
		here := at(level)
		if !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(here, name) }) {
			levels = append(levels, level)
		}
	}
	return levels, names
}

// standing ranks the heuristics that can be compared on all fields by their final error at equal
// model order. A block is a replicate of a field, so the ranking says what new seeds on these data
// would give and nothing about other data.
func standing(fields []*FieldResult) *Standing {
	if len(fields) == 0 {
		return nil
	}
	s := &Standing{Fields: len(fields)}
	for _, e := range fields[0].Entries {
		s.Names = append(s.Names, e.Heuristic.Name)
	}
	for _, f := range fields {
		_, here := f.commonLevels()
		for _, name := range slices.Clone(s.Names) {
			if !slices.Contains(here, name) {
				s.Absent = append(s.Absent, name)
				s.Names = slices.DeleteFunc(s.Names, func(n string) bool { return n == name })
			}
		}
	}
	var blocks [][]float64
	for _, f := range fields {
		blocks = append(blocks, f.blocks(s.Names)...)
	}
	if len(s.Names) < 2 || len(blocks) < 2 {
		return nil
	}
	s.Ranking = stats.Rank(blocks)
	mean := make(map[string]float64)
	for i, name := range s.Names {
		mean[name] = s.Mean[i]
	}
	slices.SortFunc(s.Names, func(a, b string) int { return cmp.Or(cmp.Compare(mean[a], mean[b]), cmp.Compare(a, b)) })
	slices.Sort(s.Mean)
	return s
}

// blocks returns, for every replicate in which all heuristics are compared, the mean difference of
// each heuristic from the reference over the field's common levels.
func (f *FieldResult) blocks(names []string) [][]float64 {
	levels, _ := f.commonLevels()
	var out [][]float64
	for _, r := range slices.Sorted(maps.Keys(f.Reference().curves(ErrorAtOrder))) {
		row := make([]float64, len(names))
		whole := true
		for i, name := range names {
			if name == f.Reference().Heuristic.Name {
				continue
			}
			c := f.Entry(name).Compared[ErrorAtOrder]
			whole = whole && len(c.differences[r]) > 0
			for k, level := range c.Levels {
				if whole && slices.Contains(levels, level) {
					row[i] += c.differences[r][k] / float64(len(levels))
				}
			}
		}
		if whole {
			out = append(out, row)
		}
	}
	return out
}
