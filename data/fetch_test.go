package data

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"polkrepro/data/internal/fetch"
	"polkrepro/internal/testutil"
)

// shelf is a mirror: files by name.
type shelf struct {
	*httptest.Server
	files map[string][]byte
	mu    sync.Mutex
	asked []string // the names, not those of probes
}

func newShelf(t *testing.T, files map[string][]byte) *shelf {
	s := &shelf{files: files}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	if r.Method == http.MethodGet {
		s.mu.Lock()
		s.asked = append(s.asked, name)
		s.mu.Unlock()
	}
	b, ok := s.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

// entry returns the manifest's entry of some contents by name.
func entry(name string, b []byte, gzip bool) manifestFile {
	sum := sha256.Sum256(b)
	return manifestFile{Name: name, Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:]), Gzip: gzip}
}

var (
	plainBytes  = []byte(strings.Repeat("a picture ", 1000))
	zippedBytes = []byte(strings.Repeat("a table ", 5000))
)

// smallSet returns a data set of a plain file and one that may be compressed,
// and moves the test to an empty folder with the network allowed.
func smallSet(t *testing.T, mirrors ...*shelf) *manifestSet {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv(EnvDir, "")
	t.Setenv(EnvOffline, "")
	m := &manifestSet{Info: Info{Name: "small", Kind: KindFile, How: "wait"},
		Files: []manifestFile{entry("p.tiff", plainBytes, false), entry("z", zippedBytes, true)}}
	for _, s := range mirrors {
		m.URLs = append(m.URLs, s.URL+"/{name}")
	}
	return m
}

// goodFiles are what a mirror of smallSet has.
func goodFiles(t *testing.T) map[string][]byte {
	return map[string][]byte{"p.tiff": plainBytes, "z": gzipped(t, zippedBytes)}
}

// quickFetcher waits for nothing.
func quickFetcher() Fetcher {
	return Fetcher{client: fetch.Client{Tries: 2, Wait: time.Nanosecond}}
}

// fetchOne fetches a data set.
func fetchOne(t *testing.T, f Fetcher, m *manifestSet) FetchRow {
	t.Helper()
	rows, err := f.fetchAll(t.Context(), []*manifestSet{m})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	return rows[0]
}

// checkWholeSet fails unless a data set is found in the cache, whole.
func checkWholeSet(t *testing.T, m *manifestSet) *location {
	t.Helper()
	loc, err := Finder{}.locate(m)
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range m.Files {
		if _, err := hashVerified(filepath.Join(loc.dir, loc.files[i]), file); err != nil {
			t.Error(err)
		}
	}
	if loc.dir != cacheFolder(m) {
		t.Errorf("found in %s", loc.dir)
	}
	return loc
}

func TestFetch(t *testing.T) {
	s := newShelf(t, goodFiles(t))
	m := smallSet(t, s)
	var kinds []string
	f := quickFetcher()
	f.Report = func(e FetchEvent) {
		if e.Dataset != "small" || "http://"+e.Source != s.URL {
			t.Errorf("%+v", e)
		}
		kinds = append(kinds, e.Kind+" "+e.File)
	}
	row := fetchOne(t, f, m)
	if row.State != FetchFetched || row.Files != 2 || row.Dir != filepath.Join("data", "cache", "small") || row.Err != nil {
		t.Errorf("%+v", row)
	}
	if got := join(checkWholeSet(t, m).files); got != "p.tiff, z.gz" {
		t.Errorf("files %s", got)
	}
	if got := join(slices.Compact(kinds)); got != "start p.tiff, progress p.tiff, done p.tiff, start z, progress z, done z.gz" {
		t.Errorf("events %s", got)
	}
	again := fetchOne(t, f, m)
	if again.State != FetchFound || again.Dir != row.Dir || len(s.asked) != 2 {
		t.Errorf("again: %+v, asked for %v", again, s.asked)
	}
}

