package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/online"
	"polkrepro/record"
	"polkrepro/spec"
)

// Export trains the best setting of a comparison on one file of a user again, on all rows of the file, and
// returns the model for prediction. The best has the least mean error on the test rows, among the
// settings whose runs all have a record and whose model a model file can hold. Export passes to
// opt.Note what it chose, and what it could not choose.
func Export(ctx context.Context, plan []spec.Planned, records map[string]*record.Record, opt Options) (*online.Model, error) {
	all := candidates(plan, records)
	at := slices.IndexFunc(all, func(c candidate) bool { return c.unheld() == "" })
	if at < 0 {
		return nil, errors.New("no setting whose runs all ended has a model that a model file can hold")
	}
	best := all[at]
	if at > 0 {
		opt.Note("%s has the least error on the test rows, %.2f %%, but a model file can't hold its model: %s", all[0].Series, 100*all[0].error, all[0].unheld())
	}
	set, err := data.LoadWhole(best.Run.Data)
	if err != nil {
		return nil, err
	}
	opt.Note("%s has the least error on the test rows of all that a model file can hold, %.2f %%: training it on all %d rows", best.Series, 100*best.error, set.Train.N)
	learned := set.Train.N
	if !best.Run.Batch() { // as many passes as before
		if f := &best.Run.Data.Files; f.Holdout > 0 {
			_, kept := f.HeldOut(learned)
			learned = len(kept)
		}
		learned = int(math.Round(float64(best.Run.Samples) / float64(learned) * float64(set.Train.N)))
	}
	best.Run.Samples, opt.Progress = learned, nil
	f, err := harness.Fit(ctx, best.Planned, set, opt.Options)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s, on all rows: %w", best.Series, err)
	case f == nil:
		return nil, fmt.Errorf("%s: its model is no kernel expansion, which a model file needs", best.Series)
	}
	return online.NewPredictor(best.settings(set, opt.Sources[0].Label), set.Scaling, f, int64(learned), set.Names)
}

// A candidate is a setting of a plan, as one of its runs, with its means over all of them.
type candidate struct {
	spec.Planned
	error, order float64
}

// candidates returns the settings of a plan whose runs all have a record, the best first.
func candidates(plan []spec.Planned, records map[string]*record.Record) (all []candidate) {
	runs := make(map[string][]*record.Record)
	for _, p := range plan {
		runs[p.Group] = append(runs[p.Group], records[p.ID])
	}
	for _, p := range plan {
		of := runs[p.Group]
		delete(runs, p.Group)
		if of == nil || slices.Contains(of, nil) {
			continue
		}
		c := candidate{Planned: p}
		for _, r := range of {
			c.error += r.Final.TestError / float64(len(of))
			c.order += r.Final.ModelOrder / float64(len(of))
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.error, b.error), cmp.Compare(a.order, b.order))
	})
	return all
}

// unheld returns why a model file can't hold a candidate's model, "" if it can.
func (c *candidate) unheld() string {
	drawn := func(m method) bool { return m.name == c.Run.Method && m.drawn }
	switch {
	case spec.Method(c.Run.Method).Votes:
		return "it predicts by the votes of two-class models"
	case slices.ContainsFunc(methods, drawn):
		return "it has random frequencies, not elements"
	case c.order > online.MaxOrder:
		return fmt.Sprintf("it has more than %d elements", online.MaxOrder)
	}
	return ""
}

// settings returns the settings of a candidate's model. label is the column of the labels, as given.
func (c *candidate) settings(set *data.Set, label rows.Column) online.Settings {
	p, files := c.Run.Params, c.Run.Data.Files
	l, _ := spec.TaskLoss(c.Run.Task) // Fit has found it
	s := online.Settings{
		Loss: l.Name(), Labels: set.Labels, Dim: set.Train.Dim, TargetFactor: 1,
		Kernel: p.Kernel.Type, Bandwidth: p.Kernel.Bandwidth, Regularizer: p.Regularizer, LearningRate: p.LearningRate,
		Batch: max(1, p.BatchSize), Parsimony: p.Parsimony, Pruner: p.Pruner, PrunerParams: p.PrunerParams,
		Scale: cmp.Or(files.Scale, rows.ScaleNone), Format: files.Format,
		LabelColumn: label.Number, LabelName: label.Name, Columns: set.Columns,
	}
	if c.Run.Task == spec.TaskRegression {
		s.TargetShift, s.TargetFactor = set.Facts["target_mean"], 1/set.Facts["target_deviation"]
	}
	if c.Run.Method == "krls" { // whose weights are large and cancel, so that scores need float64
		s.Recursive = &online.Recursive{Noise: p.Own["noise"], Threshold: p.Own["threshold"], Budget: p.Budget, Forgetting: p.Own["forgetting"]}
	}
	return s
}
