package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"polkrepro/data"
	"polkrepro/evidence/ledger"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/spec"
)

// An Observation is one run that answers a test, with the value that it contributes.
type Observation struct {
	spec.Planned
	Record *record.Record
	Value  float64
}

// seedless reports whether the run is of a method whose result depends on no seed.
func (o *Observation) seedless() bool {
	m := spec.Method(o.Run.Method)
	return m != nil && m.Seedless
}

// A Side is the runs that one selector of a test selects.
type Side struct {
	Runs    []Observation  // runs with a record, by draw and seed
	Missing []spec.Planned // runs without a record

	plan       []spec.Planned // all of these runs
	drawn      bool           // whether they are those of [ledger.Ledger.OnDraws], in place of the cell's
	other      bool           // whether the runs, or the risk read from them, are not the chosen ones
	unanswered string         // why no runs answer the selector under the assumed alternatives
	silent     string         // why the first run without an answer has none
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
	paper    *paper.Values
	assumed  alternatives
	answered map[*ledger.Answer][]spec.Planned // results of answers
}

// newIndex returns an index of the input without assumed alternatives.
func newIndex(in Input) *index {
	in.Plan = spec.Distinct(in.Plan)
	return &index{Input: in, paper: paper.Printed(), assumed: make(alternatives), answered: make(map[*ledger.Answer][]spec.Planned)}
}

// alternatives holds the alternatives assumed instead of the chosen values, by assumption.
type alternatives map[string]*ledger.Alternative

// assume assumes alternatives, by assumption. It returns an error if an assumption or an alternative
// does not exist, or if no records can answer the alternative.
func (x *index) assume(by map[string]string) error {
	for _, id := range slices.Sorted(maps.Keys(by)) {
		a := x.Ledger.Assumption(id)
		if a == nil {
			return fmt.Errorf("evidence: unknown assumption %q", id)
		}
		alternative := a.Alternative(by[id])
		if alternative == nil {
			return fmt.Errorf("evidence: assumption %s has no alternative %q", id, by[id])
		}
		if !alternative.Run() {
			return fmt.Errorf("evidence: no spec runs the alternative %s of assumption %s", by[id], id)
		}
		x.assumed[id] = alternative
	}
	return nil
}

// A source says what answers the tests of a cell under the assumed alternatives.
type source struct {
	answer  *ledger.Answer // runs of an alternative; nil: the cell's own
	passes  int            // number of passes to which the runs are cut; 0: not cut
	reading reading        // what is read from the records
	why     string         // why there are no such runs; empty if there are
}

// source returns what answers the tests of a cell under the assumed alternatives. A run has at most
// one alternative beside the chosen values, but it can be cut to fewer passes.
func (x *index) source(cell string) source {
	c := x.paper.Cells[cell]
	s := source{reading: x.printed(cell)}
	var with, passes string     // the alternatives of the answer and of the number of passes
	var longer []*ledger.Answer // runs that may be cut: the alternative's, the cell's own (nil), and those of other alternatives
	for _, id := range slices.Sorted(maps.Keys(x.assumed)) {
		a := x.assumed[id]
		s.reading.risk = cmp.Or(a.Risk[c.Data], s.reading.risk)
		if f, ok := a.Penalty[c.Task]; ok {
			s.reading.penalty = f
		}
		answer, depends, name := a.Answer(cell), x.Ledger.Depends(cell, id), id+"="+a.ID
		switch {
		case a.Passes[c.Data] > 0 && depends:
			s.passes, passes = a.Passes[c.Data], name
			longer = append(longer, answer, nil)
			for i := range x.Ledger.Assumption(id).Alternatives {
				longer = append(longer, x.Ledger.Assumption(id).Alternatives[i].Answer(cell))
			}
		case answer == nil && depends && !a.Reading():
			return source{why: fmt.Sprintf("no spec runs %s with %s", cell, name)}
		case answer == nil:
		case s.answer != nil:
			return source{why: fmt.Sprintf("no run of %s has both%s and %s", cell, with, name)}
		default:
			s.answer, with = answer, " "+name
		}
	}
	if s.passes == 0 {
		return s
	}
	if s.answer != nil {
		longer, with = []*ledger.Answer{s.answer}, " with"+with
	}
	for _, answer := range longer {
		if x.lasts(cell, answer, s.passes) {
			s.answer = answer
			return s
		}
	}
	return source{why: fmt.Sprintf("no run of %s%s has %s", cell, with, passes)}
}

// lasts reports whether the runs of answer, or the cell's own if answer is nil, exist and all have
// at least the given number of passes over the training set.
func (x *index) lasts(cell string, answer *ledger.Answer, passes int) bool {
	plan := x.answers(answer)
	if answer == nil {
		plan = x.selected(ledger.Selector{Cell: cell})
	}
	return len(plan) > 0 && !slices.ContainsFunc(plan, func(p spec.Planned) bool { return p.Run.Samples < passes*dataSets()[p.Run.Data.Name].Train })
}

// dataSets are the data sets of the program, by name.
var dataSets = sync.OnceValue(func() map[string]data.Info {
	sets := make(map[string]data.Info)
	for _, set := range data.List() {
		sets[set.Name] = set
	}
	return sets
})

