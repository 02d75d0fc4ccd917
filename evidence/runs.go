package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"polkrepro/evidence/theory"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// An Observation is one run that answers a test, with the value that it contributes.
type Observation struct {
	experiments.Planned
	Record *record.Record
	Value  float64
}

// seedless reports whether the run is of a method whose result depends on no seed.
func (o *Observation) seedless() bool {
	m := experiments.Method(o.Run.Method)
	return m != nil && m.Seedless
}

// A Side is the runs that one selector of a test selects.
type Side struct {
	Runs    []Observation         // runs with a record, by draw and seed
	Missing []experiments.Planned // runs without a record

	cut    string // why runs with a record can't be cut to the assumed number of passes
	silent string // why the first run without an answer has none
}

// values returns the values of the runs.
func (s *Side) values() []float64 {
	out := make([]float64, len(s.Runs))
	for i, r := range s.Runs {
		out[i] = r.Value
	}
	return out
}

// short returns a note if the runs are cut from longer ones, and says if a single evaluation is
// left in their last 5 %. It is empty for whole runs.
func (s *Side) short() string {
	r := s.Runs[0]
	samples := r.Record.Header.Run.Samples
	if samples >= r.Run.Samples {
		return ""
	}
	note := fmt.Sprintf("the first %s of %s samples", words.Grouped(samples), words.Grouped(r.Run.Samples))
	if len(record.Tail(r.Record.Points, samples)) == 1 {
		note += ", one evaluation"
	}
	return note
}

// An index finds planned runs, and judges claims by their records.
type index struct {
	Input
	paper    *experiments.PaperValues
	assumed  alternatives
	answered map[*experiments.Answer][]experiments.Planned // results of answers
}

// newIndex returns an index of the input without assumed alternatives.
func newIndex(in Input) *index {
	in.Plan = experiments.Distinct(in.Plan)
	return &index{Input: in, paper: experiments.Paper(), assumed: make(alternatives), answered: make(map[*experiments.Answer][]experiments.Planned)}
}

// side returns the runs that a selector selects. The runs of an assumed alternative replace those
// of a cell: the runs with the same draws and orders if all of these exist, otherwise all runs of
// the alternative. Runs are cut to the assumed number of passes.
func (x *index) side(s experiments.Selector) Side {
	plan, from, read := x.selected(s), x.source(s.Cell), x.reading(s.Cell)
	if from.answer != nil {
		plan = inPlaceOf(x.answers(from.answer), plan)
	}
	var out Side
	for _, p := range plan {
		rec := x.Records[p.ID]
		if rec == nil {
			out.Missing = append(out.Missing, p)
			continue
		}
		if from.passes > 0 {
			var err error
			if rec, err = rec.Cut(from.passes * dataSets()[p.Run.Data.Name].Train); err != nil {
				return Side{cut: fmt.Sprintf("runs of %s can't be cut to %d passes: %v", s.Cell, from.passes, err)}
			}
		}
		out.Runs = append(out.Runs, Observation{p, rec, value(rec, s, read)})
	}
	slices.SortStableFunc(out.Runs, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.Run.Data.Draw, b.Run.Data.Draw), cmp.Compare(a.Run.Seed, b.Run.Seed))
	})
	for _, o := range out.Runs {
		out.silent = cmp.Or(out.silent, o.silent(s, read))
	}
	return out
}

// inPlaceOf returns the runs that have the draws and orders of others. If there are no others, or
// if one of their draws and orders is missing, it returns all runs.
func inPlaceOf(runs, others []experiments.Planned) []experiments.Planned {
	without := func(plan []experiments.Planned) func(experiments.Planned) bool {
		return func(p experiments.Planned) bool {
			return !slices.ContainsFunc(plan, func(q experiments.Planned) bool {
				return p.Run.Data.Draw == q.Run.Data.Draw && p.Run.Seed == q.Run.Seed
			})
		}
	}
	if len(others) == 0 || slices.ContainsFunc(others, without(runs)) {
		return runs
	}
	return slices.DeleteFunc(slices.Clone(runs), without(others))
}

