package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/report"
)

// madeUp writes records of all runs that claims ask for in a profile, all with
// the same final figures, and returns the results folder.
func madeUp(t *testing.T, profile string) string {
	t.Helper()
	results := t.TempDir()
	dir := harness.RecordsDir(results)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	specs, err := experiments.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := harness.PlanAll(specs, profile, experiments.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan {
		if len(p.Cells) == 0 && len(p.Figures) == 0 && p.Spec != report.Table1Spec && !strings.HasPrefix(p.Spec, "multidist-modes-") {
			continue
		}
		w, err := record.Create(dir, record.Header{ID: p.ID, Run: p.Run, DataSums: map[string]string{},
			Provenance: record.Provenance{Revision: "0123456789abcdef"}, Started: time.Unix(0, 0).UTC()})
		if err != nil {
			t.Fatal(err)
		}
		r := &record.Record{Final: record.Final{Samples: p.Run.Samples, TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16, Health: map[string]float64{}}}
		for _, n := range []int{p.Run.Samples / 2, p.Run.Samples} {
			r.Points = append(r.Points, record.Point{Samples: n, TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16})
		}
		if p.Run.Evaluation.Minimizer {
			r = theorytest.Record(p)
		}
		for _, point := range r.Points {
			if err := w.Point(point); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(r.Final); err != nil {
			t.Fatal(err)
		}
	}
	return results
}

func TestVerify(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: reading and writing alone, and the race detector makes it half a minute")
	}
	results := madeUp(t, experiments.ProfileQuick)
	code, stdout, stderr := call(t, "verify", "--results", results)
	// One cell of the paper takes too long for the profile quick.
	if code != harness.ExitIncomplete || !strings.Contains(stdout, "cells of Tables 2 and 3: ") || !strings.Contains(stderr, "profile quick does not run every claim") {
		t.Errorf("exit %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	code, stdout, _ = call(t, "verify", "--results", results, "--json")
	var d evidence.Document
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	if code != harness.ExitIncomplete || d.Profile != "quick" || d.Counts.Cells.Total() != 17 || d.Counts.Cells.NotRun != 1 {
		t.Errorf("exit %d, profile %s, %+v", code, d.Profile, d.Counts)
	}
	// 4 % and 16 elements are the paper's there, a risk of 0.1 nearly.
	for id, want := range map[string]stats.Verdict{"table2.multidist.klr.polk": stats.Reproduced, "table3.mnist.ksvm.polk": stats.Deviates} {
		i := slices.IndexFunc(d.Claims, func(c evidence.ClaimDocument) bool { return c.ID == id })
		if d.Claims[i].Verdict != want {
			t.Errorf("%s: %v, want %v", id, d.Claims[i].Verdict, want)
		}
	}

	// The profile quick does not run what is assumed otherwise.
	code, stdout, stderr = call(t, "verify", "--results", results, "--assume", "bsgd-maintenance=removal")
	if code != harness.ExitIncomplete || !strings.Contains(stdout, "verdicts changed by bsgd-maintenance=removal: ") || !strings.Contains(stderr, "profile quick does not run every claim") {
		t.Errorf("exit %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	// Another reading of the risk needs no other runs.
	code, stdout, stderr = call(t, "verify", "--results", results, "--assume", "risk=captions")
	if code != harness.ExitIncomplete || !strings.Contains(stdout, "verdicts changed by risk=captions: 0") {
		t.Errorf("equal risks: exit %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	for _, bad := range []string{"bsgd-maintenance", "bsgd-maintenance=x", "x=y", "projection=as-printed"} {
		if code, _, stderr := call(t, "verify", "--results", results, "--assume", bad); code != harness.ExitUsage {
			t.Errorf("%s: exit %d, %s", bad, code, stderr)
		}
	}
}

// TestVerifyDamaged takes one record away, then changes one byte of another.
func TestVerifyDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: reading and writing alone, and the race detector makes it half a minute")
	}
	results := madeUp(t, experiments.ProfileQuick)
	plan, err := harness.PlanNamed([]string{"mnist-ksvm"}, experiments.ProfileQuick, experiments.PlanOptions{}, data.Finder{})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, p := range plan {
		files = append(files, filepath.Join(harness.RecordsDir(results), p.ID+".jsonl"))
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "verify", "--results", results)
	if code != harness.ExitIncomplete || !strings.Contains(stderr, filepath.Base(files[0])) || stdout == "" {
		t.Errorf("a record less: exit %d, %s", code, stderr)
	}
	text, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte(`"test_error":0.04`), []byte(`"test_error":0.03`), 1)
	if err := os.WriteFile(files[1], changed, 0o666); err != nil || bytes.Equal(changed, text) {
		t.Fatal("nothing changed", err)
	}
	for _, args := range [][]string{{"verify"}, {"verify", "--json"}, {"explain", "table3.mnist.ksvm.polk"}} {
		code, stdout, stderr := call(t, append(args, "--results", results)...)
		if code != harness.ExitIncomplete || stdout != "" || !strings.Contains(stderr, "damaged records: "+files[1]) {
			t.Errorf("%v, a byte changed: exit %d, stdout %q, %s", args, code, stdout, stderr)
		}
	}
	if code, _, stderr := call(t, "verify", "--results", t.TempDir()); code != harness.ExitIncomplete {
		t.Errorf("no records: exit %d, %s", code, stderr)
	}
}

// TestVerifyFormats judges made-up records in every format: the counts are those
// of JSON, and the JUnit file has as many errors as claims lack runs.
func TestVerifyFormats(t *testing.T) {
	sequential(t)
	results := madeUp(t, experiments.ProfileSmoke)
	verify := func(args ...string) string {
		code, stdout, stderr := call(t, append([]string{"verify", "--results", results}, args...)...)
		if code != harness.ExitIncomplete || !strings.Contains(stderr, "profile smoke does not run every claim") {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
		return stdout
	}
	asJSON := verify("--json")
	validJSON(t, "verify", asJSON)
	if verify("--format", "json") != asJSON || verify("--json", "--format", "json") != asJSON {
		t.Error("--json is not --format json")
	}
	var d evidence.Document
	if err := json.Unmarshal([]byte(asJSON), &d); err != nil {
		t.Fatal(err)
	}
	var junit struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Skipped int `xml:"skipped,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(verify("--format", "junit")), &junit); err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for _, s := range junit.Suites {
		skipped += s.Skipped
	}
	incomplete, failures, explained := 0, 0, 0
	for _, c := range d.Claims {
		switch {
		case slices.ContainsFunc(c.Tests, func(t evidence.TestDocument) bool { return t.Verdict == stats.NotRun }):
			incomplete++
		case c.Explained:
			explained++
		case c.Verdict != stats.Reproduced:
			failures++
		}
	}
	if junit.Tests != len(d.Claims) || junit.Errors != incomplete || junit.Failures != failures || skipped != explained || failures == 0 || explained == 0 {
		t.Errorf("%+v, want %d claims, %d incomplete, %d failures and %d explained", junit, len(d.Claims), incomplete, failures, explained)
	}
	markdown := verify("--format", "markdown")
	want := fmt.Sprintf("| %d of %d ", d.Counts.Cells.Reproduced, d.Counts.Cells.Total())
	if !strings.Contains(markdown, "| profile smoke ") || !strings.Contains(markdown, want) {
		t.Errorf("no %q in\n%s", want, markdown)
	}
	if code, _, stderr := call(t, "verify", "--results", results, "--json", "--format", "text"); code != harness.ExitUsage || !strings.Contains(stderr, "--json contradicts --format text") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestVerifyReference compares verdicts with those of another folder: the same,
// one changed, and one that lacks a run.
func TestVerifyReference(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: reading and writing alone, and the race detector makes it half a minute")
	}
	results, reference := madeUp(t, experiments.ProfileSmoke), madeUp(t, experiments.ProfileSmoke)
	verify := func(format string) (int, string, string) {
		return call(t, "verify", "--results", results, "--reference", reference, "--format", format)
	}
	// expect checks exit status and message, and the counts.
	expect := func(what string, status int, message string, same, changed, notCompared int) {
		t.Helper()
		code, stdout, stderr := verify("text")
		if code != status || !strings.Contains(stderr, message) {
			t.Errorf("%s: exit %d, want %d and %q: %s", what, code, status, message, stderr)
		}
		if want := fmt.Sprintf("compared with %s: %d same, %d different", reference, same, changed); !strings.Contains(stdout, want) {
			t.Errorf("%s: no %q in …%s", what, want, stdout[max(0, len(stdout)-600):])
		}
		_, stdout, _ = verify("junit")
		if f, e := strings.Count(stdout, "<failure "), strings.Count(stdout, "<error "); f != changed || e != notCompared {
			t.Errorf("%s: %d failures and %d errors, want %d and %d", what, f, e, changed, notCompared)
		}
	}
	expect("the same", 0, "", 16, 0, 0)

	plan, err := harness.PlanNamed([]string{"multidist-klr"}, experiments.ProfileSmoke, experiments.PlanOptions{}, data.Finder{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(plan, func(p experiments.Planned) bool { return slices.Contains(p.Cells, "table2.multidist.klr.polk") })
	path := filepath.Join(harness.RecordsDir(results), plan[i].ID+".jsonl")
	rewrite(t, path, func(f *record.Final) { f.TestError = 0.3 })
	expect("an error of 30 %", harness.ExitDeviates, "table2.multidist.klr.polk (deviates here, reproduced there)", 15, 1, 0)
	_, stdout, _ := verify("json")
	var d struct{ Reference report.Reference }
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	want := []evidence.Difference{{Claim: "table2.multidist.klr.polk", Here: "deviates", Reference: "reproduced"}}
	if r := d.Reference; r.Folder != reference || r.Same != 15 || !slices.Equal(r.Changed, want) {
		t.Errorf("%+v", r)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("a run less here", harness.ExitIncomplete, "1 records missing in "+harness.RecordsDir(results)+": "+plan[i].ID, 12, 0, 5)
	results, reference = reference, results
	expect("a run less there", harness.ExitIncomplete, "1 records missing in "+harness.RecordsDir(reference)+": "+plan[i].ID, 12, 0, 5)
	reference = t.TempDir()
	if code, stdout, stderr := verify("text"); code != harness.ExitIncomplete || stdout != "" || !strings.Contains(stderr, "no records in "+reference) {
		t.Errorf("no records: exit %d, %s%s", code, stdout, stderr)
	}
}
