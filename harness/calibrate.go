package harness

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

// How calibration divides the training data. The test data are not looked at.
const (
	calibrationHoldout = 1.0 / 6 // as large as MNIST's test set
	calibrationSeed    = 1
)

// CalibrateOptions say what to sweep.
type CalibrateOptions struct {
	Epochs    int       // default 10
	Parsimony []float64 // the constants K > 0 to try; default each run's own
	Rule      EpochRule
	Options   // RequireData and Results are not used
}

// A CalibrationPoint is a POLK run after one of its epochs, evaluated on the
// part of the training data that was held out.
type CalibrationPoint struct {
	Spec       string
	Data       data.Ref
	Task       string
	Parsimony  float64
	Seed       uint64
	Epoch      int
	Samples    int
	TrainRisk  float64
	ValidRisk  float64
	ValidError float64
	ModelOrder int
	Seconds    float64 // of training, so far
}

// A calibrationJob is one run of a sweep.
type calibrationJob struct {
	plan   experiments.Planned
	set    *data.Set
	points []CalibrationPoint
	done   bool  // all points are there
	err    error // why the run failed
}

// Calibrate trains the POLK runs of a plan on five sixths of their training
// data and evaluates them after every epoch on the other sixth. It returns
// the points of all runs that were finished, run after run, and the data sets
// that can't be had. The error wraps ErrRunsFailed and those of the runs, or
// ErrInterrupted, and with either the points of the finished runs are there;
// or it wraps ErrUsage, or is that of a damaged data file.
func Calibrate(ctx context.Context, plan []experiments.Planned, opt CalibrateOptions) ([]CalibrationPoint, []Unavailable, error) {
	if err := opt.check(); err != nil {
		return nil, nil, err
	}
	opt.Options = opt.withDefaults()
	if opt.Epochs == 0 {
		opt.Epochs = 10
	}
	plan = sweep(plan, opt.Parsimony)
	if len(plan) == 0 {
		return nil, nil, Usage(errors.New("the specs have no run of POLK to calibrate"))
	}
	jobs, unavailable, err := holdOut(ctx, plan, opt.Options, func(run *experiments.Run, rows int) {
		run.Samples = opt.Epochs * rows
		run.Evaluation.Every, run.Evaluation.Tail = rows, 0
	})
	if err != nil {
		return nil, nil, err
	}
	points, err := calibrated(jobs)
	return points, unavailable, err
}

// holdOut trains runs on five sixths of their training data and evaluates them on the
// other sixth. The runs are changed first, each by the number of its training rows.
func holdOut(ctx context.Context, plan []experiments.Planned, opt Options, change func(run *experiments.Run, rows int)) ([]*calibrationJob, []Unavailable, error) {
	sets, unavailable, err := loadAll(ctx, data.NewStore(opt.Finder), plan)
	if err != nil {
		return nil, nil, interruptedOr(ctx, err)
	}
	jobs := calibrationJobs(plan, sets, change)
	workers, cores := layout(opt.Workers, len(jobs))
	opt.Progress.Report(Event{Kind: EventPlan, Runs: len(jobs), Workers: workers})
	pool(ctx, workers, cores, len(jobs), func(ctx context.Context, i int) error {
		jobs[i].run(ctx, opt.Progress, opt.Methods, cores)
		return nil // a run that fails does not stop the others
	})
	return jobs, unavailable, nil
}

// check reports what can't be swept.
func (o CalibrateOptions) check() error {
	if o.Epochs < 0 {
		return Usage(fmt.Errorf("calibration of %d epochs: want at least 1", o.Epochs))
	}
	for _, k := range o.Parsimony {
		if err := checkParsimony(k); err != nil {
			return err
		}
	}
	return nil
}

// checkParsimony reports a constant K that is not a positive number.
func checkParsimony(k float64) error {
	if !finite(k) || k <= 0 {
		return Usage(fmt.Errorf("parsimony constant %v: want a number greater than 0", k))
	}
	return nil
}

// calibrated returns the points of the finished jobs and the error of the
// others.
func calibrated(jobs []*calibrationJob) ([]CalibrationPoint, error) {
	var points []CalibrationPoint
	var failures []error
	done := 0
	for _, j := range jobs {
		switch {
		case j.done:
			done++
			points = append(points, j.points...)
		case j.err != nil:
			failures = append(failures, j.err)
		}
	}
	var errs []error
	if done+len(failures) < len(jobs) {
		errs = append(errs, fmt.Errorf("%w: %d of %s finished; a rerun starts over", ErrInterrupted, done, count(len(jobs), "run")))
	}
	if len(failures) > 0 {
		errs = append(errs, fmt.Errorf("%w: %d of %d", ErrRunsFailed, len(failures), len(jobs)))
	}
	return points, errors.Join(append(errs, failures...)...)
}

// sweep returns the POLK runs of a plan, each once for every parsimony
// constant.
func sweep(plan []experiments.Planned, parsimony []float64) []experiments.Planned {
	var out []experiments.Planned
	for _, p := range dedupe(plan) {
		if p.Run.Method != "polk" {
			continue
		}
		constants := parsimony
		if len(constants) == 0 {
			constants = []float64{p.Run.Params.Parsimony}
		}
		for _, k := range constants {
			q := p
			q.Run.Params.Parsimony = k
			q.ID = experiments.ID(q.Run)
			q.Series = fmt.Sprintf("%s, K = %g", p.Spec, k)
			out = append(out, q)
		}
	}
	return dedupe(out)
}

