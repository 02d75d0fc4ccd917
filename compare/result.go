package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/spec"
)

// Measured holds the measurements of a run, or their means over several runs.
type Measured struct {
	Value     float64        `json:"size_parameter"`      // value of the size parameter; 0 if there is none
	Order     float64        `json:"model_order"`         // final model order, in elements
	Error     words.Nullable `json:"error_percent"`       // final test error, in percent
	Seconds   float64        `json:"training_seconds"`    // processor time of training plus the time waited for the heuristic's separate process, in seconds
	PeakOrder float64        `json:"largest_model_order"` // largest model order at an evaluation, in elements
	MeanError words.Nullable `json:"mean_error_percent"`  // mean test error over the stream, in percent
}

// A Trial is one run. The columns of runs.csv have the same names.
type Trial struct {
	Measured
	Replicate int     `json:"replicate"`       // number of the replicate
	Process   float64 `json:"process_seconds"` // part of training_seconds that training waited for the heuristic's separate process
}

// newTrial returns the trial of a run with the given size parameter value from its record, which must have at
// least one evaluation.
func newTrial(value float64, replicate int, r *record.Record) Trial {
	end := r.Final
	run := Trial{Replicate: replicate, Process: end.Timing.Pruner, Measured: Measured{
		Value: value, Order: end.ModelOrder, Error: words.Nullable(100 * end.TestError), Seconds: end.Timing.Training(),
	}}
	var samples, errors []float64
	for _, p := range r.Points {
		samples, errors = append(samples, float64(p.Samples)), append(errors, 100*p.TestError)
		run.PeakOrder = max(run.PeakOrder, float64(p.ModelOrder))
	}
	run.MeanError = words.Nullable(errors[0])
	if n := len(samples); n > 1 {
		run.MeanError = words.Nullable(integrate.Trapezoidal(samples, errors) / (samples[n-1] - samples[0]))
	}
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
)

// measures holds for each measure its name in sentences and tables, its key in JSON documents, the
// cost at which heuristics are compared, and the function that returns the point of a run on the
// trade-off.
var measures = [...]struct {
	name, key, cost string
	sample          func(r Measured) Sample
}{
	ErrorAtOrder: {"error at equal model order", "error_at_order", "model order", func(r Measured) Sample { return Sample{r.Order, float64(r.Error)} }},
	ErrorAtTime:  {"error at equal training time", "error_at_time", "training time in seconds", func(r Measured) Sample { return Sample{r.Seconds, float64(r.Error)} }},
	Anytime: {"mean error over the stream at equal largest model order", "mean_error_at_order", "largest model order",
		func(r Measured) Sample { return Sample{r.PeakOrder, float64(r.MeanError)} }},
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
)

// A Comparison is the comparison of a heuristic with the reference by one measure. Less
// is better for every measure. All but the verdict refers to the mean over the levels, and is
// null or empty if the two have no level in common.
type Comparison struct {
	Measure    string         `json:"measure"`             // error_at_order, error_at_time or mean_error_at_order, in points of the error rate; or log_time_at_order, the natural logarithm of the ratio of times
	Verdict    Verdict        `json:"verdict"`             // verdict, worded as in the tables
	Reason     string         `json:"reason,omitempty"`    // reason why the two are not comparable or have too few replicates, or why there is no verdict although the interval excludes 0; otherwise missing
	Difference words.Nullable `json:"difference"`          // heuristic minus reference
	Low        words.Nullable `json:"low"`                 // lower end of the 95 % interval of the difference; null if there are too few replicates
	High       words.Nullable `json:"high"`                // upper end of the 95 % interval of the difference; null if there are too few replicates
	P          words.Nullable `json:"p"`                   // two-sided p-value of no difference beyond the interpolation error, corrected by Holm's method
	PExact     words.Nullable `json:"p_exact"`             // two-sided p-value of no difference at all, corrected by Holm's method
	Bend       words.Nullable `json:"interpolation_error"` // possible error of the difference due to interpolation between runs
	N          int            `json:"replicates"`          // number of replicates compared
	Levels     []float64      `json:"levels"`              // model orders, or times in seconds, that all replicates of both reach

	differences map[int][]float64 // differences at each level, by replicate
}

