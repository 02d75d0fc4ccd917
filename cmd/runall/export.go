package main

import (
	"errors"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/record"
)

func newExport() *cobra.Command {
	var results string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write records as CSV",
		Long: `Write all finished runs of a results folder for other tools, as CSV: a row for
each evaluation of each run, with benchopt's column names.
'go doc polkrepro/record CSV' describes the columns.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			have, err := harness.ReadResults(results, warning(cmd))
			if err != nil {
				return err
			}
			return errors.Join(record.CSV(raw(cmd.OutOrStdout()), have.Records), allWhole(have, results))
		},
	}
	resultsFlag(cmd, &results)
	return cmd
}
