package harness

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/spec"
)

// TestRecordsDoNotDependOnThreads runs problems large enough for products on several threads
// (package gemm splits products of at least 2^20 multiply-adds): 256 samples × 200 elements × 128
// features are six times that, in a step as in an evaluation. One worker on several cores uses
// several threads; of two workers, one is alone at the end.
func TestRecordsDoNotDependOnThreads(t *testing.T) {
	const dim = 128
	set := &data.Set{Name: "cloud", Classes: 5, Train: cloud(1, 2000, dim), Test: cloud(2, 600, dim), Sums: map[string]string{"cloud": "SHA-256"}}
	var plan []spec.Planned
	for seed, method := range []string{"polk", "bsgd"} {
		run := tinyRun(method, "ksvm", uint64(seed)).Run
		run.Data = data.Ref{Name: set.Name}
		run.Params.Kernel.Bandwidth = 6
		if method == "polk" {
			run.Params.BatchSize, run.Params.Parsimony = 256, 1e-6
		} else {
			run.Params.Budget = 200
		}
		plan = append(plan, planned(run))
	}
	sets := map[data.Ref]*data.Set{{Name: set.Name}: set}
	var have []*record.Collection
	for _, on := range []struct{ procs, workers int }{{1, 1}, {2, 1}, {2, 2}, {3, 1}} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(on.procs))
		results := t.TempDir()
		opt := Options{Results: results, Workers: on.workers}.withDefaults()
		testutil.NoError(t, carryOut(t.Context(), slices.Clone(plan), sets, &Outcome{}, opt))
		have = append(have, readAll(t, results))
	}
	for _, p := range plan {
		a := have[0].Records[p.ID]
		for _, other := range have[1:] {
			if !bytes.Equal(record.Canonical(a), record.Canonical(other.Records[p.ID])) {
				t.Errorf("%s: records differ", p.Run.Method)
			}
		}
		if a.Final.ModelOrder < 200 {
			t.Errorf("%s: model order %v is too small for threads to take part", p.Run.Method, a.Final.ModelOrder)
		}
	}
}

// cloud returns n points of five classes that overlap.
func cloud(seed uint64, n, dim int) *data.Split {
	r := rand.New(rand.NewPCG(seed, 0))
	s := &data.Split{N: n, Dim: dim, X: make([]float32, n*dim), Y: make([]float64, n)}
	for i := range n {
		y := r.IntN(5)
		s.Y[i] = float64(y)
		for j := range dim {
			s.X[i*dim+j] = r.Float32()
			if j%5 == y {
				s.X[i*dim+j] += 0.2
			}
		}
	}
	return s
}

func TestEvaluationsAreAtBatchBoundaries(t *testing.T) {
	p := tinyRun("polk", "ksvm", 1)
	r := reproduced(t, []spec.Planned{p}, Options{Methods: fakes(nil)})[p.ID]
	var got []int
	for _, point := range r.Points {
		got = append(got, point.Samples)
	}
	// Marks 300, 600, 900, 967, 984, 1000, met at multiples of 32 and at the
	// end of the short last mini-batch; 967 and 984 at the same one.
	want := []int{320, 608, 928, 992, 1000}
	if !slices.Equal(got, want) {
		t.Fatalf("evaluated after %v, want %v", got, want)
	}
	if last := r.Points[len(r.Points)-1]; last.ModelOrder != 1000%32 {
		t.Errorf("last mini-batch of %d, want %d", last.ModelOrder, 1000%32)
	}
	if mean := (r.Points[3].TestError + r.Points[4].TestError) / 2; r.Final.TestError != mean {
		t.Errorf("final error %v, want %v", r.Final.TestError, mean)
	}
}