// Means holds the means over replicates at one value of the size parameter.
type Means struct {
	Measured
	Runs int `json:"runs"` // number of runs averaged; fewer than the data set's replicates if runs failed or are missing
}

// An Entry holds the results of a heuristic on a data set.
type Entry struct {
	Name      string       `json:"name"`                     // name of the heuristic
	SizeParam string       `json:"size_parameter,omitempty"` // parameter that trades model order for accuracy; missing if there is none
	Compared  []Comparison `json:"comparisons"`              // comparisons with the reference, one for each measure; empty for the reference itself
	Points    []Means      `json:"means"`                    // means over replicates, one for each value of the size parameter that has runs
	Runs      []Trial      `json:"runs"`                     // runs, one for each value of the size parameter and replicate
}

// A DataSetResult holds the results of the heuristics on a data set, a data set with a task.
type DataSetResult struct {
	Name       string    `json:"name"`  // name of the data set, as in the comparison
	Title      string    `json:"title"` // title for readers
	Data       string    `json:"data"`  // name of the data set
	Task       string    `json:"-"`
	Samples    int       `json:"samples"`      // number of training samples of a run
	Replicates int       `json:"replicates"`   // number of runs of a heuristic at one value of its size parameter
	Orders     []float64 `json:"model_orders"` // model orders at which heuristics are compared
	Entries    []*Entry  `json:"heuristics"`   // results by heuristic, the reference first

	Basis string `json:"basis,omitempty"` // what the replicates are, in a sentence; missing for data of this program

	// OwnOrders reports whether the entries have model orders of their own, not those of Levels.
	OwnOrders bool `json:"-"`

	// inflation, unless 0, is the factor between the standard error of a mean difference and that
	// of independent replicates.
	inflation float64
}

// A Standing ranks the heuristics or methods that are comparable on all data sets by their
// error at equal model order.
type Standing struct {
	Task     string         `json:"task,omitempty"`      // task, in a report on methods
	Ranks    []Rank         `json:"ranks"`               // mean ranks, in ascending order
	Absent   []string       `json:"absent"`              // heuristics or methods that are not comparable on some data set
	Free     []string       `json:"free,omitempty"`      // methods that are not ranked because their model order cannot be chosen; missing if there are none
	Blocks   int            `json:"blocks"`              // number of blocks
	P        words.Nullable `json:"p"`                   // p-value of Friedman's test of no difference at all; for data sets not below the chance that all rank alike
	CD       float64        `json:"critical_difference"` // Nemenyi's critical difference of mean ranks at level 0.05
	Block    string         `json:"block,omitempty"`     // what a block is: data set, for several files of the user; missing if it is a replicate of a data set
	DataSets int            `json:"-"`
}

const blockDataSet = "data set"

// A Rank is the mean rank of a heuristic or method; 1 is the best.
type Rank struct {
	Name string  `json:"name"`      // name of the heuristic or method
	Mean float64 `json:"mean_rank"` // mean rank over the blocks
}

// A Result is the outcome of a comparison. In JSON, a number that is not finite is null.
type Result struct {
	Title       string           `json:"title"`                // title of the comparison
	Profile     string           `json:"profile"`              // profile of the runs: smoke, quick or full
	Reference   string           `json:"reference"`            // heuristic that the others are compared with
	DataSets    []*DataSetResult `json:"data_sets"`            // results by data set, a data set with a task
	Standing    *Standing        `json:"standing,omitempty"`   // ranking over all data sets; missing if fewer than two heuristics or blocks can be ranked
	MissingRuns int              `json:"missing_runs"`         // number of planned runs that have no record, or a record without an evaluation
	Missing     map[string]int   `json:"-"`                    // MissingRuns by heuristic
	LeftOut     []string         `json:"left_out,omitempty"`   // sentences on planned runs that were not started; missing if all were
	Mixed       string           `json:"mixed_code,omitempty"` // note on the runs of other code than this program's; missing if there are none
}

