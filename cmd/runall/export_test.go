package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
)

func TestExport(t *testing.T) {
	sequential(t)
	results := madeUp(t, experiments.ProfileSmoke)
	for format, want := range map[string]string{"csv": "objective_name,solver_name,", "latex": `\begin{document}`} {
		code, stdout, stderr := call(t, "export", "--format", format, "--results", results)
		if code != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, %s, no %q in\n%.1000s", format, code, stderr, want, stdout)
		}
	}
	_, stdout, _ := call(t, "export", "--results", results)
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	have, readErr := record.ReadDir(harness.RecordsDir(results))
	if readErr != nil {
		t.Fatal(readErr)
	}
	want := 1
	for _, r := range have.Records {
		want += len(r.Points)
	}
	if err != nil || len(have.Records) != 12 || len(rows) != want {
		t.Errorf("%d rows, %v, want a header and the %d points of 12 runs", len(rows), err, want-1)
	}

	file := filepath.Join(t.TempDir(), "all.csv")
	if code, out, stderr := call(t, "export", "--results", results, "--out", file); code != 0 || out != "" || stderr != "written: "+file+"\n" {
		t.Errorf("--out: exit %d, %s%s", code, out, stderr)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != stdout {
		t.Errorf("%s is not what was printed: %v", file, err)
	}

	paths, err := filepath.Glob(filepath.Join(harness.RecordsDir(results), "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(paths[0], 10); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "export", "--results", results)
	if rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll(); code != harness.ExitFailed || err != nil || len(rows) != want-2 || !strings.Contains(stderr, "1 record in") {
		t.Errorf("a damaged record: exit %d, %d rows, %v, %s", code, len(rows), err, stderr)
	}
	if code, _, stderr := call(t, "export", "--results", results, "--out", filepath.Join(file, "x")); code != harness.ExitFailed {
		t.Errorf("a folder that is a file: exit %d, %s", code, stderr)
	}
}
