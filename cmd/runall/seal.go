package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/spec"
)

func newSeal() *cobra.Command {
	var results string
	var ref harness.Reference
	var finder data.Finder
	cmd := &cobra.Command{
		Use:   "seal",
		Short: "Seal a results folder, or make a sealed reference",
		Long: `Seal a results folder: write the SHA-256 of its records, tables, figures and
verdicts.json to MANIFEST, which 'sha256sum -c' can check too. If one of these
files is then changed, missing or added, every command that reads the folder
fails with exit status 4. reproduce does not write to a sealed folder.

With --from, the folder becomes a reference made from the records in other
folders: those of all runs of a profile. No run may be missing, and all must be
made by a program of known revision without local changes. Tables, figures and
verdicts are remade from these records; example images in figures need the data.
They replace those of an earlier reference.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(ref.From) > 0 {
				ref.Warn = warning(cmd)
				opt := harness.FolderOptions{Profile: ref.Profile, Finder: finder, Whole: true, Warn: ref.Warn}
				if err := ref.Write(results, func(dir string) error { return report.WriteReference(dir, opt) }); err != nil {
					return err
				}
			}
			files, records, err := harness.Seal(results)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files sealed, %d of them records, in %s\n", files, records, filepath.Join(results, record.ManifestName))
			return err
		},
	}
	resultsFlag(cmd, &results)
	profileFlag(cmd, &ref.Profile, spec.ProfileFull)
	dataFlag(cmd, &finder)
	cmd.Flags().StringArrayVar(&ref.From, "from", nil, "results `folder` with records to copy; may be repeated")
	return cmd
}
