package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

// The fakes' runs of these tests are evaluated after steps 10, 19, 29, 31 and
// 32 (see TestEvaluationsAreAtBatchBoundaries). On one core each evaluation
// interrupts the training; on two it goes on beside it.
const evaluatedStep = 19

// onCores does f with one core and with two.
func onCores(t *testing.T, f func(t *testing.T)) {
	for name, procs := range map[string]int{"inline": 1, "beside": 2} {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			f(t)
		})
	}
}

// untimed returns points without what differs between two executions.
func untimed(points []record.Point) []record.Point {
	out := make([]record.Point, len(points))
	for i, p := range points {
		p.Timing = record.Timing{}
		out[i] = p
	}
	return out
}

// TestFailuresDoNotDependOnWhereEvaluationsAre lets evaluations and steps
// fail, also in such a way that the training is ahead of the evaluation that
// ends the run.
func TestFailuresDoNotDependOnWhereEvaluationsAre(t *testing.T) {
	damage := func(f *fake) { f.f.W = f.f.W[:1] } // the next evaluation panics
	at := func(step int, do func(*fake)) func(*fake) error {
		return func(f *fake) error {
			if f.steps == step {
				do(f)
			}
			return nil
		}
	}
	then := func(first, second func(*fake) error) func(*fake) error {
		return func(f *fake) error { return errors.Join(first(f), second(f)) }
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
		points  int // emitted
		want    string
	}{
		{"NaN", at(evaluatedStep, spoil), 608, 2, "after 608 samples: the risk is no longer"},
		{"NaN at the end", at(32, spoil), 1000, 5, "after 1000 samples: the risk is no longer"},
		{"NaN, then an error", then(at(evaluatedStep, spoil), badStep), 608, 2, "after 608 samples: the risk is no longer"},
		{"NaN, then a panic", then(at(evaluatedStep, spoil), at(evaluatedStep+1, func(*fake) { panic("bad") })), 608, 2,
			"after 608 samples: the risk is no longer"},
		{"error", badStep, 608, 2, "after 608 samples: bad step"},
		{"panic", at(evaluatedStep+1, func(*fake) { panic("bad") }), 608, 2, "panic: bad"},
		{"panic in the evaluation", at(evaluatedStep, damage), 608, 1, "after 608 samples: panic: runtime error"},
		{"panic in the evaluation, then an error", then(at(evaluatedStep, damage), badStep), 608, 1, "after 608 samples: panic: runtime error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen [][]record.Point
			onCores(t, func(t *testing.T) {
				results := t.TempDir()
				p := tinyRun("polk", "ksvm", 1)
				_, err := Reproduce(t.Context(), []experiments.Planned{p}, Options{Results: results, Methods: fakes(tt.on)})
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
				seen = append(seen, untimed(r.Points))
			})
			for i, p := range seen[0] { // NaN is not equal to itself
				q := seen[1][i]
				if finite(p.TestRisk) && !reflect.DeepEqual(p, q) || finite(p.TestRisk) != finite(q.TestRisk) {
					t.Errorf("points %+v and %+v", p, q)
				}
			}
		})
	}
}

// TestPanicWhereAnEvaluationGoes lets the consumer of evaluations panic.
func TestPanicWhereAnEvaluationGoes(t *testing.T) {
	onCores(t, func(t *testing.T) {
		run := tinyRun("polk", "ksvm", 1)
		sets, _, err := loadAll(t.Context(), data.NewStore(data.Finder{}), []experiments.Planned{run})
		if err != nil {
			t.Fatal(err)
		}
		_, cores := layout(1, 1)
		tr, err := newTrainer(run.Run, sets[run.Run.Data], fakes(nil), cores, nil)
		if err != nil {
			t.Fatal(err)
		}
		emitted := 0
		tr.emit = func(record.Point) error {
			emitted++
			panic("bad consumer")
		}
		var panicked *PanicError
		if err := tr.train(t.Context()); !errors.As(err, &panicked) || emitted != 1 {
			t.Errorf("error %v after %d evaluations", err, emitted)
		}
	})
}

// TestInterruptionFlushesEvaluations cancels in the step that follows one that
// is evaluated: the evaluation is in the partial record.
func TestInterruptionFlushesEvaluations(t *testing.T) {
	onCores(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		methods := fakes(func(f *fake) error {
			if f.steps == evaluatedStep+1 {
				cancel()
			}
			return nil
		})
		results := t.TempDir()
		p := tinyRun("polk", "ksvm", 1)
		_, err := Reproduce(ctx, []experiments.Planned{p}, Options{Results: results, Methods: methods})
		if !errors.Is(err, ErrInterrupted) {
			t.Fatalf("error %v", err)
		}
		b, err := os.ReadFile(filepath.Join(RecordsDir(results), p.ID+".jsonl.partial"))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b, []byte(`"type":"point"`)); n != 2 {
			t.Errorf("%d evaluations in the partial record, want 2", n)
		}
	})
}

// TestStopwatchLeavesOutWhatIsBeside burns processor time beside a step that
// sleeps.
func TestStopwatchLeavesOutWhatIsBeside(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell the time of one thread")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const burn = 0.1 // seconds of processor time
	var w stopwatch
	begun, done := make(chan bool), make(chan bool)
	w.start(1)
	w.stop()
	before := w.total.CPU
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		w.beside.begin()
		begun <- true
		for w.beside.seconds() < burn {
		}
		w.beside.end()
		done <- true
	}()
	<-begun
	w.start(2)
	for w.beside.seconds() < burn {
		time.Sleep(time.Millisecond)
	}
	w.stop()
	<-done
	if cpu := w.total.CPU - before; cpu > burn/2 {
		t.Errorf("the step is charged %v s, while %v s went by beside it", cpu, burn)
	}
	if s := w.beside.seconds(); s < burn || s > 100*burn {
		t.Errorf("the meter says %v s after the end, want %v", s, burn)
	}
}

// TestRunsShareData loads a plan of several runs on one data set and looks
// where their examples lie.
func TestRunsShareData(t *testing.T) {
	plan := []experiments.Planned{tinyRun("polk", "ksvm", 1), tinyRun("bsgd", "ksvm", 2)}
	sets, _, err := loadAll(t.Context(), data.NewStore(data.Finder{}), plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 1 {
		t.Fatalf("%d data sets, want 1", len(sets))
	}
	for _, p := range plan {
		set := sets[p.Run.Data]
		tr, err := newTrainer(p.Run, set, Methods(), newCores(1, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if tr.set != set || &tr.objective.train.X[0] != &set.Train.X[0] || &tr.objective.test.X[0] != &set.Test.X[0] {
			t.Errorf("%s has a copy of the data", p.Run.Method)
		}
	}
}
