package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/report/export"
)

// asRunall makes the test binary be runall, for tests that need a process.
const asRunall = "RUNALL_TEST_AS_RUNALL"

// statusTo names the file that a test binary that is runall writes its own
// /proc/self/status to before it ends. What the system says of a child's memory
// counts its parent's until the child has begun.
const statusTo = "RUNALL_TEST_STATUS_TO"

// realData is the folder of data before TestMain forgets it.
var realData = os.Getenv(data.EnvDir)

func TestMain(m *testing.M) {
	os.Unsetenv(data.EnvDir) // real data would be read for every report
	os.Setenv("LC_ALL", "C.UTF-8")
	os.Setenv("GORACE", "atexit_sleep_ms=0") // a process under the race detector waits a second before it ends
	os.Setenv(data.EnvOffline, "1")          // tests, and what they start, leave the network alone
	if os.Getenv(asRunall) != "" {
		code := run(os.Args[1:], os.Stdout, os.Stderr)
		if path := os.Getenv(statusTo); path != "" {
			status, _ := os.ReadFile("/proc/self/status")
			os.WriteFile(path, status, 0o666)
		}
		os.Exit(code)
	}
	if mode := os.Getenv(asPruner); mode != "" {
		prunerProcess(mode)
		return
	}
	os.Exit(m.Run())
}

// call runs a command line in this process.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

// writeSpec writes a spec of six short runs on multidist and returns its path.
func writeSpec(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "short.yaml")
	const spec = `name: short
title: Six short runs
task: ksvm
data: {name: multidist}
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
methods:
  - method: polk
    learning_rate: 6
    batch_size: 32
    grid: {parsimony: [0.04, 0.01]}
repeats:
  - {draws: figure, seeds: 3}
stopping: {samples: 40000}
evaluation: {every: 2000, tail: 5, train_limit: 500}
`
	if err := os.WriteFile(path, []byte(spec), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// sequential skips a test under -short, which make race sets: the test has one goroutine,
// or another test covers its concurrency.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: the race detector has nothing to find, and makes it slow")
	}
}

func TestWrongUse(t *testing.T) {
	sequential(t)
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("name: broken\nnonsense: 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		want string // in the message
	}{
		{[]string{"nonsense"}, `unknown command "nonsense"`},
		{[]string{"--nonsense"}, "unknown flag"},
		{[]string{"reproduce", "--profile", "long"}, "must be one of smoke, quick, full"},
		{[]string{"reproduce", "--progress", "loud"}, "must be one of auto, tty, plain, json, quiet"},
		{[]string{"reproduce", "--workers", "-1"}, "--workers"},
		{[]string{"reproduce", "--seeds", "1000000000"}, "seeds"},
		{[]string{"reproduce", "--seeds", "18446744073709551615"}, "must be an integer from 0 to 10000"},
		{[]string{"reproduce", "--workers", "18446744073709551615"}, "must be an integer of at least 0"},
		{[]string{"reproduce", "nonsense"}, `"nonsense"`},
		{[]string{"report", "--json", "--format", "csv"}, "--json contradicts --format"},
		{[]string{"reproduce", "multidist-bsgd"}, "multidist-bsgd has no runs in profile quick; --profile full has "},
		{[]string{"reproduce", "multidist-ksvm", "mnist-ksvm", "--profile", "smoke"}, "mnist-ksvm has no runs in profile smoke; --profile quick has "},
		{[]string{"reproduce", broken}, "nonsense: 1"},
		{[]string{"list"}, "needs one of"},
		{[]string{"list", "nonsense"}, "unknown command"},
		{[]string{"data"}, "needs one of"},
		{[]string{"data", "status", "nonsense"}, "nonsense"},
		{[]string{"data", "verify", "nonsense"}, "nonsense"},
		{[]string{"data", "fetch", "nonsense"}, "nonsense"},
		{[]string{"data", "fetch", "--progress", "loud"}, "must be one of auto, tty, plain, json, quiet"},
		{[]string{"report", "--format", "pdf"}, "must be one of text, markdown, csv, latex, html, summary"},
		{[]string{"settings", "mnist-batch-ksvm"}, "no run of a method that learns from a stream"},
		{[]string{"reproduce", "table1", "much"}, `no embedded spec and no file "much"`},
		{[]string{"table1", "much"}, "unknown command"},
		{[]string{"reproduce", "table1", "--profile", "long"}, "must be one of smoke, quick, full"},
		{[]string{"reproduce", "table1", "--workers", "-1"}, "--workers"},
		{[]string{"verify", "multiverse", "much"}, "unknown command"},
		{[]string{"reproduce", "multiverse-any-draw-klr"}, "multiverse-any-draw-klr has no runs in profile quick; --profile full has 60"},
		{[]string{"version", "much"}, "unknown command"},
	}
	for _, tt := range tests {
		code, stdout, stderr := call(t, tt.args...)
		if code != harness.ExitUsage || stdout != "" {
			t.Errorf("%v: exit %d, stdout %q", tt.args, code, stdout)
		}
		if !strings.Contains(stderr, tt.want) || !strings.HasPrefix(stderr, "runall: ") {
			t.Errorf("%v: %q, want %q in it", tt.args, stderr, tt.want)
		}
	}
}

