package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
)

// content returns n bytes that are not the same anywhere.
func content(n int) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// whole is the file that tests fetch.
var whole = content(300_000)

// A reply is how a server answers one request.
type reply func(w http.ResponseWriter, r *http.Request)

// serve answers as a good server does that has a version of a file.
func serve(version string, b []byte) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+version+`"`)
		w.Header().Set("Content-Disposition", `attachment; filename="../../elsewhere"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

// limited passes the first bytes of an answer on and breaks the connection
// when there are more.
type limited struct {
	http.ResponseWriter
	left int
	then func()
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	if _, err := l.ResponseWriter.Write(b[:n]); err != nil {
		return 0, err
	}
	if n < len(b) {
		l.Flush()
		l.then()
	}
	return len(b), nil
}

func (l *limited) Flush() { l.ResponseWriter.(http.Flusher).Flush() }

// cut breaks an answer off after n bytes.
func cut(n int, as reply) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		as(&limited{w, n, func() { panic(http.ErrAbortHandler) }}, r)
	}
}

// stall sends nothing after n bytes, until the client goes away.
func stall(n int, as reply) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		as(&limited{w, n, func() { <-r.Context().Done(); panic(http.ErrAbortHandler) }}, r)
	}
}

// hang does not answer.
func hang(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// drip sends a byte every millisecond, for a second.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"1"`)
	for i := 0; i < 1000 && r.Context().Err() == nil; i++ {
		w.Write(whole[i : i+1])
		w.(http.Flusher).Flush()
		time.Sleep(time.Millisecond)
	}
}

// ignoreRange sends all of the file whatever was asked for.
func ignoreRange(as reply) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		as(w, r)
	}
}

// claim says that the body has n bytes, and sends b.
func claim(n int, b []byte) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Length", strconv.Itoa(n))
		w.Write(b[:min(n, len(b))])
	}
}

// unsaid sends a body without having said how long it will be.
func unsaid(b []byte) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		w.Write(b)
	}
}