// selected returns the runs that a selector selects if no alternative is assumed.
func (x *index) selected(s experiments.Selector) []experiments.Planned {
	if s.Spec != "" {
		return x.planned(func(p *experiments.Planned) bool {
			return p.Spec == s.Spec && p.Label == s.Label && (s.Series == "" || p.Series == s.Series)
		})
	}
	own := x.planned(func(p *experiments.Planned) bool { return slices.Contains(p.Cells, s.Cell) })
	if s.Figure == "" || len(own) == 0 {
		return own
	}
	return x.planned(func(p *experiments.Planned) bool {
		return slices.Contains(p.Figures, s.Figure) && p.Group == own[0].Group
	})
}

// answers returns the runs that an answer names, or nil for a nil answer. The caller must not
// modify them.
func (x *index) answers(a *experiments.Answer) []experiments.Planned {
	plan, found := x.answered[a]
	if !found && a != nil {
		plan = x.planned(a.Matches)
		x.answered[a] = plan
	}
	return plan
}

// planned returns the runs that fulfil a condition.
func (x *index) planned(condition func(*experiments.Planned) bool) (out []experiments.Planned) {
	for i := range x.Plan {
		if condition(&x.Plan[i]) {
			out = append(out, x.Plan[i])
		}
	}
	return out
}

// touched reports whether a selector has other runs or another reading under the assumed
// alternatives.
func (x *index) touched(s experiments.Selector) bool {
	from := x.source(s.Cell)
	chosen := reading{x.paper.Data[x.paper.Cells[s.Cell].Data].Risk, 1}
	return from.answer != nil || from.passes > 0 || ofRisk(s) && x.reading(s.Cell) != chosen
}

// ofRisk reports whether a selector's quantity is computed from risks.
func ofRisk(s experiments.Selector) bool {
	return s.Quantity == experiments.QuantityRisk || s.Quantity == experiments.QuantityRoughness
}

// A reading says which number of a record stands for the risk that the paper prints.
type reading struct {
	of      string  // RiskTrain or RiskTest
	penalty float64 // factor of (λ/2)Σ‖f_c‖²
}

// more returns the factor of the Σ‖f_c‖² that is added to the risks of a record.
func (r reading) more(rec *record.Record) float64 {
	return (r.penalty - 1) * rec.Header.Run.Params.Regularizer / 2
}

// reading returns the reading of a cell's runs under the assumed alternatives.
func (x *index) reading(cell string) reading {
	c := x.paper.Cells[cell]
	r := reading{x.paper.Data[c.Data].Risk, 1}
	for _, id := range slices.Sorted(maps.Keys(x.assumed)) {
		a := x.assumed[id]
		r.of = cmp.Or(a.Risk[c.Data], r.of)
		if f, ok := a.Penalty[c.Task]; ok {
			r.penalty = f
		}
	}
	return r
}

// pairs matches the runs of two sides with the same data, draws and seeds, one by one. A method
// without a seed matches every seed; its runs are repeated accordingly. ok reports whether every
// run has a match.
func pairs(a, b *Side) (left, right []float64, ok bool) {
	long, short := a, b
	if len(b.Runs) > len(a.Runs) {
		long, short = b, a
	}
	used := make(map[int]bool)
	for _, r := range long.Runs {
		i := slices.IndexFunc(short.Runs, func(o Observation) bool {
			return o.Run.Data == r.Run.Data && (o.Run.Seed == r.Run.Seed || o.seedless())
		})
		if i < 0 {
			return nil, nil, false
		}
		used[i] = true
		left, right = append(left, r.Value), append(right, short.Runs[i].Value)
	}
	if long == b {
		left, right = right, left
	}
	return left, right, len(used) == len(short.Runs)
}

