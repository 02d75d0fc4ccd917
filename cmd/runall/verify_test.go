package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
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
		if len(p.Cells) == 0 && len(p.Figures) == 0 {
			continue
		}
		w, err := record.Create(dir, record.Header{ID: p.ID, Run: p.Run, DataSums: map[string]string{},
			Provenance: record.Provenance{Revision: "0123456789abcdef"}, Started: time.Unix(0, 0).UTC()})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if err := w.Point(record.Point{Samples: p.Run.Samples/2 + i*(p.Run.Samples-p.Run.Samples/2), TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(record.Final{Samples: p.Run.Samples, TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16, Health: map[string]float64{}}); err != nil {
			t.Fatal(err)
		}
	}
	return results
}

func TestVerify(t *testing.T) {
	results := madeUp(t, experiments.ProfileQuick)
	code, stdout, stderr := call(t, "verify", "--results", results)
	// One cell of the paper takes too long for the profile quick.
	if code != exitIncomplete || !strings.Contains(stdout, "cells of Tables 2 and 3: ") || !strings.Contains(stderr, "the profile does not run all claims") {
		t.Errorf("exit %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	code, stdout, _ = call(t, "verify", "--results", results, "--json")
	var d evidence.Document
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	if code != exitIncomplete || d.Profile != "quick" || d.Counts.Cells.Total() != 17 || d.Counts.Cells.NotRun != 1 {
		t.Errorf("exit %d, profile %s, %+v", code, d.Profile, d.Counts)
	}
	// 4 % and 16 elements are the paper's there, a risk of 0.1 nearly.
	for id, want := range map[string]evidence.Verdict{"table2.multidist.klr.polk": evidence.Reproduced, "table3.mnist.ksvm.polk": evidence.Deviates} {
		i := slices.IndexFunc(d.Claims, func(c evidence.ClaimDocument) bool { return c.ID == id })
		if d.Claims[i].Verdict != want {
			t.Errorf("%s: %v, want %v", id, d.Claims[i].Verdict, want)
		}
	}

	// The profile quick does not run what is assumed otherwise.
	code, stdout, stderr = call(t, "verify", "--results", results, "--assume", "bsgd-maintenance=removal")
	if code != exitIncomplete || !strings.Contains(stdout, "with bsgd-maintenance=removal, ") || !strings.Contains(stderr, "the profile does not run all claims") {
		t.Errorf("exit %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	// Another reading of the risk needs no other runs.
	code, stdout, stderr = call(t, "verify", "--results", results, "--assume", "risk=captions")
	if code != exitIncomplete || !strings.Contains(stdout, "with risk=captions, 0 verdicts change") {
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
	if code != exitIncomplete || !strings.Contains(stderr, filepath.Base(files[0])) || stdout == "" {
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
		if code != exitIncomplete || stdout != "" || !strings.Contains(stderr, "damaged records: "+files[1]) {
			t.Errorf("%v, a byte changed: exit %d, stdout %q, %s", args, code, stdout, stderr)
		}
	}
	if code, _, stderr := call(t, "verify", "--results", t.TempDir()); code != exitIncomplete {
		t.Errorf("no records: exit %d, %s", code, stderr)
	}
}
