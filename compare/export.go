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

// Export trains the best setting of a comparison on one file of a user again, on all rows of the file and in
// as many passes, and returns the model for prediction. The best has the least mean error on the test rows,
// among the settings whose runs all have a record and whose model a model file can hold. Export passes
// to opt.Note what it chose, and what it could not choose.
func Export(ctx context.Context, plan []spec.Planned, records map[string]*record.Record, opt Options) (*online.Model, error) {
	all := candidates(plan, records)
	at := slices.IndexFunc(all, candidate.held)
	if at < 0 {
		return nil, errors.New("no setting whose runs all ended has a model that a model file can hold")
	}
	if at > 0 {
		opt.Note("%s has the least error on the test rows, %.2f %%, but its model is not a sum over at most %d elements, as a model file holds it", all[0].Series, 100*all[0].error, online.MaxOrder)
	}
	best := all[at]
	set, err := data.LoadWhole(best.Run.Data)
	if err != nil {
		return nil, err
	}
	opt.Note("%s has the least error on the test rows of all that a model file can hold, %.2f %%: training it on all %d rows", best.Series, 100*best.error, set.Train.N)
	_, kept := best.Run.Data.Files.HeldOut(set.Train.N)
	best.Run.Samples = int(math.Round(float64(best.Run.Samples) / float64(len(kept)) * float64(set.Train.N)))
	opt.Progress = nil
	f, err := harness.Fit(ctx, best.Planned, set, opt.Options)
	if err != nil {
		return nil, fmt.Errorf("%s, on all rows: %w", best.Series, err)
	}
	return online.NewPredictor(best.settings(set, opt.Sources[0].Label), set.Scaling, f, int64(best.Run.Samples), set.Names)
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
		of, c := runs[p.Group], candidate{Planned: p}
		if delete(runs, p.Group); of == nil || slices.Contains(of, nil) {
			continue
		}
		for _, r := range of {
			c.error += r.Final.TestError / float64(len(of))
			c.order += r.Final.ModelOrder / float64(len(of))
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.error, b.error), cmp.Compare(a.order, b.order)) })
	return all
}

// held reports whether a model file can hold a candidate's model, which the votes of two-class models and
// functions of random frequencies are not.
func (c candidate) held() bool {
	drawn := func(m method) bool { return m.name == c.Run.Method && m.drawn }
	return !spec.Method(c.Run.Method).Votes && !slices.ContainsFunc(methods, drawn) && c.order <= online.MaxOrder
}

// settings returns the settings of a candidate's model. label is the column of the labels, as given.
func (c candidate) settings(set *data.Set, label rows.Column) online.Settings {
	p, files := c.Run.Params, c.Run.Data.Files
	l, _ := spec.TaskLoss(c.Run.Task) // Fit has found it
	s := online.Settings{
		Loss: l.Name(), Labels: set.Labels, Dim: set.Train.Dim, TargetFactor: 1, Batch: max(1, p.BatchSize),
		Kernel: p.Kernel.Type, Bandwidth: p.Kernel.Bandwidth, Regularizer: p.Regularizer, LearningRate: p.LearningRate, Pruner: p.Pruner,
		Scale: cmp.Or(files.Scale, rows.ScaleNone), Columns: set.Columns,
		Format: files.Format, LabelColumn: label.Number, LabelName: label.Name,
	}
	if d := set.Facts["target_deviation"]; d > 0 { // of a regression
		s.TargetShift, s.TargetFactor = set.Facts["target_mean"], 1/d
	}
	if c.Run.Method == "krls" { // whose weights are large and cancel, so that scores need float64
		s.Recursive = &online.Recursive{Noise: p.Own["noise"], Threshold: p.Own["threshold"], Budget: p.Budget, Forgetting: p.Own["forgetting"]}
	}
	return s
}