// TestFetchWhatIsLacking: whole files in the cache stay, and damaged ones are
// replaced, also if they would be found under another name first.
func TestFetchWhatIsLacking(t *testing.T) {
	s := newShelf(t, goodFiles(t))
	m := smallSet(t, s)
	dir := cacheFolder(m)
	writeFile(t, filepath.Join(dir, "p.tiff"), plainBytes)
	writeFile(t, filepath.Join(dir, "z"), []byte("damaged"))
	writeFile(t, filepath.Join(dir, "z.gz"), []byte("damaged"))
	row := fetchOne(t, quickFetcher(), m)
	if row.State != FetchFetched || row.Files != 1 || join(s.asked) != "z" {
		t.Errorf("%+v, asked for %v", row, s.asked)
	}
	checkWholeSet(t, m)
}

// TestFetchDecompressed: a mirror that decompresses on the way is as good.
func TestFetchDecompressed(t *testing.T) {
	m := smallSet(t, newShelf(t, map[string][]byte{"p.tiff": plainBytes, "z": zippedBytes}))
	if row := fetchOne(t, quickFetcher(), m); row.State != FetchFetched {
		t.Fatalf("%+v", row)
	}
	if got := join(checkWholeSet(t, m).files); got != "p.tiff, z" {
		t.Errorf("files %s", got)
	}
}

// TestFetchMirrors: the second mirror is asked for what the first lacks, and
// from then on before it.
func TestFetchMirrors(t *testing.T) {
	first, second := newShelf(t, map[string][]byte{"z": gzipped(t, zippedBytes)}), newShelf(t, goodFiles(t))
	m := smallSet(t, first, second)
	if row := fetchOne(t, quickFetcher(), m); row.State != FetchFetched {
		t.Fatalf("%+v", row)
	}
	if join(first.asked) != "p.tiff" || join(second.asked) != "p.tiff, z" {
		t.Errorf("first asked for %v, second for %v", first.asked, second.asked)
	}
}

func TestFetchFails(t *testing.T) {
	damaged := bytes.Clone(plainBytes)
	damaged[7]++
	zip := gzipped(t, zippedBytes)
	gone := newShelf(t, nil)
	tests := []struct {
		name   string
		mirror *shelf
		want   string // in the message
	}{
		{"not there", newShelf(t, nil), "p.tiff: every mirror failed (127.0.0.1:"},
		{"no server", gone, "no mirror answers (127.0.0.1:"},
		{"wrong bytes", newShelf(t, map[string][]byte{"p.tiff": damaged}), "wrong contents: SHA-256 "},
		{"too long", newShelf(t, map[string][]byte{"p.tiff": append(damaged, 0)}), "more than 10000 bytes"},
		{"too short", newShelf(t, map[string][]byte{"p.tiff": plainBytes[1:]}), "server has no more of the file"},
		{"short gzip", newShelf(t, map[string][]byte{"p.tiff": plainBytes, "z": zip[:len(zip)-9]}), "z: every mirror failed"},
		{"bad gzip", newShelf(t, map[string][]byte{"p.tiff": plainBytes, "z": append([]byte("\x1f\x8b"), damaged...)}), "can't be decompressed"},
		{"a web page", newShelf(t, map[string][]byte{"p.tiff": plainBytes, "z": bytes.Repeat([]byte("<html>"), 9000)}), "more than 44136 bytes"},
	}
	gone.Close() // now that no other server can have its port
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := smallSet(t, tt.mirror)
			row := fetchOne(t, quickFetcher(), m)
			if row.State != FetchFailed || !errors.Is(row.Err, ErrNotAvailable) || !strings.Contains(row.Problem, tt.want) || strings.Contains(row.Problem, "\n") {
				t.Errorf("%+v, want %q", row, tt.want)
			}
			if _, err := (Finder{}).locate(m); !errors.Is(err, ErrNotAvailable) {
				t.Errorf("found all the same: %v", err)
			}
		})
	}
}

