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
	var profile, progress, out string
	var planOpt experiments.PlanOptions
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
			if err := checkOutput("--out", out, specInputs(names, opt.Finder)...); err != nil {
				return err
			}
			plan, err := harness.PlanNamed(names, profile, planOpt, opt.Finder)
			if err != nil {
				return err
			}
			if out != "" {
				if err := harness.CheckFile(out); err != nil {
					return fmt.Errorf("--out: %w", err)
				}
			}
			if opt.Progress, err = harness.NewProgress(progress, cmd.ErrOrStderr()); err != nil {
				return err
			}
			points, unavailable, err := harness.Calibrate(cmd.Context(), plan, opt)
			opt.Progress.Close()
			for _, u := range unavailable {
				fmt.Fprintln(cmd.ErrOrStderr(), u)
			}
			switch {
			case len(points) == 0:
				return err
			case errors.Is(err, harness.ErrInterrupted): // too few runs to choose by
				return errors.Join(err, savePoints(cmd.ErrOrStderr(), out, points))
			}
			return errors.Join(err,
				writeRows(cmd.OutOrStdout(), choiceRows(harness.Choose(points, opt.Rule))),
				savePoints(cmd.ErrOrStderr(), out, points))
		},
	}
	wholeFlag(cmd, &opt.Epochs, "epochs", 10, whole{min: 1, max: maxEpochs}, "number `N` of epochs")
	cmd.Flags().Var(positives{&opt.Parsimony}, "parsimony", "comma-separated `values` of K to try instead of those in the spec")
	cmd.Flags().StringVar(&out, "out", "", "CSV `file` of all points")
	profileFlag(cmd, &profile, "quick")
	seedsFlag(cmd, &planOpt.Seeds)
	workersFlag(cmd, &opt.Workers)
	dataFlag(cmd, &opt.Finder)
	progressFlag(cmd, &progress)
	return cmd
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
