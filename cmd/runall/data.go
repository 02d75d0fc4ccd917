package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
)

func newData() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data status|verify|fetch|draws",
		Short: "Show, check and download the data sets",
		Args:  cobra.NoArgs,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(newDataStatus(), newDataVerify(), newDataFetch(), newDataDraws())
	return cmd
}

func newDataStatus() *cobra.Command {
	var finder data.Finder
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [NAME|SPEC...]",
		Short: "Show the available data sets, and sources of missing ones",
		Long: `Show whether data sets are available: the named ones, those of the files that
the named specs use, or by default all of this program.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			rows, err := statusOf(finder, names)
			if err != nil {
				return err
			}
			return showRows(cmd, asJSON, rows, func(r data.StatusRow) []string {
				return []string{r.Name, r.Kind, statusWord(r), statusDetail(r)}
			})
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
			rows = append(rows, data.StatusOf(s.Data, finder))
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

// statusDetail returns the problem with a data set, or its folder and size.
func statusDetail(r data.StatusRow) string {
	switch {
	case !r.Available && len(r.Sources) > 0:
		return fmt.Sprintf("%s; sources of its %s, in the order tried: %s", r.Problem, megabytes(r.Size), strings.Join(r.Sources, ", "))
	case r.Problem != "" || r.Kind == data.KindGenerated:
		return r.Problem
	}
	return r.Dir + ", " + megabytes(r.Bytes)
}

func newDataVerify() *cobra.Command {
	var finder data.Finder
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [NAME...]",
		Short: "Check the SHA-256 of every data file",
		Long: `Check the SHA-256 of every file of the named data sets, or by default of all.
The exit status is 1 if a file is corrupt, or missing from a named data set.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			rows, err := data.Verify(finder, names)
			if err != nil { // an unknown data set
				return harness.Usage(err)
			}
			err = showRows(cmd, asJSON, rows, func(r data.VerifyRow) []string {
				return []string{r.Dataset, r.File, r.State, r.Problem}
			})
			return errors.Join(err, verdict(rows, len(names) > 0))
		},
	}
	dataFlag(cmd, &finder)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// verdict returns an error if files are corrupt or missing. Missing files count only if
// data sets were named.
func verdict(rows []data.VerifyRow, named bool) error {
	bad := 0
	for _, r := range rows {
		if r.State != data.StateOK && (named || r.State != data.StateMissing) {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d files failed", bad, len(rows))
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
