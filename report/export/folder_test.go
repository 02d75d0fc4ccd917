package export

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/report"
)

// folder makes a results folder with made-up records of all runs of profile smoke, and
// returns it with the paths of the records.
func folder(t *testing.T) (dir string, paths []string) {
	t.Helper()
	dir = t.TempDir()
	testutil.NoError(t, os.MkdirAll(harness.RecordsDir(dir), 0o777))
	for _, p := range theorytest.Plan(t, experiments.ProfileSmoke) {
		path := filepath.Join(harness.RecordsDir(dir), p.ID+".jsonl")
		if slices.Contains(paths, path) {
			continue
		}
		paths = append(paths, path)
		w, err := record.Create(harness.RecordsDir(dir), record.Header{ID: p.ID, Run: p.Run, DataSums: map[string]string{},
			Provenance: record.Provenance{Revision: "0123456789abcdef"}, Started: time.Unix(0, 0).UTC()})
		testutil.NoError(t, err)
		point := record.Point{Samples: p.Run.Samples, TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16}
		r := &record.Record{Points: []record.Point{point}, Final: record.Final{Samples: p.Run.Samples, TrainRisk: 0.1, TestRisk: 0.1, TestError: 0.04, ModelOrder: 16}}
		if p.Run.Evaluation.Minimizer {
			r = theorytest.Record(p)
		}
		for _, point := range r.Points {
			err = errors.Join(err, w.Point(point))
		}
		if err = errors.Join(err, w.Finish(r.Final)); err != nil {
			t.Fatal(err)
		}
	}
	if len(paths) < 2 {
		t.Fatalf("%d records", len(paths))
	}
	return dir, paths
}

// TestFolder checks that a folder opened without a profile has the profile of its records, that
// tables, claims and page cover its runs, and that a corrupt record is reported once and left out.
func TestFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: reading and writing alone, and the race detector makes it half a minute")
	}
	t.Setenv(data.EnvOffline, "1")
	dir, paths := folder(t)
	f, err := Open(dir, Options{})
	if err != nil || f.Profile != experiments.ProfileSmoke || len(f.Records.Records) != len(paths) {
		t.Fatalf("%+v, %v", f, err)
	}
	if in := f.Evidence(); len(in.Ledger.Claims) == 0 || len(in.Records) != len(paths) || len(in.Failed) != 0 {
		t.Errorf("%d claims, %d records", len(in.Ledger.Claims), len(in.Records))
	}
	testutil.NoError(t, os.Truncate(paths[0], 10))
	var said []error
	f, err = Open(dir, Options{Specs: []string{"multidist-ksvm"}, Profile: experiments.ProfileSmoke, Warn: func(err error) { said = append(said, err) }})
	if err != nil || len(said) != 1 || !strings.Contains(said[0].Error(), filepath.Base(paths[0])) {
		t.Fatalf("%v, said %v", err, said)
	}
	r, err := f.Report()
	testutil.NoError(t, err)
	if !slices.ContainsFunc(r.Tables, func(tb *report.Table) bool { return tb.Name == "table2" && strings.Contains(tb.Text(), "4.00") }) {
		t.Error("no error of 4 % in Table 2")
	}
	path, err := r.WritePage(filepath.Join(t.TempDir(), "new"))
	if err != nil || filepath.Base(path) != PageName {
		t.Fatal(path, err)
	}
	page, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(page, []byte("</html>")) || !bytes.Contains(page, []byte(filepath.Base(paths[0]))) || bytes.Contains(page, []byte(dir)) {
		t.Errorf("the page, %v: want an end, the damaged record's name, and not the folder's", err)
	}
	if _, err := Open(dir, Options{Whole: true}); !errors.Is(err, harness.ErrIncomplete) {
		t.Errorf("a damaged record in a whole folder: %v", err)
	}
	if _, err := Open(dir, Options{Specs: []string{"nonsense"}}); !errors.Is(err, harness.ErrUsage) {
		t.Errorf("an unknown spec: %v", err)
	}
	if _, err := r.WritePage(paths[1]); err == nil {
		t.Error("a page was written to a folder that is a file")
	}
}

// TestReplace checks that sealed files are replaced, and that a tournament and files outside the
// seal stay.
func TestReplace(t *testing.T) {
	dir, stage := t.TempDir(), t.TempDir()
	part := record.Parts()[0]
	for path, text := range map[string]string{
		filepath.Join(dir, record.ManifestName): "old", filepath.Join(dir, part): "old", filepath.Join(dir, record.Parts()[1]): "old",
		filepath.Join(dir, "README.md"): "kept", filepath.Join(stage, part): "new",
		filepath.Join(dir, record.Tournament): "kept",
	} {
		testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	testutil.NoError(t, replace(stage, dir))
	want := []string{"README.md", part, record.Tournament}
	slices.Sort(want)
	text, err := os.ReadFile(filepath.Join(dir, part))
	if got := testutil.Names(t, dir); !slices.Equal(got, want) || string(text) != "new" || err != nil {
		t.Errorf("%v, %s is %q, want %v", got, part, text, want)
	}
}
