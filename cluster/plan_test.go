package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
)

func TestMain(m *testing.M) {
	os.Unsetenv(data.EnvDir) // no test reads real data
	os.Setenv(data.EnvOffline, "1")
	os.Exit(m.Run())
}

// fourRuns returns runs of a fraction of a second on multidist: POLK and BSGD,
// two seeds each.
func fourRuns(t testing.TB) []experiments.Planned {
	t.Helper()
	s, err := experiments.Parse("four.yaml", []byte(`name: four
title: Four short runs
task: ksvm
data: {name: multidist}
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
methods:
  - {method: polk, learning_rate: 6, batch_size: 32, parsimony: 0.04}
  - {method: bsgd, learning_rate: 1, budget: 16, maintenance: removal}
repeats:
  - {draws: figure, seeds: 2}
stopping: {samples: 1000}
evaluation: {every: 300, tail: 3, train_limit: 200}
`))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := s.Plan(experiments.ProfileSmoke, experiments.PlanOptions{})
	if err != nil || len(runs) != 4 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	return runs
}

// fourPlan returns the plan of fourRuns in so many tasks.
func fourPlan(t testing.TB, tasks int) *Plan {
	t.Helper()
	p, lacking, err := Make(context.Background(), fourRuns(t), experiments.ProfileSmoke, tasks, data.Finder{})
	if err != nil || len(lacking) > 0 {
		t.Fatal(lacking, err)
	}
	return p
}

func encoded(t testing.TB, p *Plan) []byte {
	t.Helper()
	b, err := p.encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPlanIsTheSameBytes: a plan that is made again is the same file, and what
// is read from it is the same plan.
func TestPlanIsTheSameBytes(t *testing.T) {
	runs := fourRuns(t)
	runs = append(runs, runs[0]) // a run that two specs share is in the plan once
	p, _, err := Make(t.Context(), runs, experiments.ProfileSmoke, 3, data.Finder{})
	if err != nil {
		t.Fatal(err)
	}
	b := encoded(t, p)
	if again := encoded(t, fourPlan(t, 3)); !bytes.Equal(b, again) {
		t.Errorf("\n%s\nagain:\n%s", b, again)
	}
	read, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if again := encoded(t, read); !bytes.Equal(b, again) || read.Sum != p.Sum {
		t.Errorf("\n%s\nread:\n%s", b, again)
	}
	if len(p.Runs) != 4 || len(p.Tasks) != 3 || len(p.Data) != 1 || p.Specs[0] != "four" {
		t.Errorf("%+v", p)
	}
}

// TestMakeLeavesOutWhatIsMissing: runs on data that are not here are no part
// of the plan; if none is left there is no plan.
func TestMakeLeavesOutWhatIsMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := experiments.Find("mnist-ksvm")
	if err != nil {
		t.Fatal(err)
	}
	absent, err := s.Plan(experiments.ProfileQuick, experiments.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, lacking, err := Make(t.Context(), append(absent, fourRuns(t)...), experiments.ProfileQuick, 9, data.Finder{})
	if err != nil || len(p.Runs) != 4 || len(lacking) != 1 || lacking[0].Runs != len(absent) || lacking[0].Ref.Name != "mnist" {
		t.Errorf("%+v, %v, %v", p, lacking, err)
	}
	p, lacking, err = Make(t.Context(), absent, experiments.ProfileQuick, 9, data.Finder{})
	if p != nil || len(lacking) != 1 || err == nil || !strings.Contains(err.Error(), "no runs: the data") {
		t.Errorf("%+v, %v, %v", p, lacking, err)
	}
}

func TestMakeIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Make(ctx, fourRuns(t), experiments.ProfileSmoke, 9, data.Finder{}); !errors.Is(err, harness.ErrInterrupted) {
		t.Error(err)
	}
}

// TestChangedByte: a plan with any one byte changed, taken out or put in, or
// that breaks off, is not read.
func TestChangedByte(t *testing.T) {
	b := encoded(t, fourPlan(t, 4))
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		c := rapid.Byte().Filter(func(c byte) bool { return c != b[at] }).Draw(t, "byte")
		for what, changed := range map[string][]byte{
			"changed":    bytes.Join([][]byte{b[:at], {c}, b[at+1:]}, nil),
			"taken out":  bytes.Join([][]byte{b[:at], b[at+1:]}, nil),
			"put in":     bytes.Join([][]byte{b[:at], {c}, b[at:]}, nil),
			"broken off": b[:at],
			"appended":   append(bytes.Clone(b), c),
		} {
			if _, err := Parse(changed); err == nil {
				t.Errorf("byte %d %s: read", at, what)
			}
		}
	})
}

