package harness

import (
	"os"
	"path/filepath"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// TestForecast: a run without a record takes as long, for its cost, as recorded runs of its setting, else of
// its method on its data, else by the rough rate.
func TestForecast(t *testing.T) {
	dir := t.TempDir()
	opt := Options{Results: dir, Workers: 1, Methods: fakes(func(*fake) error { return nil })}
	file := filepath.Join(dir, "spec.yaml")
	testutil.NoError(t, os.WriteFile(file, []byte(`name: forecast
title: Runs of three costs
task: ksvm
data: {name: multidist}
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
methods:
  - {method: polk, learning_rate: 6, batch_size: 32, grid: {parsimony: [0.1, 0.2]}}
  - {method: bsgd, learning_rate: 1, budget: 50, maintenance: merging}
repeats: [{draws: figure, seeds: 2}]
stopping: {samples: 64}
evaluation: {every: 32, tail: 1, train_limit: 10}
profiles: {full: {stopping: {samples: 128}}}
`), 0o666))
	plan, err := PlanNamed([]string{file}, spec.ProfileQuick, spec.PlanOptions{}, opt.Finder)
	testutil.NoError(t, err)
	_, err = Reproduce(t.Context(), plan[:1], opt)
	testutil.NoError(t, err)
	f, err := PlanForecast([]string{file}, spec.ProfileFull, spec.PlanOptions{}, opt)
	testutil.NoError(t, err)
	if f.Runs != 6 || f.Recorded != 0 || len(f.Settings) != 3 {
		t.Fatalf("%+v", f)
	}
	first, second, third := f.Settings[0], f.Settings[1], f.Settings[2]
	if first.Basis != BasisRecorded || second.Basis != BasisSimilar || third.Basis != BasisRough || first.Seconds != second.Seconds || third.Seconds != 128*402*50*8.2e-10 {
		t.Errorf("%+v", f.Settings)
	}
	f, err = PlanForecast([]string{file}, spec.ProfileQuick, spec.PlanOptions{Only: spec.Only{"method": {"polk"}}}, opt)
	if err != nil || f.Runs != 4 || f.Recorded != 1 || f.Seconds != 3*f.Settings[0].Seconds {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestSchedule: a worker takes the longest run that is left.
func TestSchedule(t *testing.T) {
	if _, all, wall := schedule([]float64{1, 2, 4, 3}, 1); all != 10 || wall != 10 {
		t.Errorf("one worker: %v, %v", all, wall)
	}
	if workers, _, wall := schedule([]float64{1, 2, 4, 3}, 2); workers == 2 && wall != 5 {
		t.Errorf("two workers: %v", wall)
	}
	if workers, all, wall := schedule(nil, 2); workers != 1 || all != 0 || wall != 0 {
		t.Errorf("no runs: %v, %v, %v", workers, all, wall)
	}
}