// TestFetchNothingToAsk lists what is settled without asking anybody.
func TestFetchNothingToAsk(t *testing.T) {
	f := quickFetcher()
	f.Transport = testutil.RoundTripper(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked for %s", r.URL)
		return nil, errors.New("nothing may be asked for")
	})
	t.Run("generated", func(t *testing.T) {
		rows, err := f.Fetch(t.Context(), []string{"multidist"})
		if err != nil || len(rows) != 1 || rows[0].State != FetchGenerated {
			t.Errorf("%+v, %v", rows, err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		if _, err := f.Fetch(t.Context(), []string{"mnist", "iris"}); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
	})
	t.Run("offline", func(t *testing.T) {
		smallSet(t)
		t.Setenv(EnvOffline, "1")
		rows, err := f.Fetch(t.Context(), nil)
		if err != nil || len(rows) != 2 {
			t.Fatalf("%+v, %v", rows, err)
		}
		for _, row := range rows {
			if row.State != FetchFailed || !errors.Is(row.Err, ErrNotAvailable) || !strings.Contains(row.Problem, EnvOffline) {
				t.Errorf("%+v", row)
			}
		}
		if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	t.Run("found elsewhere", func(t *testing.T) {
		m := smallSet(t)
		f.Finder.Dir = "mine"
		writeFile(t, "mine/p.tiff", plainBytes)
		writeFile(t, "mine/z", zippedBytes)
		if row := fetchOne(t, f, m); row.State != FetchFound || row.Dir != "mine" {
			t.Errorf("%+v", row)
		}
		writeFile(t, "mine/z", []byte("damaged"))
		if row := fetchOne(t, f, m); row.State != FetchFailed || !errors.Is(row.Err, ErrCorrupt) {
			t.Errorf("damaged: %+v", row)
		}
	})
}

// TestFetchHere: what is wrong with this machine's folders is not blamed on
// the mirrors.
func TestFetchHere(t *testing.T) {
	s := newShelf(t, goodFiles(t))
	t.Run("locked", func(t *testing.T) {
		m := smallSet(t, s)
		lock, err := fetch.Lock(cacheFolder(m))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		if row := fetchOne(t, quickFetcher(), m); row.State != FetchFailed || !errors.Is(row.Err, ErrFolderLocked) {
			t.Errorf("%+v", row)
		}
	})
	t.Run("no folder can be made", func(t *testing.T) {
		m := smallSet(t, s)
		writeFile(t, "data", nil)
		row := fetchOne(t, quickFetcher(), m)
		if row.State != FetchFailed || errors.Is(row.Err, ErrNotAvailable) || !strings.HasPrefix(row.Problem, "can't be saved: ") {
			t.Errorf("%+v", row)
		}
	})
	if len(s.asked) != 0 {
		t.Errorf("asked for %v", s.asked)
	}
}

func TestFetchInterrupted(t *testing.T) {
	m := smallSet(t, newShelf(t, goodFiles(t)))
	ctx, cancel := context.WithCancel(t.Context())
	f := quickFetcher()
	f.Report = func(e FetchEvent) {
		if e.Kind == FetchStart && e.File == "z" {
			cancel()
		}
	}
	rows, err := f.fetchAll(ctx, []*manifestSet{m})
	if len(rows) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", rows, err)
	}
	row := fetchOne(t, quickFetcher(), m)
	if row.State != FetchFetched || row.Files != 1 { // the first was there
		t.Errorf("%+v", row)
	}
	checkWholeSet(t, m)
}

func TestOffline(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "1": true, "no": true} {
		t.Setenv(EnvOffline, value)
		if Offline() != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
}

// TestManifestMirrors: every file has mirrors whose addresses are all its own.
func TestManifestMirrors(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range manifest() {
		if (m.Kind == KindFile) != (len(m.URLs) > 1) {
			t.Errorf("%s: mirrors %v", m.Name, m.URLs)
		}
		for _, file := range m.Files {
			for _, mirror := range m.URLs {
				address := fileURL(mirror, file)
				u, err := url.Parse(address)
				if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(address, "{}") || seen[address] {
					t.Errorf("%s: %s, %v", file.Name, address, err)
				}
				seen[address] = true
			}
		}
	}
	for _, want := range []string{"https://ossci-datasets.s3.amazonaws.com/mnist/t10k-labels-idx1-ubyte.gz",
		"https://sipi.usc.edu/database/download.php?vol=textures&img=1.1.01"} {
		if !seen[want] {
			t.Errorf("not among the addresses: %s", want)
		}
	}
}
