package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/internal/files"
)

func newSettings() *cobra.Command {
	var opt harness.Options
	var held heldOutFlags
	cmd := &cobra.Command{
		Use:   "settings SPEC...",
		Short: "Compare the hyper-parameters in grids of specs on training data",
		Long: `Train the methods of specs, with all hyper-parameters in their grids, on five
sixths of the training data, and evaluate them on the other sixth. The best
setting of each method is marked. The test data are not used. Batch methods are
left out.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			plan, err := held.plan(cmd, names, &opt)
			if err != nil {
				return err
			}
			settings, unavailable, err := harness.Settings(cmd.Context(), plan, opt)
			held.close(cmd, &opt, unavailable)
			if err != nil {
				return err
			}
			rows := settingRows(settings)
			if err := writeRows(cmd.OutOrStdout(), rows); err != nil || held.out == "" {
				return err
			}
			return files.Write(held.out, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
		},
	}
	held.add(cmd, &opt, "CSV `file` of the table")
	return cmd
}

func settingRows(settings []harness.Setting) [][]string {
	rows := [][]string{{"spec", "method", "series", "runs", "failed", "held-out error (%)", "model order", "best"}}
	for _, s := range settings {
		best := ""
		if s.Best {
			best = "best"
		}
		rows = append(rows, []string{s.Spec, s.Label, s.Series, strconv.Itoa(s.Runs), strconv.Itoa(s.Failed),
			fmt.Sprintf("%.2f", 100*s.Error), fmt.Sprintf("%.0f", s.Order), best})
	}
	return rows
}
