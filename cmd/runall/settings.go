package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/spec"
)

func newSettings() *cobra.Command {
	var opt harness.Options
	var options spec.PlanOptions
	var profile, progress string
	cmd := &cobra.Command{
		Use:   "settings SPEC...",
		Short: "Compare settings of specs on held-out training data",
		Long: `Train the methods of specs, with all hyper-parameters in their grids, on five
sixths of the training data, evaluate them on the other sixth, and print a table
as CSV. The best setting of each method is marked. The test data are not used.
Batch methods are left out.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			plan, err := harness.PlanNamed(names, profile, options, opt.Finder)
			if err != nil {
				return err
			}
			plan = slices.DeleteFunc(plan, func(p spec.Planned) bool { return p.Run.Batch() })
			if len(plan) == 0 {
				return harness.Usage(errors.New("the specs have no run of a method that learns from a stream"))
			}
			opt.Progress = progressOn(progress, cmd.ErrOrStderr())
			settings, unavailable, err := harness.Settings(cmd.Context(), plan, opt)
			opt.Progress.Close()
			for _, u := range unavailable {
				fmt.Fprintln(cmd.ErrOrStderr(), u)
			}
			if err != nil {
				return err
			}
			return csv.NewWriter(raw(cmd.OutOrStdout())).WriteAll(settingRows(settings))
		},
	}
	profileFlag(cmd, &profile, "quick")
	seedsFlag(cmd, &options.Seeds)
	workersFlag(cmd, &opt.Workers)
	dataFlag(cmd, &opt.Finder)
	progressFlag(cmd, &progress)
	return cmd
}

func settingRows(settings []harness.Setting) [][]string {
	rows := [][]string{{"spec", "method", "series", "runs", "diverged", "failed", "held-out error (%)", "model order", "largest order", "best"}}
	for _, s := range settings {
		best := ""
		if s.Best {
			best = "best"
		}
		rows = append(rows, []string{s.Spec, s.Label, s.Series, strconv.Itoa(s.Runs), strconv.Itoa(s.Diverged), strconv.Itoa(s.Failed),
			fmt.Sprintf("%.2f", 100*s.Error), fmt.Sprintf("%.0f", s.Order), strconv.Itoa(s.Largest), best})
	}
	return rows
}