func TestFinishedRunsAreKept(t *testing.T) {
	results := t.TempDir()
	plan := tinyPlan()
	if _, err := Reproduce(t.Context(), plan[:2], Options{Results: results}); err != nil {
		t.Fatal(err)
	}
	before := stat(t, results, plan[0].ID)
	// The same run planned by two specs is one run.
	out, err := Reproduce(t.Context(), append(plan, plan[3]), Options{Results: results})
	testutil.NoError(t, err)
	if len(out.Kept) != 2 || len(out.Finished) != 2 {
		t.Errorf("kept %d and finished %d, want 2 and 2", len(out.Kept), len(out.Finished))
	}
	if after := stat(t, results, plan[0].ID); !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("a finished record was written again")
	}
}

func stat(t *testing.T, results, id string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(filepath.Join(RecordsDir(results), id+".jsonl"))
	testutil.NoError(t, err)
	return info
}

func TestLongestRunsFirst(t *testing.T) {
	var progress recorder
	_, err := Reproduce(t.Context(), tinyPlan(), Options{Results: t.TempDir(), Workers: 1, Progress: &progress})
	testutil.NoError(t, err)
	var seeds []uint64 // tinyRun's cost is its seed
	for _, e := range progress.events {
		if e.Kind == EventStart {
			seeds = append(seeds, e.Seed)
		}
	}
	if len(seeds) != 4 || seeds[0] != 4 || seeds[3] != 1 {
		t.Errorf("started in the order %v", seeds)
	}
}

// TestFailures makes a run panic beside another that finishes, and then repeats it.
// TestFailedSample has the other kinds of failure.
func TestFailures(t *testing.T) {
	results := t.TempDir()
	plan := []spec.Planned{tinyRun("polk", "ksvm", 2), tinyRun("bsgd", "ksvm", 1)}
	methods := fakes(func(*fake) error { panic("bad index") })
	methods["bsgd"] = fakes(nil)["polk"]
	out, err := Reproduce(t.Context(), plan, Options{Results: results, Methods: methods})
	if !errors.Is(err, ErrRunsFailed) || ExitCode(err) != ExitFailed {
		t.Fatalf("error %v", err)
	}
	if len(out.Failed) != 1 || out.Failed[0].ID != plan[0].ID || len(out.Finished) != 1 {
		t.Fatalf("outcome %+v", out)
	}
	failure := readAll(t, results).Failed[plan[0].ID].Failure
	if !strings.Contains(failure.Error, "panic: bad index") || !strings.Contains(failure.Error, "fake_test.go") {
		t.Errorf("failure without its reason or the stack: %q", failure.Error)
	}
	if strings.Contains(out.Failed[0].Err.Error(), "\n") {
		t.Errorf("message of several lines: %q", out.Failed[0].Err)
	}

	out, err = Reproduce(t.Context(), plan, Options{Results: results, Methods: fakes(nil)})
	if err != nil || len(out.Kept) != 1 || len(out.Finished) != 1 {
		t.Errorf("second attempt: %v, outcome %+v", err, out)
	}
	if c := readAll(t, results); len(c.Failed) != 0 || len(c.Records) != 2 {
		t.Errorf("%d failed and %d finished records after the second attempt", len(c.Failed), len(c.Records))
	}
}

func TestBadRunsFailAlone(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*spec.Run)
	}{
		{"method", func(r *spec.Run) { r.Method = "none" }},
		{"kernel", func(r *spec.Run) { r.Params.Kernel.Type = "none" }},
		{"learning rate", func(r *spec.Run) { r.Params.LearningRate = 1e6 }},
		{"budget", func(r *spec.Run) { r.Method = "bsgd" }},
	}
	for _, tt := range tests {
		run := tinyRun("polk", "ksvm", 1).Run
		tt.spoil(&run)
		_, err := Reproduce(t.Context(), []spec.Planned{planned(run)}, Options{Results: t.TempDir()})
		if !errors.Is(err, ErrRunsFailed) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}

