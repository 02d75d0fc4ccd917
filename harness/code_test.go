package harness

import (
	"maps"
	"slices"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/spec"
)

// codeRuns returns short runs, one for each method, kernel and task. A key such as "task ksvm"
// names the code on which the result depends.
func codeRuns() map[string]spec.Run {
	base := spec.Run{
		Task: spec.TaskKSVM, Method: spec.MethodPOLK, Seed: 1, Samples: 300,
		Evaluation: spec.Evaluation{Every: 100, Tail: 2},
		Params: spec.Params{
			Kernel: spec.Kernel{Type: "gaussian", Bandwidth: 0.5}, Regularizer: 1e-3, LearningRate: 1,
			Schedule: spec.ScheduleConstant, BatchSize: 4, Parsimony: 0.02,
		},
	}
	runs := make(map[string]spec.Run)
	add := func(name string, change func(*spec.Run)) {
		r := base
		change(&r)
		r.Data.Name = "small"
		runs[name] = r
	}
	for _, task := range append(spec.Tasks(), spec.TaskRegression) {
		add("task "+task, func(r *spec.Run) { r.Task = task })
	}
	for _, name := range kernel.Names() {
		add("kernel "+name, func(r *spec.Run) {
			r.Params.Kernel = spec.Kernel{Type: name}
			for _, p := range kernel.Takes(name) {
				switch p {
				case "bandwidth":
					r.Params.Kernel.Bandwidth = 0.5
				case "offset":
					r.Params.Kernel.Offset = 1
				case "degree":
					r.Params.Kernel.Degree = 2
				}
			}
			r.Params.LearningRate = 0.05
		})
	}
	batch := func(method, task string, budget int) {
		add("method "+method, func(r *spec.Run) {
			r.Method, r.Task, r.Samples = method, task, 60
			r.Evaluation.Every, r.Evaluation.Tail = 0, 0
			r.Params.Budget, r.Params.Tolerance, r.Params.Cost = budget, 1e-3, 10
			r.Params.LearningRate, r.Params.Parsimony = 0, 0
		})
	}
	batch("csvc", spec.TaskKSVM, 0)
	batch("lbfgs", spec.TaskKLR, 0)
	batch("ivm", spec.TaskKLR, 12)
	batch("nystrom", spec.TaskKSVM, 20)
	add("method polk", func(*spec.Run) {})
	add("method fsgd", func(r *spec.Run) {
		r.Method, r.Params.BatchSize, r.Params.Parsimony = spec.MethodFSGD, 1, 0
	})
	add("method bsgd", func(r *spec.Run) {
		r.Method, r.Params.BatchSize, r.Params.Budget, r.Params.Maintenance = "bsgd", 1, 10, "merging"
	})
	stream := func(method, task string, budget int, own prune.Params) {
		add("method "+method, func(r *spec.Run) {
			r.Method, r.Task = method, task
			r.Params.BatchSize, r.Params.Parsimony, r.Params.Budget, r.Params.Own = 1, 0, budget, own
		})
	}
	add("method lbfgs-weights", func(r *spec.Run) {
		r.Method, r.Task = "lbfgs-weights", spec.TaskKLR
		r.Params.LearningRate, r.Params.Parsimony, r.Params.BatchSize = 0, 0, 60 // the whole training set
		r.Params.Own = prune.Params{"start": 0.1, "memory": 2}
	})
	stream("krls", spec.TaskRegression, 12, prune.Params{"threshold": 1e-3, "noise": 0.1, "forgetting": 0.99})
	stream("norma", spec.TaskKSVM, 15, nil)
	stream("forgetron", spec.TaskKSVM, 4, nil)
	stream("projectron", spec.TaskKSVM, 10, prune.Params{"projection_error": 0.3})
	stream("fogd", spec.TaskKLR, 10, nil)
	stream("rff-sgd", spec.TaskKSVM, 10, nil)
	stream("nogd", spec.TaskKSVM, 8, prune.Params{"rank": 5})
	stream("nystrom-sgd", spec.TaskKLR, 12, nil)
	return runs
}

