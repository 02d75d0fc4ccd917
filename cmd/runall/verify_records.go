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
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "records",
		Short: "Compare the records of two results folders, run by run",
		Long: fmt.Sprintf(`Compare the records of two results folders, run by run. In every run that both
have, all risks, errors and model orders must agree to within %g of the
risk, %g of the error and %g elements. Measurements of the runs of
Table 1 must agree as a risk does. The exit status is 0 if all do, 3 if a run
differs, and 4 if the folders have no run in common or records are damaged.`, record.RiskTolerance, record.ErrorTolerance, record.OrderTolerance),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			got, err := harness.ReadWhole(results, warning(cmd))
			if err != nil {
				return err
			}
			want, err := harness.ReadWhole(with, warning(cmd))
			if err != nil {
				return fmt.Errorf("--with: %w", err)
			}
			a := record.Agree(got.Records, want.Records)
			err = show(cmd, asJSON, Agreement{version, a}, func(w io.Writer) error { return writeAgreement(w, a) })
			return errors.Join(err, agreement(a))
		},
	}
	resultsFlag(cmd, &results)
	cmd.Flags().StringVar(&with, "with", filepath.Join("results", "reference"), "results `folder` to compare with")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// An Agreement is the output of 'runall verify records --json'.
type Agreement struct {
	Versioned
	*record.Agreement
}

// writeAgreement writes the text.
func writeAgreement(w io.Writer, a *record.Agreement) error {
	for _, d := range a.Differing {
		fmt.Fprintf(w, "%s (%s, %s, %s): %s\n", d.File, d.Data, d.Task, d.Method, d.Differences[0])
	}
	if a.Compared == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%d runs compared, %d the same bit for bit; %d only in the first folder, %d only in the second\n", a.Compared, a.Same, a.OnlyFirst, a.OnlySecond)
	return err
}

// agreement returns the error of a comparison: differing runs, or no run in common.
func agreement(a *record.Agreement) error {
	if a.Compared == 0 {
		return harness.Incomplete(errors.New("the folders have no run in common"))
	}
	if n := len(a.Differing); n > 0 {
		return harness.Deviates(fmt.Errorf("%d of %d runs differ by more than the tolerances", n, a.Compared))
	}
	return nil
}
