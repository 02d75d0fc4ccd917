package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"polkrepro/convergence"
	"polkrepro/convergence/experiment"
	"polkrepro/harness"
	"polkrepro/report"
)

func newTable1() *cobra.Command {
	var opt experiment.Options
	var profile, progress string
	cmd := &cobra.Command{
		Use:   "table1",
		Short: "Test Table 1, the convergence theorems, by experiment",
		Long: `Test Table 1, the convergence theorems, by experiment: measure the distance to
f*, the model order and the error of the projection during runs with diminishing
and constant learning rates. Finished runs are kept and not repeated; 'runall
report' shows them without training.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if opt.Progress, err = harness.NewProgress(progress, cmd.ErrOrStderr()); err != nil {
				return err
			}
			err = carryTable1(cmd.Context(), profile, opt)
			opt.Progress.Close()
			if err != nil {
				return resumable(err)
			}
			study, err := convergence.ReadProfile(opt.Results, profile)
			if err != nil {
				return err
			}
			return writeTable1(cmd.OutOrStdout(), study, harness.ReportDir(opt.Results))
		},
	}
	profileFlag(cmd, &profile, "quick")
	workersFlag(cmd, &opt.Workers)
	resultsFlag(cmd, &opt.Results)
	progressFlag(cmd, &progress)
	return cmd
}

// carryTable1 carries out what is left of a profile's runs.
func carryTable1(ctx context.Context, profile string, opt experiment.Options) error {
	plan, err := convergence.Plan(profile)
	if err != nil {
		return err
	}
	return experiment.Carry(ctx, plan, opt)
}

// writeTable1 prints the table beside what was measured, writes it and its
// figures into a folder, and says which files those are.
func writeTable1(w io.Writer, study *convergence.Study, dir string) error {
	r := report.NewTable1(study)
	if err := r.Text(w); err != nil {
		return err
	}
	paths, err := r.WriteAll(dir)
	if len(paths) > 0 {
		fmt.Fprintln(w, "\nWritten:")
	}
	for _, p := range paths {
		fmt.Fprintln(w, "  "+p)
	}
	return err
}
