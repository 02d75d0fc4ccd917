package harness

import (
	"context"
	"errors"
	"fmt"
	"math"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/polk"
	"polkrepro/record"
	"polkrepro/spec"
)

// Division of the training data when settings are compared. The test data are not used.
const (
	heldOutShare = 1.0 / 6 // as large as MNIST's test set
	heldOutSeed  = 1
)

// A Setting is a method with its hyper-parameters and its figures on held-out training data.
// The figures are means over the last 5 % of the samples, draws and seeds.
type Setting struct {
	Spec, Label, Series string
	Group               string // group of its runs in the plan
	Runs                int
	Failed              int // runs that failed
	Diverged            int
	Error               float64
	Order               float64
	Largest             int  // largest model order of any run: after any step of POLK, at any evaluation of others
	Best                bool // lowest error for its label, among settings whose runs all ended
}

// Ended reports whether all runs of the setting were trained to their end.
func (s *Setting) Ended() bool { return s.Failed+s.Diverged == 0 }

// Settings trains the runs of a plan on five sixths of their training data, evaluates them on
// the held-out sixth, and selects the best setting of each label by the held-out error. It
// does not use the test data. A setting of which a run diverges or fails can't be the best.
// The error wraps ErrUsage, ErrInterrupted, or ErrIncomplete if no data set is available, or
// is that of a damaged data file.
func Settings(ctx context.Context, plan []spec.Planned, opt Options) ([]Setting, []Unavailable, error) {
	opt = opt.withDefaults()
	jobs, unavailable, err := holdOut(ctx, spec.Distinct(plan), opt)
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
			out = append(out, Setting{Spec: j.plan.Spec, Label: j.plan.Label, Series: j.plan.Series, Group: j.plan.Group})
		}
		s := &out[i]
		switch {
		case j.diverged:
			s.Diverged++
			continue
		case j.failed:
			s.Failed++
			continue
		}
		s.Runs++
		s.Largest = max(s.Largest, j.largest)
		for _, p := range j.points {
			s.Error += p.TestError / float64(len(j.points))
			s.Order += float64(p.ModelOrder) / float64(len(j.points))
		}
	}
	best := make(map[[2]string]*Setting)
	for i := range out {
		s := &out[i]
		s.Error, s.Order = s.Error/float64(s.Runs), s.Order/float64(s.Runs)
		key := [2]string{s.Spec, s.Label}
		if s.Ended() && (best[key] == nil || s.Error < best[key].Error) {
			best[key] = s
		}
	}
	for _, s := range best {
		s.Best = true
	}
	return out, unavailable, nil
}

// A heldOutJob is one run on part of its training data.
type heldOutJob struct {
	plan   spec.Planned
	set    *data.Set
	points []record.Point

	largest int // largest model order

	failed, diverged bool // how the run ended; not both
}

// holdOut trains runs on five sixths of their training data and evaluates them on the
// held-out sixth.
func holdOut(ctx context.Context, plan []spec.Planned, opt Options) ([]*heldOutJob, []Unavailable, error) {
	sets, unavailable, err := loadAll(ctx, opt.Finder, plan)
	if err != nil {
		return nil, nil, interruptedOr(ctx, err)
	}
	held := make(map[data.Ref]*data.Set)
	var jobs []*heldOutJob
	for _, p := range plan {
		ref := p.Run.Data
		if sets[ref] == nil { // the data are missing
			continue
		}
		if held[ref] == nil {
			held[ref] = data.Holdout(sets[ref], heldOutShare, heldOutSeed)
			if ref.Files.Ordered {
				held[ref] = data.HoldoutLast(sets[ref], heldOutShare)
			}
		}
		if p.Run.Batch() {
			p.Run.Samples = held[ref].Train.N
		} else {
			p.Run.Samples = int(math.Round(float64(p.Run.Samples) * (1 - heldOutShare))) // keep the number of passes
			p.Run.Evaluation.Every, p.Run.Evaluation.TrainLimit = p.Run.Samples, 1
		}
		jobs = append(jobs, &heldOutJob{plan: p, set: held[ref]})
	}
	workers, cores := layout(opt.Workers, len(jobs))
	opt.Progress.Report(Event{Kind: EventPlan, Runs: len(jobs), Workers: workers})
	pool(ctx, workers, cores, len(jobs), func(ctx context.Context, i int) error {
		jobs[i].run(ctx, opt.Progress, opt.Methods, cores)
		return nil // a run that fails does not stop the others
	})
	return jobs, unavailable, nil
}

// run trains one job and records whether it failed or diverged, unless the context ended.
func (j *heldOutJob) run(ctx context.Context, progress Progress, methods Registry, cores *cores) {
	t := newTracked(j.plan, progress)
	err := j.train(ctx, t, methods, cores)
	switch {
	case err == nil:
		t.report(EventFinish)
	case stopped(ctx, err):
		t.report(EventStop)
	default:
		t.event.Message = err.Error()
		if errors.Is(err, errDiverged) || errors.Is(err, polk.ErrDiverged) { // a setting too large for the data, not a failure
			j.diverged = true
			t.report(EventFinish)
			return
		}
		j.failed = true
		t.report(EventFail)
	}
}

func (j *heldOutJob) train(ctx context.Context, t *tracked, methods Registry, cores *cores) (err error) {
	defer Recover(&err)
	tr, err := newTrainer(j.plan.Run, j.set, methods, cores, t)
	if err != nil {
		return err
	}
	if tr.run.Method == spec.MethodPOLK { // the order of others is a parameter, and asking for it can cost as much as a step
		tr.learner = watched{tr.learner, &j.largest}
	}
	err = tr.train(ctx)
	j.points = tr.points
	for _, p := range j.points {
		j.largest = max(j.largest, p.ModelOrder)
	}
	return err
}

// Fit trains a run on a training set, without a record, and returns the model, which must be a kernel
// expansion. The model is evaluated once, at the end. The error wraps ErrInterrupted if the context ended.
func Fit(ctx context.Context, p spec.Planned, set *data.Set, opt Options) (e *kernel.Expansion, err error) {
	defer Recover(&err)
	opt = opt.withDefaults()
	_, cores := layout(1, 1)
	p.Run.Evaluation = spec.Evaluation{TrainLimit: 1}
	t, err := newTrainer(p.Run, set, opt.Methods, cores, newTracked(p, opt.Progress))
	if err == nil {
		err = t.train(ctx)
	}
	if err != nil {
		return nil, interruptedOr(ctx, err)
	}
	if l, ok := t.learner.(interface{ Expansion() *kernel.Expansion }); ok { // whose Model may wrap it
		return l.Expansion(), nil
	}
	return t.learner.Model().(*kernel.Expansion), nil
}

// A watched learner keeps the largest model order after its steps.
type watched struct {
	Learner
	largest *int
}

func (w watched) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	scores, err := w.Learner.Step(ctx, n, x, y)
	*w.largest = max(*w.largest, w.Model().Order())
	return scores, err
}