// New judges a comparison by the records of its runs. It leaves out and counts runs without a
// record, or with a record without evaluations. It leaves out data sets without runs of the reference.
func New(t *spec.Comparison, profile string, plan []spec.ComparedRun, records map[string]*record.Record) *Result {
	res := &Result{Title: t.Title, Profile: profile, Reference: t.Reference, DataSets: []*DataSetResult{}, Missing: make(map[string]int)}
	var shown []spec.Planned
	for i := range t.DataSets {
		of := &t.DataSets[i]
		f := &DataSetResult{
			Name: of.Name, Title: of.Title, Data: of.Data.Name, Task: of.Task, Samples: of.Samples(profile), Orders: of.Orders,
		}
		f.entry(t.Reference)
		replicates := make(map[int]spec.Planned) // a run of each
		for _, c := range plan {
			if c.DataSet != f.Name {
				continue
			}
			replicates[c.Replicate] = c.Planned
			e := f.entry(c.Heuristic)
			r := records[c.ID]
			if r == nil || len(r.Points) == 0 {
				res.Missing[c.Heuristic]++
				res.MissingRuns++
				continue
			}
			shown = append(shown, c.Planned)
			e.Runs = append(e.Runs, newTrial(c.Value, c.Replicate, r))
		}
		f.Replicates = len(replicates)
		if len(f.Reference().Runs) == 0 {
			continue
		}
		if varied := spec.Varied(slices.Collect(maps.Values(replicates))); varied != "" {
			f.Basis = fmt.Sprintf("%d %s, %d samples each.", f.Replicates, varied, f.Samples)
		}
		f.compare()
		res.DataSets = append(res.DataSets, f)
	}
	res.Standing = standing(res.DataSets, block(t.DataSets))
	res.Mixed = spec.MixedCode(shown)
	return res
}

// Runs returns the runs of a comparison.
func Runs(plan []spec.ComparedRun) []spec.Planned {
	runs := make([]spec.Planned, len(plan))
	for i, c := range plan {
		runs[i] = c.Planned
	}
	return runs
}

// entry returns the entry of a heuristic or method, and adds one if there is none.
func (f *DataSetResult) entry(name string) *Entry {
	for _, e := range f.Entries {
		if e.Name == name {
			return e
		}
	}
	h, _ := prune.Lookup(name) // none if it is a method
	param, _ := h.SizeParam()
	e := &Entry{Name: name, SizeParam: param.Name, Compared: []Comparison{}, Points: []Means{}, Runs: []Trial{}}
	f.Entries = append(f.Entries, e)
	return e
}

// Reference returns the reference's entry.
func (f *DataSetResult) Reference() *Entry { return f.Entries[0] }

// compare computes the means and the comparisons from the runs.
func (f *DataSetResult) compare() {
	for _, e := range f.Entries {
		e.average()
	}
	for _, m := range Measures() {
		levels := f.Orders
		if m == ErrorAtTime {
			levels = f.Reference().times()
		}
		var p, exact []float64
		var judged []*Comparison
		for _, e := range f.Entries[1:] {
			e.Compared = append(e.Compared, f.difference(e, m, levels))
			if c := &e.Compared[m]; c.Verdict == "" {
				p, exact, judged = append(p, float64(c.P)), append(exact, float64(c.PExact)), append(judged, c)
			}
		}
		p, exact = stats.Holm(p), stats.Holm(exact)
		for i, c := range judged {
			alone := c.PExact
			c.P, c.PExact = words.Nullable(p[i]), words.Nullable(exact[i])
			c.judge(alone, len(judged))
		}
	}
}