// byResult returns the IDs of the claim's assumptions whose values, chosen or assumed, were chosen
// with the paper's numbers in view.
func (x *index) byResult(c ledger.Claim) (ids []string) {
	for _, id := range c.Assumptions {
		if a := x.Ledger.Assumption(id); a != nil && a.HowOf(x.assumed[id]) == ledger.ChosenByResult {
			ids = append(ids, id)
		}
	}
	return ids
}

// drawn reports whether a test is answered by runs on several draws of a data set instead of the
// cells' runs on one: whether it is about final numbers, all such runs are recorded for all of its
// cells on that data set, and no assumed alternative replaces the runs of one of them.
func (x *index) drawn(t *ledger.Test) (any bool) {
	for _, s := range t.Selectors() {
		runs, varied := x.Ledger.OnDraws(s.Cell)
		if !varied {
			continue
		}
		from := x.source(s.Cell)
		unrecorded := func(p spec.Planned) bool { return x.Records[p.ID] == nil }
		plan := x.answers(runs)
		if any = s.Final() && from.answer == nil && from.passes == 0 && len(plan) > 0 && !slices.ContainsFunc(plan, unrecorded); !any {
			return false
		}
	}
	return any
}

// side returns the runs that a selector selects. The runs of an assumed alternative replace those
// of a cell: the runs with the same draws and orders if all of these exist, otherwise all runs of
// the alternative. Runs are cut to the assumed number of passes. If drawn is true, the runs are
// those on several draws, if the ledger names such runs.
func (x *index) side(s ledger.Selector, drawn bool) Side {
	from := x.source(s.Cell)
	if from.why != "" {
		return Side{unanswered: from.why}
	}
	plan := x.selected(s)
	if from.answer != nil {
		plan = inPlaceOf(x.answers(from.answer), plan)
	}
	if runs, _ := x.Ledger.OnDraws(s.Cell); drawn && runs != nil {
		plan = x.answers(runs)
	} else {
		drawn = false
	}
	out := Side{plan: plan, drawn: drawn, other: from.answer != nil || from.passes > 0 || ofRisk(s) && from.reading != x.printed(s.Cell)}
	for _, p := range plan {
		rec := x.Records[p.ID]
		if rec == nil {
			out.Missing = append(out.Missing, p)
			continue
		}
		if from.passes > 0 {
			var err error
			if rec, err = rec.Cut(from.passes * dataSets()[p.Run.Data.Name].Train); err != nil {
				return Side{unanswered: fmt.Sprintf("runs of %s can't be cut to %d passes: %v", s.Cell, from.passes, err)}
			}
		}
		out.Runs = append(out.Runs, Observation{p, rec, value(rec, s, from.reading)})
	}
	slices.SortStableFunc(out.Runs, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.Run.Data.Draw, b.Run.Data.Draw), cmp.Compare(a.Run.Seed, b.Run.Seed))
	})
	for _, o := range out.Runs {
		out.silent = cmp.Or(out.silent, o.silent(s, from.reading))
	}
	return out
}

// inPlaceOf returns the runs that have the draws and orders of others. If there are no others, or
// if one of their draws and orders is missing, it returns all runs.
func inPlaceOf(runs, others []spec.Planned) []spec.Planned {
	without := func(plan []spec.Planned) func(spec.Planned) bool {
		return func(p spec.Planned) bool {
			return !slices.ContainsFunc(plan, func(q spec.Planned) bool {
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
func (x *index) selected(s ledger.Selector) []spec.Planned {
	if s.Spec != "" {
		return x.planned(func(p *spec.Planned) bool {
			return p.Spec == s.Spec && p.Label == s.Label && (s.Series == "" || p.Series == s.Series)
		})
	}
	own := x.planned(func(p *spec.Planned) bool { return slices.Contains(p.Cells, s.Cell) })
	if s.Figure == "" || len(own) == 0 {
		return own
	}
	return x.planned(func(p *spec.Planned) bool {
		return slices.Contains(p.Figures, s.Figure) && p.Group == own[0].Group
	})
}

// answers returns the runs that an answer names, or nil for a nil answer. The caller must not
// modify them.
func (x *index) answers(a *ledger.Answer) []spec.Planned {
	plan, found := x.answered[a]
	if !found && a != nil {
		plan = x.planned(a.Matches)
		x.answered[a] = plan
	}
	return plan
}

// planned returns the runs that fulfil a condition.
func (x *index) planned(condition func(*spec.Planned) bool) (out []spec.Planned) {
	for i := range x.Plan {
		if condition(&x.Plan[i]) {
			out = append(out, x.Plan[i])
		}
	}
	return out
}

// ofRisk reports whether a selector's quantity is computed from risks.
func ofRisk(s ledger.Selector) bool {
	return s.Quantity == paper.QuantityRisk || s.Quantity == ledger.QuantityRoughness
}

// printed returns the reading of the risk that the paper prints in a cell, as chosen.
func (x *index) printed(cell string) reading {
	return reading{x.paper.Data[x.paper.Cells[cell].Data].Risk, 1}
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
