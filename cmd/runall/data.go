package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
)

func newData() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data status|fetch|draws",
		Short: "Show, check and download the data sets",
		Args:  cobra.NoArgs,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(newDataStatus(), newDataFetch(), newDataDraws())
	return cmd
}

func newDataStatus() *cobra.Command {
	var finder data.Finder
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [NAME|SPEC...]",
		Short: "Show the available data sets, and check their SHA-256",
		Long: `Show whether data sets are available and intact: the named ones, those of the
files that the named specs use, or by default all of this program. The exit
status is 1 if a data set is damaged, or if a named one is missing.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			rows, err := statusOf(finder, names)
			if err != nil {
				return err
			}
			err = showRows(cmd, asJSON, rows, func(r data.StatusRow) []string {
				return []string{r.Name, r.Kind, statusWord(r), cmp.Or(r.Problem, r.Dir)}
			})
			return errors.Join(err, verdict(rows, len(names) > 0))
		},
	}
	dataFlag(cmd, &finder)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// statusOf returns the status of the named data sets and of the data sets of the named spec
// files, or of all data sets if names is empty.
func statusOf(finder data.Finder, names []string) ([]data.StatusRow, error) {
	rows := data.Status(finder)
	names = slices.Clone(names)
	for i, name := range names {
		if filepath.Ext(name) == "" { // not a spec file
			continue
		}
		s, err := experiments.LoadFile(name)
		if err != nil {
			return nil, harness.Usage(err)
		}
		if names[i] = s.Data.Name; s.Data.Own() {
			rows = append(rows, data.StatusOf(s.Data))
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(rows, func(r data.StatusRow) bool { return r.Name == name }) {
			return nil, harness.Usage(fmt.Errorf("%w %q; 'runall list datasets' lists all", data.ErrUnknown, name))
		}
	}
	if len(names) > 0 {
		rows = slices.DeleteFunc(rows, func(r data.StatusRow) bool { return !slices.Contains(names, r.Name) })
	}
	return rows, nil
}

func statusWord(r data.StatusRow) string {
	switch {
	case !r.Available:
		return "missing"
	case !r.Verified:
		return "damaged"
	}
	return "ok"
}

// verdict returns an error if data sets are damaged or missing. Missing ones count only if
// data sets were named.
func verdict(rows []data.StatusRow, named bool) error {
	bad := 0
	for _, r := range rows {
		if !r.Verified && (named || r.Available) {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d data sets are damaged or missing", bad, len(rows))
	}
	return nil
}

func newDataDraws() *cobra.Command {
	return &cobra.Command{
		Use:         "draws",
		Annotations: traits(forPrograms),
		Short:       "Select the draws of multidist by their Bayes error, as CSV",
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return data.WriteDraws(cmd.OutOrStdout())
		},
	}
}
