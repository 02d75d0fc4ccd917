package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/report"
	"polkrepro/scaling"
	"polkrepro/scaling/timing"
)

func newCost() *cobra.Command {
	var results, out, profile string
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Measure the cost of a step and of training, and extrapolate it",
		Long: `Measure on this machine, on one thread, the time of a step of POLK by the size
n of the mini-batch, the model order M, the features p and the classes C, and
the time of a training by the number N of samples; and fit exponents. If the
results folder has records of a full run, estimate from them the cost of 10⁹
samples and of 1,000 specs on one machine and on a cluster. Nothing else should
run meanwhile. Profile full takes some ten minutes, quick two, smoke seconds.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutFolder("--out", out, results); err != nil {
				return err
			}
			ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
			c, err := timing.Costs(ctx, profile, func(s string) { fmt.Fprintln(stderr, s) })
			if err == nil {
				err = takeRecorded(cmd, c, results)
			}
			if ctx.Err() != nil {
				return fmt.Errorf("%w: nothing is written", harness.ErrInterrupted)
			}
			if err != nil {
				return err
			}
			tables, err := c.Tables()
			if err != nil {
				return err
			}
			text := func(w io.Writer) error { return writeCosts(w, profile, tables) }
			if err := text(cmd.OutOrStdout()); err != nil {
				return err
			}
			return saveCosts(out, c, text, stderr)
		},
	}
	profileFlag(cmd, &profile, experiments.ProfileQuick)
	resultsFlag(cmd, &results)
	cmd.Flags().StringVar(&out, "out", filepath.Join("results", "scale"), "`folder` of the measurements and the figure")
	return cmd
}

// takeRecorded adds to costs what the records of a full run say. Where there are
// none it leaves that out.
func takeRecorded(cmd *cobra.Command, c *scaling.Costs, results string) error {
	stderr := cmd.ErrOrStderr()
	have, err := harness.ReadResults(results, warning(cmd))
	if err != nil {
		fmt.Fprintf(stderr, "10⁹ samples and 1,000 specs are left out: %v\n", err)
		return nil
	}
	specs, err := harness.FindSpecs(nil)
	if err != nil {
		return err
	}
	specs = slices.DeleteFunc(specs, func(spec *experiments.Spec) bool { return spec.StandsInFor != "" })
	plan, err := harness.PlanAll(specs, experiments.ProfileFull, experiments.PlanOptions{})
	if err != nil {
		return err
	}
	c.Take(plan, have.Records)
	if len(c.Jobs) == 0 {
		fmt.Fprintf(stderr, "10⁹ samples and 1,000 specs are left out: %s has no record of the full profile\n", results)
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c.Start, err = timing.Start(cmd.Context(), program, "version")
	return err
}

// writeCosts prints what was measured and what follows from it.
func writeCosts(w io.Writer, profile string, tables []scaling.Table) error {
	p := harness.Provenance()
	fmt.Fprintf(w, "Profile %s, revision %s, %s, %s, %s, one thread\n", profile, cmp.Or(p.Revision, "unknown"), p.Go, p.CPU, p.Backend)
	for _, t := range tables {
		fmt.Fprintf(w, "\n%s\n\n", t.Title)
		if err := writeRows(w, t.Rows); err != nil {
			return err
		}
	}
	return nil
}

// saveCosts writes measurements and figure into a folder.
func saveCosts(dir string, c *scaling.Costs, text func(io.Writer) error, stderr io.Writer) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var errs []error
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"scale.txt", text},
		{"steps.csv", func(w io.Writer) error { return scaling.WriteSteps(w, c.Steps) }},
		{"trainings.csv", func(w io.Writer) error { return scaling.WriteGrowths(w, c.Growths) }},
		{"rates.csv", func(w io.Writer) error { return scaling.WriteRates(w, c.Rates) }},
	} {
		path := filepath.Join(dir, f.name)
		errs = append(errs, files.Write(path, f.write))
		fmt.Fprintln(stderr, "written:", path)
	}
	paths, err := report.ScaleFigure(c.Steps, c.Growths).WriteAll(dir)
	for _, p := range paths {
		fmt.Fprintln(stderr, "written:", p)
	}
	return errors.Join(append(errs, err)...)
}