// TestForgedPlan: a plan with the right sum that this program would not have
// written is not read.
func TestForgedPlan(t *testing.T) {
	honest := fourPlan(t, 4)
	honest.Tasks = []Task{{[]int{0}, 1}, {[]int{1}, 1}, {[]int{2}, 1}, {[]int{3}, 1}}
	good := encoded(t, honest)
	for want, forge := range map[string]func(*Plan){
		"format 2":                func(p *Plan) { p.Format = 2 },
		"made by another program": func(p *Plan) { p.Program.ResultVersion++ },
		`no profile "../smoke"`:   func(p *Plan) { p.Profile = "../smoke" },
		"a plan of no runs":       func(p *Plan) { p.Runs, p.Tasks = nil, nil },
		"run 1: its index is 7":   func(p *Plan) { p.Runs[1].Index = 7 },
		"run 0: it was planned with other code": func(p *Plan) {
			p.Runs[0].Run.Code = "pruner komp: source 1"
			p.Runs[0].ID = experiments.ID(p.Runs[0].Run)
		},
		"run 0: its ID is":          func(p *Plan) { p.Runs[0].ID = "../../etc/passwd" },
		"run 2: its ID is":          func(p *Plan) { p.Runs[2].Run.Seed = 9 },
		"run 3: duplicate":          func(p *Plan) { p.Runs[3] = p.Runs[2]; p.Runs[3].Index = 3 },
		"run 0: 0 samples":          func(p *Plan) { p.Runs[0].Run.Samples = 0 },
		"run 0: batch_size is":      func(p *Plan) { p.Runs[0].Run.Params.BatchSize = math.MaxInt },
		"is not a valid name":       func(p *Plan) { p.Runs[1].Series = "\x1b[2J" },
		"run 1: its cost is -1":     func(p *Plan) { p.Runs[1].Cost = -1 },
		"no sums of its data":       func(p *Plan) { p.Data = nil },
		"a data set is given twice": func(p *Plan) { p.Data = append(p.Data, p.Data[0]) },
		"data or specs that no run": func(p *Plan) { p.Data = append(p.Data, DataSum{Ref: data.Ref{Name: "mnist"}}) },
		"specs that no run uses":    func(p *Plan) { p.Specs = append(p.Specs, "five") },
		"task 0: 0 runs":            func(p *Plan) { p.Tasks[0].Runs = nil },
		"task 1: 1 runs in 0 MiB":   func(p *Plan) { p.Tasks[1].Memory = 0 },
		"task 1: no run 99":         func(p *Plan) { p.Tasks[1].Runs = []int{99} },
		"task 1: no run -1":         func(p *Plan) { p.Tasks[1].Runs = []int{-1} },
		"task 3: no run 0 is left":  func(p *Plan) { p.Tasks[3].Runs = []int{0} },
		"1 runs are in no task":     func(p *Plan) { p.Tasks = p.Tasks[:3] },
		"among those of large":      func(p *Plan) { p.Tasks[0].Memory = largeMemory + 1 },
	} {
		p, err := Parse(good)
		if err != nil {
			t.Fatal(err)
		}
		forge(p)
		if _, err := Parse(encoded(t, p)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// sealed returns the file that begins with head and has the right sum, so that
// a fuzzer gets past it.
func sealed(head []byte) []byte {
	return files.AppendSum(sha256.New(), slices.Concat(head, []byte(sumTail)), sumTail)
}

// FuzzReadPlan: any bytes, with and without the right sum, give an error or a
// plan that is written as it was read and whose records' names are its own.
func FuzzReadPlan(f *testing.F) {
	p := fourPlan(f, 1)
	p.Runs, p.Tasks[0].Runs = p.Runs[:1], []int{0}
	file := encoded(f, p)
	head := file[:len(file)-len(sumTail)-len(p.Sum)]
	f.Add(file)
	f.Add(head)
	for _, change := range [][2]string{
		{`"seed": 1`, `"seed": 3`}, {`"samples": 1000`, `"samples": 1e9`}, {`"batch_size": 32`, `"batch_size": -1`},
		{`"parsimony": 0.04`, `"pruner": "window", "pruner_params": {"": 1}`}, {`"index": 0`, `"index": 0, "index": 0`},
	} {
		f.Add(bytes.Replace(head, []byte(change[0]), []byte(change[1]), 1))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, b := range [][]byte{text, sealed(text)} {
			p, err := Parse(b)
			if err != nil {
				continue
			}
			if again := encoded(t, p); !bytes.Equal(b, again) {
				t.Errorf("read as\n%s\nof\n%s", again, b)
			}
			for i, r := range p.Runs {
				if r.ID != experiments.ID(r.Run) || r.Index != i {
					t.Errorf("run %d has ID %s and index %d", i, r.ID, r.Index)
				}
			}
		}
	})
}

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, PlanName), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, t.TempDir(), filepath.Join(dir, "nowhere")} {
		if _, err := Read(dir); !errors.Is(err, harness.ErrUsage) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