func TestInterruptedRunsResume(t *testing.T) {
	results := t.TempDir()
	plan := []spec.Planned{tinyRun("polk", "ksvm", 1), tinyRun("polk", "ksvm", 2)}
	ctx, cancel := context.WithCancel(t.Context())
	interrupting := fakes(func(f *fake) error {
		if f.steps == 20 {
			cancel()
		}
		return nil
	})
	out, err := Reproduce(ctx, plan, Options{Results: results, Workers: 1, Methods: interrupting})
	if !errors.Is(err, ErrInterrupted) || ExitCode(err) != ExitInterrupted {
		t.Fatalf("error %v", err)
	}
	if c := readAll(t, results); len(out.Finished) != 0 || len(c.Partial) != 1 || len(c.Records) != 0 || len(c.Failed) != 0 {
		t.Fatalf("outcome %+v, collection %+v", out, c)
	}
	var progress recorder
	out, err = Reproduce(t.Context(), plan, Options{Results: results, Methods: fakes(nil), Progress: &progress})
	if err != nil || len(out.Finished) != 2 || progress.count(EventNote) != 1 {
		t.Fatalf("%v, outcome %+v, %d notes", err, out, progress.count(EventNote))
	}
	a := readAll(t, results)
	if len(a.Partial) != 0 {
		t.Errorf("partial records %v are left", a.Partial)
	}
	for id, r := range reproduced(t, plan, Options{Methods: fakes(nil)}) {
		if !bytes.Equal(record.Canonical(r), record.Canonical(a.Records[id])) {
			t.Errorf("record %s differs from that of an undisturbed run", id)
		}
	}
}

func TestMissingData(t *testing.T) {
	// No default place has a data set.
	t.Setenv(data.EnvDir, t.TempDir())
	t.Chdir(t.TempDir())
	mnist := tinyRun("polk", "ksvm", 9)
	mnist.Run.Data = data.Ref{Name: "mnist"}
	mnist.ID = spec.ID(mnist.Run)
	plan := []spec.Planned{mnist, tinyRun("polk", "ksvm", 1)}

	t.Run("left out", func(t *testing.T) {
		results := t.TempDir()
		out, err := Reproduce(t.Context(), plan, Options{Results: results, Methods: fakes(nil)})
		if err != nil || len(out.Finished) != 1 || len(out.Unavailable) != 1 {
			t.Fatalf("%v, outcome %+v", err, out)
		}
		if u := out.Unavailable[0]; u.Ref.Name != "mnist" || u.Runs != 1 || !strings.Contains(u.Why, "to get it") {
			t.Errorf("unavailable: %+v", u)
		}
		have := readAll(t, results)
		if l := lacking(plan, have.Records, data.Finder{}); len(l) != 2 || l["mnist"] == "" || l["brodatz"] == "" {
			t.Errorf("lacking: %v", l)
		}
	})
	t.Run("required", func(t *testing.T) {
		results := t.TempDir()
		_, err := Reproduce(t.Context(), plan, Options{Results: results, RequireData: true, Methods: fakes(func(*fake) error {
			t.Error("a run was trained")
			return nil
		})})
		if !errors.Is(err, ErrMissingData) || ExitCode(err) != ExitIncomplete {
			t.Errorf("error %v", err)
		}
		if c := readAll(t, results); len(c.Records)+len(c.Partial) != 0 {
			t.Errorf("records %+v", c)
		}
	})
	t.Run("damaged", func(t *testing.T) {
		dir := t.TempDir()
		for _, name := range []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"} {
			testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("not what it should be"), 0o666))
		}
		_, err := Reproduce(t.Context(), plan, Options{Results: t.TempDir(), Finder: data.Finder{Dir: dir}, Methods: fakes(func(*fake) error {
			t.Error("a run was trained")
			return nil
		})})
		if !errors.Is(err, data.ErrCorrupt) || ExitCode(err) != ExitFailed {
			t.Errorf("error %v", err)
		}
	})
}

