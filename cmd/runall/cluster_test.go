//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"polkrepro/cluster"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
)

// fourRuns is a spec of four runs of some tenths of a second.
const fourRuns = `name: four
title: Four runs
task: ksvm
data: {name: multidist}
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
methods:
  - method: polk
    learning_rate: 6
    batch_size: 32
    grid: {parsimony: [0.04, 0.01]}
repeats:
  - {draws: figure, seeds: 2}
stopping: {samples: 6000}
evaluation: {every: 400, tail: 3, train_limit: 200}
`

// planned writes a plan of fourRuns and returns its folder and the spec.
func planned(t *testing.T, args ...string) (dir, spec string) {
	t.Helper()
	spec = filepath.Join(t.TempDir(), "four.yaml")
	if err := os.WriteFile(spec, []byte(fourRuns), 0o666); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "plan")
	if code, out, errs := call(t, append([]string{"cluster", "plan", spec, "--out", dir}, args...)...); code != 0 || !strings.Contains(out, "4 runs in ") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	return dir, spec
}

// undisturbed returns the records of fourRuns as reproduce makes them.
var undisturbed = sync.OnceValues(func() (map[string]*record.Record, error) {
	spec, err := experiments.Parse("four.yaml", []byte(fourRuns))
	if err != nil {
		return nil, err
	}
	plan, err := spec.Plan(experiments.ProfileQuick, experiments.PlanOptions{})
	if err != nil {
		return nil, err
	}
	results, err := os.MkdirTemp("", "undisturbed-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(results)
	if _, err := harness.Reproduce(context.Background(), plan, harness.Options{Results: results}); err != nil {
		return nil, err
	}
	have, err := record.ReadDir(harness.RecordsDir(results))
	if err != nil {
		return nil, err
	}
	return have.Records, nil
})

// sameAsReproduce compares the records of a results folder with those that
// reproduce makes, bit for bit.
func sameAsReproduce(t *testing.T, results string) {
	t.Helper()
	want, err := undisturbed()
	if err != nil {
		t.Fatal(err)
	}
	got := records(t, results)
	if len(got.Records) != 4 || len(want) != 4 || len(got.Partial)+len(got.Failed) > 0 {
		t.Errorf("%d of %d finished, %d partial and %d failed records", len(got.Records), len(want), len(got.Partial), len(got.Failed))
	}
	for id, r := range want {
		if got.Records[id] == nil || !bytes.Equal(record.Canonical(got.Records[id]), record.Canonical(r)) {
			t.Errorf("record %s is not that of reproduce", id)
		}
	}
}

// TestArrayOfTasks carries out a plan by its Slurm script, every task in two
// processes at once, and collects.
func TestArrayOfTasks(t *testing.T) {
	t.Parallel()
	dir, _ := planned(t, "--tasks", "2")
	script, err := os.ReadFile(filepath.Join(dir, cluster.SlurmName))
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	code, out, _ := call(t, "cluster", "collect", dir, "--from", dir, "--results", results)
	if want := "sbatch --array=0-1 " + filepath.Join(dir, "slurm.sh"); code != harness.ExitIncomplete || !strings.Contains(out, want) {
		t.Errorf("nothing is done: exit %d\n%s, want %s", code, out, want)
	}
	var all []*exec.Cmd
	for _, task := range []string{"0", "1", "0", "1"} {
		cmd := exec.Command("bash", "-s")
		cmd.Stdin = bytes.NewReader(script)
		cmd.Env = append(os.Environ(), asRunall+"=1", "SLURM_ARRAY_TASK_ID="+task)
		cmd.Stderr = new(bytes.Buffer)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, cmd.Stderr)
		}
	}
	for range 2 {
		code, out, errs := call(t, "cluster", "collect", dir, "--results", results)
		if code != 0 || !strings.HasPrefix(out, "4 of 4 runs finished") || strings.Contains(out, "attempts") {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}
	sameAsReproduce(t, results)
}

// TestKilledTask kills a task, by SIGKILL and by SIGTERM, and lets another
// process do it again.
func TestKilledTask(t *testing.T) {
	for _, tt := range []struct {
		signal     syscall.Signal
		exit, left int // attempts that stay behind
	}{{syscall.SIGKILL, -1, 1}, {syscall.SIGTERM, harness.ExitInterrupted, 0}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			t.Parallel()
			dir, _ := planned(t, "--tasks", "1")
			args := []string{"cluster", "exec", dir, "--task", "0", "--progress", "json"}
			p := start(t, args...)
			awaitAttempt(t, dir)
			if err := p.cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			if code := p.wait(t); code != tt.exit {
				t.Fatalf("exit %d, want %d\n%s", code, tt.exit, p.stderr.String())
			}
			resume := fmt.Sprintf("To resume: %s %s\n", p.cmd.Path, strings.Join(args, " "))
			if said := strings.Contains(p.stderr.String(), resume); said != (tt.exit == harness.ExitInterrupted) {
				t.Errorf("no %q in\n%s", resume, p.stderr.String())
			}
			results := t.TempDir()
			code, out, _ := call(t, "cluster", "collect", dir, "--results", results, "--json")
			var c cluster.Collection
			if err := json.Unmarshal([]byte(out), &c); err != nil {
				t.Fatal(err)
			}
			if code != harness.ExitIncomplete || c.Finished == 0 || c.Finished == 4 || c.Count(cluster.StateMissing) != 4-c.Finished || c.Attempts != tt.left || len(c.Again) != 1 {
				t.Errorf("exit %d, %+v", code, c)
			}
			p = start(t, args...)
			if code := p.wait(t); code != 0 {
				t.Fatalf("second attempt: exit %d\n%s", code, p.stderr.String())
			}
			if started := len(reported(t, p.stderr.String(), harness.EventStart)); started != 4-c.Finished {
				t.Errorf("%d runs started, %d were left", started, 4-c.Finished)
			}
			if code, out, _ := call(t, "cluster", "collect", dir, "--results", results); code != 0 {
				t.Errorf("exit %d\n%s", code, out)
			}
			sameAsReproduce(t, results)
		})
	}
}