// shifted sends another range than it was asked for.
func shifted(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"1"`)
	w.Header().Set("Content-Range", fmt.Sprintf("bytes 7-%d/%d", len(whole)-1, len(whole)))
	w.WriteHeader(http.StatusPartialContent)
	w.Write(whole[7:])
}

func status(code int) reply {
	return func(w http.ResponseWriter, r *http.Request) { http.Error(w, strings.Repeat("no ", 1000), code) }
}

func redirect(url string) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", url)
		w.WriteHeader(http.StatusFound)
	}
}

// endless sends bytes as long as they are taken.
func endless(w http.ResponseWriter, r *http.Request) {
	for {
		if _, err := w.Write(whole); err != nil {
			return
		}
	}
}

// A mirror is a server that gives one reply after the other, and the last for
// ever.
type mirror struct {
	*httptest.Server
	mu      sync.Mutex
	replies []reply
	asked   []string // the ranges
}

func newMirror(t testing.TB, replies ...reply) *mirror {
	m := &mirror{replies: replies}
	m.Server = httptest.NewUnstartedServer(m)
	m.Config.ErrorLog = log.New(io.Discard, "", 0) // broken connections are what it is for
	m.Start()
	t.Cleanup(m.Close)
	return m
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	now := m.replies[0]
	if len(m.replies) > 1 {
		m.replies = m.replies[1:]
	}
	m.asked = append(m.asked, r.Header.Get("Range"))
	m.mu.Unlock()
	now(w, r)
}

// accept takes nothing but the whole file.
func accept(path string) (string, error) {
	b, err := os.ReadFile(path)
	switch {
	case err != nil:
		return "", err
	case bytes.Equal(b, whole):
		return "file", nil
	case len(b) < len(whole):
		return "", io.ErrUnexpectedEOF
	}
	return "", errors.New("wrong bytes")
}

// file returns what to download from mirrors.
func file(dir string, mirrors ...*mirror) File {
	f := File{Dir: dir, Name: "file", Max: int64(len(whole)), Accept: accept}
	for _, m := range mirrors {
		f.URLs = append(f.URLs, m.URL+"/file")
	}
	return f
}

// impatient returns a client that waits for nothing.
func impatient() Client {
	return Client{Tries: 3, Stall: 5 * time.Second, Wait: time.Nanosecond}
}

// left returns the files in a folder.
func left(t rapid.TB, dir string) string { return strings.Join(testutil.Names(t, dir), " ") }

func wrong() []byte {
	b := bytes.Clone(whole)
	b[len(b)/2] ^= 1
	return b
}

func TestGet(t *testing.T) {
	good := serve("1", whole)
	tests := []struct {
		name    string
		replies []reply
		asked   string // the ranges, with commas between them
		err     string // "" if the file comes
	}{
		{"a good server", []reply{good}, "", ""},
		{"cut once", []reply{cut(100_000, good), good}, ",bytes=100000-", ""},
		{"cut at once, three times", []reply{cut(0, good)}, ",,", "EOF, after 3 attempts"},
		{"cut often", []reply{cut(100_000, good)}, ",bytes=100000-,bytes=200000-", ""},
		{"cut often, getting nowhere", []reply{ignoreRange(cut(70_000, good))}, ",bytes=70000-,bytes=70000-", "after 3 attempts"},
		{"busy", []reply{status(503), status(500), good}, ",,", ""},
		{"out of order", []reply{status(500)}, ",,", "answers 500 Internal Server Error, after 3 attempts"},
		{"not there", []reply{status(404)}, "", "it answers 404 Not Found"},
		{"nothing there", []reply{status(204)}, "", "it answers 204 No Content"},
		{"ignores ranges", []reply{cut(100_000, good), ignoreRange(good)}, ",bytes=100000-", ""},
		{"another version", []reply{cut(200_000, serve("0", wrong())), good, good}, ",bytes=200000-,", ""},
		{"sends another range", []reply{cut(100_000, good), shifted, good}, ",bytes=100000-,", ""},
		{"range not satisfiable", []reply{cut(100_000, good), status(416), good}, ",bytes=100000-,", ""},
		{"a range not asked for", []reply{shifted, good}, ",", ""},
		{"wrong bytes", []reply{serve("1", wrong())}, "", "wrong bytes"},
		{"says too long", []reply{claim(len(whole)+9, whole)}, "", ""},
		{"says too short", []reply{claim(1000, whole), good}, ",bytes=1000-", ""},
		{"ends early", []reply{unsaid(whole[:5000]), good}, ",bytes=5000-", ""},
		{"short", []reply{serve("1", whole[:5000])}, ",bytes=5000-,", "after 3 attempts"},
		{"empty", []reply{serve("1", nil)}, ",,", "EOF, after 3 attempts"},
		{"endless", []reply{endless}, "", "more than 300000 bytes"},
		{"redirect to a file", []reply{redirect("file:///etc/hostname")}, "", `a redirect to "file"`},
		{"redirects to itself", []reply{redirect("/file")}, ",,,,,", "more than 5 redirects"},
		{"redirects once", []reply{redirect("/elsewhere"), good}, ",", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			m := newMirror(t, tt.replies...)
			name, url, err := impatient().Get(t.Context(), file(dir, m))
			if tt.err == "" {
				checkWhole(t, dir, name, err)
				if url != m.URL+"/file" {
					t.Errorf("from %q", url)
				}
			} else {
				var of *MirrorError
				if !errors.As(err, &of) || of.URL != m.URL+"/file" || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q in it", err, tt.err)
				}
				if _, err := os.Stat(filepath.Join(dir, "file")); err == nil {
					t.Error("there is a file all the same")
				}
			}
			if got := strings.Join(m.asked, ","); got != tt.asked {
				t.Errorf("asked for %q, want %q", got, tt.asked)
			}
		})
	}
}

// checkWhole fails unless a folder holds the file, right, and nothing else.
func checkWhole(t rapid.TB, dir, name string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !bytes.Equal(b, whole) {
		t.Errorf("%d bytes, not those of the file; %v", len(b), err)
	}
	if got := left(t, dir); got != "file" {
		t.Errorf("in the folder: %s", got)
	}
}

func TestStalls(t *testing.T) {
	good := serve("1", whole)
	for name, bad := range map[string]reply{"body": stall(100_000, good), "no answer": hang, "drip": drip} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := impatient()
			c.Stall = 100 * time.Millisecond
			var retries []error
			c.Report = func(e Event) {
				if e.Kind == EventRetry {
					retries = append(retries, e.Err)
				}
			}
			got, _, err := c.Get(t.Context(), file(dir, newMirror(t, bad, good)))
			checkWhole(t, dir, got, err)
			if len(retries) != 1 || !errors.Is(retries[0], errStalled) {
				t.Errorf("attempts failed for %v", retries)
			}
		})
	}
}

// TestHTTP2: the public mirrors speak it, and it has errors of its own.
func TestHTTP2(t *testing.T) {
	good := serve("1", whole)
	m := &mirror{replies: []reply{hang, cut(100_000, good), stall(80_000, good), good}}
	m.Server = httptest.NewUnstartedServer(m)
	m.Config.ErrorLog = log.New(io.Discard, "", 0)
	m.EnableHTTP2 = true
	m.StartTLS()
	t.Cleanup(m.Close)
	dir := t.TempDir()
	c := impatient()
	c.Transport, c.Stall, c.Tries = m.Client().Transport, 100*time.Millisecond, 4
	var stalled []bool
	c.Report = func(e Event) {
		if e.Kind == EventRetry {
			stalled = append(stalled, errors.Is(e.Err, errStalled))
		}
	}
	name, _, err := c.Get(t.Context(), file(dir, m))
	checkWhole(t, dir, name, err)
	if got := strings.Join(m.asked, ","); got != ",,bytes=100000-,bytes=180000-" || !slices.Equal(stalled, []bool{true, false, true}) {
		t.Errorf("asked for %q, stalled %v", got, stalled)
	}
	// A server whose certificate nobody vouches for is asked once.
	m.asked = nil
	_, _, err = impatient().Get(t.Context(), file(t.TempDir(), m))
	if err == nil || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "attempts") || len(m.asked) != 0 {
		t.Errorf("certificate: %v, asked for %v", err, m.asked)
	}
}

// TestSecondMirror: whatever is wrong with the first, the second serves. It
// continues what the first began, and if that was wrong begins again.
func TestSecondMirror(t *testing.T) {
	good := serve("1", whole)
	gone := newMirror(t, good)
	gone.Close()
	for name, tt := range map[string]struct {
		first *mirror
		asked string // the ranges that the second is asked for
	}{
		"refuses connections":           {gone, ""},
		"not there":                     {newMirror(t, status(404)), ""},
		"out of order":                  {newMirror(t, status(500)), ""},
		"wrong bytes":                   {newMirror(t, serve("1", wrong())), ""},
		"breaks off":                    {newMirror(t, cut(1000, good)), "bytes=3000-"},
		"breaks off after a wrong byte": {newMirror(t, cut(200_000, serve("1", wrong()))), "bytes=200000-,"},
		"endless":                       {newMirror(t, endless), ""},
		"file":                          {newMirror(t, redirect("file:///etc/hostname")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			second := newMirror(t, good)
			var gaveUp []string
			c := impatient()
			c.Report = func(e Event) {
				if e.Kind == EventGiveUp {
					gaveUp = append(gaveUp, e.URL)
				}
			}
			got, url, err := c.Get(t.Context(), file(dir, tt.first, second))
			checkWhole(t, dir, got, err)
			if asked := strings.Join(second.asked, ","); url != second.URL+"/file" || len(gaveUp) != 1 || gaveUp[0] != tt.first.URL+"/file" || asked != tt.asked {
				t.Errorf("from %s after giving up %v, asked for %q", url, gaveUp, asked)
			}
		})
	}
	_, _, err := impatient().Get(t.Context(), file(t.TempDir(), gone, newMirror(t, status(403))))
	if err == nil || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "403 Forbidden") {
		t.Errorf("not what both said: %v", err)
	}
}

// interrupt gets a file until n bytes are there.
func interrupt(t *testing.T, f File, n int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := impatient()
	c.Report = func(e Event) {
		if e.Kind == EventProgress && e.Done >= n {
			cancel()
		}
	}
	if _, _, err := c.Get(ctx, f); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: error %v", err)
	}
	if got := left(t, f.Dir); got != "file.partial" {
		t.Fatalf("left behind: %s", got)
	}
}

func TestResume(t *testing.T) {
	good := serve("1", whole)
	t.Run("another mirror goes on", func(t *testing.T) {
		dir := t.TempDir()
		first, second := newMirror(t, good), newMirror(t, stall(9*trickle, good))
		interrupt(t, file(dir, second), 9*trickle)
		name, url, err := impatient().Get(t.Context(), file(dir, first, second))
		checkWhole(t, dir, name, err)
		if url != first.URL+"/file" || strings.Join(first.asked, ",") != "bytes=147456-" {
			t.Errorf("from %s, asked for %v", url, first.asked)
		}
	})
	t.Run("the first half was wrong", func(t *testing.T) {
		dir := t.TempDir()
		interrupt(t, file(dir, newMirror(t, stall(13*trickle, serve("1", wrong())))), 13*trickle)
		other := newMirror(t, good)
		name, _, err := impatient().Get(t.Context(), file(dir, other))
		checkWhole(t, dir, name, err)
		if got := strings.Join(other.asked, ","); got != "bytes=212992-," {
			t.Errorf("asked for %q", got)
		}
	})
	t.Run("interrupted at the last byte", func(t *testing.T) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		c := impatient()
		c.Report = func(e Event) {
			if e.Done == int64(len(whole)) {
				cancel()
			}
		}
		name, _, err := c.Get(ctx, file(dir, newMirror(t, good)))
		if errors.Is(err, context.Canceled) { // there is time until the end of the body
			name, _, err = impatient().Get(t.Context(), file(dir, newMirror(t, good)))
		}
		checkWhole(t, dir, name, err)
	})
	t.Run("ended before the check", func(t *testing.T) {
		dir := t.TempDir()
		m := newMirror(t, stall(trickle, good), good)
		interrupt(t, file(dir, m), trickle)
		if err := os.WriteFile(filepath.Join(dir, "file.partial"), whole, 0o666); err != nil {
			t.Fatal(err)
		}
		name, url, err := impatient().Get(t.Context(), file(dir, m))
		checkWhole(t, dir, name, err)
		if url != m.URL+"/file" || len(m.asked) != 2 || m.asked[1] != "bytes=300000-" {
			t.Errorf("from %q, asked for %v", url, m.asked)
		}
	})
}

// TestAnyServer: whatever a server does, in whatever order, the file is right
// or there is none, and the client comes to an end.
func TestAnyServer(t *testing.T) {
	good := serve("1", whole)
	odd := []reply{good, serve("2", whole), serve("1", wrong()), serve("", whole), ignoreRange(good),
		shifted, claim(1000, whole), claim(len(whole)+9, whole), unsaid(whole[:7]), status(500), status(416), status(404), endless, redirect("/")}
	rapid.Check(t, func(rt *rapid.T) {
		replies := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) reply {
			r := odd[rapid.IntRange(0, len(odd)-1).Draw(rt, "reply")]
			if n := rapid.IntRange(0, len(whole)).Draw(rt, "bytes"); rapid.Bool().Draw(rt, "cut") {
				return cut(n, r)
			}
			return r
		}), 1, 8).Draw(rt, "replies")
		dir, err := os.MkdirTemp("", "fetch")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := newMirror(t, replies...)
		defer m.Close()
		if name, _, err := impatient().Get(t.Context(), file(dir, m)); err == nil {
			checkWhole(rt, dir, name, nil)
		} else if _, err := os.Stat(filepath.Join(dir, "file")); err == nil {
			rt.Error("an error, but a file")
		}
		if info, err := os.Stat(filepath.Join(dir, "file.partial")); err == nil && info.Size() > int64(len(whole)) {
			rt.Errorf("%d bytes were taken", info.Size())
		}
		if len(m.asked) > 40 {
			rt.Errorf("asked %d times", len(m.asked))
		}
	})
}

// TestWaits: the waits between attempts double, and no two machines' are the same.
func TestWaits(t *testing.T) {
	var waits []time.Duration
	c := Client{Tries: 8, Wait: time.Millisecond, Report: func(e Event) {
		if e.Kind == EventRetry {
			waits = append(waits, e.Wait)
		}
	}}
	if _, _, err := c.Get(t.Context(), file(t.TempDir(), newMirror(t, status(500)))); err == nil {
		t.Fatal("no error")
	}
	if len(waits) != 7 {
		t.Fatalf("%d waits", len(waits))
	}
	jitter := false
	for i, d := range waits {
		mean := time.Millisecond << i
		if d < mean/2 || d > mean*3/2 {
			t.Errorf("wait %d is %s, want %s give or take half", i, d, mean)
		}
		jitter = jitter || d != mean
	}
	if !jitter {
		t.Error("no jitter")
	}
}

// TestWaitEnds: a wait lasts no longer than the context.
func TestWaitEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := Client{Wait: time.Hour, Report: func(e Event) {
		if e.Kind == EventRetry {
			time.AfterFunc(time.Millisecond, cancel)
		}
	}}
	start := time.Now()
	if _, _, err := c.Get(ctx, file(t.TempDir(), newMirror(t, status(500)))); !errors.Is(err, context.Canceled) || time.Since(start) > time.Minute {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

func TestReachable(t *testing.T) {
	gone := newMirror(t, status(200))
	gone.Close()
	there, errs := newMirror(t, status(404)), newMirror(t, status(500))
	silent := newMirror(t, hang)
	far := newMirror(t, redirect("http://nowhere.invalid/"))
	urls := []string{gone.URL + "/a", there.URL + "/a", there.URL + "/b", errs.URL, silent.URL, far.URL, "http://[", gone.URL + "/b"}
	got := impatient().Reachable(t.Context(), urls, 200*time.Millisecond)
	want := []bool{false, true, true, true, false, true, false, false}
	for i, u := range urls {
		if err := got[u]; (err == nil) != want[i] {
			t.Errorf("%s: %v", u, err)
		}
	}
	if n := len(there.asked); n != 1 {
		t.Errorf("a server with two files was asked %d times", n)
	}
	if err := got[silent.URL]; err == nil || !strings.HasSuffix(err.Error(), ": no answer") {
		t.Errorf("of a silent server: %v", err)
	}
}

func TestNoSuchHostIsNotAskedAgain(t *testing.T) {
	f := file(t.TempDir())
	f.URLs = []string{"http://nowhere.invalid/file"}
	n := 0
	c := impatient()
	c.Report = func(e Event) {
		if e.Kind == EventStart {
			n++
		}
	}
	c.Transport = testutil.RoundTripper(func(r *http.Request) (*http.Response, error) {
		return nil, &net.DNSError{Err: "no such host", Name: r.URL.Host, IsNotFound: true}
	})
	_, _, err := c.Get(t.Context(), f)
	if n != 1 || err == nil || err.Error() != "nowhere.invalid: no such host" {
		t.Errorf("asked %d times, error %v", n, err)
	}
	if got := left(t, f.Dir); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	first, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("second lock: %v", err)
	}
	first.Close()
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestNoFolder(t *testing.T) {
	notDir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notDir, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var local *LocalError
	if _, err := Lock(notDir); !errors.As(err, &local) {
		t.Errorf("lock: %v", err)
	}
	m := newMirror(t, serve("1", whole))
	if _, _, err := impatient().Get(t.Context(), file(notDir, m)); !errors.As(err, &local) || len(m.asked) != 0 {
		t.Errorf("get: %v, asked %d times", err, len(m.asked))
	}
}