// value returns the number that a selector reads from a record: in percent for an error, in samples
// for a first passage below a threshold, +Inf if that never happens. read says which risk the paper
// prints.
func value(r *record.Record, s experiments.Selector, read reading) float64 {
	more := read.more(r)
	at := func(p record.Point) float64 { return quantity(s.Quantity, read.of, more, p) }
	switch {
	case s.Measured():
		return theory.Value(r, s.Quantity)
	case modeWords[s.Quantity] != "":
		return amongModes(r, s.Quantity)
	case s.Quantity == experiments.QuantityRoughness:
		return roughness(r.Points, read.of, more)
	case s.Below != nil:
		for _, p := range r.Points {
			if at(p) < *s.Below {
				return float64(p.Samples)
			}
		}
		return math.Inf(1)
	case s.Samples > 0:
		for _, p := range r.Points {
			if p.Samples >= s.Samples {
				return at(p)
			}
		}
		return math.NaN()
	}
	f := r.Final
	if s.Quantity == experiments.QuantityOrder {
		return f.ModelOrder
	}
	return at(record.Point{TrainRisk: f.TrainRisk, TestRisk: f.TestRisk, TestError: f.TestError, Diagnostics: f.Diagnostics})
}

// exponents returns the slope of log value over log η of each seed that has a run at
// every η, in order of the seeds.
func (s *Side) exponents() (slopes []float64) {
	rates := make(map[float64]bool)
	for _, p := range s.Missing {
		rates[p.Run.Params.LearningRate] = true
	}
	x, y := make(map[uint64][]float64), make(map[uint64][]float64)
	for _, r := range s.Runs {
		rate, seed := r.Run.Params.LearningRate, r.Run.Seed
		rates[rate] = true
		x[seed], y[seed] = append(x[seed], rate), append(y[seed], r.Value)
	}
	for _, seed := range slices.Sorted(maps.Keys(x)) {
		if len(x[seed]) == len(rates) && len(rates) > 1 {
			slopes = append(slopes, theory.Exponent(x[seed], y[seed]))
		}
	}
	return slopes
}

// silent returns why a run has no answer for a selector, or "".
func (o *Observation) silent(s experiments.Selector, read reading) string {
	f := &o.Record.Final
	switch {
	case modeWords[s.Quantity] != "" && math.IsNaN(o.Value):
		return "a record has no dictionary"
	case ofRisk(s) && read.penalty != 1 && f.NormSq == nil && words.Finite(f.TrainRisk):
		return "the records have no Σ‖f_c‖²; repeat the runs with 'runall reproduce --rerun'"
	}
	return theory.TooShort(o.Run, s.Quantity)
}

// quantity returns a point's risk plus more·Σ‖f_c‖², its error in percent, or its model order. A
// risk or error that is not a number is infinite: the run diverged.
func quantity(name, risk string, more float64, p record.Point) float64 {
	v := float64(p.ModelOrder)
	switch name {
	case experiments.QuantityError:
		v = 100 * p.TestError
	case experiments.QuantityRisk:
		v = p.TestRisk
		if risk == experiments.RiskTrain {
			v = p.TrainRisk
		}
		if more != 0 && p.NormSq == nil {
			return math.Inf(1)
		}
		if more != 0 {
			v += more * *p.NormSq
		}
	}
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

// roughness returns the sum of the rises of the risk from point to point, divided by its fall from
// the first to the last. It is infinite if the risk does not fall.
func roughness(points []record.Point, risk string, more float64) float64 {
	at := func(i int) float64 { return quantity(experiments.QuantityRisk, risk, more, points[i]) }
	if len(points) < 2 {
		return math.NaN()
	}
	rises := 0.0
	for i := 1; i < len(points); i++ {
		rises += max(0, at(i)-at(i-1))
	}
	fall := at(0) - at(len(points)-1)
	if !(fall > 0) || math.IsInf(fall, 0) {
		return math.Inf(1)
	}
	return rises / fall
}
