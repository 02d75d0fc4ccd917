package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// syncBuffer is a buffer that displays may write to from several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// story is the events of a plan of three runs: one finishes, one fails, and
// one is interrupted.
func story() []Event {
	run := func(kind, id string, samples int, e float64) Event {
		return Event{Kind: kind, ID: id, Series: "POLK, K = 0.04", Data: "multidist/calibrated/1", Seed: 3, Total: 1000,
			Samples: samples, Error: e, Order: 16, Seconds: 2}
	}
	failed := run(EventFail, "b", 320, -1)
	failed.Message = "bad step"
	return []Event{
		note("a remark"),
		{Kind: EventPlan, Runs: 3, Kept: 2, Workers: 2},
		run(EventStart, "a", 0, -1),
		run(EventStart, "b", 0, -1),
		run(EventProgress, "a", 500, -1),
		run(EventProgress, "b", 320, 0.25),
		run(EventFinish, "a", 1000, 0.0398),
		failed,
		run(EventStart, "c", 0, -1),
		run(EventStop, "c", 32, -1),
	}
}

func TestProgressModes(t *testing.T) {
	tests := []struct {
		mode string
		want []string // in the display
		not  []string
	}{
		{ProgressPlain, []string{"a remark\n", "3 runs to do on 2 workers; 2 runs finished already\n",
			"start     POLK, K = 0.04, multidist/calibrated/1, seed 3: 1000 samples\n",
			"finished  POLK, K = 0.04, multidist/calibrated/1, seed 3: error 3.98 %, model order 16, 2s (1 of 3)\n",
			"failed    POLK, K = 0.04, multidist/calibrated/1, seed 3: bad step (2 of 3)\n",
			"stopped   POLK, K = 0.04, multidist/calibrated/1, seed 3 after 32 of 1000 samples\n"}, nil},
		{ProgressAuto, []string{"3 runs to do"}, []string{"\x1b"}}, // a buffer is no terminal
		{ProgressTTY, []string{"a remark", "3 runs to do", "error 3.98 %", "bad step", "all runs"}, nil},
		{ProgressQuiet, []string{"a remark\n", "failed: POLK"}, []string{"start", "finished", "stopped"}},
		{ProgressJSON, []string{`"event":"plan"`}, nil},
	}
	for _, tt := range tests {
		var out syncBuffer
		p, err := NewProgress(tt.mode, &out)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range story() {
			p.Report(e)
		}
		p.Close()
		for _, want := range tt.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", tt.mode, want, out.String())
			}
		}
		for _, not := range tt.not {
			if strings.Contains(out.String(), not) {
				t.Errorf("%s: %q in\n%s", tt.mode, not, out.String())
			}
		}
	}
	if _, err := NewProgress("none", nil); !errors.Is(err, ErrUsage) {
		t.Errorf("unknown mode: error %v", err)
	}
}

func TestProgressJSONLines(t *testing.T) {
	var out syncBuffer
	p := newJSONLines(&out)
	for _, e := range story() {
		p.Report(e)
	}
	dec := json.NewDecoder(strings.NewReader(out.String()))
	dec.DisallowUnknownFields()
	for i, want := range story() {
		var got Event
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("event %d: got %+v, want %+v", i, got, want)
		}
	}
}

func TestPlainHeartbeat(t *testing.T) {
	var out syncBuffer
	p := newPlainEvery(&out, time.Millisecond)
	defer p.Close()
	for _, e := range story()[:6] {
		p.Report(e)
	}
	want := []string{
		"at  32 %  POLK, K = 0.04, multidist/calibrated/1, seed 3: error 25.00 %, model order 16, 4.3s left\n",
		"at  50 %  POLK, K = 0.04, multidist/calibrated/1, seed 3: error -, model order 16, 2s left\n",
	}
	for deadline := time.Now().Add(5 * time.Second); len(want) > 0; {
		if strings.Contains(out.String(), want[0]) {
			want = want[1:]
			continue
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %q in\n%.1000s", want[0], out.String())
		}
		time.Sleep(time.Millisecond)
	}
}

// Displays must bear what a real plan does to them.
func TestProgressOfARealPlan(t *testing.T) {
	for _, mode := range ProgressModes() {
		var out syncBuffer
		p, err := NewProgress(mode, &out)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Reproduce(t.Context(), tinyPlan(), Options{Results: t.TempDir(), Methods: fakes(nil), Progress: p})
		p.Close()
		if !errors.Is(err, ErrRunsFailed) { // the registry has no BSGD
			t.Errorf("%s: error %v", mode, err)
		}
	}
}
