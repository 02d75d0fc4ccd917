package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/report"
)

// madeUp writes records into a results folder of its own and returns it.
func madeUp(t *testing.T, profile string) string {
	t.Helper()
	results := t.TempDir()
	if err := writeMadeUp(results, profile, true); err != nil {
		t.Fatal(err)
	}
	return results
}

// writeMadeUp writes records of all runs that claims ask for in a profile into a results
// folder, all with the same final figures, with or without evaluations.
func writeMadeUp(results, profile string, evaluated bool) error {
	dir := harness.RecordsDir(results)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	specs, err := experiments.Embedded()
	if err != nil {
		return err
	}
	plan, err := harness.PlanAll(specs, profile, experiments.PlanOptions{})
	if err != nil {
		return err
	}
	for _, p := range plan {
		if len(p.Cells) == 0 && len(p.Figures) == 0 && p.Spec != report.Table1Spec && !strings.HasPrefix(p.Spec, "multidist-modes-") {
			continue
		}
		r := &record.Record{Final: record.Final{Samples: p.Run.Samples, TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16, Health: map[string]float64{}}}
		for _, n := range []int{p.Run.Samples / 2, p.Run.Samples} {
			r.Points = append(r.Points, record.Point{Samples: n, TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16})
		}
		if p.Run.Evaluation.Minimizer {
			r = theorytest.Record(p)
		}
		if !evaluated {
			r.Points = nil
		}
		r.Header = record.Header{ID: p.ID, Run: p.Run, DataSums: map[string]string{},
			Provenance: record.Provenance{Revision: "0123456789abcdef"}, Started: time.Unix(0, 0).UTC()}
		if err := writeRecord(dir, r); err != nil {
			return err
		}
	}
	return nil
}

// writeRecord writes a record into a folder.
func writeRecord(dir string, r *record.Record) error {
	w, err := record.Create(dir, r.Header)
	if err != nil {
		return err
	}
	for _, p := range r.Points {
		err = errors.Join(err, w.Point(p))
	}
	return errors.Join(err, w.Finish(r.Final))
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
	if _, err := readJSON("verify", asJSON); err != nil {
		t.Errorf("%v in\n%.2000s", err, asJSON)
	}
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
