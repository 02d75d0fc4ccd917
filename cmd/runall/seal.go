package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"polkrepro/experiments"
	"polkrepro/export"
	"polkrepro/record"
)

func newSeal() *cobra.Command {
	var results string
	var ref export.Reference
	cmd := &cobra.Command{
		Use:   "seal",
		Short: "Seal a results folder, or make a sealed reference",
		Long: `Seal a results folder: write the SHA-256 of its records, and of tables, figures
and verdicts.json in it, to MANIFEST, which 'sha256sum -c' reads too. From then
on, a file of these that is changed, missing or added is an error, exit status
4, of every command that reads the folder, and reproduce does not write to it.

With --from, the folder becomes a reference made of the records in others: those
of the runs that a profile plans, all of which must be there, made by a program
of known revision without local changes. Tables, figures and verdicts are made
anew from these records alone; examples of images in figures need the data.
Records, tables, figures and verdicts that a sealed reference had are replaced.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(ref.From) > 0 {
				ref.Warn = warning(cmd)
				if err := ref.Write(results); err != nil {
					return err
				}
			}
			files, records, err := export.Seal(results)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files sealed, %d of them records, in %s\n", files, records, filepath.Join(results, record.ManifestName))
			return err
		},
	}
	resultsFlag(cmd, &results)
	profileFlag(cmd, &ref.Profile, experiments.ProfileFull)
	dataFlag(cmd, &ref.Finder)
	cmd.Flags().StringArrayVar(&ref.From, "from", nil, "results `folder` whose records to copy; may be repeated")
	return cmd
}
