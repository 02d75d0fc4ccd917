package main

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/report"
)

func newStream() *cobra.Command {
	var opt harness.StreamOptions
	var progress string
	cmd := &cobra.Command{
		Use:   "stream",
		Short: "Measure model order, memory and speed on an endless stream",
		Long: `Train on a stream of multidist that never repeats, and measure model order,
memory and speed, which should stay bounded.

If it is interrupted (exit status 130), nothing is written, and a rerun starts
over.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if opt.Progress, err = harness.NewProgress(progress, cmd.ErrOrStderr()); err != nil {
				return err
			}
			points, err := harness.Stream(cmd.Context(), opt)
			opt.Progress.Close()
			if err != nil {
				return err
			}
			if err := writeRows(cmd.OutOrStdout(), streamRows(points)); err != nil {
				return err
			}
			paths, err := report.StreamFigure(points).WriteAll(harness.ReportDir(opt.Results))
			for _, p := range append([]string{filepath.Join(opt.Results, "stream.csv")}, paths...) {
				fmt.Fprintln(cmd.ErrOrStderr(), "written:", p)
			}
			return err
		},
	}
	wholeFlag(cmd, &opt.Samples, "samples", 1_000_000, whole{min: 1, max: math.MaxInt}, "number `N` of samples")
	wholeFlag(cmd, &opt.Every, "every", 10_000, whole{min: 1, max: math.MaxInt}, "samples `N` between measurements")
	opt.Parsimony = 0.04
	cmd.Flags().Var(positive{&opt.Parsimony}, "parsimony", "parsimony `constant` K")
	resultsFlag(cmd, &opt.Results)
	progressFlag(cmd, &progress)
	return cmd
}

// streamRows returns at most ten of the points, evenly spread, the last among
// them.
func streamRows(points []record.StreamPoint) [][]string {
	rows := [][]string{{"samples", "model order", "heap MiB", "resident MiB", "error before learning", "samples/s"}}
	step := max(1, (len(points)+9)/10)
	for i := (len(points) - 1) % step; i < len(points); i += step {
		p := points[i]
		rows = append(rows, []string{fmt.Sprint(p.Samples), fmt.Sprint(p.ModelOrder),
			fmt.Sprintf("%.1f", float64(p.Heap)/(1<<20)), fmt.Sprintf("%.1f", float64(p.Resident)/(1<<20)),
			fmt.Sprintf("%.2f %%", 100*p.Error), fmt.Sprintf("%.0f", p.Throughput)})
	}
	return rows
}