func TestResultsFolderHasOneUser(t *testing.T) {
	dir := t.TempDir()
	r, err := OpenResults(dir)
	testutil.NoError(t, err)
	_, err = Reproduce(t.Context(), tinyPlan(), Options{Results: dir})
	if !errors.Is(err, ErrLocked) || ExitCode(err) != ExitUsage {
		t.Errorf("error of the second: %v", err)
	}
	testutil.NoError(t, r.Close())
	if r, err = OpenResults(dir); err != nil {
		t.Errorf("after the first was closed: %v", err)
	} else {
		r.Close()
	}
}

func TestUnusableResultsFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	testutil.NoError(t, os.WriteFile(file, nil, 0o666))
	dirs := map[string]string{"a file": file, "below a file": filepath.Join(file, "results")}
	if runtime.GOOS == "linux" {
		dirs["a folder of the kernel's"] = "/proc/results"
	}
	if os.Getuid() != 0 { // root may write anywhere
		readonly := t.TempDir()
		testutil.NoError(t, os.Chmod(readonly, 0o555))
		dirs["read-only"] = readonly
	}
	for name, dir := range dirs {
		_, err := Reproduce(t.Context(), tinyPlan(), Options{Results: dir, Methods: fakes(nil)})
		if err == nil || ExitCode(err) != ExitFailed || !strings.HasPrefix(err.Error(), "results folder: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestStorageLostOnTheWay removes the records folder during a run, which has the effect of a full
// disk: no run counts as failed, and the reproduction ends.
func TestStorageLostOnTheWay(t *testing.T) {
	results := t.TempDir()
	out, err := Reproduce(t.Context(), tinyPlan()[:2], Options{Results: results, Workers: 1, Methods: fakes(func(f *fake) error {
		if f.steps == 5 {
			return os.RemoveAll(RecordsDir(results))
		}
		return nil
	})})
	var storage *storageError
	if !errors.As(err, &storage) || ExitCode(err) != ExitFailed {
		t.Errorf("error %v", err)
	}
	if len(out.Failed) != 0 || len(out.Finished) != 0 {
		t.Errorf("outcome %+v", out)
	}
}

func TestDamagedRecordsAreRunAgain(t *testing.T) {
	results := t.TempDir()
	plan := tinyPlan()[:1]
	if _, err := Reproduce(t.Context(), plan, Options{Results: results, Methods: fakes(nil)}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(RecordsDir(results), plan[0].ID+".jsonl")
	whole, err := os.ReadFile(path)
	testutil.NoError(t, err)
	testutil.NoError(t, os.WriteFile(path, whole[:len(whole)/2], 0o666))
	var progress recorder
	out, err := Reproduce(t.Context(), plan, Options{Results: results, Methods: fakes(nil), Progress: &progress})
	if err != nil || len(out.Finished) != 1 || progress.count(EventNote) != 1 {
		t.Errorf("%v, outcome %+v", err, out)
	}
	readAll(t, results)
}

func TestTimingLeavesEvaluationsOut(t *testing.T) {
	p := tinyRun("polk", "ksvm", 1)
	const pause = 2 * time.Millisecond
	methods := fakes(func(*fake) error { time.Sleep(pause); return nil })
	f := reproduced(t, []spec.Planned{p}, Options{Methods: methods})[p.ID].Final
	steps := 32 * pause.Seconds()
	if f.Timing.Wall < steps || f.Timing.Wall > f.Elapsed {
		t.Errorf("%v s of training in %v s, of which %v s asleep", f.Timing.Wall, f.Elapsed, steps)
	}
	if f.Timing.CPU > f.Timing.Wall {
		t.Errorf("%v s of processor time in %v s, most of them asleep", f.Timing.CPU, f.Timing.Wall)
	}
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "points.csv")
	for range 2 { // first missing, then present
		if err := CheckFile(path); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 1 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
		testutil.NoError(t, os.WriteFile(path, nil, 0o666))
	}
	for _, bad := range []string{dir, filepath.Join(dir, "none", "points.csv"), filepath.Join(path, "points.csv")} {
		if err := CheckFile(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
