package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"polkrepro/experiments"
	"polkrepro/harness"
)

func newCalibrate() *cobra.Command {
	var opt harness.CalibrateOptions
	var profile, progress, out string
	var workers, seeds, epochs uint
	cmd := &cobra.Command{
		Use:   "calibrate SPEC...",
		Short: "Choose the number of epochs, and try parsimony constants, on training data only",
		Long: `Choose the number of epochs, and try parsimony constants, on training data only:
a sixth of the training data is held out and the model is evaluated on it after
every epoch. The test data are not looked at.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			specs, err := harness.FindSpecs(names)
			if err != nil {
				return harness.Usage(err)
			}
			plan, err := harness.PlanAll(specs, profile, experiments.PlanOptions{Seeds: int(seeds)})
			if err != nil {
				return harness.Usage(err)
			}
			opt.Workers, opt.Epochs = int(workers), int(epochs)
			if opt.Progress, err = harness.NewProgress(progress, cmd.ErrOrStderr()); err != nil {
				return err
			}
			points, unavailable, err := harness.Calibrate(cmd.Context(), plan, opt)
			opt.Progress.Close()
			for _, u := range unavailable {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s not run: %s\n", u.Ref, u.Why)
			}
			if len(points) == 0 {
				return err
			}
			return errors.Join(err, writeCalibration(cmd.OutOrStdout(), out, points, opt.Rule))
		},
	}
	cmd.Flags().UintVar(&epochs, "epochs", 10, "train for `N` epochs")
	cmd.Flags().Float64SliceVar(&opt.Parsimony, "parsimony", nil, "`constants` K to try instead of the spec's")
	cmd.Flags().StringVar(&out, "out", "", "CSV `file` for all points")
	profileFlag(cmd, &profile, "quick")
	seedsFlag(cmd, &seeds)
	workersFlag(cmd, &workers)
	dataFlag(cmd, &opt.Finder)
	progressFlag(cmd, &progress)
	return cmd
}

// writeCalibration prints what the rule chose and writes all points to a file,
// if one is named.
func writeCalibration(w io.Writer, path string, points []harness.CalibrationPoint, rule harness.EpochRule) error {
	if err := writeRows(w, choiceRows(harness.Choose(points, rule))); err != nil || path == "" {
		return err
	}
	return harness.WriteFile(path, func(w io.Writer) error { return harness.WriteCalibration(w, points) })
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