// calibrationJobs prepares the runs whose data are there.
func calibrationJobs(plan []experiments.Planned, sets map[data.Ref]*data.Set, change func(run *experiments.Run, rows int)) []*calibrationJob {
	held := make(map[data.Ref]*data.Set)
	var jobs []*calibrationJob
	for _, p := range plan {
		ref := p.Run.Data
		if sets[ref] == nil {
			continue
		}
		if held[ref] == nil {
			held[ref] = data.Holdout(sets[ref], calibrationHoldout, calibrationSeed)
		}
		change(&p.Run, held[ref].Train.N)
		jobs = append(jobs, &calibrationJob{plan: p, set: held[ref]})
	}
	return jobs
}

// run trains one job and notes whether it was finished or why it failed:
// neither if the context ended.
func (j *calibrationJob) run(ctx context.Context, progress Progress, methods Registry, cores *cores) {
	t := newTracked(j.plan, progress)
	err := j.train(ctx, t, methods, cores)
	switch {
	case err == nil:
		j.done = true
		t.report(EventFinish)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		t.report(EventStop)
	default:
		j.err = fmt.Errorf("%s: %w", t.event.label(), err)
		t.event.Message = err.Error()
		t.report(EventFail)
	}
}

func (j *calibrationJob) train(ctx context.Context, t *tracked, methods Registry, cores *cores) (err error) {
	defer Recover(&err)
	tr, err := newTrainer(j.plan.Run, j.set, methods, cores)
	if err != nil {
		return err
	}
	tr.emit = func(p record.Point) error {
		t.evaluated(p)
		j.points = append(j.points, j.point(p))
		return nil
	}
	tr.step = func(samples int) { t.stepped(samples, tr.learner) }
	return tr.train(ctx)
}

func (j *calibrationJob) point(p record.Point) CalibrationPoint {
	run := j.plan.Run
	return CalibrationPoint{
		Spec:       j.plan.Spec,
		Data:       run.Data,
		Task:       run.Task,
		Parsimony:  run.Params.Parsimony,
		Seed:       run.Seed,
		Epoch:      len(j.points) + 1,
		Samples:    p.Samples,
		TrainRisk:  p.TrainRisk,
		ValidRisk:  p.TestRisk,
		ValidError: p.TestError,
		ModelOrder: p.ModelOrder,
		Seconds:    p.Timing.Wall,
	}
}

// WriteCalibration writes points as CSV.
func WriteCalibration(w io.Writer, points []CalibrationPoint) error {
	out := csv.NewWriter(w)
	out.Write([]string{"spec", "data", "task", "parsimony", "seed", "epoch", "samples",
		"train_risk", "validation_risk", "validation_error", "model_order", "seconds"})
	for _, p := range points {
		out.Write([]string{p.Spec, p.Data.String(), p.Task, number(p.Parsimony), strconv.FormatUint(p.Seed, 10),
			strconv.Itoa(p.Epoch), strconv.Itoa(p.Samples), number(p.TrainRisk), number(p.ValidRisk),
			number(p.ValidError), strconv.Itoa(p.ModelOrder), strconv.FormatFloat(p.Seconds, 'f', 3, 64)})
	}
	out.Flush()
	return out.Error()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// A Choice is the number of epochs that the rule chose for one parsimony
// constant of a spec.
type Choice struct {
	Spec      string
	Task      string
	Parsimony float64
	Runs      int       // draws and seeds averaged over
	Curve     []float64 // mean validation error after epochs 1, 2, …
	Orders    []float64 // mean model order after epochs 1, 2, …
	Epochs    int
	Settled   bool // false: the curve is too short to tell
}

// Choose applies the rule to the mean curve of each spec and parsimony
// constant, in the order of the points.
func Choose(points []CalibrationPoint, rule EpochRule) []Choice {
	var choices []Choice
	for _, p := range points {
		i := slices.IndexFunc(choices, func(c Choice) bool {
			return c.Spec == p.Spec && c.Task == p.Task && c.Parsimony == p.Parsimony
		})
		if i < 0 {
			i = len(choices)
			choices = append(choices, Choice{Spec: p.Spec, Task: p.Task, Parsimony: p.Parsimony})
		}
		choices[i].add(p)
	}
	for i := range choices {
		c := &choices[i]
		for e := range c.Curve {
			c.Curve[e] /= float64(c.Runs)
			c.Orders[e] /= float64(c.Runs)
		}
		c.Epochs, c.Settled = rule.Choose(c.Curve)
	}
	return choices
}

// add adds a point to the sums that become means.
func (c *Choice) add(p CalibrationPoint) {
	if p.Epoch == 1 {
		c.Runs++
	}
	for len(c.Curve) < p.Epoch {
		c.Curve = append(c.Curve, 0)
		c.Orders = append(c.Orders, 0)
	}
	c.Curve[p.Epoch-1] += p.ValidError
	c.Orders[p.Epoch-1] += float64(p.ModelOrder)
}
