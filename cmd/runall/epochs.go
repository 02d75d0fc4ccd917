package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
)

func newEpochs() *cobra.Command {
	var opt harness.CalibrateOptions
	var held heldOutFlags
	cmd := &cobra.Command{
		Use:   "epochs SPEC...",
		Short: "Choose the number of epochs, and try values of K, on training data",
		Long: `Choose the number of epochs, and try values of the parsimony constant K, on
training data only. A sixth of the training data is held out, and the model is
evaluated on it after every epoch. The test data are not used.

If it is interrupted (exit status 130), the points of the finished runs are
written to --out; a rerun starts over.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			plan, err := held.plan(cmd, names, &opt.Options)
			if err != nil {
				return err
			}
			points, unavailable, err := harness.Calibrate(cmd.Context(), plan, opt)
			held.close(cmd, &opt.Options, unavailable)
			switch {
			case len(points) == 0:
				return err
			case errors.Is(err, harness.ErrInterrupted): // too few runs to choose by
				return errors.Join(err, savePoints(cmd.ErrOrStderr(), held.out, points))
			}
			return errors.Join(err,
				writeRows(cmd.OutOrStdout(), choiceRows(harness.Choose(points, opt.Rule))),
				savePoints(cmd.ErrOrStderr(), held.out, points))
		},
	}
	wholeFlag(cmd, &opt.Epochs, "epochs", 10, whole{min: 1, max: maxEpochs}, "number `N` of epochs")
	cmd.Flags().Var(positives{&opt.Parsimony}, "parsimony", "comma-separated `values` of K to try instead of those in the spec")
	held.add(cmd, &opt.Options, "CSV `file` of all points")
	return cmd
}

// heldOutFlags are those of the commands that try settings on training data which they
// hold out.
type heldOutFlags struct {
	profile, progress, out string
	options                experiments.PlanOptions
}

// add adds the flags to a command; out is the help of --out.
func (f *heldOutFlags) add(cmd *cobra.Command, opt *harness.Options, out string) {
	cmd.Flags().StringVar(&f.out, "out", "", out)
	profileFlag(cmd, &f.profile, "quick")
	seedsFlag(cmd, &f.options.Seeds)
	workersFlag(cmd, &opt.Workers)
	dataFlag(cmd, &opt.Finder)
	progressFlag(cmd, &f.progress)
}

// plan returns the runs of specs, after a check that --out can be written, and starts the
// progress.
func (f *heldOutFlags) plan(cmd *cobra.Command, names []string, opt *harness.Options) ([]experiments.Planned, error) {
	if err := checkOutput("--out", f.out, specInputs(names, opt.Finder)...); err != nil {
		return nil, err
	}
	plan, err := harness.PlanNamed(names, f.profile, f.options, opt.Finder)
	if err != nil {
		return nil, err
	}
	if f.out != "" {
		if err := harness.CheckFile(f.out); err != nil {
			return nil, fmt.Errorf("--out: %w", err)
		}
	}
	opt.Progress, err = harness.NewProgress(f.progress, cmd.ErrOrStderr())
	return plan, err
}

// close ends the progress and names the data sets that are missing.
func (f *heldOutFlags) close(cmd *cobra.Command, opt *harness.Options, unavailable []harness.Unavailable) {
	opt.Progress.Close()
	for _, u := range unavailable {
		fmt.Fprintln(cmd.ErrOrStderr(), u)
	}
}

// maxEpochs bounds what --epochs takes.
const maxEpochs = 10_000

// savePoints writes the points of the finished runs to a file, if one is
// named, and says so.
func savePoints(stderr io.Writer, path string, points []harness.CalibrationPoint) error {
	if path == "" {
		return nil
	}
	err := files.Write(path, func(w io.Writer) error { return harness.WriteCalibration(w, points) })
	if err == nil {
		fmt.Fprintf(stderr, "written: %s, %d points of the finished runs\n", path, len(points))
	}
	return err
}

func choiceRows(choices []harness.Choice) [][]string {
	rows := [][]string{{"spec", "K", "runs", "epochs", "validation error", "model order", "at the end"}}
	for _, c := range choices {
		epochs := fmt.Sprint(c.Epochs)
		if !c.Settled {
			epochs = "> " + epochs
		}
		last := len(c.Curve) - 1
		rows = append(rows, []string{c.Spec, fmt.Sprint(c.Parsimony), fmt.Sprint(c.Runs), epochs,
			fmt.Sprintf("%.2f %%", 100*c.Curve[c.Epochs-1]), fmt.Sprintf("%.0f", c.Orders[c.Epochs-1]),
			fmt.Sprintf("%.2f %%, %.0f", 100*c.Curve[last], c.Orders[last])})
	}
	return rows
}
