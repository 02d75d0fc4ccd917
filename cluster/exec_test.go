package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/record"
)

// recordsIn reads the records of a results folder, none of which may be damaged.
func recordsIn(t *testing.T, results string) *record.Collection {
	t.Helper()
	c, err := record.ReadDir(harness.RecordsDir(results))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Errors...); err != nil {
		t.Fatal(err)
	}
	return c
}

// left returns the names of what attempts left behind.
func left(t *testing.T, results string) []string {
	t.Helper()
	return testutil.Names(t, filepath.Join(results, attemptsName))
}

// sameRecords compares the deterministic part of records.
func sameRecords(t *testing.T, got, want map[string]*record.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	for id, r := range want {
		if got[id] == nil {
			t.Errorf("no record of run %s", id)
		} else if !bytes.Equal(record.Canonical(got[id]), record.Canonical(r)) {
			t.Errorf("records of run %s differ", id)
		}
	}
}

// reproduced returns the records of fourRuns as reproduce makes them.
func reproduced(t *testing.T) map[string]*record.Record {
	t.Helper()
	results := t.TempDir()
	if _, err := harness.Reproduce(t.Context(), fourRuns(t), harness.Options{Results: results}); err != nil {
		t.Fatal(err)
	}
	return recordsIn(t, results).Records
}

