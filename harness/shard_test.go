package harness

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/spec"
)

// TestShard: the shards of a plan are disjoint and together have each run of the plan once. No
// shard costs more than 4/3 of a lower bound for the most expensive shard.
func TestShard(t *testing.T) {
	specs, err := FindSpecs(nil)
	testutil.NoError(t, err)
	all, err := PlanAll(specs, spec.ProfileQuick, spec.PlanOptions{})
	testutil.NoError(t, err)
	want := make(map[string]float64)
	total, most := 0.0, 0.0
	for _, p := range spec.Distinct(all) {
		want[p.ID] = p.Cost
		total += p.Cost
		most = max(most, p.Cost)
	}
	for _, n := range []int{1, 2, 3, 7, len(want), len(want) + 5} {
		seen := make(map[string]bool)
		for k := 1; k <= n; k++ {
			cost := 0.0
			for _, p := range Shard(all, k, n) {
				if seen[p.ID] || want[p.ID] != p.Cost {
					t.Errorf("shard %d/%d: run %s is in two shards, or in no plan", k, n, p.ID)
				}
				seen[p.ID] = true
				cost += p.Cost
			}
			if limit := 4.0 / 3 * max(total/float64(n), most); cost > limit {
				t.Errorf("shard %d/%d costs %g, more than %g", k, n, cost, limit)
			}
		}
		if len(seen) != len(want) {
			t.Errorf("%d shards: %d runs, want %d", n, len(seen), len(want))
		}
	}
}

// TestMerge: merged shards equal the records of one process, bit for bit. A merge adds to the
// records of its folder, and copies nothing if a record is damaged or contradicts another.
func TestMerge(t *testing.T) {
	methods := fakes(func(*fake) error { return nil })
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	work := func(name string, plan []spec.Planned) {
		t.Helper()
		if _, err := Reproduce(t.Context(), plan, Options{Results: in(name), Methods: methods}); err != nil && !errors.Is(err, ErrRunsFailed) {
			t.Fatal(err)
		}
	}
	merged := func(to string, from ...string) (*Merged, error) {
		for i := range from {
			from[i] = in(from[i])
		}
		return Merge(from, in(to), func(error) {})
	}
	plan := tinyPlan()
	bsgd := plan[2] // fakes has no method for it
	good := append(plan[:2:2], plan[3])
	work("all", good)
	for k := 1; k <= 3; k++ {
		work("shard"+string(rune('0'+k)), Shard(good, k, 3))
	}
	if m, err := merged("merged", "shard1", "shard2"); err != nil || m.Finished != 2 || m.New != 2 {
		t.Fatal(m, err)
	}
	if m, err := merged("merged", "shard1", "shard2", "shard3"); err != nil || m.Finished != 3 || m.New != 1 {
		t.Fatal(m, err)
	}
	want, got := readAll(t, in("all")).Records, readAll(t, in("merged")).Records
	for id, r := range want {
		if got[id] == nil || !bytes.Equal(record.Canonical(got[id]), record.Canonical(r)) {
			t.Errorf("record %s is not that of one run", id)
		}
	}

	work("failed", []spec.Planned{bsgd})
	if m, err := merged("merged", "failed"); !errors.Is(err, ErrRunsFailed) || m == nil || !strings.Contains(err.Error(), bsgd.ID+".failed.jsonl") {
		t.Errorf("a failed run: %v, %v", m, err)
	}
	killed := filepath.Join(RecordsDir(in("shard1")), "killed.jsonl.partial")
	testutil.NoError(t, os.WriteFile(killed, nil, 0o666))
	if m, err := merged("merged", "shard1"); !errors.Is(err, ErrIncomplete) || m == nil || !strings.Contains(err.Error(), "unfinished runs (1): killed") {
		t.Errorf("an unfinished run: %v, %v", m, err)
	}

	first := Shard(good, 1, 3)[0]
	path := filepath.Join(RecordsDir(in("shard1")), first.ID+".jsonl")
	refused := func(name, want string, kind error, to string) {
		t.Helper()
		_, err := merged(to, "shard2", "shard1")
		if !errors.Is(err, kind) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if entries, _ := os.ReadDir(RecordsDir(in(to))); to == "new" && len(entries) > 0 {
			t.Errorf("%s: %d files were copied", name, len(entries))
		}
	}
	r := want[first.ID]
	w, err := record.Create(filepath.Dir(path), r.Header)
	testutil.NoError(t, err)
	for _, p := range r.Points {
		testutil.NoError(t, w.Point(p))
	}
	other := r.Final
	other.Health = nil
	testutil.NoError(t, w.Finish(other))
	refused("contradictory", first.ID+".jsonl are records of one run and differ", ErrDeviates, "merged")
	text, err := os.ReadFile(path)
	testutil.NoError(t, err)
	testutil.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte(`"samples"`), []byte(`"Samples"`), 1), 0o666))
	refused("damaged", "damaged records: "+path, ErrIncomplete, "new")
}
