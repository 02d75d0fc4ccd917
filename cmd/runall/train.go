package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/online"
)

// trainFlags are the flags of train that do not set a field of online.TrainOptions directly.
type trainFlags struct {
	settings    trainSettings
	table       *pflag.FlagSet // of the settings
	out, resume string
	weight      string
	onDrift     string
	rows        rowFlags
	classes     []string
	asJSON      bool
}

func newTrain() *cobra.Command {
	var opt online.TrainOptions
	var flags trainFlags
	cmd := &cobra.Command{
		Use:   "train FILE",
		Short: "Train a model on your own file or stream",
		Long: `Train on your own CSV, TSV, LIBSVM, NumPy or IDX file (.gz too), or on an
endless stream on standard input if FILE is "-". Labels of NumPy and IDX files
are in a second file, --labels. Settings that no flag gives are chosen from the
rows: all rows of a file, the first 1,000 of a stream. Scaling, bandwidth,
learning rate and, for a file, the number of passes are tuned on held-out rows;
--no-tune uses fixed defaults instead. The weights of a regression are exact:
those of least squares for a file, of recursive least squares for a stream.

The loss determines the task: hinge and logistic classify, squared-hinge and
binary-logistic need two classes, squared is for regression. Progress shows the
error on rows before they are learned.

The model is saved every 100,000 rows, and when training is interrupted (exit
status 130) or a row of a stream can't be read. --resume continues as if nothing
had happened: with the rest of the same file, or with the next rows of the
stream. A stream that ended before its 1,000th row has its settings from fewer
rows.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt.Source = flags.rows.source(cmd, args[0])
			return train(cmd, opt, flags)
		},
	}
	flags.add(cmd, &opt)
	jsonFlag(cmd, &flags.asJSON)
	return cmd
}

// savedFlags are the flags of train whose values are saved in the model file.
var savedFlags = []string{"loss", "label", "ignore-columns", "keep-columns", "categories", "delimiter", "decimal", "missing", "zero-based",
	"scale", "classes", "features", "bandwidth",
	"learning-rate", "regularizer", "parsimony", "order", "size", "tolerance", "pruner", "pruner-params", "batch", "no-tune", "weight", "class-weight", "metric", "ordered"}

// The values of --on-drift.
const driftWarn, driftRestart = "warn", "restart"

// add defines the flags, including the flags that set opt.
func (f *trainFlags) add(cmd *cobra.Command, opt *online.TrainOptions) {
	f.table = f.settings.table(opt)
	fs := cmd.Flags()
	fs.AddFlagSet(f.table)
	f.rows.add(cmd)
	fs.StringVar(&f.weight, "weight", "", "`column` of a CSV file's weights, by its number or name: a row counts as so many rows in training and tuning, and not at all with 0")
	f.onDrift = driftWarn
	fs.Var(choice(&f.onDrift, []string{driftWarn, driftRestart}), "on-drift", "what a stream does if a feature leaves the range that it had in the first rows: warn, or restart with a new model, whose settings are chosen from the next 1,000 rows")
	fs.StringSliceVar(&f.classes, "classes", nil, "comma-separated `labels` of all classes (default: from the file, or from the first 1,000 rows of a stream)")
	fs.StringVar(&f.out, "out", "", "model `file` to write (default with --resume: the same file)")
	fs.StringVar(&f.resume, "resume", "", "model `file` to train further, with the settings that it has")
	wholeFlag(cmd, &opt.Settings.Dim, "features", 0, 1, online.MaxFeatures, "number `N` of features (default: from the file, or from the first 1,000 rows of a stream)")
	wholeFlag(cmd, &opt.SaveEvery, "save-every", 100_000, 1, math.MaxInt, "rows `N` between saves of the model")
	for _, name := range savedFlags {
		cmd.MarkFlagsMutuallyExclusive("resume", name)
	}
}

// complete turns the flags into options and checks them. It reads the model of --resume.
func (f *trainFlags) complete(fs *pflag.FlagSet, opt *online.TrainOptions) (err error) {
	if f.resume != "" {
		if opt.Resume, err = readModel(f.resume, online.Read); err != nil {
			return err
		}
	}
	return harness.Usage(f.set(fs, opt))
}

// set is complete after the model is read. Its errors are of wrong use.
func (f *trainFlags) set(fs *pflag.FlagSet, opt *online.TrainOptions) (err error) {
	s, stream := &opt.Settings, opt.Source.Path == "-"
	if err := f.settings.complete(f.table, opt); err != nil {
		return err
	}
	s.Labels = f.classes
	columns := f.rows.table.columns()
	s.Columns = &columns
	if fs.Changed("label") { // else the first column, unless that is probably wrong
		column := columnOf(f.rows.table.label)
		s.LabelColumn, s.LabelName = column.Number, column.Name
	}
	if f.resume != "" {
		opt.Settings, opt.Tune = opt.Resume.Settings(), false
	}
	if f.weight != "" {
		s.Weights = columnOf(f.weight)
	}
	opt.Restart = f.onDrift == driftRestart
	f.out = cmp.Or(f.out, f.resume)
	switch {
	case f.out == "":
		return errors.New("--out is missing: name the model file to write")
	case stream && opt.Epochs > 1:
		return errors.New("standard input can be read only once: --epochs is for files")
	case !stream && fs.Changed("on-drift"):
		return errors.New("--on-drift is for a stream on standard input")
	case opt.Forgetting != 0 && !opt.Recursive():
		return errors.New("--forgetting is for training on a stream with --loss squared, and excludes --resume, --no-tune, --batch, --learning-rate, --regularizer, --parsimony and --pruner")
	case !stream && !regularOrMissing(opt.Source.Path):
		return fmt.Errorf("%s is not a regular file: pipe it to standard input and give - as FILE", opt.Source.Path)
	}
	if s.Format, err = f.rows.formatOf(&opt.Source, s.Format, true); err != nil {
		return err
	}
	resumes := f.resume != "" && !stream && opt.Resume.Unfinished()
	for _, name := range []string{"epochs", "format", "header"} {
		if resumes && fs.Changed(name) {
			return fmt.Errorf("--%s can't be changed: %s is in the middle of its training on a file", name, f.resume)
		}
	}
	switch {
	case s.Format == rows.FormatLIBSVM && fs.Changed("label") && !fs.Changed("format"):
		return fmt.Errorf("--label is for CSV and TSV files: name the format of %s, --format csv or tsv; a LIBSVM row, the default, begins with its label", opt.Source.Path)
	case !rows.IsTable(s.Format) && fs.Changed("label"):
		return errNoTable
	case !rows.IsTable(s.Format) && f.weight != "":
		return errors.New("--weight is for CSV and TSV files: other formats have no column of weights")
	case len(f.classes) > 0:
		return s.CheckLabels()
	}
	return nil
}

// regularOrMissing reports whether a file can be read more than once or does not exist.
func regularOrMissing(path string) bool {
	path, _ = rows.SplitArray(path)
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// train runs the train command.
func train(cmd *cobra.Command, opt online.TrainOptions, flags trainFlags) error {
	out, inputs := cmp.Or(flags.out, flags.resume), []string{opt.Source.Path, flags.rows.labels}
	if filepath.Clean(out) != filepath.Clean(flags.resume) { // a model may be replaced under its own name
		inputs = append(inputs, flags.resume)
	}
	if err := checkModel("--out", out, inputs...); err != nil {
		return err
	}
	if err := flags.complete(cmd.Flags(), &opt); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	opt.Note = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	opt.Progress = trainProgress(stderr)
	opt.Save = func(m *online.Model) error {
		defer files.Hold()()
		err := saveModel(m, out)
		if err == nil {
			fmt.Fprintf(stderr, "%d rows, saved to %s\n", m.Rows(), out)
		}
		return err
	}
	m, err := online.Train(cmd.Context(), opt)
	if err = ofRows(err); errors.Is(err, online.ErrOtherFile) {
		err = fmt.Errorf("%w; its training is not finished: to train it on other rows, pipe them to standard input and give - as FILE", err)
	}
	if m == nil {
		return err
	}
	defer files.Hold()()
	if writing := saveModel(m, out); writing != nil {
		return errors.Join(err, writing)
	}
	set := m.Settings()
	made := Training{version, out, m.Rows(), m.Order(), append([]online.Tried{}, set.TradeOff...), append([]float64{}, set.Relevances...)}
	printed := show(cmd, flags.asJSON, made, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %d rows, model order %d, %s\n", made.Model, made.Rows, made.ModelOrder, modelText(m))
		return err
	})
	if m.Unfinished() {
		fmt.Fprintln(stderr, "To go on:", quoted([]string{"runall", "train", opt.Source.Path, "--resume", out}))
	}
	return errors.Join(err, printed)
}

// checkModel returns an error if the model file that a flag names can't be written, or is one of the
// files that the command reads. A file that exists is replaced.
func checkModel(flag, path string, inputs ...string) error {
	if path == "-" {
		return harness.Usage(fmt.Errorf("%s -: a model is not written to standard output: name a file", flag))
	}
	if err := checkOutput(flag, path, inputs...); err != nil || path == "" {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return harness.Usage(fmt.Errorf("%s is a symbolic link, which the new model would replace: name its target, or another file with %s", path, flag))
	}
	if err := harness.CheckFile(path); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// trainProgress returns a function that prints the progress of a training: in the first pass all that
// it receives, and later, when there are no new rows to predict, a line a second.
func trainProgress(stderr io.Writer) func(*online.Model, online.Progress) {
	said := int64(-1)
	began := time.Now()
	last := began
	return func(m *online.Model, p online.Progress) {
		if p.Rows == 0 && (m.Rows() == said || p.Pass > 1 && time.Since(last) < time.Second) {
			return
		}
		said, last = m.Rows(), time.Now()
		how := ""
		if p.Rows > 0 {
			v := p.ErrorRate()
			if m.Regression() {
				v = p.RMSE()
			}
			how = fmt.Sprintf(", %s in %d rows before learning them", quality(m, v), p.Rows)
		}
		if p.Pass > 1 {
			how += fmt.Sprintf(", pass %d of %d", p.Pass, p.Passes)
		}
		if p.Pass > 1 && p.Share > 0 {
			left := time.Duration(float64(time.Since(began)) * (1 - p.Share) / p.Share)
			how += fmt.Sprintf(", at most %v left", left.Round(time.Second))
		}
		fmt.Fprintf(stderr, "%d rows, model order %d%s\n", m.Rows(), m.Order(), how)
	}
}

// saveModel writes a model to a file. If that fails, it keeps the model, which may be the work of
// hours, in another file, and the error names that file.
func saveModel(m *online.Model, path string) error {
	err := files.Write(path, m.Save)
	if err == nil {
		return nil
	}
	for _, dir := range []string{filepath.Dir(path), os.TempDir()} {
		f, cause := os.CreateTemp(dir, "runall-model-*.polk")
		if cause != nil {
			continue
		}
		if errors.Join(m.Save(f), f.Close()) == nil {
			return fmt.Errorf("%w; the model is kept in %s", err, f.Name())
		}
		os.Remove(f.Name())
	}
	return err
}

// A Training is the output of 'runall train --json'.
type Training struct {
	Versioned
	Model      string         `json:"model"`       // path of the model file that was written
	Rows       int64          `json:"rows"`        // number of rows learned, over all passes
	ModelOrder int            `json:"model_order"` // model order, in elements
	TradeOff   []online.Tried `json:"trade_off"`   // model orders that tuning tried, with results on held-out rows; empty if it tried none
	Relevances []float64      `json:"relevances"`  // of the features, of a learned metric, relative to the largest; empty if none was learned
}

// quality formats an error rate or, for a regression, the RMSE.
func quality(m *online.Model, v float64) string {
	if m.Regression() {
		return "RMSE " + finite(v, 4)
	}
	return fmt.Sprintf("error %.2f %%", 100*v)
}

// modelText returns the loss and the numbers of features and classes of a model.
func modelText(m *online.Model) string {
	s := m.Settings()
	text := fmt.Sprintf("%s loss, %d features", s.Loss, s.Dim)
	if !m.Regression() {
		text += fmt.Sprintf(", %d classes", len(s.Labels))
	}
	return text
}

// readModel reads a model file with read, a function of package online.
func readModel(path string, read func(io.Reader) (*online.Model, error)) (*online.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// ofRows gives an error of reading or learning rows its exit status. It wraps
// harness.ErrInterrupted if the work was stopped, and harness.ErrUsage if an option does not
// suit the file.
func ofRows(err error) error {
	if errors.Is(err, online.ErrStopped) {
		return fmt.Errorf("%w: %w", harness.ErrInterrupted, err)
	}
	if _, wrong := errors.AsType[*rows.OptionError](err); wrong {
		return harness.Usage(err)
	}
	return err
}
