package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/harness"
	"polkrepro/spec"
)

// trials is the largest number of settings tried for a method. A batch method gets as many as its
// share of the budget allows, and is left out if these are fewer than fewest.
const (
	trials = 24
	fewest = 3
)

// An axis is a hyper-parameter to search: its start value and the factor of one step.
type axis struct {
	name        string
	start, step float64
}

// A trial is a setting and the result of its run on the held-out rows.
type trial struct {
	at    []int   // in a search of settings: position on each axis, counted from the start in square roots of steps
	value float64 // of the size parameter, in a search for it
	run   spec.Planned
	harness.Setting
}

// seek runs the trials of searches, side by side, until every search is finished: next returns the
// trials to run next, given the results of the earlier ones, or none.
func seek[S interface{ next(*tuning) []*trial }](ctx context.Context, s *tuning, searches []S) error {
	for {
		var plan []spec.Planned
		of := make(map[string]*trial)
		for _, q := range searches {
			for _, t := range q.next(s) {
				plan, of[t.run.Group] = append(plan, t.run), t
			}
		}
		if len(plan) == 0 {
			return nil
		}
		tried, _, err := harness.Settings(ctx, plan, s.opt.Options)
		if err != nil {
			return err
		}
		for _, r := range tried {
			of[r.Group].Setting = r
		}
	}
}

// A search is a pattern search over the axes of a method. It starts at the start value of every
// axis and moves to the best neighbour as long as a neighbour has a smaller error on the held-out
// rows, first by the axes' steps, then by the steps' square roots.
type search struct {
	method *method
	run    spec.Planned // the run, with the settings that are not searched
	stride int          // 2: whole steps; 1: square roots of steps; 0: finished
	best   *trial
	tried  []*trial
}

// tune finds the settings of all methods on the held-out rows, and notes them. It returns the
// searches in the order of the methods. The best of a search is nil if every trial diverged or failed.
func (s *tuning) tune(ctx context.Context, starts []spec.Planned) ([]*search, error) {
	var searches []*search
	for i := range s.size.methods {
		m := &s.size.methods[i]
		at := slices.IndexFunc(starts, func(p spec.Planned) bool { return p.Label == m.called() })
		searches = append(searches, &search{method: m, run: starts[at], stride: 2})
	}
	if err := seek(ctx, s, searches); err != nil {
		return nil, err
	}
	for _, q := range searches {
		name, tried := q.method.called(), fmt.Sprintf("%d settings tried", len(q.tried))
		if q.best == nil {
			s.note("%s is left out: it diverged or failed with every setting (%s)", name, tried)
			continue
		}
		for i, a := range q.method.axes {
			name += fmt.Sprintf(", %s: %s", a.name, number(s.value(a, q.best.at[i])))
		}
		s.note("%s: error %.2f %% on held-out rows at order %.0f; %s", name, 100*q.best.Error, q.best.Order, tried)
	}
	if searches[0].best == nil {
		return nil, errors.New("POLK diverged or failed with every setting that was tried; other features or another --scale may help")
	}
	return searches, nil
}

func (q *search) next(s *tuning) (out []*trial) {
	from := make([]int, len(q.method.axes))
	if len(q.tried) == 0 {
		return q.add(s, nil, from)
	}
	before := q.best
	for _, t := range q.tried {
		if t.Runs > 0 && (q.best == nil || t.Error < q.best.Error) { // its one run ended
			q.best = t
		}
	}
	if q.best == before && len(q.tried) > 1 {
		q.stride--
	}
	if q.best != nil {
		from = q.best.at
	}
	for ; q.stride > 0; q.stride-- {
		for i := range from {
			for _, step := range []int{-q.stride, q.stride} {
				at := slices.Clone(from)
				at[i] += step
				out = q.add(s, out, at)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// add appends the trial at a position unless the position was tried, is not allowed, or is beyond
// the limit.
func (q *search) add(s *tuning, out []*trial, at []int) []*trial {
	tried := slices.ContainsFunc(q.tried, func(t *trial) bool { return slices.Equal(t.at, at) })
	if tried || len(q.tried) >= s.size.trials(q.method) {
		return out
	}
	p := q.run
	for i, a := range q.method.axes {
		p.Run.Params.Set(a.name, s.value(a, at[i]))
	}
	if len(p.Run.Problems()) > 0 { // such as a learning rate above 1/λ
		return out
	}
	p.ID = spec.ID(p.Run)
	p.Group = q.method.called() + fmt.Sprint(at)
	t := &trial{at: at, run: p}
	q.tried = append(q.tried, t)
	return append(out, t)
}

// value returns the value of an axis at a position, counted from its start in square roots of
// steps.
func (s *tuning) value(a axis, at int) float64 {
	v := a.start
	switch {
	case a.name == "bandwidth":
		v *= s.median
	case a.name == "learning_rate" && s.opt.Task == spec.TaskRegression:
		v *= squaredRate
	}
	return rounded(v * math.Pow(a.step, float64(at)/2))
}
