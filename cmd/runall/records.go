package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"polkrepro/record"
)

func newRecords() *cobra.Command {
	var results, with string
	cmd := &cobra.Command{
		Use:   "records",
		Short: "Compare the records of two results folders, run by run",
		Long: fmt.Sprintf(`Compare the records of two results folders, run by run: of every run that both
have, the risks, errors and model orders of all points and the final ones must be
the same to %g of the risks, %g of the errors and %g elements. The exit status is 0
if they are, 3 if a run differs, 4 if the folders have no run in common or records
are damaged.`, record.RiskTolerance, record.ErrorTolerance, record.OrderTolerance),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			got, err := wholeRecords(results, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			want, err := wholeRecords(with, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return agree(cmd.OutOrStdout(), got.Records, want.Records)
		},
	}
	resultsFlag(cmd, &results)
	cmd.Flags().StringVar(&with, "with", filepath.Join("results", "reference"), "results `folder` to compare with")
	return cmd
}

// wholeRecords reads the records of a folder, which must have some, none of
// them damaged.
func wholeRecords(results string, stderr io.Writer) (*record.Collection, error) {
	have, err := readRecords(results, stderr)
	if err != nil {
		return nil, &statusError{exitIncomplete, err.Error()}
	}
	if len(have.Errors) > 0 {
		return nil, damaged(have)
	}
	return have, nil
}

// agree compares the runs that both have and says how many those are.
func agree(w io.Writer, got, want map[string]*record.Record) error {
	compared, differ, same := 0, 0, 0
	for _, id := range slices.Sorted(maps.Keys(got)) {
		if want[id] == nil {
			continue
		}
		compared++
		if got[id].Final.Digest == want[id].Final.Digest {
			same++
		}
		wrong := record.Disagreements(got[id], want[id])
		if len(wrong) == 0 {
			continue
		}
		differ++
		r := got[id].Header.Run
		fmt.Fprintf(w, "%s (%s, %s, %s): %s\n", got[id].Path, r.Data.Name, r.Task, r.Method, wrong[0])
	}
	if compared == 0 {
		return &statusError{exitIncomplete, "no run is in both folders"}
	}
	fmt.Fprintf(w, "%d runs compared, %d the same bit for bit; %d are in the first folder alone, %d in the second\n", compared, same, len(got)-compared, len(want)-compared)
	if differ > 0 {
		return &statusError{exitDeviates, fmt.Sprintf("%d of %d runs differ by more than the tolerances", differ, compared)}
	}
	return nil
}