// TestMaxSeeds compares the bound of --seeds with that of a plan.
func TestMaxSeeds(t *testing.T) {
	_, err := harness.PlanNamed([]string{"multidist-ksvm"}, "smoke", experiments.PlanOptions{Seeds: maxSeeds + 1}, data.Finder{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("want 1 to %d,", maxSeeds)) {
		t.Errorf("error %v", err)
	}
}

func TestListings(t *testing.T) {
	sequential(t)
	for _, args := range [][]string{
		{"list", "specs"}, {"list", "datasets"}, {"list", "methods"}, {"list", "profiles"},
		{"data", "status"}, {"data", "status", "multidist"}, {"data", "verify", "multidist"},
	} {
		code, stdout, stderr := call(t, args...)
		if code != 0 || stdout == "" || stderr != "" {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
		code, stdout, _ = call(t, append(args, "--json")...)
		var rows []any
		if err := json.Unmarshal([]byte(stdout), &rows); code != 0 || err != nil || len(rows) == 0 {
			t.Errorf("%v --json: exit %d, %v", args, code, err)
		}
		if args[0] == "data" {
			validJSON(t, "data-"+args[1], stdout)
		}
	}
	code, stdout, _ := call(t, "version", "--json")
	var version map[string]any
	if err := json.Unmarshal([]byte(stdout), &version); code != 0 || err != nil || version["module"] != "polkrepro" {
		t.Errorf("version --json: exit %d, %v", code, err)
	}
	if code, stdout, _ = call(t, "version"); code != 0 || !strings.HasPrefix(stdout, "polkrepro ") {
		t.Errorf("version: exit %d, %q", code, stdout)
	}
	if code, stdout, _ = call(t, "data", "draws", "-n", "1"); code != 0 || !strings.Contains(stdout, "draw,bayes_error\n") {
		t.Errorf("data draws: exit %d, %q", code, stdout)
	}
}

func TestVerdict(t *testing.T) {
	rows := []data.VerifyRow{{State: data.StateOK}, {State: data.StateMissing}}
	if err := verdict(rows, false); err != nil {
		t.Errorf("missing but not asked for: %v", err)
	}
	if err := verdict(rows, true); err == nil {
		t.Error("missing and asked for: no error")
	}
	if err := verdict([]data.VerifyRow{{State: data.StateMismatch}}, false); err == nil {
		t.Error("damaged: no error")
	}
}

func TestReproduceAndReport(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: mostly reports, and the race detector makes it a minute; TestReproduceOwnSpec trains, too")
	}
	t.Parallel()
	results := t.TempDir()
	args := []string{"reproduce", "multidist-ksvm", "--profile", "smoke", "--results", results}
	code, stdout, stderr := call(t, append(args, "--progress", "plain")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"Table 2, multidist: Multi-KSVM", "  POLK ", " reproduced ", " of 48 numbers, ", "\nMissing\n",
		"profile quick ", "runall reproduce --profile smoke --results " + results, filepath.Join(results, "report", export.PageName)} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "Table 3, ") || strings.Contains(stdout, "svg") {
		t.Errorf("what was not asked for, or names of files, in\n%s", stdout)
	}
	for _, name := range []string{"index.md", "tables/table2.tex", "figures/figure2.svg", export.PageName} {
		if _, err := os.Stat(filepath.Join(results, "report", name)); err != nil {
			t.Error(err)
		}
	}
	if want := "4 runs to do on 2 workers\n4 of 4 runs ended after "; !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 2 {
		t.Errorf("progress: %s", stderr)
	}
	code, again, stderr := call(t, append(args, "--progress", "quiet")...)
	if code != 0 || again != stdout || stderr != "" {
		t.Errorf("second time: exit %d, same summary: %v, stderr %q", code, again == stdout, stderr)
	}
	code, again, stderr = call(t, "report", "multidist-ksvm", "--profile", "smoke", "--results", results, "--format", "summary")
	if head, _, _ := strings.Cut(stdout, "\nreport "); code != 0 || !strings.HasPrefix(again, head) || stderr != "" {
		t.Errorf("report --format summary: exit %d, stderr %q\n%s", code, stderr, again)
	}

	_, asJSON, _ := call(t, "report", "--results", results, "--json")
	found := 0
	for _, c := range validJSON(t, "report", asJSON).(map[string]any)["cells"].([]any) {
		c := c.(map[string]any)
		if c["id"] == "table2.multidist.ksvm.polk" && c["error_percent"].(map[string]any)["runs"].(float64) > 0 {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the cell of POLK with its runs is there %d times in\n%.2000s", found, asJSON)
	}
	out := filepath.Join(t.TempDir(), "report")
	code, tables, stderr := call(t, "report", "--results", results, "--out", out)
	if code != 0 || !strings.HasPrefix(tables, "Table 2. Results on multidist\n") || !strings.Contains(tables, "Table 3. ") {
		t.Errorf("report: exit %d, %s\n%s", code, stderr, tables)
	}
	if _, err := os.Stat(filepath.Join(out, "index.md")); err != nil || !strings.Contains(stderr, "index.md") {
		t.Errorf("report --out: %v, %s", err, stderr)
	}
	if b, err := os.ReadFile(filepath.Join(out, export.PageName)); err != nil || !strings.Contains(stderr, export.PageName) || !bytes.Contains(b, []byte("</html>")) {
		t.Errorf("report --out: %v, %s", err, stderr)
	}
	alone := filepath.Join(t.TempDir(), "alone")
	code, stdout, stderr = call(t, "report", "--results", results, "--format", "html", "--out", alone)
	files, err := os.ReadDir(alone)
	if code != 0 || stdout != filepath.Join(alone, export.PageName)+"\n" || err != nil || len(files) != 1 {
		t.Errorf("report --format html: exit %d, %q, %s, files %v, %v", code, stdout, stderr, files, err)
	}
	for format, want := range map[string]string{"markdown": "| ", "latex": `\toprule`, "csv": ","} {
		code, tables, _ := call(t, "report", "--results", results, "--format", format)
		if code != 0 || !strings.Contains(tables, want) {
			t.Errorf("report --format %s: exit %d\n%s", format, code, tables)
		}
	}
	if code, _, stderr := call(t, "report", "--results", filepath.Join(out, "index.md")); code != harness.ExitFailed || !strings.Contains(stderr, "is a file, not a folder") {
		t.Errorf("report of a file: exit %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, "report", "--results", t.TempDir()); code != harness.ExitFailed || !strings.Contains(stderr, "no records") {
		t.Errorf("report without records: exit %d, %s", code, stderr)
	}
}

// TestReproduceOwnSpec: of a spec that is not the paper's its own results are
// printed, and nothing of the paper's tables.
func TestReproduceOwnSpec(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	code, stdout, stderr := call(t, "reproduce", writeSpec(t), "--results", results, "--progress", "quiet")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"Results of short, profile quick: multidist (calibrated), ksvm\n", "\n  series ", "\n  POLK, K = 0.04 ", "\n  POLK, K = 0.01 ",
		"\nreport           " + filepath.Join(results, "report", export.PageName) + "\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "Table") || strings.Contains(stdout, "Missing") || strings.Count(stdout, "\n") != 7 {
		t.Errorf("more than the spec's results in\n%s", stdout)
	}
	for name, want := range map[string]string{"index.md": "# Results of short\n", export.PageName: "<h1>Results of short</h1>"} {
		text, err := os.ReadFile(filepath.Join(results, "report", name))
		if err != nil {
			t.Fatal(err)
		}
		page, _, _ := strings.Cut(string(text), "<script") // which is the same on every page
		if !strings.Contains(page, want) || !strings.Contains(page, "POLK, K = 0.04") {
			t.Errorf("%s: no %q, or no results", name, want)
		}
		for _, about := range []string{"he paper", "claim", "Claim", "mnist", "brodatz", "Table 2", "not run"} {
			if strings.Contains(page[strings.LastIndex(page, "</style>")+1:], about) {
				t.Errorf("%s of an own spec: %q is in it", name, about)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(results, "report", "tables", "table2.csv")); err == nil {
		t.Error("a table of the paper is in the report of an own spec")
	}
}

// TestReportOfADamagedRecord truncates a record: report says so, makes the
// report of the others and fails; reproduce runs it again.
func TestReportOfADamagedRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: reading and writing alone, and the race detector makes it half a minute")
	}
	t.Parallel()
	results := t.TempDir()
	reproduce := []string{"reproduce", "multidist-ksvm", "--profile", "smoke", "--results", results, "--progress", "quiet"}
	if code, _, stderr := call(t, reproduce...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	paths, err := filepath.Glob(filepath.Join(harness.RecordsDir(results), "*.jsonl"))
	if err != nil || len(paths) != 4 {
		t.Fatal(paths, err)
	}
	if err := os.Truncate(paths[0], 100); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(results, "again")
	code, stdout, stderr := call(t, "report", "--results", results, "--out", out)
	if code != harness.ExitFailed || !strings.Contains(stdout, "Table 3") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	page, err := os.ReadFile(filepath.Join(out, export.PageName))
	if err != nil || !bytes.Contains(page, []byte("Corrupt record, ignored: "+filepath.Base(paths[0])+":")) || bytes.Contains(page, []byte(results)) {
		t.Errorf("the page does not name the damaged file, or names its folder: %v", err)
	}
	for _, want := range []string{"incomplete or corrupt record: " + paths[0], "index.md", "runall: 1 record in " + results + " is incomplete or corrupt; rerun 'runall reproduce'"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	if code, _, stderr := call(t, reproduce...); code != 0 {
		t.Errorf("reproduce: exit %d: %s", code, stderr)
	}
	if code, _, stderr := call(t, "report", "--results", results); code != 0 || stderr != "" {
		t.Errorf("report afterwards: exit %d: %s", code, stderr)
	}
}

func TestReproduceExits(t *testing.T) {
	t.Setenv(data.EnvDir, t.TempDir())
	t.Chdir(t.TempDir()) // no data set is in any of the default places
	t.Run("missing data required", func(t *testing.T) {
		results := t.TempDir()
		code, stdout, stderr := call(t, "reproduce", "--results", results, "--require-data")
		if code != harness.ExitIncomplete || stdout != "" || !strings.Contains(stderr, "mnist") {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
		left, err := filepath.Glob(filepath.Join(harness.RecordsDir(results), "*"))
		if err != nil || len(left) != 0 {
			t.Errorf("something was trained: %v, %v", left, err)
		}
	})
	t.Run("missing data", func(t *testing.T) {
		code, stdout, stderr := call(t, "reproduce", "mnist-ksvm", "--results", t.TempDir())
		if code != 0 || !strings.Contains(stdout, "\n  mnist data    set "+data.EnvDir+", or: "+data.EnvOffline+"= runall data fetch mnist\n") || !strings.Contains(stderr, " runs not started: ") {
			t.Errorf("exit %d\n%s%s", code, stdout, stderr)
		}
	})
	t.Run("unusable results folder", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call(t, "reproduce", "--results", file)
		if code != harness.ExitFailed || stdout != "" || !strings.HasPrefix(stderr, "runall: results folder: ") {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
}

// TestSettings: the settings in a spec's grid are compared, the best is marked, and the
// file has the same table.
func TestSettings(t *testing.T) {
	spec, err := os.ReadFile(writeSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	short := put(t, "spec.yaml", strings.Replace(string(spec), "samples: 40000", "samples: 2000", 1))
	out := filepath.Join(t.TempDir(), "settings.csv")
	stdout := must(t, "settings", short, "--seeds", "2", "--out", out)
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 1+2 {
		t.Fatalf("%v, %v", rows, err)
	}
	least, best := math.Inf(1), ""
	for _, row := range rows[1:] {
		e, err := strconv.ParseFloat(row[6], 64)
		if err != nil || row[3] != "2" || row[4] != "0" || row[5] != "0" || !strings.Contains(stdout, row[2]) {
			t.Errorf("%v, %v\n%s", row, err, stdout)
		}
		if e < least {
			least, best = e, row[2]
		}
	}
	for _, row := range rows[1:] {
		if (row[8] == "best") != (row[2] == best) {
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
	stack, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(stack, []byte("TestPanicIsOneLine")) {
		t.Errorf("saved stack: %v\n%s", err, stack)
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

func TestExitCodes(t *testing.T) {
	for err, want := range map[error]int{
		nil:                    0,
		errors.New("anything"): 1,
		harness.ErrRunsFailed:  1,
		harness.ErrUsage:       2,
		harness.ErrLocked:      2,
		harness.ErrMissingData: 4,
		harness.ErrInterrupted: 130,
	} {
		if got := harness.ExitCode(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}
