package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/term"

	"polkrepro/internal/testutil"
)

// TestPlainCountsEachPlan: a display of several plans, one after another, counts the runs of
// each from 0.
func TestPlainCountsEachPlan(t *testing.T) {
	var out syncBuffer
	p := newPlain(&out)
	for range 2 {
		p.Report(Event{Kind: EventPlan, Runs: 1, Workers: 1})
		p.Report(Event{Kind: EventFinish, ID: "a", Series: "POLK", Data: "d", Seed: 1, Seconds: 6})
	}
	p.Close()
	if got := strings.Count(out.String(), "(1 of 1)"); got != 2 {
		t.Errorf("%s", out.String())
	}
}

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

// story returns the events of a plan of four runs: a long and a short one finish, one fails, and
// one is interrupted.
func story() []Event {
	run := func(kind, id string, samples int, e, seconds float64) Event {
		return Event{Kind: kind, ID: id, Series: "POLK, K = 0.04", Data: "multidist/calibrated/1", Seed: 3, Total: 1000,
			Samples: samples, Error: e, Order: 16, Seconds: seconds}
	}
	failed := run(EventFail, "b", 320, -1, 2)
	failed.Message = "bad step"
	return []Event{
		note("a remark"),
		{Kind: EventPlan, Runs: 4, Kept: 2, Workers: 2},
		run(EventStart, "a", 0, -1, 0),
		run(EventStart, "b", 0, -1, 0),
		run(EventProgress, "a", 500, -1, 6),
		run(EventProgress, "b", 320, 0.25, 2),
		run(EventFinish, "a", 1000, 0.0398, 12),
		failed,
		run(EventStart, "d", 0, -1, 0),
		run(EventFinish, "d", 1000, 0.0371, 2),
		run(EventStart, "c", 0, -1, 0),
		run(EventStop, "c", 32, -1, 1),
	}
}

func TestProgressModes(t *testing.T) {
	tests := []struct {
		mode string
		want []string // in the display
		not  []string
	}{
		{ProgressPlain, []string{"a remark\n4 runs to do on 2 workers; 2 runs finished already\n" +
			"finished  POLK, K = 0.04, multidist/calibrated/1, seed 3: error 3.98 %, model order 16, 12s (1 of 4)\n" +
			"failed    POLK, K = 0.04, multidist/calibrated/1, seed 3: bad step (2 of 4)\n" +
			"stopped   POLK, K = 0.04, multidist/calibrated/1, seed 3 after 32 of 1000 samples\n" +
			"3 of 4 runs ended after "}, []string{"3.71", "start"}},
		{ProgressAuto, []string{"4 runs to do"}, []string{"\x1b"}}, // a buffer is not a terminal
		{ProgressTTY, []string{"a remark", "bad step", "all runs"}, nil},
		{ProgressQuiet, []string{"a remark\n", "failed: POLK"}, []string{"start", "finished", "stopped", "ended"}},
		{ProgressJSON, []string{`"event":"plan"`}, nil},
	}
	for _, tt := range tests {
		var out syncBuffer
		p := NewProgress(tt.mode, &out)
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
	testutil.MustPanic(t, func() { NewProgress("none", nil) })
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
		testutil.NoError(t, dec.Decode(&got))
		if got != want {
			t.Errorf("event %d: got %+v, want %+v", i, got, want)
		}
	}
}

// TestPlainStatus: a long run writes status lines at growing intervals, and without progress no
// line is written.
func TestPlainStatus(t *testing.T) {
	var out syncBuffer
	p := newPlainEvery(&out, time.Hour) // the test calls status itself
	for _, e := range story()[:4] {
		p.Report(e)
	}
	lines := func() int { return strings.Count(out.String(), "\n") }
	before := lines()
	for range 5 {
		p.status()
	}
	if lines() != before {
		t.Errorf("nothing happened, and a line was written:\n%s", out.String())
	}
	var at []int
	e := story()[4]
	for i := 1; i <= 16; i++ {
		n := lines()
		e.Samples++
		p.Report(e)
		if p.status(); lines() > n {
			at = append(at, i)
		}
	}
	if want := []int{1, 3, 7, 15}; !slices.Equal(at, want) {
		t.Errorf("lines after intervals %v, want %v", at, want)
	}
	if want := "; under way: POLK, K = 0.04, multidist/calibrated/1, seed 3 at 52 % and 1 more\n"; !strings.Contains(out.String(), "0 of 4 runs ended after ") || !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
	p.Report(story()[9]) // a short run ends: a line after the next interval again
	for range 16 {
		p.status()
	}
	p.Report(e)
	before = lines()
	e.Samples++
	p.Report(e)
	if p.status(); lines() != before+1 || !strings.Contains(out.String(), "1 of 4 runs ended after ") {
		t.Errorf("no line soon after a run ended:\n%s", out.String())
	}
	p.Close()
	if lines() != before+1 {
		t.Errorf("Close repeats the last line:\n%s", out.String())
	}
}

// TestCanRedraw: bars need a terminal that can redraw lines.
func TestCanRedraw(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	testutil.NoError(t, err)
	defer f.Close()
	if CanRedraw(f) {
		t.Error("a file can")
	}
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !term.IsTerminal(int(tty.Fd())) {
		t.Skipf("no terminal to be had: %v", err)
	}
	defer tty.Close()
	for name, want := range map[string]bool{"xterm": true, "": true, "dumb": false} {
		t.Setenv("TERM", name)
		if got := CanRedraw(tty); got != want {
			t.Errorf("TERM=%s: %v, want %v", name, got, want)
		}
	}
}

// Every display must handle the events of a real plan.
func TestProgressOfARealPlan(t *testing.T) {
	for _, mode := range ProgressModes() {
		var out syncBuffer
		p := NewProgress(mode, &out)
		_, err := Reproduce(t.Context(), tinyPlan(), Options{Results: t.TempDir(), Methods: fakes(nil), Progress: p})
		p.Close()
		if !errors.Is(err, ErrRunsFailed) { // the registry has no BSGD
			t.Errorf("%s: error %v", mode, err)
		}
	}
}