// TestCodeVersions: methods, kernels and tasks have the results in spec/versions.json. While
// they have, runs recorded with them stay valid. The test skips code that the file does not list.
func TestCodeVersions(t *testing.T) {
	recorded, runs := spec.CodeVersions(), codeRuns()
	var plan []spec.Planned
	sets := make(map[data.Ref]*data.Set)
	var names []string
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		if _, listed := recorded[name]; !listed && !*golden.Update {
			continue
		}
		run := runs[name]
		names = append(names, name)
		plan = append(plan, spec.Planned{Run: run, ID: spec.ID(run)})
		sets[run.Data] = smallSet()
	}
	testutil.NoError(t, carryOut(t.Context(), slices.Clone(plan), sets, new(Outcome), Options{Results: dir, Workers: 1}.withDefaults()))
	have := readAll(t, dir)
	now := make(map[string]spec.CodeVersion)
	for i, name := range names {
		f := have.Records[plan[i].ID].Final
		result := []float64{float64(f.TestError), float64(f.ModelOrder)}
		if plan[i].Run.HasRisk() {
			result = append(result, float64(f.TestRisk))
		}
		v := recorded[name]
		same := testutil.SameResult(result, v.Result)
		switch {
		case *golden.Update && !same:
			v.Version++
			v.Result = result
		case !same:
			t.Errorf("%s has the result %v, and version %d has %v: if it is right, run go test ./harness -run TestCodeVersions -update", name, result, v.Version, v.Result)
		}
		now[name] = v
	}
	if *golden.Update {
		testutil.WriteJSON(t, "../spec/versions.json", now)
	}
}

// TestOtherCode: OfOtherCode finds the newest record of a run whose heuristic now has other code.
// Adopt plans the run of that record, so that the record is kept.
func TestOtherCode(t *testing.T) {
	run := codeRuns()["method polk"]
	planned := func(code string) spec.Planned {
		r := run
		r.Code = code
		return spec.Planned{Run: r, ID: spec.ID(r)}
	}
	now, old, older := planned("pruner twin: source 3"), planned("pruner twin: source 2"), planned("")
	other := run
	other.Seed++
	have := map[string]*record.Record{}
	for i, p := range []spec.Planned{older, old, {Run: other, ID: spec.ID(other)}} {
		have[p.ID] = &record.Record{Header: record.Header{ID: p.ID, Run: p.Run, Started: time.Unix(int64(i), 0)}}
	}
	found := OfOtherCode([]spec.Planned{now, old}, have)
	if len(found) != 1 || found[now.ID] == nil || found[now.ID].Header.ID != old.ID {
		t.Errorf("found %v", found)
	}
	plan := Adopt([]spec.Planned{now}, have)
	if plan[0].ID != old.ID || plan[0].Run.Code != old.Run.Code || now.ID == old.ID {
		t.Errorf("adopted %+v", plan[0])
	}
	const want = "1 runs are of other code: 1 of pruner twin: source 2."
	if got := spec.MixedCode(plan); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPresentCode: the code of a run with a heuristic of another package includes the program's
// hash. The code of a run with KOMP, or with a method without pruner, does not.
func TestPresentCode(t *testing.T) {
	run := codeRuns()["method polk"]
	method := run.PresentCode()
	if method != "method polk: version 2" {
		t.Errorf("KOMP: %q", method)
	}
	prune.Register(prune.Heuristic{Name: "elsewhere", About: "of another package", Identity: "mine 1", New: func(prune.Params) prune.Pruner { return nil }})
	run.Params.Pruner = "elsewhere"
	if code := run.PresentCode(); code != method+", pruner elsewhere: mine 1" {
		t.Errorf("elsewhere: %q", code)
	}
	run.Method = "csvc"
	if code := run.PresentCode(); code != "" {
		t.Errorf("a method without pruner: %q", code)
	}
}
