package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/report/export"
)

func newExport() *cobra.Command {
	var results, out string
	cmd := &cobra.Command{
		Use:         "export",
		Annotations: traits(forPrograms),
		Short:       "Write records as CSV",
		Long: `Write all finished runs of a results folder for other tools, as CSV: a row for
each evaluation of each run, with benchopt's column names.
'go doc polkrepro/report/export' describes the columns.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkExport(cmd.OutOrStdout(), out, results); err != nil {
				return err
			}
			f, err := export.Open(results, export.Options{Warn: warning(cmd)})
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return export.CSV(w, f.Records.Records) }
			if out == "" {
				err = write(cmd.OutOrStdout())
			} else if err = files.Write(out, write); err == nil {
				_, err = fmt.Fprintln(cmd.ErrOrStderr(), "written:", out)
			}
			return errors.Join(err, allWhole(f.Records, results))
		},
	}
	resultsFlag(cmd, &results)
	cmd.Flags().StringVar(&out, "out", "", "output `file` (default: stdout)")
	return cmd
}

// checkExport returns an error if the output can't be written or would overwrite a file of
// the results folder that the command reads.
func checkExport(stdout io.Writer, out, results string) error {
	inputs := resultsInputs(results)
	if out == "" {
		return checkStdout(stdout, inputs...)
	}
	if err := checkOutput("--out", out, inputs...); err != nil {
		return err
	}
	if err := harness.CheckFile(out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
