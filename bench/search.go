package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"polkrepro/experiments"
)

// trials is how many settings are tried of a method at most: the same of all, but of batch
// methods as many as their share of the budget allows, and fewest at least.
const (
	trials = 24
	fewest = 3
)

// An axis is a setting of a method that is sought: from where, and by which factor.
type axis struct {
	name        string
	start, step float64
}

// A search goes from the start of all axes to a neighbour as long as one has a smaller
// error on the held-out rows: first by the axes' steps, then by the steps' square roots.
type search struct {
	method *method
	run    experiments.Planned // with what is not sought
	limit  int                 // of trials
	stride int                 // 2: by steps; 1: by their roots; 0: at rest
	best   *trial
	tried  []*trial
	seen   map[string]bool // where they are
	cut    bool            // by the limit
}

// A trial is a setting: where it is on the axes, in roots of steps from their starts.
type trial struct {
	at       []int
	run      experiments.Planned
	err      float64 // +Inf if it diverged or failed
	order    float64
	diverged bool
}

// settle finds the settings of methods on the held-out rows, all methods side by side. The
// searches are in the order of the methods; the best of one whose every trial diverged or
// failed is nil.
func (b *bench) settle(ctx context.Context, methods []method, starts []experiments.Planned) ([]*search, error) {
	var searches []*search
	for i := range methods {
		m := &methods[i]
		at := slices.IndexFunc(starts, func(p experiments.Planned) bool { return p.Label == m.called() })
		searches = append(searches, &search{method: m, run: starts[at], limit: b.size.trials(m), stride: 2, seen: make(map[string]bool)})
	}
	for {
		var plan []experiments.Planned
		of := make(map[string]*trial)
		for _, s := range searches {
			for _, t := range s.next(b) {
				plan, of[t.run.Group] = append(plan, t.run), t
			}
		}
		if len(plan) == 0 {
			break
		}
		tried, err := b.try(ctx, plan)
		if err != nil {
			return nil, err
		}
		for _, r := range tried {
			if t := of[r.Group]; r.Ended() {
				t.err, t.order = r.Error, r.Order
			} else {
				t.diverged = r.Diverged > 0
			}
		}
	}
	for _, s := range searches {
		s.say(b)
	}
	if searches[0].best == nil {
		return nil, errors.New("POLK diverged or failed with every setting that was tried; other features or another --scale may help")
	}
	return searches, nil
}

// next returns the trials to be made next, none at the end.
func (s *search) next(b *bench) (out []*trial) {
	from := make([]int, len(s.method.axes))
	if len(s.tried) == 0 {
		return s.add(b, nil, from)
	}
	before := s.best
	for _, t := range s.tried {
		if !math.IsInf(t.err, 1) && (s.best == nil || t.err < s.best.err) {
			s.best = t
		}
	}
	if s.best == before && len(s.tried) > 1 {
		s.stride--
	}
	if s.best != nil {
		from = s.best.at
	}
	for ; s.stride > 0; s.stride-- {
		for i := range from {
			for _, step := range []int{-s.stride, s.stride} {
				at := slices.Clone(from)
				at[i] += step
				out = s.add(b, out, at)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// add adds the trial of a place that was not tried, is allowed and within the limit.
func (s *search) add(b *bench, out []*trial, at []int) []*trial {
	key := fmt.Sprint(at)
	if s.seen[key] {
		return out
	}
	if s.cut = s.cut || len(s.tried) >= s.limit; s.cut {
		return out
	}
	s.seen[key] = true
	p := s.run
	for i, a := range s.method.axes {
		set(&p.Run.Params, a.name, b.value(a, at[i]))
	}
	if len(p.Run.Problems()) > 0 { // a rate of more than 1/λ
		return out
	}
	p.ID = experiments.ID(p.Run)
	p.Group = s.method.called() + " " + key
	t := &trial{at: at, run: p, err: math.Inf(1)}
	s.tried = append(s.tried, t)
	return append(out, t)
}

// value is that of an axis so many roots of steps from its start.
func (b *bench) value(a axis, at int) float64 {
	v := a.start
	switch {
	case a.name == "bandwidth":
		v *= b.median
	case a.name == "learning_rate" && b.opt.Task == experiments.TaskRegression:
		v *= squaredRate
	}
	return rounded(v * math.Pow(a.step, float64(at)/2))
}

// set changes a setting by its name in specs.
func set(p *experiments.Params, name string, v float64) {
	switch name {
	case "bandwidth":
		p.Kernel.Bandwidth = v
	case "learning_rate":
		p.LearningRate = v
	case "regularizer":
		p.Regularizer = v
	case "cost":
		p.Cost = v
	default:
		p.Own = map[string]float64{name: v}
	}
}

// settings writes the best settings as a spec has them.
func (s *search) settings(b *bench) string { return s.method.settings(b, s.best.at) }

// settings writes those of a place on the axes.
func (m *method) settings(b *bench, at []int) string {
	var words []string
	for i, a := range m.axes {
		words = append(words, a.name+": "+number(b.value(a, at[i])))
	}
	return strings.Join(words, ", ")
}

// say notes what was found.
func (s *search) say(b *bench) {
	name, diverged := s.method.called(), 0
	for _, t := range s.tried {
		if t.diverged {
			diverged++
		}
	}
	tried := fmt.Sprintf("%d settings tried", len(s.tried))
	if diverged > 0 {
		tried += fmt.Sprintf(", of which %d diverged", diverged)
	}
	if s.best == nil {
		b.note("%s is left out: it diverged or failed with every setting (%s)", name, tried)
		return
	}
	if s.cut {
		tried += ", not all neighbours of the best"
	}
	b.note("%s, %s: error %.2f %% on held-out rows at order %.0f; %s", name, s.settings(b), 100*s.best.err, s.best.order, tried)
}
