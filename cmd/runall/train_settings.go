package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"polkrepro/data/rows"
	"polkrepro/loss"
	"polkrepro/online"
	"polkrepro/polk/prune"
)

// lossNames maps the short words of --loss to the names of package loss.
var lossNames = map[string]string{"hinge": "multi-hinge", "logistic": "multi-logistic", "squared": "squared-error"}

// lossWords returns all words of --loss, the short ones first.
func lossWords() []string {
	words, named := slices.Sorted(maps.Keys(lossNames)), slices.Collect(maps.Values(lossNames))
	return append(words, slices.DeleteFunc(loss.Names(), func(name string) bool { return slices.Contains(named, name) })...)
}

// trainSettings are the settings of a training that have a name: a flag of train, or a key in
// a request to serve. The fields are those that do not set a field of online.TrainOptions directly.
type trainSettings struct {
	loss, scale string
	classWeight string
	order       int
	tolerance   float64
	noTune      bool
}

// exclusive lists pairs of settings of which only one can be given.
var exclusive = [][2]string{
	{"order", "parsimony"}, {"order", "pruner"}, // both bound the model
	{"size", "order"}, {"size", "parsimony"}, {"size", "pruner"}, {"size", "tolerance"}, {"size", "no-tune"},
	{"tolerance", "order"}, {"tolerance", "parsimony"}, {"tolerance", "pruner"}, {"tolerance", "no-tune"},
	{"metric", "no-tune"}, {"ordered", "no-tune"}, // nothing is held out
}

// table returns a flag for each setting, with its name, range and help. Setting one sets its field
// of opt or t.
func (t *trainSettings) table(opt *online.TrainOptions) *pflag.FlagSet {
	t.loss, t.scale = "hinge", string(rows.ScaleUnit)
	s := &opt.Settings
	fs := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	fs.Var(choice(&t.loss, lossWords()), "loss", "`name` of the loss: "+strings.Join(lossWords(), ", "))
	fs.Var(choice(&t.scale, online.Scales()), "scale", "feature scaling: none, standard (mean 0, deviation 1), unit (0 to 1), or learned (by how much the label or target changes with each feature) (default: tuned; with --no-tune unit, fitted on the first 1,000 rows)")
	fs.BoolVar(&t.noTune, "no-tune", false, "use fixed defaults instead of tuning on held-out rows")
	fs.Var(whole(&t.order, 1, online.MaxOrder), "order", "largest model order `M`, kept by komp-merge-order (default: chosen, see --tolerance)")
	fs.Var(size(&opt.Size), "size", "largest `size` of the model as C (export-model), without code and labels, such as 16kB, in place of --order")
	fs.Var(number(&t.tolerance, "of at least 0", func(v float64) bool { return v >= 0 }), "tolerance", "`percent` of the rows (of the risk for regressions and logistic losses) by which the error may exceed the best, for the smallest model; 0 for the best of any size (default 0.5, of the risk 5)")
	fs.StringVar(&t.classWeight, "class-weight", "", "`weights` of the rows of the classes: balanced, by n/(C·n_c), or LABEL=W,… (default: 1)")
	fs.Var(choice(&s.Metric, online.Metrics()), "metric", "`measure` by which settings and orders are compared: error, balanced (1 − mean recall) or f1 (1 − mean F1 of the classes) (default: error, for logistic losses the risk)")
	fs.BoolVar(&opt.Ordered, "ordered", false, "the rows are ordered by time: hold out the last fifth of them for tuning, not random rows")
	fs.Var(number(&opt.Forgetting, "above 0 and at most 1", func(v float64) bool { return v > 0 && v <= 1 }), "forgetting", "`factor` by which a row counts less after each further row, for the regression of a stream that changes (default 1)")
	fs.Var(positive(&s.Bandwidth), "bandwidth", "bandwidth `c` of the Gaussian kernel (default: tuned; with --no-tune the median distance between the first 1,000 rows)")
	fs.Var(positive(&s.LearningRate), "learning-rate", "constant learning rate `η` (default: tuned, for a file falling to 0; with --no-tune 0.5 for the squared losses and 2 for the others)")
	fs.Var(positive(&s.Regularizer), "regularizer", "regularizer `λ` (default: 1e-06)")
	fs.Var(positive(&s.Parsimony), "parsimony", "parsimony constant `K`: larger keeps fewer elements (default: 0.001 with a bound on the order; with --no-tune 0.01)")
	fs.StringVar(&s.Pruner, "pruner", prune.KOMP, "`name` of the pruner, see runall list pruners (default: a bound on the order; with --no-tune komp)")
	fs.Var(value[prune.Params]{&s.PrunerParams, "parameters", func(text string) (prune.Params, error) {
		return prune.ParseParams(strings.ReplaceAll(text, ",", ", "))
	}}, "pruner-params", "comma-separated parameters of the pruner, `name=number`")
	fs.Var(whole(&s.Batch, 1, online.MaxBatch), "batch", "rows `N` in a mini-batch (tuned: up to 128 in large files)")
	fs.Var(whole(&opt.Epochs, 1, 10_000), "epochs", "number `N` of passes over the file (default: tuned; with --no-tune 1)")
	// Defaults in help for flags that are tuned if absent: help omits a default that is empty or 0.
	fs.Lookup("scale").DefValue, fs.Lookup("pruner").DefValue = "", ""
	fs.Lookup("batch").DefValue = fmt.Sprint(online.DefaultBatch)
	return fs
}

