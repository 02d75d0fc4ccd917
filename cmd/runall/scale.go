package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/scaling"
)

func newScale() *cobra.Command {
	var results, out, profile string
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Measure what training costs by n, M, p, C and N, and what more of it would cost",
		Long: `Measure on this machine, on one thread, what a step of POLK costs by the size n of
the mini-batch, the model order M, the features p and the classes C, and what a
training costs by the number N of samples; fit exponents; and say, from the records
of a full run where the results folder has them, what 10⁹ samples and 1,000 specs
would cost on one machine and on a cluster. Nothing else should run meanwhile. The
full profile takes some ten minutes, quick two, smoke seconds.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutFolder("--out", out, results); err != nil {
				return err
			}
			s, err := measureScale(cmd.Context(), profile, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := s.forecast(cmd.Context(), results, cmd.ErrOrStderr()); err != nil {
				return err
			}
			if err := s.write(cmd.OutOrStdout()); err != nil {
				return err
			}
			return s.save(out, cmd.ErrOrStderr())
		},
	}
	profileFlag(cmd, &profile, scaling.Quick)
	resultsFlag(cmd, &results)
	cmd.Flags().StringVar(&out, "out", filepath.Join("results", "scale"), "`folder` for the measurements and the figure")
	return cmd
}

// A scale is what the command measured and made of it.
type scale struct {
	profile string
	steps   []scaling.Step
	growths []scaling.Growth

	rates []scaling.Rate
	start float64   // seconds that a process takes to begin
	jobs  []float64 // seconds of each run of a full plan, on one core
	specs int       // that the jobs are of
	gone  int       // runs of the plan without a record
}

// measureScale measures steps and trainings.
func measureScale(ctx context.Context, profile string, stderr io.Writer) (*scale, error) {
	s := &scale{profile: profile}
	grid := scaling.Grid(profile)
	for i, at := range grid {
		step, err := scaling.MeasureStep(ctx, at)
		if err != nil {
			return nil, stoppedScale(ctx, err)
		}
		s.steps = append(s.steps, step)
		if (i+1)%(max(1, len(grid)/8)) == 0 {
			fmt.Fprintf(stderr, "%d of %d configurations measured\n", i+1, len(grid))
		}
	}
	for _, measure := range []func(context.Context, string) ([]scaling.Growth, error){scaling.Streams, scaling.Batches} {
		growths, err := measure(ctx, profile)
		if err != nil {
			return nil, stoppedScale(ctx, err)
		}
		s.growths = append(s.growths, growths...)
		fmt.Fprintf(stderr, "%d of 5 methods trained by N\n", len(s.growths))
	}
	return s, nil
}

// stoppedScale makes the error of a measurement that was interrupted one that ends
// with the exit status for it.
func stoppedScale(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: nothing is written", harness.ErrInterrupted)
	}
	return err
}

// forecast takes from the records of a full run what more of it would cost. Where
// there are none it leaves that out.
func (s *scale) forecast(ctx context.Context, results string, stderr io.Writer) error {
	have, err := readRecords(results, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "10⁹ samples and 1,000 specs are left out: %v\n", err)
		return nil
	}
	specs, err := harness.FindSpecs(nil)
	if err != nil {
		return err
	}
	specs = slices.DeleteFunc(specs, func(spec *experiments.Spec) bool { return spec.StandsInFor != "" })
	plan, err := harness.PlanAll(specs, "full", experiments.PlanOptions{})
	if err != nil {
		return err
	}
	s.take(plan, have)
	if len(s.jobs) == 0 {
		fmt.Fprintf(stderr, "10⁹ samples and 1,000 specs are left out: %s has no record of the full profile\n", results)
		return nil
	}
	s.start, err = startTime(ctx)
	return err
}

// take collects rates and times of the runs of a plan that have records.
func (s *scale) take(plan []experiments.Planned, have *record.Collection) {
	series := make(map[string]string)
	seen := make(map[string]bool)
	var records []*record.Record
	for _, p := range plan {
		r := have.Records[p.ID]
		switch {
		case series[p.ID] != "" || len(p.Cells)+len(p.Figures) == 0: // an alternative of the multiverse
			continue
		case r == nil:
			s.gone++
		default:
			records = append(records, r)
			s.jobs = append(s.jobs, scaling.Seconds(r))
			seen[p.Spec] = true
		}
		series[p.ID] = p.Run.Data.Name + ", " + p.Run.Task + ", " + p.Series
	}
	s.specs = len(seen)
	s.rates = scaling.Rates(records, func(r *record.Record) string {
		if r.Header.Run.Batch() {
			return ""
		}
		return series[r.Header.ID]
	})
}

// startTime returns the median of what this program takes to begin and end.
func startTime(ctx context.Context) (float64, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	var times []float64
	for range 5 {
		began := time.Now()
		if err := exec.CommandContext(ctx, program, "version").Run(); err != nil {
			return 0, stoppedScale(ctx, fmt.Errorf("start %s: %w", program, err))
		}
		times = append(times, time.Since(began).Seconds())
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// save writes measurements and figure into a folder.
func (s *scale) save(dir string, stderr io.Writer) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var errs []error
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"scale.txt", s.write},
		{"steps.csv", func(w io.Writer) error { return scaling.WriteSteps(w, s.steps) }},
		{"trainings.csv", func(w io.Writer) error { return scaling.WriteGrowths(w, s.growths) }},
		{"rates.csv", func(w io.Writer) error { return scaling.WriteRates(w, s.rates) }},
	} {
		path := filepath.Join(dir, f.name)
		errs = append(errs, files.Write(path, f.write))
		fmt.Fprintln(stderr, "written:", path)
	}
	paths, err := report.ScaleFigure(s.steps, s.growths).WriteAll(dir)
	for _, p := range paths {
		fmt.Fprintln(stderr, "written:", p)
	}
	return errors.Join(append(errs, err)...)
}