// average computes the means of the runs at each size parameter value.
func (e *Entry) average() {
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
		p.Error += words.Nullable(w) * (r.Error - p.Error)
		p.Seconds += w * (r.Seconds - p.Seconds)
		p.PeakOrder += w * (r.PeakOrder - p.PeakOrder)
		p.MeanError += words.Nullable(w) * (r.MeanError - p.MeanError)
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

// timeLevels is the number of training times at which heuristics are compared.
const timeLevels = 5

// times returns the training times at which others are compared with a heuristic: evenly spaced on
// a logarithmic scale over the range that all its replicates span.
func (e *Entry) times() []float64 {
	low, high := 0.0, math.Inf(1)
	for _, c := range e.curves(ErrorAtTime) {
		if len(c) > 0 {
			low, high = max(low, c[0].Cost), min(high, c[len(c)-1].Cost)
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
func (f *DataSetResult) difference(e *Entry, m Measure, levels []float64) Comparison {
	none := words.Nullable(math.NaN())
	c := Comparison{
		Measure: measures[m].key, Difference: none, Low: none, High: none, P: none, PExact: none, Bend: none,
		Levels: []float64{}, differences: make(map[int][]float64),
	}
	own, theirs := e.curves(m), f.Reference().curves(m)
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
		c.Verdict, c.Reason = NotComparable, "all runs failed or are missing"
		if len(e.Runs) > 0 {
			c.Reason = fmt.Sprintf("no compared %s that both reach in every replicate: %s, %s", measures[m].cost, f.Reference().span(m), e.span(m))
		}
		return c
	}
	bend := bends / float64(len(c.Levels))
	means := make([]float64, len(replicates)) // over the levels
	for i, r := range replicates {
		for _, v := range c.differences[r] {
			means[i] += v / float64(len(c.differences[r]))
		}
	}
	if f.inflation > 0 {
		centre := stat.Mean(means, nil)
		for i := range means {
			means[i] = centre + f.inflation*(means[i]-centre)
		}
	}
	test := stats.PairedT(means, bend)
	c.Difference, c.P, c.Bend, c.N = words.Nullable(test.Value), words.Nullable(test.P), words.Nullable(bend), test.N
	c.PExact = words.Nullable(stats.PairedT(means, 0).P)
	if c.N < stats.Fewest {
		c.Verdict, c.Reason = TooFew, fmt.Sprintf("%s in common, and a verdict needs %d", words.Count(c.N, "replicate"), stats.Fewest)
		return c
	}
	c.Low, c.High = words.Nullable(test.Low), words.Nullable(test.High)
	return c
}

// judge sets the verdict from the corrected p-values, and the reason if there is none although the
// interval excludes 0. Less is better for every measure. alone is the uncorrected p-value of no
// difference at all; of is the number of heuristics compared.
func (c *Comparison) judge(alone words.Nullable, of int) {
	switch {
	case c.PExact > stats.Level:
		c.Verdict, c.Reason = Open, fmt.Sprintf("the interval excludes 0 (p %s), but not after correction for %d comparisons", PValue(alone), of)
	case c.P > stats.Level:
		c.Verdict, c.Reason = TooCoarse, "the interval excludes 0, but not by more than the possible error of interpolation between runs"
	case c.Difference < 0:
		c.Verdict = Better
	default:
		c.Verdict = Worse
	}
	if !(c.Low > 0 || c.High < 0) {
		c.Reason = ""
	}
}

// Decisive returns the corrected p-value behind the verdict: of no difference at all for Open,
// otherwise of no difference beyond the interpolation error.
func (c Comparison) Decisive() words.Nullable {
	if c.Verdict == Open {
		return c.PExact
	}
	return c.P
}

// commonLevels returns the largest set of heuristics that can be compared at one level, and the
// levels at which the whole set can be compared.
func (f *DataSetResult) commonLevels() (levels []float64, names []string) {
	for _, level := range f.Orders {
		here := []string{f.Reference().Name}
		for _, e := range f.Entries[1:] {
			if slices.Contains(e.Compared[ErrorAtOrder].Levels, level) {
				here = append(here, e.Name)
			}
		}
		if len(here) > len(names) {
			levels, names = nil, here
		}
		if slices.Equal(here, names) {
			levels = append(levels, level)
		}
	}
	return levels, names
}

// block returns what a block of a comparison is. Several files of the user are data sets about which
// the ranks shall speak, after J. Demšar, "Statistical comparisons of classifiers over multiple data
// sets" (JMLR 7, 2006): a block is the mean over the replicates of a file. On one file, and on the data
// sets of this program, a block is a replicate, so that the ranks say what new seeds on these data would
// give and nothing about other data.
func block(sets []spec.DataSet) string {
	if len(sets) > 1 && !slices.ContainsFunc(sets, func(f spec.DataSet) bool { return !f.Data.Own() }) {
		return blockDataSet
	}
	return ""
}

// standing ranks the heuristics that can be compared on all data sets by their final error at equal
// model order.
func standing(sets []*DataSetResult, block string) *Standing {
	if len(sets) == 0 {
		return nil
	}
	s := &Standing{Block: block, DataSets: len(sets), Absent: []string{}}
	var names []string
	for _, f := range sets {
		for _, e := range f.Entries {
			if !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	for _, f := range sets {
		_, here := f.commonLevels()
		isAbsent := func(name string) bool { return !slices.Contains(here, name) }
		for _, name := range names {
			if isAbsent(name) {
				s.Absent = append(s.Absent, name)
			}
		}
		names = slices.DeleteFunc(names, isAbsent)
	}
	var blocks [][]float64
	for _, f := range sets {
		replicates := f.blocks(names)
		if block == blockDataSet && len(replicates) > 0 {
			replicates = [][]float64{meanBlock(replicates)}
		}
		blocks = append(blocks, replicates...)
	}
	if len(names) < 2 || len(blocks) < 2 {
		return nil
	}
	ranking := stats.Rank(blocks)
	s.Blocks, s.P, s.CD = len(blocks), words.Nullable(ranking.P), ranking.CD
	if block == blockDataSet { // the F distribution, an approximation for many blocks, can give less than the chance that few rank alike
		s.P = max(s.P, words.Nullable(math.Pow(math.Gamma(float64(len(names)+1)), float64(1-len(blocks)))))
	}
	for i, name := range names {
		s.Ranks = append(s.Ranks, Rank{name, ranking.Mean[i]})
	}
	slices.SortFunc(s.Ranks, func(a, b Rank) int { return cmp.Or(cmp.Compare(a.Mean, b.Mean), cmp.Compare(a.Name, b.Name)) })
	return s
}

// meanBlock returns the mean of blocks, to a billionth of a point: equal means share a rank, whatever
// the order of their sums.
func meanBlock(blocks [][]float64) []float64 {
	mean := make([]float64, len(blocks[0]))
	for _, row := range blocks {
		floats.AddScaled(mean, 1/float64(len(blocks)), row)
	}
	for i, v := range mean {
		mean[i] = math.Round(v*1e9) / 1e9
	}
	return mean
}

// blocks returns, for every replicate in which all heuristics are compared, the mean difference of
// each heuristic from the reference over the data set's common levels.
func (f *DataSetResult) blocks(names []string) [][]float64 {
	levels, _ := f.commonLevels()
	var out [][]float64
	for _, r := range slices.Sorted(maps.Keys(f.Reference().curves(ErrorAtOrder))) {
		row := make([]float64, len(names))
		whole := true
		for i, name := range names {
			if name == f.Reference().Name {
				continue
			}
			c := f.entry(name).Compared[ErrorAtOrder]
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
