package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
)

// A record without a single evaluation is a valid one: every command that reads
// records works with it, and says of it what its last line says.
func TestRecordsWithoutPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: renders tables and figures, as TestReportOfASealedFolder does")
	}
	t.Parallel()
	whole, err := record.ReadDir(harness.RecordsDir(madeUp(t, experiments.ProfileSmoke)))
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	for _, r := range whole.Records {
		w, err := record.Create(harness.RecordsDir(results), r.Header)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(r.Final); err != nil {
			t.Fatal(err)
		}
	}
	commands := [][]string{{"verify"}, {"export"}, {"reproduce", "multidist-ksvm", "--profile", "smoke", "--progress", "quiet"}}
	for _, args := range commands {
		code, stdout, stderr := call(t, append(slices.Clone(args), "--results", results)...)
		if code == harness.ExitFailed || code == harness.ExitUsage || strings.Contains(stderr, "a defect") {
			t.Errorf("%v: exit status %d, %s%.2000s", args, code, stderr, stdout)
		}
	}
	index, err := os.ReadFile(filepath.Join(harness.ReportDir(results), "index.md"))
	if err != nil || !strings.Contains(string(index), "the records have no evaluations") {
		t.Errorf("the report does not say why there are no curves (%v):\n%s", err, index)
	}
}
