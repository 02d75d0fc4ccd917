package evidence

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"polkrepro/data"
	"polkrepro/experiments"
)

// alternatives holds the alternatives assumed instead of the chosen values, by assumption.
type alternatives map[string]*experiments.Alternative

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

// A source is the runs that replace a cell's under the assumed alternatives.
type source struct {
	answer *experiments.Answer // runs of an alternative; nil: the cell's own
	passes int                 // number of passes to which the runs are cut; 0: not cut
	why    string              // why there are no such runs; empty if there are
}

// source returns the runs that replace a cell's under the assumed alternatives. A run has at most
// one alternative beside the chosen values, but it can be cut to fewer passes.
func (x *index) source(cell string) source {
	var s source
	var with, passes string          // the alternatives of the answer and of the number of passes
	var longer []*experiments.Answer // runs that may be cut: the alternative's, the cell's own (nil), and those of other alternatives
	set := x.paper.Cells[cell].Data
	for _, id := range slices.Sorted(maps.Keys(x.assumed)) {
		a := x.assumed[id]
		answer, depends, name := a.Answer(cell), x.Ledger.Depends(cell, id), id+"="+a.ID
		switch {
		case a.Passes[set] > 0 && depends:
			s.passes, passes = a.Passes[set], name
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
		longer, with = []*experiments.Answer{s.answer}, " with"+with
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
func (x *index) lasts(cell string, answer *experiments.Answer, passes int) bool {
	plan := x.answers(answer)
	if answer == nil {
		plan = x.selected(experiments.Selector{Cell: cell})
	}
	return len(plan) > 0 && !slices.ContainsFunc(plan, func(p experiments.Planned) bool { return p.Run.Samples < passes*dataSets()[p.Run.Data.Name].Train })
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
func (x *index) byResult(c experiments.Claim) (ids []string) {
	for _, id := range c.Assumptions {
		if a := x.Ledger.Assumption(id); a != nil && a.HowOf(x.assumed[id]) == experiments.ChosenByResult {
			ids = append(ids, id)
		}
	}
	return ids
}

// unanswered returns why no runs answer a test under the assumed alternatives, or "" if some do.
func (x *index) unanswered(t experiments.Test) string {
	for _, s := range t.Selectors() {
		if why := x.source(s.Cell).why; why != "" {
			return why
		}
	}
	return ""
}
