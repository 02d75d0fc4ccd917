//go:build check && linux

package slurmtest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/harness"
	"polkrepro/record"
)

const (
	nodes = 2
	tasks = 10
	runs  = 26 // of testdata/*.yaml

	incomplete = 4 // exit status of collect if records are missing
)

// TestCheckSlurm carries out a plan as a job array. One node loses its power in
// the middle of a run and comes back after Slurm has noticed; a task on the
// other is requeued. The records are those of a local reproduction bit for bit.
// Then records are deleted, and what collect prints brings them back.
func TestCheckSlurm(t *testing.T) {
	c := newTrial(t)
	local := c.reproduce(t)
	array, began := c.submit(t, filepath.Join(c.plan, "slurm.sh"))
	lost, left := c.loseNode(t, array, "node1")
	requeued := c.requeue(t, array, "node2")
	c.restoreNode(t, array, "node1", lost)
	c.awaitArray(t, array)
	c.say(t, "the array ended %.1f s after it was submitted", time.Since(began).Seconds())
	all, err := c.jobs(array)
	if err != nil {
		t.Fatal(err)
	}
	c.sayWork(t, all)
	c.checkRestarts(t, all, lost, requeued)
	left.check(t)
	c.collect(t, harness.ExitOK)
	c.compare(t, local)
	c.deleteAndRepeat(t, local)
	c.measureOverhead(t)
	if path := os.Getenv("POLK_SLURM_SUMMARY"); path != "" {
		if err := os.WriteFile(path, []byte(strings.Join(c.log, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A trial is a Slurm of two nodes with a plan and the program to carry it out.
type trial struct {
	*slurm
	began   time.Time
	log     []string // the summary
	work    string   // working folder
	runall  string
	plan    string // folder of the plan
	results string // folder that collect writes to
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	s := start(t, nodes)
	work := t.TempDir()
	c := &trial{
		slurm: s, began: time.Now(), work: work,
		runall: filepath.Join(work, "runall"), plan: filepath.Join(work, "plan"), results: filepath.Join(work, "results"),
	}
	c.say(t, "%s, one controller, %d nodes of one processor", strings.TrimSpace(s.run(t, "sinfo", "--version")), nodes)
	s.run(t, "go", "build", "-buildvcs=auto", "-o", c.runall, "polkrepro/cmd/runall")
	args := append([]string{"cluster", "plan", "--tasks", fmt.Sprint(tasks), "--out", c.plan}, specs(t)...)
	said := c.call(t, harness.ExitOK, args...)
	if want := fmt.Sprintf("%d runs in %d tasks", runs, tasks); !strings.HasPrefix(said, want) {
		t.Fatalf("want %s: %s", want, said)
	}
	first, _, _ := strings.Cut(said, "\n")
	c.say(t, "runall cluster plan: %s", first)
	c.say(t, "%s", strings.TrimSpace(c.call(t, harness.ExitOK, "version")))
	return c
}

func specs(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, name := range []string{"long.yaml", "polk.yaml", "bsgd.yaml"} {
		path, err := filepath.Abs(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// say writes a line of the summary, in which paths are those below the working
// folder.
func (c *trial) say(t *testing.T, format string, args ...any) {
	t.Helper()
	text := strings.NewReplacer("\n", "\n         ", c.work+"/", "").Replace(fmt.Sprintf(format, args...))
	line := fmt.Sprintf("%5.1f s  %s", time.Since(c.began).Seconds(), text)
	c.log = append(c.log, line)
	t.Log(line)
}

// call runs runall, which must exit with the given status, and returns what it
// says on standard output.
func (c *trial) call(t *testing.T, status int, args ...string) string {
	t.Helper()
	cmd := exec.Command(c.runall, args...)
	cmd.Dir = c.work
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != status {
		t.Fatalf("runall %s: exit %d, want %d\n%s%s", strings.Join(args, " "), code, status, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String()
}

// reproduce makes the records without Slurm and returns their folder.
func (c *trial) reproduce(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(c.work, "local")
	c.call(t, harness.ExitOK, append([]string{"reproduce", "--results", dir, "--progress", "quiet"}, specs(t)...)...)
	c.say(t, "the same runs by runall reproduce, without Slurm: done")
	return dir
}

// submit hands a command line of sbatch in and returns the array's number.
func (c *trial) submit(t *testing.T, args ...string) (array string, began time.Time) {
	t.Helper()
	began = time.Now()
	array = strings.TrimSpace(c.run(t, "sbatch", append([]string{"--parsable"}, args...)...))
	c.say(t, "sbatch %s: job array %s", strings.Join(args, " "), array)
	return array, began
}

// A partial is the record that an attempt has begun.
type partial struct {
	path string
	text []byte
}

// check fails the test if what a killed attempt left was touched, or another
// attempt left anything.
func (p partial) check(t *testing.T) {
	t.Helper()
	attempts, err := os.ReadDir(filepath.Dir(filepath.Dir(p.path)))
	if err != nil || len(attempts) != 1 {
		t.Errorf("%d attempts left something, want 1: %v", len(attempts), err)
	}
	if text, err := os.ReadFile(p.path); err != nil || !bytes.Equal(text, p.text) {
		t.Errorf("what the killed attempt left has changed: %d bytes, before %d: %v", len(text), len(p.text), err)
	}
}

// awaitMidRun waits until a node is in the middle of a run, its first points
// written.
func (c *trial) awaitMidRun(t *testing.T, array, node string) (p partial, running job) {
	t.Helper()
	await(t, "a run half done on "+node, func() (err error) {
		if p, err = c.partial(node); err != nil {
			return err
		}
		running, err = c.find(array, func(j job) bool { return j.state == "RUNNING" && j.node == node })
		return err
	})
	return p, running
}

// partial returns what a node has written of a run that is past its first
// points.
func (c *trial) partial(node string) (partial, error) {
	paths, err := filepath.Glob(filepath.Join(c.plan, "results/attempts/*-"+node+"-*/*.partial"))
	if err != nil {
		return partial{}, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return partial{}, err
		}
		if bytes.Count(text, []byte("\n")) > 2 { // the header comes first
			return partial{path, text}, nil
		}
	}
	return partial{}, fmt.Errorf("%d runs begun, none past its first points", len(paths))
}

// loseNode cuts a node's power in the middle of a run. It returns the task, and
// what the run leaves.
func (c *trial) loseNode(t *testing.T, array, node string) (task int, left partial) {
	t.Helper()
	left, running := c.awaitMidRun(t, array, node)
	c.powerOff(t, node)
	var err error
	if left.text, err = os.ReadFile(left.path); err != nil { // the run may have gone on for a moment
		t.Fatalf("the killed run left nothing: %v", err)
	}
	c.say(t, "%s loses its power in the middle of task %d: kill -9 of slurmd, slurmstepd and runall; %d lines of a record are left in attempts/%s",
		node, running.task, bytes.Count(left.text, []byte("\n")), filepath.Base(filepath.Dir(left.path)))
	return running.task, left
}

// requeue makes Slurm take a running task away from a node, by SIGTERM, and
// restart it. It returns the task.
func (c *trial) requeue(t *testing.T, array, node string) int {
	t.Helper()
	_, running := c.awaitMidRun(t, array, node)
	c.run(t, "scontrol", "requeue", running.id)
	c.say(t, "scontrol requeue of task %d, which runs on %s", running.task, node)
	c.startNow(t, array, running.task)
	return running.task
}

// startNow spares a requeued task the two minutes that Slurm holds it back, as
// an operator may.
func (c *trial) startNow(t *testing.T, array string, task int) {
	t.Helper()
	await(t, fmt.Sprintf("task %d in the queue again", task), func() error {
		again, err := c.find(array, func(j job) bool { return j.task == task && j.state == "PENDING" && j.restarts > 0 })
		if err == nil {
			_, err = c.try("scontrol", "update", "JobId="+again.id, "StartTime=now")
		}
		return err
	})
	c.say(t, "task %d is in the queue again", task)
}

// restoreNode boots a node, whose task was lost, after Slurm has noticed that it
// is gone and the task has begun on another one: a node that registers is told to
// kill what it had, and would kill the same task restarted there. Slurm's two
// minutes are for that.
func (c *trial) restoreNode(t *testing.T, array, node string, lost int) {
	t.Helper()
	c.awaitNode(t, node, "DOWN")
	c.say(t, "Slurm has noticed that %s is down", node)
	c.startNow(t, array, lost)
	await(t, fmt.Sprintf("task %d on another node", lost), func() error {
		_, err := c.find(array, func(j job) bool { return j.task == lost && j.state != "PENDING" })
		return err
	})
	c.powerOn(t, node)
	await(t, node+" to be up", func() error {
		is, err := c.nodeState(node)
		if err == nil && strings.HasPrefix(is, "DOWN") {
			err = fmt.Errorf("it is %s", is)
		}
		return err
	})
	c.say(t, "%s is back", node)
}

// sayWork says which node did how much.
func (c *trial) sayWork(t *testing.T, all []job) {
	t.Helper()
	completed := make(map[string]int)
	for _, j := range all {
		completed[j.node]++
	}
	var seconds float64
	for _, r := range records(t, filepath.Join(c.plan, "results")) {
		seconds += r.Final.Elapsed
	}
	for _, n := range c.Nodes {
		c.say(t, "%s completed %d tasks", n.Name, completed[n.Name])
	}
	c.say(t, "the records tell of %.1f s of runs", seconds)
}

// checkRestarts fails the test unless every task is completed and just those
// that were disturbed were restarted, the interrupted one after a clean end.
func (c *trial) checkRestarts(t *testing.T, all []job, lost, requeued int) {
	t.Helper()
	if len(all) != tasks {
		t.Errorf("%d tasks, want %d", len(all), tasks)
	}
	for _, j := range all {
		if j.state != "COMPLETED" {
			t.Errorf("task %d is %s", j.task, j.state)
		}
		disturbed := j.task == lost || j.task == requeued
		if disturbed != (j.restarts > 0) {
			t.Errorf("task %d was restarted %d times", j.task, j.restarts)
		}
		if disturbed {
			c.say(t, "task %d: restarts %d, completed on %s", j.task, j.restarts, j.node)
		}
	}
	out, err := os.ReadFile(filepath.Join(c.plan, "log", fmt.Sprintf("%d.out", requeued)))
	if err != nil || !strings.Contains(string(out), harness.ErrInterrupted.Error()) {
		t.Errorf("the requeued task did not say that it was interrupted: %v\n%s", err, out)
	}
}

// collect brings the records together and returns what it says.
func (c *trial) collect(t *testing.T, status int) string {
	t.Helper()
	said := c.call(t, status, "cluster", "collect", c.plan, "--results", c.results)
	c.say(t, "runall cluster collect: exit %d: %s", status, strings.TrimSpace(said))
	return said
}

// compare fails the test unless the collected records are those of a local
// reproduction, bit for bit.
func (c *trial) compare(t *testing.T, local string) {
	t.Helper()
	want, got := records(t, local), records(t, c.results)
	sum := sha256.New()
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] == nil {
			t.Errorf("no record %s", id)
			continue
		}
		if !bytes.Equal(record.Canonical(got[id]), record.Canonical(want[id])) || got[id].Final.Digest != want[id].Final.Digest {
			t.Errorf("record %s differs", id)
		}
		fmt.Fprintln(sum, id, got[id].Final.Digest)
	}
	said := strings.TrimSpace(c.call(t, harness.ExitOK, "verify", "records", "--results", c.results, "--with", local))
	if agreed := fmt.Sprintf("%d runs compared, %d the same bit for bit; 0 only in the first folder, 0 only in the second", runs, runs); said != agreed {
		t.Errorf("agree: %s", said)
	}
	c.say(t, "runall verify records with the local records: %s", said)
	c.say(t, "SHA-256 of the %d digests: %x", len(want), sum.Sum(nil))
}

func records(t *testing.T, results string) map[string]*record.Record {
	t.Helper()
	all, err := record.ReadDir(harness.RecordsDir(results))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(all.Errors...); err != nil {
		t.Fatal(err)
	}
	return all.Records
}

// deleteAndRepeat deletes the records of the three quickest runs, submits what collect says, and
// compares once more.
func (c *trial) deleteAndRepeat(t *testing.T, local string) {
	t.Helper()
	folder := harness.RecordsDir(filepath.Join(c.plan, "results"))
	all := records(t, local)
	victims := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Compare(all[a].Final.Elapsed, all[b].Final.Elapsed)
	})[:3]
	for _, id := range victims {
		if err := os.Remove(filepath.Join(folder, id+".jsonl")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(c.results); err != nil {
		t.Fatal(err)
	}
	c.say(t, "three records deleted")
	said := c.collect(t, incomplete)
	command := regexp.MustCompile(`sbatch (--array=\S+) (\S+)`).FindStringSubmatch(said)
	if command == nil {
		t.Fatal("no sbatch command")
	}
	kept := modified(t, folder)
	array, _ := c.submit(t, command[1:]...)
	c.awaitArray(t, array)
	after := modified(t, folder)
	for path, when := range kept {
		if !after[path].Equal(when) {
			t.Errorf("%s was written again", path)
		}
	}
	if len(after) != len(kept)+len(victims) {
		t.Errorf("%d records, want %d and %d", len(after), len(kept), len(victims))
	}
	c.collect(t, harness.ExitOK)
	c.compare(t, local)
}

func modified(t *testing.T, folder string) map[string]time.Time {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string]time.Time)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		times[e.Name()] = info.ModTime()
	}
	return times
}

// measureOverhead submits the finished plan once more: all of its tasks find
// their runs done, so what it takes is Slurm's and the program's start.
func (c *trial) measureOverhead(t *testing.T) {
	t.Helper()
	folder := harness.RecordsDir(filepath.Join(c.plan, "results"))
	before := modified(t, folder)
	alone := time.Now()
	c.call(t, harness.ExitOK, "cluster", "exec", c.plan, "--task", "0")
	task := time.Since(alone)
	array, began := c.submit(t, filepath.Join(c.plan, "slurm.sh"))
	c.awaitArray(t, array)
	each := time.Since(began) * nodes / tasks
	if !maps.EqualFunc(before, modified(t, folder), time.Time.Equal) {
		t.Error("the records were written again")
	}
	c.say(t, "a task that has nothing left to do takes %.2f s of a node, %.2f s of it runall's: Slurm adds %.2f s a task",
		each.Seconds(), task.Seconds(), (each - task).Seconds())
}
