package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"polkrepro/compare"
	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/spec"
)

// A benchmark holds the options of the bench command.
type benchmark struct {
	reproduction
	search settingsSearch
}

func newBench() *cobra.Command {
	var b benchmark
	cmd := &cobra.Command{
		Use:   "bench FILE...",
		Short: "Compare all methods on your own files",
		Long: `Compare all methods that fit at equal model order on your own file, without a
spec: on five random splits into training and test rows where the budget allows,
or on the split that --test or --ordered gives, with several seeds. Each
method's bandwidth, learning rate, regularizer or cost are found on rows that
are test rows in no split. The spec that results is written to the results
folder, with a comment on each setting; 'runall reproduce' repeats the runs.

--budget divides the work by estimated multiply-adds, not by a clock, so that
the same command gives the same spec on every machine. The time is only about
right. What is left out or shortened is printed.

Several files share --budget and the flags, such as --label, and one spec. The
methods are then also ranked over the files, with the tests of Demšar (2006).

--export writes the setting with the least mean error on the test rows as a
model file for predict, evaluate and export-model, trained again on all rows of
FILE. A model file can't hold C-SVC, random Fourier features or more than 8,192
elements: if one of these is better, both errors are printed.

An interrupted search starts over. The runs resume, and finished ones are kept.
The formats and the columns' names are those of 'data' in a spec; see
docs/own-data.md.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b.search.files = args
			return b.run(cmd)
		},
	}
	b.search.add(cmd, append(spec.Tasks(), spec.TaskRegression))
	cmd.Flags().StringVar(&b.opt.Results, "results", "", "results `folder` (default: results/bench-NAME)")
	cmd.Flags().BoolVar(&b.opt.Predictions, "predictions", false, "write each method's predictions of the test rows to predictions.csv in the results folder (of several files, to predictions-NAME.csv)")
	runFlags(cmd, &b.opt, &b.progress)
	cmd.MarkFlagsMutuallyExclusive("keep", "predictions") // a run of other code may lack predictions
	return cmd
}

func (b *benchmark) run(cmd *cobra.Command) error {
	found, err := b.search.run(cmd, "bench", &b.opt, b.progress, compare.TuneMethods)
	if err != nil {
		return err
	}
	b.profile, b.opt.RequireData = spec.ProfileQuick, true
	ran := b.reproduction.run(cmd, []string{found})
	if ran != nil && !errors.Is(ran, harness.ErrRunsFailed) || !b.opt.Predictions && b.search.export == "" {
		return ran
	}
	plan, err := harness.PlanNamed([]string{found}, b.profile, b.plan, b.opt.Finder)
	if err != nil {
		return err
	}
	if err := errors.Join(ran, b.search.exportBest(cmd, plan, b.opt)); err != nil || !b.opt.Predictions {
		return err
	}
	for i, src := range b.search.opt.Sources {
		of := slices.DeleteFunc(slices.Clone(plan), func(p spec.Planned) bool { return p.Run.Data.Name != src.Name })
		table, err := harness.Predictions(b.opt.Results, of)
		if err == nil {
			err = files.Write(filepath.Join(b.opt.Results, b.search.predictions(i)), func(w io.Writer) error { return csv.NewWriter(w).WriteAll(table) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// predictionsName is the file that bench --predictions writes beside its spec for one file.
const predictionsName = "predictions.csv"

// predictions returns the name of the predictions of the rows of the i-th file.
func (q *settingsSearch) predictions(i int) string {
	if len(q.files) == 1 {
		return predictionsName
	}
	return "predictions-" + q.opt.Sources[i].Name + ".csv"
}

// A settingsSearch finds the settings of a comparison on a user's files. Its flags control
// the search.
type settingsSearch struct {
	opt           compare.Options
	files         []string
	given         data.Source // what the flags say of each file
	scale, format string
	table         columnFlags
	export        string   // model file to write; empty if none
	names         []string // names of the flags
}

// add adds the flags to a command that learns one of the tasks. It must be called before
// the command gets other flags.
func (q *settingsSearch) add(cmd *cobra.Command, tasks []string) {
	fs, s := cmd.Flags(), &q.given
	fs.StringVar(&s.Test, "test", "", "`file` of test rows (default: a fifth of the rows of FILE)")
	fs.StringVar(&s.TrainLabels, "labels", "", "`file` of the labels of FILE, for IDX, NPY and NPZ")
	fs.StringVar(&s.TestLabels, "test-labels", "", "`file` of the labels of the test rows, likewise")
	q.opt.Task = spec.TaskKSVM
	fs.Var(choice(&q.opt.Task, tasks), "task", "`task` to learn: "+strings.Join(tasks, ", "))
	fs.Var(choice(&q.format, rows.Formats()), "format", "`format` of the files: "+strings.Join(rows.Formats(), ", ")+" (default: by the file's name)")
	headerFlag(cmd, &s.Header)
	q.table.add(fs, false)
	fs.BoolVar(&s.Ordered, "ordered", false, "the rows are ordered by time: test on the last fifth of FILE, and choose settings on the last rows before, not on random rows")
	q.scale = string(rows.ScaleStandard)
	fs.Var(choice(&q.scale, rows.Scales()), "scale", "feature scaling, fitted on the training rows: none, standard or unit")
	fs.DurationVar(&q.opt.Budget, "budget", 10*time.Minute, "approximate `time` of all, such as 90s or 1h")
	wholeFlag(cmd, &q.opt.Order, "order", 0, 8, 100_000, "largest model order `M` of the comparison (default: by the number of rows and the budget, at most 500)")
	fs.StringVar(&q.export, "export", "", "model `file` to write: the best of all that a model file can hold, trained again on all rows")
	fs.VisitAll(func(f *pflag.Flag) { q.names = append(q.names, f.Name) })
}

// A tuning is a function that finds the settings of a comparison and returns the spec.
type tuning = func(context.Context, compare.Options) (spec []byte, err error)

// run calls tune, writes the spec, with its schema beside it, and returns its file: KIND-NAME.yaml in
// the results folder. The default results folder is results/KIND-NAME.
func (q *settingsSearch) run(cmd *cobra.Command, kind string, opt *harness.Options, progress string, tune tuning) (file string, err error) {
	if q.opt.Budget <= 0 {
		return "", harness.Usage(fmt.Errorf("--budget %v: must be more than 0", q.opt.Budget))
	}
	if err := q.sources(cmd.Flags()); err != nil {
		return "", err
	}
	name := kind + "-" + q.opt.Name()
	opt.Results = cmp.Or(opt.Results, filepath.Join(defaultResults, name))
	file = filepath.Join(opt.Results, name+".yaml")
	inputs := append(slices.Clip(q.files), q.given.Test, q.given.TrainLabels, q.given.TestLabels)
	for i := range q.files {
		for _, output := range []string{file, filepath.Join(opt.Results, spec.SchemaFile), filepath.Join(opt.Results, q.predictions(i))} {
			if err := checkOutput("--results:", output, inputs...); err != nil {
				return "", err
			}
		}
	}
	if err := checkModel("--export", q.export, append(inputs, file)...); err != nil {
		return "", err
	}
	abandon, err := files.MakeFolder(opt.Results)
	defer abandon() // an error leaves no empty folder
	if err := cmp.Or(err, harness.CheckFile(file)); err != nil {
		return "", harness.Usage(fmt.Errorf("--results: %w", err))
	}
	if err := harness.CheckResults(opt.Results); err != nil { // before the search
		return "", err
	}
	if q.opt.Before, err = os.ReadFile(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	stderr := cmd.ErrOrStderr()
	q.opt.Spec, q.opt.Workers, q.opt.Finder = file, opt.Workers, opt.Finder
	q.opt.Progress = progressOn(progress, stderr)
	q.opt.Note = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	text, err := tune(cmd.Context(), q.opt)
	q.opt.Progress.Close()
	switch {
	case errors.Is(err, data.ErrNotAvailable):
		return "", fmt.Errorf("%w: %w", harness.ErrMissingData, err)
	case err != nil:
		return "", ofRows(err)
	case bytes.Equal(text, q.opt.Before):
		return file, nil
	}
	if err := cmp.Or(files.WriteBytes(filepath.Join(opt.Results, spec.SchemaFile), spec.Schema), files.WriteBytes(file, text)); err != nil {
		return "", err
	}
	fmt.Fprintf(stderr, "written: %s\n", file)
	return file, nil
}

// exportBest writes the model of --export, if that is given, after the runs of a plan.
func (q *settingsSearch) exportBest(cmd *cobra.Command, plan []spec.Planned, opt harness.Options) error {
	if q.export == "" {
		return nil
	}
	have, err := harness.ReadResults(opt.Results, warning(cmd))
	if err != nil {
		return err
	}
	if opt.Keep {
		plan = harness.Adopt(plan, have.Records)
	}
	m, err := compare.Export(cmd.Context(), plan, have.Records, q.opt)
	if err == nil {
		err = files.Write(q.export, m.SaveForPrediction)
	}
	if err != nil {
		return resumable(fmt.Errorf("--export: %w", err))
	}
	q.opt.Note("%s: %d rows, model order %d, %s; to predict: %s", q.export, m.Rows(), m.Order(), modelText(m), quoted([]string{"runall", "predict", q.export, "FILE"}))
	return nil
}

// sources sets the sources of the files from the flags. Files with the same name get numbers.
func (q *settingsSearch) sources(fs *pflag.FlagSet) error {
	if n := len(q.files); n > 1 && q.given.Test+q.given.TrainLabels+q.given.TestLabels+q.export != "" {
		return harness.Usage(fmt.Errorf("--test, --labels, --test-labels and --export are for one file, and there are %d: name only the one that they belong to; a spec, too, can have test files and labels, for each item of its data (docs/own-data.md)", n))
	}
	names := make(map[string]bool)
	for _, file := range q.files {
		s := q.given
		s.Train, s.Format, s.Scale, s.Regression = file, q.format, rows.Scale(q.scale), q.opt.Task == spec.TaskRegression
		if s.Test == "" {
			s.Holdout = 0.2
		}
		s = s.WithDefaults()
		if rows.IsTable(s.Format) || fs.Changed("label") {
			s.Label = columnOf(cmp.Or(q.table.label, "first"))
		}
		s.Columns = q.table.columns()
		for name, i := s.Name, 2; names[s.Name]; i++ {
			s.Name = fmt.Sprintf("%s-%d", name, i)
		}
		names[s.Name] = true
		q.opt.Sources = append(q.opt.Sources, s)
	}
	return nil
}
