package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// evaluatedStep is one of the steps after which the fakes' runs are evaluated: 10, 19, 29, 31 and
// 32 (see TestEvaluationsAreAtBatchBoundaries).
const evaluatedStep = 19

// TestFailedSample makes evaluations and steps fail.
func TestFailedSample(t *testing.T) {
	damage := func(f *fake) { f.f.W = f.f.W[:1:1] } // the next evaluation panics
	at := func(step int, do func(*fake)) func(*fake) error {
		return func(f *fake) error {
			if f.steps == step {
				do(f)
			}
			return nil
		}
	}
	bad := errors.New("bad step")
	badStep := func(f *fake) error {
		if f.steps == evaluatedStep+1 {
			return bad
		}
		return nil
	}
	tests := []struct {
		name    string
		on      func(*fake) error
		samples int
		points  int // number of evaluations in the record
		want    string
	}{
		{"NaN", at(evaluatedStep, spoil), 608, 2, "after 608 samples: the risk is no longer"},
		{"NaN at the end", at(32, spoil), 1000, 5, "after 1000 samples: the risk is no longer"},
		{"error", badStep, 608, 2, "after 608 samples: bad step"},
		{"panic", at(evaluatedStep+1, func(*fake) { panic("bad") }), 608, 2, "panic: bad"},
		{"panic in the evaluation", at(evaluatedStep, damage), 608, 1, "after 608 samples: panic: runtime error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			results := t.TempDir()
			p := tinyRun("polk", "ksvm", 1)
			_, err := Reproduce(t.Context(), []spec.Planned{p}, Options{Results: results, Methods: fakes(tt.on)})
			if !errors.Is(err, ErrRunsFailed) {
				t.Fatalf("error %v", err)
			}
			r := readAll(t, results).Failed[p.ID]
			text, stack, _ := strings.Cut(r.Failure.Error, "\n")
			if r.Failure.Samples != tt.samples || !strings.HasPrefix(text, tt.want) || len(r.Points) != tt.points {
				t.Errorf("after %d samples and %d evaluations: %q", r.Failure.Samples, len(r.Points), text)
			}
			if strings.Contains(text, "panic") != (stack != "") {
				t.Errorf("stack: %q", stack)
			}
		})
	}
}

// TestInterruptionKeepsEvaluations cancels a run in the step after an evaluation: the partial
// record has the evaluation.
func TestInterruptionKeepsEvaluations(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	methods := fakes(func(f *fake) error {
		if f.steps == evaluatedStep+1 {
			cancel()
		}
		return nil
	})
	results := t.TempDir()
	p := tinyRun("polk", "ksvm", 1)
	_, err := Reproduce(ctx, []spec.Planned{p}, Options{Results: results, Methods: methods})
	if !errors.Is(err, ErrInterrupted) {
		t.Fatalf("error %v", err)
	}
	b, err := os.ReadFile(filepath.Join(RecordsDir(results), p.ID+".jsonl.partial"))
	testutil.NoError(t, err)
	if n := bytes.Count(b, []byte(`"type":"point"`)); n != 2 {
		t.Errorf("%d evaluations in the partial record, want 2", n)
	}
}

// TestRunsShareData: several runs on one data set use the same examples in memory.
func TestRunsShareData(t *testing.T) {
	plan := []spec.Planned{tinyRun("polk", "ksvm", 1), tinyRun("bsgd", "ksvm", 2)}
	sets, _, err := loadAll(t.Context(), data.Finder{}, plan)
	testutil.NoError(t, err)
	if len(sets) != 1 {
		t.Fatalf("%d data sets, want 1", len(sets))
	}
	for _, p := range plan {
		set := sets[p.Run.Data]
		tr, err := newTrainer(p.Run, set, Methods(), newCores(1, 1), nil)
		testutil.NoError(t, err)
		if tr.set != set || &tr.objective.train.X[0] != &set.Train.X[0] || &tr.objective.test.X[0] != &set.Test.X[0] {
			t.Errorf("%s has a copy of the data", p.Run.Method)
		}
	}
}
