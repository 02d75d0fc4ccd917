package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/experiments"
)

// A Setting is a method with its hyper-parameters and how it did on training data that
// were held out, averaged over the last 5 % of the samples, draws and seeds.
type Setting struct {
	Spec, Label, Series string
	Group               string // of its runs
	Params              experiments.Params
	Runs                int
	Failed              int // runs that failed, by divergence for instance
	Error               float64
	Order               float64
	Best                bool // of its label, among those without failed runs
}

// Settings trains the runs of a plan, other than those of batch methods, on five sixths of
// their training data and evaluates them on the other sixth, where each label's best
// setting is found. The test data are not looked at. A run that fails tells against its
// setting. The error wraps ErrUsage, ErrInterrupted, or ErrIncomplete if no data set can
// be had, or is that of a damaged data file.
func Settings(ctx context.Context, plan []experiments.Planned, opt Options) ([]Setting, []Unavailable, error) {
	opt = opt.withDefaults()
	plan = slices.DeleteFunc(dedupe(plan), func(p experiments.Planned) bool { return p.Run.Batch() })
	if len(plan) == 0 {
		return nil, nil, Usage(errors.New("the specs have no run of a method that learns from a stream"))
	}
	jobs, unavailable, err := holdOut(ctx, plan, opt, func(run *experiments.Run, _ int) {
		run.Samples = int(math.Round(float64(run.Samples) * (1 - calibrationHoldout))) // as many passes
		run.Evaluation.Every, run.Evaluation.TrainLimit = run.Samples, 1
	})
	if err != nil {
		return nil, nil, err
	}
	switch {
	case ctx.Err() != nil:
		return nil, unavailable, fmt.Errorf("%w: a rerun starts over", ErrInterrupted)
	case len(jobs) == 0:
		return nil, unavailable, Incomplete(errors.New("no setting was tried: the data are missing"))
	}
	var out []Setting
	index := make(map[string]int) // by group
	for _, j := range jobs {
		i, ok := index[j.plan.Group]
		if !ok {
			i = len(out)
			index[j.plan.Group] = i
			out = append(out, Setting{Spec: j.plan.Spec, Label: j.plan.Label, Series: j.plan.Series, Group: j.plan.Group, Params: j.plan.Run.Params})
		}
		s := &out[i]
		if j.err != nil {
			s.Failed++
			continue
		}
		s.Runs++
		for _, p := range j.points {
			s.Error += p.ValidError / float64(len(j.points))
			s.Order += float64(p.ModelOrder) / float64(len(j.points))
		}
	}
	best := make(map[[2]string]*Setting)
	for i := range out {
		s := &out[i]
		s.Error, s.Order = s.Error/float64(s.Runs), s.Order/float64(s.Runs)
		key := [2]string{s.Spec, s.Label}
		if s.Failed == 0 && (best[key] == nil || s.Error < best[key].Error) {
			best[key] = s
		}
	}
	for _, s := range best {
		s.Best = true
	}
	return out, unavailable, nil
}
