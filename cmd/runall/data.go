package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/harness"
)

func newData() *cobra.Command {
	return parent("data", "Check and download the data sets", newDataStatus(), newDataFetch(), newDataDraws())
}

func newDataStatus() *cobra.Command {
	var finder data.Finder
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [NAME...]",
		Short: "Check the data sets, and say where to get missing ones",
		Long: `Show whether the named data sets, by default all, are available, and check the
SHA-256 of their files. The exit status is 1 if a data set is damaged, or a
named one is missing.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			rows := data.Status(finder)
			for _, name := range names {
				if !slices.ContainsFunc(rows, func(r data.StatusRow) bool { return r.Name == name }) {
					return harness.Usage(fmt.Errorf("%w %q; 'runall list datasets' lists all", data.ErrUnknown, name))
				}
			}
			if len(names) > 0 {
				rows = slices.DeleteFunc(rows, func(r data.StatusRow) bool { return !slices.Contains(names, r.Name) })
			}
			err := showRows(cmd, asJSON, rows, func(r data.StatusRow) []string {
				return []string{r.Name, r.Kind, statusWord(r), cmp.Or(r.Problem, r.Dir)}
			})
			return errors.Join(err, verdict(rows, len(names) > 0))
		},
	}
	dataFlag(cmd, &finder)
	jsonFlag(cmd, &asJSON)
	return cmd
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
// they were named.
func verdict(rows []data.StatusRow, named bool) error {
	var bad []string
	for _, r := range rows {
		if !r.Verified && (named || r.Available) {
			bad = append(bad, r.Name)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("damaged or missing: %s", strings.Join(bad, ", "))
	}
	return nil
}

func newDataDraws() *cobra.Command {
	return &cobra.Command{
		Use:   "draws",
		Short: "Select the draws of multidist by their Bayes error, as CSV",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return data.WriteDraws(raw(cmd.OutOrStdout())) },
	}
}