// awaitAttempt waits until one run of a plan is finished and another has a
// partial record.
func awaitAttempt(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		finished, _ := filepath.Glob(filepath.Join(dir, "results", "records", "*.jsonl"))
		partial, _ := filepath.Glob(filepath.Join(dir, "results", "attempts", "*", "*.partial"))
		if len(finished) > 0 && len(partial) > 0 {
			return
		}
	}
	t.Fatal("no run was finished while another was under way")
}

// TestKilledCollect kills collect at many points: what is there is whole at any
// time, and in the end all of it is.
func TestKilledCollect(t *testing.T) {
	t.Parallel()
	dir, _ := planned(t, "--tasks", "1")
	if code, _, errs := call(t, "cluster", "exec", dir, "--task", "0", "--progress", "quiet"); code != 0 {
		t.Fatal(errs)
	}
	results := filepath.Join(t.TempDir(), "results")
	for i := range 6 {
		p := start(t, "cluster", "collect", dir, "--results", results)
		time.Sleep(time.Duration(i) * 12 * time.Millisecond)
		p.cmd.Process.Kill() // it may have ended by itself
		p.wait(t)
		if _, err := os.Stat(harness.RecordsDir(results)); err == nil {
			records(t, results) // fails if one is not whole
		}
	}
	if code, out, errs := call(t, "cluster", "collect", dir, "--results", results); code != 0 {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	sameAsReproduce(t, results)
}

// TestClusterStatuses: every refusal has its exit status and says what is wrong
// in one line.
func TestClusterStatuses(t *testing.T) {
	t.Parallel()
	dir, spec := planned(t)
	changed, _ := planned(t)
	path := filepath.Join(changed, cluster.PlanName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`"seed": 2`), []byte(`"seed": 3`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, tt := range []struct {
		exit int
		want string
		args []string
	}{
		{0, "holds this plan already", []string{"cluster", "plan", spec, "--out", dir}},
		{0, "of unknown revision", []string{"cluster", "plan", spec, "--out", dir}},
		{2, "was planned without --image: name a new folder", []string{"cluster", "plan", spec, "--out", dir, "--image", "runall"}},
		{2, "has another plan", []string{"cluster", "plan", spec, "--out", dir, "--seeds", "1"}},
		{2, "is not the name of an image", []string{"cluster", "plan", spec, "--out", out, "--image", "<image>"}},
		{2, "--out is missing", []string{"cluster", "plan", spec}},
		{2, `"nonsense"`, []string{"cluster", "plan", "nonsense", "--out", out}},
		{2, "must be an integer from 1", []string{"cluster", "plan", spec, "--out", out, "--tasks", "0"}},
		{1, "no runs: the data of all are missing", []string{"cluster", "plan", "mnist-ksvm", "--out", out}},
		{4, "required data not available: mnist", []string{"cluster", "plan", "mnist-ksvm", "--out", out, "--require-data"}},
		{2, "changed after it was written", []string{"cluster", "exec", changed, "--index", "0"}},
		{2, "changed after it was written", []string{"cluster", "collect", changed}},
		{2, "no such file", []string{"cluster", "exec", out, "--index", "0"}},
		{2, "the plan has runs 0 to 3", []string{"cluster", "exec", dir, "--index", "4"}},
		{2, "the plan has tasks 0 to 3", []string{"cluster", "exec", dir, "--task", "4"}},
		{2, "must be an integer", []string{"cluster", "exec", dir, "--index", "-1"}},
		{2, "give either --index or --task", []string{"cluster", "exec", dir}},
		{2, "give either --index or --task", []string{"cluster", "exec", dir, "--task", "0", "--index", "0"}},
		{2, "accepts 1 arg", []string{"cluster", "exec"}},
		{2, "is not a results folder", []string{"cluster", "collect", dir, "--results", out}},
	} {
		code, stdout, stderr := call(t, tt.args...)
		if code != tt.exit || !strings.Contains(stdout+stderr, tt.want) {
			t.Errorf("%v: exit %d, want %d and %q\n%s%s", tt.args[0], code, tt.exit, tt.want, stdout, stderr)
		}
		if lines := strings.Count(stderr, "runall: "); tt.exit != 0 && (lines != 1 || !strings.HasSuffix(stderr, "\n")) {
			t.Errorf("%v: %d messages\n%s", tt.args, lines, stderr)
		}
	}
}
