package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"polkrepro/bench"
	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/record"
)

// A benchmark is what the bench command was asked for.
type benchmark struct {
	reproduction
	bench                bench.Options
	label, scale, format string
	ignore, keep         []string
}

func newBench() *cobra.Command {
	var b benchmark
	cmd := &cobra.Command{
		Use:   "bench FILE",
		Short: "Compare all methods on your own file",
		Long: `Compare all methods that fit at equal model order on your own file, without a
spec. Bandwidth, learning rates and POLK's K are found on held-out training
rows. The spec that results is written to the results folder, with a comment
on each setting; 'runall reproduce' repeats its runs. The test rows are not
used before.

--budget divides the work by estimated multiply-adds, not by a clock, so that
the same command gives the same spec on every machine. The time is only about
right. What is left out or shortened is printed.

An interrupted search starts over. The runs resume, and finished ones are kept.
The formats and the columns' names are those of 'data' in a spec; see
docs/own-data.md.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b.bench.Source.Train = args[0]
			return b.run(cmd)
		},
	}
	fs, s := cmd.Flags(), &b.bench.Source
	fs.StringVar(&s.Test, "test", "", "`file` of test rows (default: a fifth of the rows of FILE)")
	fs.StringVar(&s.TrainLabels, "labels", "", "`file` of the labels of FILE, for IDX, NPY and NPZ")
	fs.StringVar(&s.TestLabels, "test-labels", "", "`file` of the labels of the test rows, likewise")
	fs.StringVar(&s.Name, "name", "", "`name` of the data in the spec and reports (default: by the file's name)")
	b.bench.Task = experiments.TaskKSVM
	fs.Var(choice{&b.bench.Task, append(experiments.Tasks(), experiments.TaskRegression)}, "task", "`task` to learn: "+strings.Join(append(experiments.Tasks(), experiments.TaskRegression), ", "))
	fs.Var(choice{&b.format, data.Formats()}, "format", "`format` of the files: "+strings.Join(data.Formats(), ", ")+" (default: by the file's name)")
	headerFlag(cmd, &s.Header)
	fs.StringVar(&b.label, "label", "first", "`column` of the label in tables: first, last, its number or its name in the header")
	fs.StringSliceVar(&b.ignore, "ignore-columns", nil, "comma-separated `columns` to leave out, by number or name")
	fs.StringSliceVar(&b.keep, "keep-columns", nil, "comma-separated `columns` to use although they seem to number the rows")
	b.scale = string(data.ScaleStandard)
	fs.Var(choice{&b.scale, data.Scales()}, "scale", "feature scaling, fitted on the training rows: none, standard or unit")
	fs.DurationVar(&b.bench.Budget, "budget", 10*time.Minute, "approximate `time` of all, such as 90s or 1h")
	wholeFlag(cmd, &b.bench.Order, "order", 0, whole{min: 8, max: 100_000}, "larger of the two model orders `M` (default: by the number of rows and the budget, at most 500)")
	fs.Lookup("order").DefValue = ""
	fs.StringVar(&b.opt.Results, "results", "", "results `folder` (default: results/bench-NAME)")
	workersFlag(cmd, &b.opt.Workers)
	codeFlags(cmd, &b.opt)
	progressFlag(cmd, &b.progress)
	return cmd
}

func (b *benchmark) run(cmd *cobra.Command) error {
	if b.bench.Budget <= 0 {
		return harness.Usage(fmt.Errorf("--budget %v: must be more than 0", b.bench.Budget))
	}
	b.source(cmd.Flags())
	name := b.bench.Source.Name
	b.opt.Results = cmp.Or(b.opt.Results, filepath.Join(defaultResults, "bench-"+name))
	b.bench.Spec = filepath.Join(b.opt.Results, "bench-"+name+".yaml")
	if err := checkOutput("the spec", b.bench.Spec, input{"the data", b.bench.Source.Train}, input{"the test data", b.bench.Source.Test}); err != nil {
		return err
	}
	if record.Sealed(b.opt.Results) {
		return harness.Usage(fmt.Errorf("%s is sealed by its %s: name another folder", b.opt.Results, record.ManifestName))
	}
	spec, err := b.settle(cmd)
	if err != nil {
		return err
	}
	if !bytes.Equal(spec, b.bench.Before) {
		if err := os.MkdirAll(b.opt.Results, 0o777); err != nil {
			return err
		}
		if err := files.Write(b.bench.Spec, func(w io.Writer) error { _, err := w.Write(spec); return err }); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "written: %s\n", b.bench.Spec)
	}
	b.profile = experiments.ProfileQuick
	return b.reproduction.run(cmd, []string{b.bench.Spec})
}

// settle returns the spec, which is not there yet or of another search.
func (b *benchmark) settle(cmd *cobra.Command) (spec []byte, err error) {
	b.bench.Before, err = os.ReadFile(b.bench.Spec)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	b.bench.Workers, b.bench.Finder = b.opt.Workers, b.opt.Finder
	if b.bench.Progress, err = harness.NewProgress(b.progress, cmd.ErrOrStderr()); err != nil {
		return nil, err
	}
	defer b.bench.Progress.Close()
	b.bench.Note = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) }
	spec, err = bench.Settle(cmd.Context(), b.bench)
	var wrong *data.SourceError
	switch {
	case errors.Is(err, data.ErrNotAvailable):
		return nil, fmt.Errorf("%w: %w", harness.ErrMissingData, err)
	case errors.As(err, &wrong):
		return nil, harness.Usage(err)
	}
	return spec, err
}

// source completes the source by the flags.
func (b *benchmark) source(fs *pflag.FlagSet) {
	s := &b.bench.Source
	s.Format, s.Scale, s.Regression = b.format, data.Scale(b.scale), b.bench.Task == experiments.TaskRegression
	if s.Test == "" {
		s.Holdout = 0.2
	}
	*s = s.WithDefaults()
	if table := s.Format == data.FormatCSV || s.Format == data.FormatTSV || s.Format == data.FormatParquet; table || fs.Changed("label") {
		s.Label = columnOf(b.label)
	}
	for _, word := range b.ignore {
		s.Ignore = append(s.Ignore, columnOf(word))
	}
	for _, word := range b.keep {
		s.Keep = append(s.Keep, columnOf(word))
	}
}

// columnOf is the column of a word: first, last, a number or a name.
func columnOf(word string) data.Column {
	switch word {
	case "first":
		return data.Column{Number: 1}
	case "last":
		return data.Column{Number: -1}
	}
	if n, err := strconv.Atoi(word); err == nil && n != 0 && math.Abs(float64(n)) < 1e9 {
		return data.Column{Number: n}
	}
	return data.Column{Name: word}
}
