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
risk, %g of the error and %g elements. What was measured of the runs of
Table 1 must agree as a risk. The exit status is 0 if all do, 3 if a run
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
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), newAgreement(a))
			} else {
				err = writeAgreement(cmd.OutOrStdout(), a)
			}
			return errors.Join(err, agreement(a))
		},
	}
	resultsFlag(cmd, &results)
	cmd.Flags().StringVar(&with, "with", filepath.Join("results", "reference"), "results `folder` to compare with")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// An Agreement is what 'runall verify records --json' writes.
type Agreement struct {
	Versioned
	Compared   int            `json:"compared"`    // runs that both folders have
	Same       int            `json:"same"`        // those of them that are the same bit for bit
	OnlyFirst  int            `json:"only_first"`  // runs that only the first folder has
	OnlySecond int            `json:"only_second"` // runs that only the second folder has
	Differing  []DifferingRun `json:"differing"`   // runs that differ by more than the tolerances
}

// A DifferingRun is one run of both folders.
type DifferingRun struct {
	RunID       string   `json:"run_id"`      // its record is ID.jsonl
	File        string   `json:"file"`        // the first folder's record
	Data        string   `json:"data"`        // name of the data set
	Task        string   `json:"task"`        // ksvm, klr or regression
	Method      string   `json:"method"`      // as in specs
	Seed        uint64   `json:"seed"`        // of the order of the samples
	Differences []string `json:"differences"` // each beyond a tolerance, in words
}

func newAgreement(a *record.Agreement) Agreement {
	out := Agreement{version, a.Compared, a.Same, a.Here, a.There, []DifferingRun{}}
	for _, d := range a.Differing {
		h := d.Record.Header
		out.Differing = append(out.Differing, DifferingRun{h.ID, d.Record.Path, h.Run.Data.Name, h.Run.Task, h.Run.Method, h.Run.Seed, d.Wrong})
	}
	return out
}

// writeAgreement writes the text.
func writeAgreement(w io.Writer, a *record.Agreement) error {
	for _, d := range a.Differing {
		r := d.Record.Header.Run
		fmt.Fprintf(w, "%s (%s, %s, %s): %s\n", d.Record.Path, r.Data.Name, r.Task, r.Method, d.Wrong[0])
	}
	if a.Compared == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%d runs compared, %d the same bit for bit; %d only in the first folder, %d only in the second\n", a.Compared, a.Same, a.Here, a.There)
	return err
}

// agreement is the error of a comparison.
func agreement(a *record.Agreement) error {
	if a.Compared == 0 {
		return harness.Incomplete(errors.New("the folders have no run in common"))
	}
	if n := len(a.Differing); n > 0 {
		return harness.Deviates(fmt.Errorf("%d of %d runs differ by more than the tolerances", n, a.Compared))
	}
	return nil
}
