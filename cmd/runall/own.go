package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/internal/files"
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

// trainFlags are the flags of train that do not set a field of online.TrainOptions directly.
type trainFlags struct {
	loss, label, scale, out, resume string
	rows                            rowFlags
	classes                         []string
	order                           int
	tolerance                       float64
	noTune, asJSON                  bool
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
--no-tune uses fixed defaults instead.

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
var savedFlags = []string{"loss", "label", "scale", "classes", "features", "bandwidth",
	"learning-rate", "regularizer", "parsimony", "order", "tolerance", "pruner", "pruner-params", "batch", "no-tune"}

// add defines the flags, including the flags that set opt.
func (f *trainFlags) add(cmd *cobra.Command, opt *online.TrainOptions) {
	f.loss, f.scale = "hinge", string(rows.ScaleUnit)
	s := &opt.Settings
	fs := cmd.Flags()
	fs.Var(choice(&f.loss, lossWords()), "loss", "`name` of the loss: "+strings.Join(lossWords(), ", "))
	f.rows.add(cmd)
	fs.StringVar(&f.label, "label", "first", "`column` of a CSV file's label: first, last or its number")
	fs.Var(choice(&f.scale, rows.Scales()), "scale", "feature scaling: none, to mean 0 and deviation 1, or to [0, 1] (default: tuned; with --no-tune unit, fitted on the first 1,000 rows)")
	fs.StringSliceVar(&f.classes, "classes", nil, "comma-separated `labels` of all classes (default: from the file, or from the first 1,000 rows of a stream)")
	fs.StringVar(&f.out, "out", "", "model `file` to write (default with --resume: the same file)")
	fs.BoolVar(&f.noTune, "no-tune", false, "use fixed defaults instead of tuning on held-out rows")
	fs.StringVar(&f.resume, "resume", "", "model `file` to train further, with the settings that it has")
	wholeFlag(cmd, &f.order, "order", 0, 1, online.MaxOrder, "largest model order `M`, kept by komp-merge-order (default: chosen, see --tolerance)")
	fs.Var(number(&f.tolerance, "of at least 0", func(v float64) bool { return v >= 0 }), "tolerance", "`percent` of the rows (of the risk for regressions and logistic losses) by which the error may exceed the best, for the smallest model; 0 for the best of any size (default 0.5, of the risk 5)")
	fs.Var(positive(&s.Bandwidth), "bandwidth", "bandwidth `c` of the Gaussian kernel (default: tuned; with --no-tune the median distance between the first 1,000 rows)")
	fs.Var(positive(&s.LearningRate), "learning-rate", "constant learning rate `η` (default: tuned, for a file falling to 0; with --no-tune 0.5 for the squared losses and 2 for the others)")
	fs.Var(positive(&s.Regularizer), "regularizer", "regularizer `λ` (default: 1e-06)")
	fs.Var(positive(&s.Parsimony), "parsimony", "parsimony constant `K`: larger keeps fewer elements (default: 0.001 with a bound on the order; with --no-tune 0.01)")
	fs.StringVar(&s.Pruner, "pruner", prune.KOMP, "`name` of the pruner, see runall list pruners (default: a bound on the order; with --no-tune komp)")
	fs.Var(value[prune.Params]{&s.PrunerParams, "parameters", func(text string) (prune.Params, error) {
		return prune.ParseParams(strings.ReplaceAll(text, ",", ", "))
	}}, "pruner-params", "comma-separated parameters of the pruner, `name=number`")
	wholeFlag(cmd, &s.Batch, "batch", 0, 1, online.MaxBatch, "rows `N` in a mini-batch (tuned: up to 128 in large files)")
	wholeFlag(cmd, &s.Dim, "features", 0, 1, online.MaxFeatures, "number `N` of features (default: from the file, or from the first 1,000 rows of a stream)")
	wholeFlag(cmd, &opt.Epochs, "epochs", 0, 1, 10_000, "number `N` of passes over the file (default: tuned; with --no-tune 1)")
	wholeFlag(cmd, &opt.SaveEvery, "save-every", 100_000, 1, math.MaxInt, "rows `N` between saves of the model")
	// Defaults in help for flags that are tuned if absent: help omits a default that is empty or 0.
	fs.Lookup("scale").DefValue, fs.Lookup("pruner").DefValue = "", ""
	fs.Lookup("batch").DefValue = fmt.Sprint(online.DefaultBatch)
	for _, name := range savedFlags {
		cmd.MarkFlagsMutuallyExclusive("resume", name)
	}
	cmd.MarkFlagsMutuallyExclusive("order", "parsimony") // both bound the model
	cmd.MarkFlagsMutuallyExclusive("order", "pruner")
	for _, name := range []string{"order", "parsimony", "pruner", "no-tune"} {
		cmd.MarkFlagsMutuallyExclusive("tolerance", name)
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
	p, err := prune.Find(s.Pruner, s.PrunerParams)
	if err != nil {
		return err
	}
	opt.Order, opt.Tolerance = f.order, f.tolerance/100
	if fs.Changed("tolerance") && f.tolerance == 0 {
		opt.Tolerance = -1
	}
	opt.Tune = !f.noTune && f.resume == ""
	if opt.Tune && !fs.Changed("scale") {
		f.scale = ""
	}
	if opt.Tune && !fs.Changed("pruner") {
		s.Pruner = ""
	}
	s.Loss, s.Scale, s.Labels = cmp.Or(lossNames[f.loss], f.loss), rows.Scale(f.scale), f.classes
	if s.LabelColumn = columnOf(f.label).Number; s.LabelColumn == 0 || s.LabelColumn < 0 && f.label != "last" {
		return fmt.Errorf("--label %q: must be first, last or a column number from 1", f.label)
	}
	if f.resume != "" {
		opt.Settings = opt.Resume.Settings()
	}
	f.out = cmp.Or(f.out, f.resume)
	switch {
	case !p.Heuristic.Epsilon && fs.Changed("parsimony"):
		return fmt.Errorf("--parsimony: the pruner %s does not use it", p.Heuristic.Name)
	case f.out == "":
		return errors.New("--out is missing: name the model file to write")
	case f.out == "-":
		return errors.New("--out -: a model is not written to standard output: name a file")
	case stream && opt.Epochs > 1:
		return errors.New("standard input can be read only once: --epochs is for files")
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
	case !rows.IsTable(s.Format) && fs.Changed("label"):
		return errors.New("--label is for CSV and TSV files: the label of a LIBSVM row comes first, and those of arrays are in the file of --labels")
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
	if err := checkOutput("--out", out, inputs...); err != nil {
		return err
	}
	if info, err := os.Lstat(out); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return harness.Usage(fmt.Errorf("%s is a symbolic link, which the new model would replace: name its target, or another file with --out", out))
	}
	if err := flags.complete(cmd.Flags(), &opt); err != nil {
		return err
	}
	if err := harness.CheckFile(out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	stderr := cmd.ErrOrStderr()
	opt.Note = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	said := int64(-1)
	opt.Progress = func(m *online.Model, p online.Prequential) {
		if p.Rows == 0 && m.Rows() == said { // the final call, for a number of rows already printed
			return
		}
		said = m.Rows()
		how := ""
		if p.Rows > 0 {
			v := p.ErrorRate()
			if m.Regression() {
				v = p.RMSE()
			}
			how = fmt.Sprintf(", %s in %d rows before learning them", quality(m, v), p.Rows)
		} else if held, ok := m.Settings().HeldOut(); ok {
			how = fmt.Sprintf(", %s of held-out rows when the order was chosen", quality(m, held.Error))
		}
		fmt.Fprintf(stderr, "%d rows, model order %d%s\n", m.Rows(), m.Order(), how)
	}
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
	made := Training{version, out, m.Rows(), m.Order(), append([]online.Tried{}, m.Settings().TradeOff...)}
	printed := show(cmd, flags.asJSON, made, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %d rows, model order %d, %s\n", made.Model, made.Rows, made.ModelOrder, modelText(m))
		return err
	})
	if m.Unfinished() {
		fmt.Fprintln(stderr, "To go on:", quoted([]string{"runall", "train", opt.Source.Path, "--resume", out}))
	}
	return errors.Join(err, printed)
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

func newPredict() *cobra.Command {
	var flags rowFlags
	var probability bool
	cmd := &cobra.Command{
		Use:   "predict MODEL FILE",
		Short: "Predict the rows of a file or stream with a model",
		Long: `Predict the rows of a file, or of standard input if FILE is "-", with a model
from train, and write one prediction on each line. Labels in the rows are
ignored.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, src, format, err := flags.open(cmd, args[0], args[1], false)
			if err != nil {
				return err
			}
			if probability && !strings.HasSuffix(m.Settings().Loss, "logistic") {
				return harness.Usage(fmt.Errorf("--probability: a model with the %s loss has none: train with --loss logistic", m.Settings().Loss))
			}
			return ofRows(m.Predict(cmd.Context(), src, format, probability, raw(cmd.OutOrStdout())))
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&probability, "probability", false, "write a CSV table with the probabilities of all classes")
	return cmd
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
