package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
)

// rewrite writes a record again with other final figures.
func rewrite(t *testing.T, path string, change func(*record.Final)) {
	t.Helper()
	r, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(filepath.Dir(path), r.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Points {
		err = errors.Join(err, w.Point(p))
	}
	change(&r.Final)
	if err := errors.Join(err, w.Finish(r.Final)); err != nil {
		t.Fatal(err)
	}
}

func TestAgree(t *testing.T) {
	results, with := madeUp(t, experiments.ProfileSmoke), madeUp(t, experiments.ProfileSmoke)
	compare := func() (int, string, string) {
		return call(t, "verify", "records", "--results", results, "--with", with)
	}
	paths, err := filepath.Glob(filepath.Join(harness.RecordsDir(results), "*.jsonl"))
	if err != nil || len(paths) != 12 {
		t.Fatal(paths, err)
	}
	if code, stdout, stderr := compare(); code != 0 || stdout != "12 runs compared, 12 the same bit for bit; 0 only in the first folder, 0 only in the second\n" {
		t.Errorf("the same: exit %d, %s%s", code, stdout, stderr)
	}
	if err := os.Remove(paths[11]); err != nil {
		t.Fatal(err)
	}
	rewrite(t, paths[10], func(f *record.Final) { f.TestRisk *= 1 + 5e-5 })
	if code, stdout, stderr := compare(); code != 0 || stdout != "11 runs compared, 10 the same bit for bit; 0 only in the first folder, 1 only in the second\n" {
		t.Errorf("within the tolerance: exit %d, %s%s", code, stdout, stderr)
	}
	rewrite(t, paths[9], func(f *record.Final) { f.TestRisk *= 1 + 2e-4 })
	code, stdout, stderr := compare()
	if code != harness.ExitDeviates || !strings.Contains(stdout, paths[9]) || !strings.Contains(stdout, "final test risk is") || !strings.Contains(stderr, "1 of 11 runs differ") {
		t.Errorf("beyond it: exit %d, %s%s", code, stdout, stderr)
	}
	code, stdout, _ = call(t, "verify", "records", "--results", results, "--with", with, "--json")
	a := validJSON(t, "verify-records", stdout).(map[string]any)
	differing := a["differing"].([]any)
	if code != harness.ExitDeviates || a["compared"] != 11.0 || a["same"] != 9.0 || a["only_second"] != 1.0 ||
		len(differing) != 1 || differing[0].(map[string]any)["file"] != paths[9] {
		t.Errorf("beyond it, in JSON: exit %d, %v", code, a)
	}
	if err := os.Truncate(paths[0], 100); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := compare(); code != harness.ExitIncomplete || !strings.Contains(stderr, "damaged records: "+paths[0]) {
		t.Errorf("damaged: exit %d, %s", code, stderr)
	}
	for _, p := range paths[:11] {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, stderr := compare(); code != harness.ExitIncomplete || !strings.Contains(stderr, "the folders have no run in common") {
		t.Errorf("nothing to compare: exit %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, "verify", "records", "--results", with, "--with", t.TempDir()); code != harness.ExitIncomplete || !strings.Contains(stderr, "no records in") {
		t.Errorf("no records: exit %d, %s", code, stderr)
	}
}
