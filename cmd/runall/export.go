package main

import (
	"errors"

	"github.com/spf13/cobra"

	"polkrepro/report/export"
)

func newExport() *cobra.Command {
	var results string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write records as CSV",
		Long: `Write all finished runs of a results folder for other tools, as CSV: a row for
each evaluation of each run, with benchopt's column names.
'go doc polkrepro/report/export' describes the columns.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := export.Open(results, export.Options{Warn: warning(cmd)})
			if err != nil {
				return err
			}
			return errors.Join(export.CSV(raw(cmd.OutOrStdout()), f.Records.Records), allWhole(f.Records, results))
		},
	}
	resultsFlag(cmd, &results)
	return cmd
}
