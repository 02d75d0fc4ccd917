package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
)

// statusTo is the environment variable with the file to which a test's runall process writes its
// /proc/self/status before it ends. The system's figures for a child's memory include the
// parent's until the child has begun.
const statusTo = "RUNALL_TEST_STATUS_TO"

// realData is the folder of data before TestMain unsets the variable.
var realData = os.Getenv(data.EnvDir)

// TestMain makes the test binary serve as runall and as a pruner too, on PATH for scripts and for
// tests that start processes.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"runall": runallProcess, "pruner": prunerProcess})
}

type tests struct{ *testing.M }

// Run sets the environment of the tests and of the processes that they start.
func (m tests) Run() int {
	os.Unsetenv(data.EnvDir)                 // otherwise every report would read real data
	os.Setenv("GORACE", "atexit_sleep_ms=0") // by default a process under the race detector waits a second before it ends
	os.Setenv(data.EnvOffline, "1")          // no test uses the network
	return m.M.Run()
}

// runallProcess is runall's main.
func runallProcess() {
	code := run(os.Args[1:], os.Stdout, os.Stderr)
	if path := os.Getenv(statusTo); path != "" {
		status, _ := os.ReadFile("/proc/self/status")
		os.WriteFile(path, status, 0o666)
	}
	os.Exit(code)
}

// call runs a command line in this process.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

// shortSpec has six short runs on multidist, tinySpec a comparison of a second. The paths are
// absolute because tests change the working directory.
var (
	shortSpec, _ = filepath.Abs("testdata/short.yaml")
	tinySpec, _  = filepath.Abs("testdata/tiny.yaml")
)

func TestVerdict(t *testing.T) {
	rows := []data.StatusRow{{Available: true, Verified: true}, {}}
	if err := verdict(rows, false); err != nil {
		t.Errorf("missing but not asked for: %v", err)
	}
	if err := verdict(rows, true); err == nil {
		t.Error("missing and asked for: no error")
	}
	if err := verdict([]data.StatusRow{{Available: true}}, false); err == nil {
		t.Error("damaged: no error")
	}
}

// TestSettings: settings compares the settings in a spec's grid, marks the best and prints
// a table.
func TestSettings(t *testing.T) {
	short := put(t, "spec.yaml", strings.Replace(contents(t, shortSpec), "samples: 40000", "samples: 2000", 1))
	rows := testutil.Table(t, put(t, "settings.csv", must(t, "settings", short, "--seeds", "2")))
	if len(rows) != 2 {
		t.Fatalf("%v", rows)
	}
	least, best := math.Inf(1), ""
	for _, row := range rows {
		e, err := strconv.ParseFloat(row["held-out error (%)"], 64)
		if err != nil || row["runs"] != "2" || row["diverged"] != "0" || row["failed"] != "0" {
			t.Errorf("%v, %v", row, err)
		}
		if e < least {
			least, best = e, row["series"]
		}
	}
	for _, row := range rows {
		if (row["best"] == "best") != (row["series"] == best) {
			t.Errorf("the best is %s: %v", best, rows)
		}
	}
}

func TestPanicIsOneLine(t *testing.T) {
	err := func() (err error) {
		defer harness.Recover(&err)
		panic("bad index")
	}()
	var stderr bytes.Buffer
	explain(err, &stderr)
	line := stderr.String()
	if strings.Count(line, "\n") != 1 || !strings.Contains(line, "bad index") {
		t.Fatalf("message %q", line)
	}
	_, path, _ := strings.Cut(strings.TrimSpace(line), "report it with ")
	if stack := contents(t, path); !strings.Contains(stack, "TestPanicIsOneLine") {
		t.Errorf("saved stack:\n%s", stack)
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a/b-c": "a/b-c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`} {
		if got := quote(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
}

func TestUnfinished(t *testing.T) {
	for command, resumes := range map[string]bool{"reproduce": true, "bench": true, "compare": true, "settings": false, "report": false} {
		err := unfinished([]string{command, "--results", "r"})
		if harness.ExitCode(err) != harness.ExitInterrupted || strings.Contains(err.Error(), "\nTo resume: ") != resumes {
			t.Errorf("%s: %v", command, err)
		}
	}
}
