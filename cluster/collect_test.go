package cluster

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/record"
)

// collect collects, which must go well.
func collect(t *testing.T, p *Plan, results string, from ...string) *Collection {
	t.Helper()
	c, err := p.Collect(from, results)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// states returns the states of the runs that are left, by index.
func states(c *Collection) map[int]string {
	m := make(map[int]string)
	for _, l := range c.Left {
		m[l.Index] = l.State
	}
	return m
}

// rewrite makes the record of a run again with other figures or provenance,
// whole and with the right sums.
func rewrite(t *testing.T, results, id string, change func(*record.Header, *record.Final)) {
	t.Helper()
	r, err := record.Read(recordPath(results, id))
	if err != nil {
		t.Fatal(err)
	}
	change(&r.Header, &r.Final)
	w, err := record.Create(harness.RecordsDir(results), r.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Points {
		if err := w.Point(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(r.Final); err != nil {
		t.Fatal(err)
	}
}

// TestStatesOfRuns: one run each is finished, failed, missing and damaged; the
// tasks of all but the first must be run again. Then they are.
func TestStatesOfRuns(t *testing.T) {
	p := fourPlan(t, 4)
	node, results := t.TempDir(), t.TempDir()
	if _, err := p.Exec(t.Context(), []int{0}, harness.Options{Results: node, Methods: failing(errors.New("no luck\nat all"))}); !errors.Is(err, harness.ErrRunsFailed) {
		t.Fatal(err)
	}
	exec(t, p, node, 2, 3)
	if err := os.Truncate(recordPath(node, p.Runs[3].ID), 1000); err != nil {
		t.Fatal(err)
	}
	c := collect(t, p, results, node)
	want := map[int]string{0: StateFailed, 1: StateMissing, 3: StateDamaged}
	if got := states(c); c.Finished != 1 || len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[3] != want[3] {
		t.Errorf("%+v, want %v", c, want)
	}
	tasks := []int{c.Left[0].Task, c.Left[1].Task, c.Left[2].Task}
	slices.Sort(tasks)
	if !slices.Equal(c.Again, tasks) {
		t.Errorf("again %v, want %v", c.Again, tasks)
	}
	for _, l := range c.Left {
		if !slices.Contains(p.Tasks[l.Task].Runs, l.Index) || strings.Contains(l.Why, "\n") || (l.Why == "") != (l.State == StateMissing) {
			t.Errorf("%+v", l)
		}
	}
	if have := recordsIn(t, results); len(have.Records) != 1 || len(have.Failed) != 1 {
		t.Errorf("%d finished and %d failed records were collected", len(have.Records), len(have.Failed))
	}

	exec(t, p, node, 0, 1, 3)
	if c := collect(t, p, results, node); c.Finished != 4 || c.Copied != 3 || len(c.Left) > 0 {
		t.Errorf("%+v", c)
	}
	have := recordsIn(t, results)
	if len(have.Failed) > 0 {
		t.Error("the earlier failure is still there")
	}
	sameRecords(t, have.Records, reproduced(t))
}

// TestCollectIsIdempotent: what is there already is not touched, whether or not
// it is in the folders any more; a damaged one is replaced.
func TestCollectIsIdempotent(t *testing.T) {
	p := fourPlan(t, 4)
	node, results := t.TempDir(), t.TempDir()
	exec(t, p, node, 0, 1)
	collect(t, p, results, node)
	files := func() map[string]os.FileInfo {
		infos := make(map[string]os.FileInfo)
		for _, r := range recordsIn(t, results).Records {
			info, err := os.Stat(r.Path)
			if err != nil {
				t.Fatal(err)
			}
			infos[r.Header.ID] = info
		}
		return infos
	}
	before := files()
	if err := os.Remove(recordPath(node, p.Runs[1].ID)); err != nil {
		t.Fatal(err)
	}
	c := collect(t, p, results, node)
	if c.Finished != 2 || c.Copied != 0 || len(before) != 2 {
		t.Errorf("%+v", c)
	}
	for id, info := range files() {
		if !os.SameFile(info, before[id]) || !info.ModTime().Equal(before[id].ModTime()) {
			t.Errorf("record %s was touched", id)
		}
	}
	if err := os.Truncate(recordPath(results, p.Runs[0].ID), 99); err != nil {
		t.Fatal(err)
	}
	if c := collect(t, p, results, node); c.Finished != 2 || c.Copied != 1 {
		t.Errorf("%+v", c)
	}
	recordsIn(t, results)
	if c := collect(t, p, node, node); c.Finished != 1 || c.Copied != 0 {
		t.Errorf("onto itself: %+v", c)
	}
}

// pack packs the record of a run in a results folder, in its place.
func pack(t *testing.T, results, id string) {
	t.Helper()
	text, err := os.ReadFile(recordPath(results, id))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close(), os.WriteFile(recordPath(results, id)+".gz", b.Bytes(), 0o666), os.Remove(recordPath(results, id))); err != nil {
		t.Fatal(err)
	}
}

// TestCollectCleansUp: beside the record of a finished run there is no failure,
// which a collect that was killed leaves, and no damaged record of the other
// form.
func TestCollectCleansUp(t *testing.T) {
	p := fourPlan(t, 4)
	node, results := t.TempDir(), t.TempDir()
	exec(t, p, node, 0, 1, 2)
	ids := []string{p.Runs[0].ID, p.Runs[1].ID, p.Runs[2].ID}
	pack(t, node, ids[1])
	collect(t, p, results, node)
	left := []string{failedPath(results, ids[0]), recordPath(results, ids[1]), recordPath(results, ids[2]) + ".gz"}
	for _, path := range left {
		if err := os.WriteFile(path, []byte("{}\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(recordPath(results, ids[2])); err != nil {
		t.Fatal(err)
	}
	if c := collect(t, p, results, node); c.Finished != 3 || c.Copied != 2 {
		t.Errorf("%+v", c)
	}
	for _, path := range left {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	if have := recordsIn(t, results); len(have.Records) != 3 {
		t.Errorf("%d records", len(have.Records))
	}
}

// TestDifferentRecords: of two records of one run that differ neither is taken.
func TestDifferentRecords(t *testing.T) {
	p := fourPlan(t, 4)
	a, b, results := t.TempDir(), t.TempDir(), t.TempDir()
	exec(t, p, a, 0, 1)
	exec(t, p, b, 0, 1)
	rewrite(t, b, p.Runs[0].ID, func(_ *record.Header, f *record.Final) { f.TestError += 1e-9 })
	c := collect(t, p, results, a, b)
	if got := states(c); got[0] != StateDisagree || c.Finished != 1 || len(c.Again) != 2 || slices.Contains(c.Again, c.Left[0].Task) {
		t.Errorf("%+v", c)
	}
	if have := recordsIn(t, results); len(have.Records) != 1 || have.Records[p.Runs[0].ID] != nil {
		t.Errorf("%d records", len(have.Records))
	}
}

// TestOtherData: a record of the run on other data than the plan's is not
// taken.
func TestOtherData(t *testing.T) {
	p := fourPlan(t, 4)
	node, results := t.TempDir(), t.TempDir()
	exec(t, p, node, 0)
	rewrite(t, node, p.Runs[0].ID, func(h *record.Header, _ *record.Final) { h.DataSums = map[string]string{"multidist": "0123"} })
	if c := collect(t, p, results, node); states(c)[0] != StateDamaged || !strings.Contains(c.Left[0].Why, "other data") {
		t.Errorf("%+v", c)
	}
}

// TestCollectCounts what killed processes left, and reads none of it.
func TestCollectCounts(t *testing.T) {
	p := fourPlan(t, 4)
	node, results := t.TempDir(), t.TempDir()
	exec(t, p, node, 0)
	dir, err := attemptDir(node, 1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(recordPath(node, p.Runs[0].ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, p.Runs[1].ID+".jsonl.partial"), text[:len(text)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	c := collect(t, p, results, node)
	if c.Attempts != 1 || c.Finished != 1 || states(c)[1] != StateMissing {
		t.Errorf("%+v", c)
	}
}

func TestCollectRefuses(t *testing.T) {
	p := fourPlan(t, 4)
	if _, err := p.Collect([]string{filepath.Join(t.TempDir(), "nowhere")}, t.TempDir()); harness.ExitCode(err) != harness.ExitUsage {
		t.Error(err)
	}
	linked := t.TempDir()
	if err := os.Symlink(t.TempDir(), harness.RecordsDir(linked)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Collect([]string{linked}, t.TempDir()); harness.ExitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
	results := t.TempDir()
	r, err := harness.OpenResults(results)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := p.Collect([]string{t.TempDir()}, results); !errors.Is(err, harness.ErrLocked) {
		t.Error(err)
	}
}

// TestCollectionAsJSON: lists are lists even where they are empty.
func TestCollectionAsJSON(t *testing.T) {
	p := fourPlan(t, 4)
	node := t.TempDir()
	for range 2 {
		text, err := json.Marshal(collect(t, p, t.TempDir(), node))
		if err != nil || bytes.Contains(text, []byte("null")) {
			t.Errorf("%s, %v", text, err)
		}
		exec(t, p, node, 0, 1, 2, 3)
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "3": {3}, "0-1": {0, 1}, "0,2-4,9": {0, 2, 3, 4, 9}, "1,3,5": {1, 3, 5}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v is written %q, want %q", numbers, got, want)
		}
	}
}