// exec carries out runs of a plan, which must succeed.
func exec(t *testing.T, p *Plan, results string, indexes ...int) *harness.Outcome {
	t.Helper()
	out, err := p.Exec(t.Context(), indexes, harness.Options{Results: results, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecordsAreThoseOfReproduce: planned, carried out task by task into two
// folders and collected, the records are those of a reproduction, bit for bit.
func TestRecordsAreThoseOfReproduce(t *testing.T) {
	want := reproduced(t)
	p := fourPlan(t, 3)
	node := []string{t.TempDir(), t.TempDir()}
	for k := range p.Tasks {
		indexes, err := p.Select(-1, k)
		if err != nil {
			t.Fatal(err)
		}
		if out := exec(t, p, node[k%2], indexes...); len(out.Finished) != len(indexes) || len(out.Kept)+len(out.Failed) > 0 {
			t.Errorf("task %d: %+v", k, out)
		}
	}
	results := t.TempDir()
	c, err := p.Collect(node, results)
	if err != nil {
		t.Fatal(err)
	}
	if c.Finished != 4 || c.Copied != 4 || len(c.Left) > 0 || len(c.Again) > 0 || c.Attempts != 0 {
		t.Errorf("%+v", c)
	}
	sameRecords(t, recordsIn(t, results).Records, want)
	out, err := harness.Reproduce(t.Context(), fourRuns(t), harness.Options{Results: results})
	if err != nil || len(out.Kept) != 4 || len(out.Finished) > 0 {
		t.Errorf("reproduce did not find them finished: %+v, %v", out, err)
	}
}

// TestAttemptsAtOnce: several attempts at the same runs at once all succeed,
// and leave the records of one.
func TestAttemptsAtOnce(t *testing.T) {
	want := reproduced(t)
	p := fourPlan(t, 1)
	results := t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := p.Exec(t.Context(), p.Tasks[0].Runs, harness.Options{Results: results, Workers: 2}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sameRecords(t, recordsIn(t, results).Records, want)
	if names := left(t, results); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestFinishedRunIsKept: its file is not touched; one that is damaged, or of
// other data, is remade.
func TestFinishedRunIsKept(t *testing.T) {
	p := fourPlan(t, 4)
	results := t.TempDir()
	exec(t, p, results, 0)
	path := recordPath(results, p.Runs[0].ID)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	out := exec(t, p, results, 0, 1)
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) || !slices.Equal(out.Kept, []string{p.Runs[0].ID}) || len(out.Finished) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if out := exec(t, p, results, 0); len(out.Finished) != 1 {
		t.Errorf("the damaged record was kept: %+v", out)
	}
	recordsIn(t, results)
}

func TestSelectRefuses(t *testing.T) {
	p := fourPlan(t, 3)
	for _, tt := range [][2]int{{4, -1}, {-1, 3}} {
		if _, err := p.Select(tt[0], tt[1]); harness.ExitCode(err) != harness.ExitUsage {
			t.Errorf("%v: %v", tt, err)
		}
	}
	if got, err := p.Select(3, -1); err != nil || !slices.Equal(got, []int{3}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestExecRefuses: a plan of another program or of other data is not carried
// out, with the exit status that says so, and nothing is written.
func TestExecRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	mnist := data.Ref{Name: "mnist"}
	for _, tt := range []struct {
		want  string
		exit  int
		forge func(*Plan)
	}{
		{"made by another program", harness.ExitUsage, func(p *Plan) { p.Program.Revision = "0123" }},
		{"made by another program", harness.ExitUsage, func(p *Plan) { p.Program.Dirty = !p.Program.Dirty }},
		{"differ from the plan's", harness.ExitIncomplete, func(p *Plan) { p.Data[0].Sums = map[string]string{"multidist": "0123"} }},
		{"searched", harness.ExitIncomplete, func(p *Plan) {
			r := &p.Runs[0].Planned
			r.Run.Data = mnist
			r.ID = experiments.ID(r.Run)
			p.Data = append(p.Data, DataSum{Ref: data.Ref{Name: "mnist"}, Sums: map[string]string{}})
		}},
	} {
		p := fourPlan(t, 4)
		tt.forge(p)
		results := filepath.Join(t.TempDir(), "results")
		out, err := p.Exec(t.Context(), []int{0}, harness.Options{Results: results})
		if harness.ExitCode(err) != tt.exit || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v, %v, want %q", out, err, tt.want)
		}
		if _, err := os.Stat(results); err == nil {
			t.Errorf("%s: something was written", tt.want)
		}
	}
}

// failing is a registry whose POLK fails.
func failing(err error) harness.Registry {
	methods := harness.Methods()
	methods["polk"] = harness.Method{New: func(harness.Problem) (harness.Learner, error) { return nil, err }}
	return methods
}

// TestFailedRun: it does not stop the others, has a record of its failure, and
// is run again.
func TestFailedRun(t *testing.T) {
	p := fourPlan(t, 1)
	results := t.TempDir()
	out, err := p.Exec(t.Context(), p.Tasks[0].Runs, harness.Options{Results: results, Workers: 1, Methods: failing(errors.New("no luck"))})
	if !errors.Is(err, harness.ErrRunsFailed) || len(out.Failed) != 2 || len(out.Finished) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	if c := recordsIn(t, results); len(c.Failed) != 2 || len(c.Records) != 2 {
		t.Errorf("%d failed, %d finished", len(c.Failed), len(c.Records))
	}
	if out := exec(t, p, results, p.Tasks[0].Runs...); len(out.Kept) != 2 || len(out.Finished) != 2 {
		t.Errorf("%+v", out)
	}
	if c := recordsIn(t, results); len(c.Failed) != 0 || len(c.Records) != 4 {
		t.Errorf("%d failed, %d finished", len(c.Failed), len(c.Records))
	}
	if names := left(t, results); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestInterruptedExec: what was under way leaves nothing behind, what was
// finished stays.
func TestInterruptedExec(t *testing.T) {
	p := fourPlan(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := t.TempDir()
	methods := harness.Methods()
	begun := 0
	for name, m := range harness.Methods() {
		if m.New == nil {
			continue
		}
		methods[name] = harness.Method{New: func(problem harness.Problem) (harness.Learner, error) {
			if begun++; begun == 3 {
				cancel()
			}
			return m.New(problem)
		}}
	}
	out, err := p.Exec(ctx, p.Tasks[0].Runs, harness.Options{Results: results, Workers: 1, Methods: methods})
	if harness.ExitCode(err) != harness.ExitInterrupted || len(out.Finished) != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	if c := recordsIn(t, results); len(c.Records) != 2 || len(c.Failed)+len(c.Partial) > 0 {
		t.Errorf("%d finished, %d failed, %d partial", len(c.Records), len(c.Failed), len(c.Partial))
	}
	if names := left(t, results); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestUnwritableResults: the error is that of the folder.
func TestUnwritableResults(t *testing.T) {
	results := filepath.Join(t.TempDir(), "results")
	if err := os.WriteFile(results, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := fourPlan(t, 4).Exec(t.Context(), []int{0}, harness.Options{Results: results})
	if harness.ExitCode(err) != harness.ExitFailed || !strings.HasPrefix(err.Error(), "results folder: ") {
		t.Error(err)
	}
}

// TestExecFollowsNoLink: a results folder of someone else does not lead the
// attempts or the records elsewhere.
func TestExecFollowsNoLink(t *testing.T) {
	p := fourPlan(t, 1)
	for _, name := range []string{attemptsName, "records"} {
		results, outside := t.TempDir(), t.TempDir()
		if err := os.Symlink(outside, filepath.Join(results, name)); err != nil {
			t.Skip(err)
		}
		_, err := p.Exec(t.Context(), []int{0}, harness.Options{Results: results, Workers: 1})
		if !errors.Is(err, harness.ErrUsage) || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s is a link: error %v", name, err)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
			t.Errorf("outside there are %v, %v", entries, err)
		}
	}
}