// complete sets the fields of opt that no flag of the table sets, and checks what the settings say
// together.
func (t *trainSettings) complete(table *pflag.FlagSet, opt *online.TrainOptions) error {
	for _, pair := range exclusive {
		if table.Changed(pair[0]) && table.Changed(pair[1]) {
			return fmt.Errorf("--%s and --%s exclude each other: give only one", pair[0], pair[1])
		}
	}
	s := &opt.Settings
	p, err := prune.Find(s.Pruner, s.PrunerParams)
	if err != nil {
		return err
	}
	if table.Changed("parsimony") && !p.Heuristic().Epsilon {
		return fmt.Errorf("--parsimony: the pruner %s does not use it", p.Heuristic().Name)
	}
	opt.Order, opt.Tolerance, opt.Tune = t.order, t.tolerance/100, !t.noTune
	if table.Changed("tolerance") && t.tolerance == 0 {
		opt.Tolerance = -1
	}
	if opt.Tune && !table.Changed("scale") {
		t.scale = ""
	}
	if opt.Tune && !table.Changed("pruner") {
		s.Pruner = ""
	}
	if !opt.Tune && t.scale == string(online.ScaleLearned) {
		return fmt.Errorf("--scale %s and --no-tune exclude each other: tuning learns the metric", t.scale)
	}
	s.Loss, s.Scale = cmp.Or(lossNames[t.loss], t.loss), rows.Scale(t.scale)
	for _, name := range []string{"class-weight", "metric"} {
		if table.Changed(name) && t.loss == "squared" {
			return fmt.Errorf("--%s is for classifications, not for the loss squared", name)
		}
	}
	opt.Balanced = t.classWeight == "balanced"
	if t.classWeight == "" || opt.Balanced {
		return nil
	}
	s.ClassWeights, err = classWeights(t.classWeight)
	return err
}

// classWeights parses LABEL=W,….
func classWeights(text string) (map[string]float64, error) {
	weights := make(map[string]float64)
	for _, pair := range strings.Split(text, ",") {
		at := max(0, strings.LastIndex(pair, "="))
		label, err := rows.CanonicalLabel(pair[:at])
		w, wrong := rows.ParseNumber(strings.TrimPrefix(pair[at:], "="))
		if _, twice := weights[label]; err != nil || wrong != nil || w <= 0 || twice {
			return nil, fmt.Errorf("--class-weight: %.40q: want balanced, or each class once as LABEL=WEIGHT with a weight above 0, separated by commas", pair)
		}
		weights[label] = w
	}
	return weights, nil
}
