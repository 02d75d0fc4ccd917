package harness

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"polkrepro/internal/words"
)

// Thresholds of the log.
const (
	longRun     = 5.0         // seconds; a shorter run that finishes has no line in the log
	statusEvery = time.Minute // minimum time between two status lines
)

// plain writes a log. It has a line for the end of each run, except short runs that
// finish, and from time to time a status line on all runs if they have made progress
// since the last line.
type plain struct {
	mu     sync.Mutex
	w      io.Writer
	active map[string]Event // the latest event of each active run, by ID
	total  int
	done   int
	began  time.Time // when the plan was reported

	told     int  // value of done in the last line
	progress bool // whether runs have made progress since the last line
	idle     int  // intervals since the last line
	wait     int  // minimum number of intervals before the next status line

	every time.Duration
	tick  *time.Ticker
	stop  chan struct{}
	ended sync.WaitGroup
}

func newPlain(w io.Writer) *plain { return newPlainEvery(w, statusEvery) }

func newPlainEvery(w io.Writer, every time.Duration) *plain {
	p := &plain{w: w, active: map[string]Event{}, began: time.Now(), wait: 1,
		every: every, tick: time.NewTicker(every), stop: make(chan struct{})}
	p.ended.Go(func() {
		defer p.tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-p.tick.C:
				p.status()
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
		p.total, p.done, p.told, p.began = e.Runs, 0, 0, time.Now()
		p.tick.Reset(p.every)
		fmt.Fprintln(p.w, planText(e))
	case EventNote:
		fmt.Fprintln(p.w, e.Message)
	case EventStart, EventProgress:
		before := p.active[e.ID]
		p.progress = p.progress || e.Samples > before.Samples || e.Part > before.Part
		p.active[e.ID] = e
	case EventStop:
		delete(p.active, e.ID)
		fmt.Fprintf(p.w, "stopped   %s\n", endText(e))
	default:
		delete(p.active, e.ID)
		p.done++
		p.progress = true
		if e.Kind == EventFail || e.Seconds >= longRun {
			p.line("%-9s %s (%d of %d)", verbs[e.Kind], endText(e), p.done, p.total)
			p.wait = 1
		}
	}
}

var verbs = map[string]string{EventFinish: "finished", EventFail: "failed", EventStop: "stopped"}

// line writes a line that contains the number of ended runs.
func (p *plain) line(format string, args ...any) {
	fmt.Fprintf(p.w, format+"\n", args...)
	p.told, p.progress, p.idle = p.done, false, 0
}

// status writes a status line on all runs if they have made progress since the last
// line. While no run ends, the line comes after one interval, two more, four more and
// so on: the log of a long run shows progress but stays short.
func (p *plain) status() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle++
	if !p.progress || p.idle < p.wait {
		return
	}
	p.wait *= 2
	if p.done > p.told {
		p.wait = 1
	}
	p.line("%d of %s ended after %s%s", p.done, words.Count(p.total, "run"), short(time.Since(p.began).Seconds()), p.underWay())
}

// underWay names the run that has been active for longest, with its progress.
func (p *plain) underWay() string {
	if len(p.active) == 0 {
		return ""
	}
	var longest Event
	for _, id := range slices.Sorted(maps.Keys(p.active)) {
		if e := p.active[id]; longest.ID == "" || e.Seconds > longest.Seconds {
			longest = e
		}
	}
	percent := 100 * longest.Part
	if !longest.Batch {
		percent = 100 * float64(longest.Samples) / float64(longest.Total)
	}
	s := fmt.Sprintf("; under way: %s at %.0f %%", longest.label(), percent)
	if more := len(p.active) - 1; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// Close writes the number of ended runs unless the last line contains it.
func (p *plain) Close() {
	close(p.stop)
	p.ended.Wait()
	if p.done > p.told {
		p.line("%d of %s ended after %s", p.done, words.Count(p.total, "run"), short(time.Since(p.began).Seconds()))
	}
}

// planText describes the plan: runs to do, workers and finished runs.
func planText(e Event) string {
	s := "nothing to do"
	if e.Runs > 0 {
		s = fmt.Sprintf("%s to do on %s", words.Count(e.Runs, "run"), words.Count(e.Workers, "worker"))
	}
	if e.Kept > 0 {
		s += fmt.Sprintf("; %s finished already", words.Count(e.Kept, "run"))
	}
	return s
}

// endText describes a run that has ended.
func endText(e Event) string {
	switch e.Kind {
	case EventFail:
		return e.label() + ": " + e.Message
	case EventFinish:
		if e.Message != "" {
			return e.label() + ": " + e.Message
		}
	case EventStop:
		if e.Batch {
			return fmt.Sprintf("%s after %s", e.label(), short(e.Seconds))
		}
		return fmt.Sprintf("%s after %d of %d samples", e.label(), e.Samples, e.Total)
	}
	return fmt.Sprintf("%s: %smodel order %d, %s", e.label(), e.errorText(), e.Order, short(e.Seconds))
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
