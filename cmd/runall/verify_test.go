package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"polkrepro/evidence/theory/theorytest"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/spec"
)

// madeUp writes made-up records into a new results folder and returns the folder.
func madeUp(t *testing.T, profile string) string {
	t.Helper()
	results := t.TempDir()
	testutil.NoError(t, writeMadeUp(results, profile))
	return results
}

// writeMadeUp writes records of all runs of a profile that claims need into a results folder.
// All have the same final figures, except the runs that are measured against the minimizer.
func writeMadeUp(results, profile string) error {
	dir := harness.RecordsDir(results)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	plan, err := harness.PlanAll(spec.Embedded(), profile, spec.PlanOptions{})
	if err != nil {
		return err
	}
	for _, p := range plan {
		if len(p.Cells) == 0 && len(p.Figures) == 0 && p.Spec != report.Table1Spec && !strings.HasPrefix(p.Spec, "multidist-modes-") {
			continue
		}
		r := &record.Record{}
		for _, n := range []int{p.Run.Samples / 2, p.Run.Samples} {
			r.Points = append(r.Points, record.Point{Samples: n, TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16})
		}
		r.Final = record.Average(r.Points, p.Run.Samples)
		if p.Run.Evaluation.Minimizer {
			r = theorytest.Record(p)
		}
		r.Header = record.Header{ID: p.ID, Run: p.Run, DataSums: map[string]string{p.Run.Data.Name: "SHA-256"},
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
