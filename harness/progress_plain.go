package harness

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// heartbeat is how often the plain display says how far the runs are.
const heartbeat = 10 * time.Second

// plain writes lines: one at the start and the end of every run, and every
// ten seconds one for each that is under way.
type plain struct {
	mu     sync.Mutex
	w      io.Writer
	active map[string]Event // the latest event of the runs under way, by ID
	total  int
	done   int
	stop   chan struct{}
	ended  sync.WaitGroup
}

func newPlain(w io.Writer) *plain { return newPlainEvery(w, heartbeat) }

func newPlainEvery(w io.Writer, every time.Duration) *plain {
	p := &plain{w: w, active: map[string]Event{}, stop: make(chan struct{})}
	p.ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.beat()
			}
		}
	})
	return p
}

func (p *plain) Report(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case EventPlan:
		p.total = e.Runs
		fmt.Fprintln(p.w, planText(e))
	case EventNote:
		fmt.Fprintln(p.w, e.Message)
	case EventStart:
		p.active[e.ID] = e
		fmt.Fprintf(p.w, "start     %s: %d samples\n", e.label(), e.Total)
	case EventProgress:
		p.active[e.ID] = e
	case EventStop:
		delete(p.active, e.ID)
		fmt.Fprintf(p.w, "stopped   %s\n", endText(e))
	default:
		delete(p.active, e.ID)
		p.done++
		fmt.Fprintf(p.w, "%-9s %s (%d of %d)\n", verbs[e.Kind], endText(e), p.done, p.total)
	}
}

var verbs = map[string]string{EventFinish: "finished", EventFail: "failed", EventStop: "stopped"}

// beat says how far the runs are.
func (p *plain) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(p.active)) {
		e := p.active[id]
		if e.Batch {
			fmt.Fprintf(p.w, "at %3.0f %%  %s: %s so far\n", 100*e.Part, e.label(), short(e.Seconds))
			continue
		}
		fmt.Fprintf(p.w, "at %3.0f %%  %s: error %s, model order %d%s\n",
			100*float64(e.Samples)/float64(max(e.Total, 1)), e.label(), e.errorText(), e.Order, remainingText(e))
	}
}

func (p *plain) Close() {
	close(p.stop)
	p.ended.Wait()
}

// planText says what there is to do.
func planText(e Event) string {
	s := "nothing to do"
	if e.Runs > 0 {
		s = fmt.Sprintf("%s to do on %s", count(e.Runs, "run"), count(e.Workers, "worker"))
	}
	if e.Kept > 0 {
		s += fmt.Sprintf("; %s finished already", count(e.Kept, "run"))
	}
	return s
}

// endText describes a run that is no longer under way.
func endText(e Event) string {
	switch e.Kind {
	case EventFail:
		return e.label() + ": " + e.Message
	case EventStop:
		if e.Batch {
			return fmt.Sprintf("%s after %s", e.label(), short(e.Seconds))
		}
		return fmt.Sprintf("%s after %d of %d samples", e.label(), e.Samples, e.Total)
	}
	return fmt.Sprintf("%s: error %s, model order %d, %s", e.label(), e.errorText(), e.Order, short(e.Seconds))
}

// remainingText estimates when a run ends.
func remainingText(e Event) string {
	if e.Samples == 0 {
		return ""
	}
	left := e.Seconds * float64(e.Total-e.Samples) / float64(e.Samples)
	return ", " + short(left) + " left"
}

// short writes seconds as 1h2m3s.
func short(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
