package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
)

// network carries what is fetched; tests put servers of their own here.
var network http.RoundTripper

func newDataFetch() *cobra.Command {
	var finder data.Finder
	var asJSON bool
	var progress string
	cmd := &cobra.Command{
		Use:   "fetch [NAME...]",
		Short: "Download the data sets that are found nowhere into " + data.CacheDir,
		Long: `Download data sets into ` + data.CacheDir + `/NAME: all that are found nowhere, or
those named. Files are checked by their SHA-256; damaged ones there are replaced.

If it is interrupted (exit status 130), what was downloaded is kept and the next
fetch goes on from there. The exit status is 4 if a data set can't be had.
With ` + data.EnvOffline + `=1 in the environment nothing is downloaded.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			rows, err := fetchData(cmd, data.Fetcher{Finder: finder}, names, progress)
			if errors.Is(err, data.ErrUnknown) {
				return harness.Usage(err)
			}
			return errors.Join(err, writeFetched(cmd, rows, asJSON), fetchVerdict(rows))
		},
	}
	dataFlag(cmd, &finder)
	jsonFlag(cmd, &asJSON)
	progressFlag(cmd, &progress)
	return cmd
}

// fetchData fetches data sets and shows how far it is. The error wraps
// harness.ErrInterrupted if it was told to stop.
func fetchData(cmd *cobra.Command, f data.Fetcher, names []string, progress string) ([]data.FetchRow, error) {
	display, err := newFetchDisplay(progress, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	f.Transport = network
	f.Report = display.report
	rows, err := f.Fetch(cmd.Context(), names)
	display.close()
	if errors.Is(err, context.Canceled) {
		err = resumable(fmt.Errorf("%w: what was downloaded is kept", harness.ErrInterrupted))
	}
	return rows, err
}

func writeFetched(cmd *cobra.Command, rows []data.FetchRow, asJSON bool) error {
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), rows)
	}
	var text [][]string
	for _, r := range rows {
		text = append(text, []string{r.Name, r.State, r.Dir, r.Problem})
	}
	return writeRows(cmd.OutOrStdout(), text)
}

// fetchVerdict is the error of the data sets that failed, whose reasons are in
// their rows. Its exit status is that of what went wrong.
func fetchVerdict(rows []data.FetchRow) error {
	var missing []string
	var errs []error
	for _, r := range rows {
		switch {
		case r.Err == nil:
		case errors.Is(r.Err, data.ErrNotAvailable):
			missing = append(missing, r.Name)
		case errors.Is(r.Err, data.ErrFolderLocked):
			errs = append(errs, harness.Usage(fmt.Errorf("not fetched: %s", r.Name)))
		default:
			errs = append(errs, fmt.Errorf("not fetched: %s", r.Name))
		}
	}
	if len(missing) > 0 {
		errs = append(errs, fmt.Errorf("%w: %s", harness.ErrMissingData, strings.Join(missing, ", ")))
	}
	return errors.Join(errs...)
}

// fetchFirst fetches the data sets that runs of a plan need and that are found
// nowhere, unless the environment forbids it, and reports whether there are
// new ones. That some can't be had is said and is no error.
func fetchFirst(cmd *cobra.Command, plan []experiments.Planned, finder data.Finder, progress string) (fetched bool, err error) {
	names := lackingNames(plan, finder)
	if len(names) == 0 || data.Offline() {
		return false, nil
	}
	rows, err := fetchData(cmd, data.Fetcher{Finder: finder, Within: probeTime}, names, progress)
	for _, r := range rows {
		if r.Err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is not fetched: %v\n", r.Name, r.Err)
		}
		fetched = fetched || r.State == data.FetchFetched
	}
	return fetched, err
}

// probeTime bounds how long a reproduction without a network waits for one.
const probeTime = 5 * time.Second

// lackingNames returns the data sets that runs of a plan need and that are
// found nowhere, in the plan's order.
func lackingNames(plan []experiments.Planned, finder data.Finder) []string {
	var names []string
	seen := make(map[string]bool)
	for _, p := range plan {
		name := p.Run.Data.Name
		if !seen[name] && errors.Is(finder.Available(data.Ref{Name: name}), data.ErrNotAvailable) {
			names = append(names, name)
		}
		seen[name] = true
	}
	return names
}
