package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/record"
)

func newRecords() *cobra.Command {
	var results, with string
	cmd := &cobra.Command{
		Use:   "records",
		Short: "Compare the records of two results folders, run by run",
		Long: fmt.Sprintf(`Compare the records of two results folders, run by run. In every run that both
have, all risks, errors and model orders must agree to within %g of the
risk, %g of the error and %g elements. The exit status is 0 if they do,
3 if a run differs, and 4 if the folders have no run in common or records are
damaged.`, record.RiskTolerance, record.ErrorTolerance, record.OrderTolerance),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			got, err := harness.ReadWhole(results, warning(cmd))
			if err != nil {
				return err
			}
			want, err := harness.ReadWhole(with, warning(cmd))
			if err != nil {
				return err
			}
			return agreement(cmd.OutOrStdout(), record.Agree(got.Records, want.Records))
		},
	}
	resultsFlag(cmd, &results)
	cmd.Flags().StringVar(&with, "with", filepath.Join("results", "reference"), "results `folder` to compare with")
	return cmd
}

// agreement prints what a comparison came to.
func agreement(w io.Writer, a *record.Agreement) error {
	for _, d := range a.Differing {
		r := d.Record.Header.Run
		fmt.Fprintf(w, "%s (%s, %s, %s): %s\n", d.Record.Path, r.Data.Name, r.Task, r.Method, d.Wrong[0])
	}
	if a.Compared == 0 {
		return harness.Incomplete(errors.New("the folders have no run in common"))
	}
	fmt.Fprintf(w, "%d runs compared, %d the same bit for bit; %d only in the first folder, %d only in the second\n", a.Compared, a.Same, a.Here, a.There)
	if n := len(a.Differing); n > 0 {
		return harness.Deviates(fmt.Errorf("%d of %d runs differ by more than the tolerances", n, a.Compared))
	}
	return nil
}
