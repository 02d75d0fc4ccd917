package harness

import (
	"fmt"
	"io"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"polkrepro/internal/charset"
)

// bars draws a progress bar for each active run and one for all runs. Close removes
// the bars; lines on failures and notes stay.
type bars struct {
	mu     sync.Mutex
	p      *mpb.Progress
	all    *mpb.Bar
	active map[string]*runBar
}

// A runBar is the bar of one run with the event it shows.
type runBar struct {
	mu   sync.Mutex
	bar  *mpb.Bar
	last Event
}

// lastPriority keeps the bar of all runs below the bars of single runs.
const lastPriority = 1 << 30

func newBars(w io.Writer) *bars {
	// Without auto-refresh mpb draws nothing if w is not a terminal, but the user
	// asked for bars.
	return &bars{p: mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh(), mpb.WithWidth(24)), active: map[string]*runBar{}}
}

func (b *bars) Report(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e.Kind {
	case EventPlan:
		b.addTotal(e)
	case EventNote:
		b.say(e.Message)
	case EventStart:
		b.active[e.ID] = b.addRun(e)
	case EventProgress:
		if r := b.active[e.ID]; r != nil {
			r.show(e)
		}
	default:
		b.finish(e)
	}
}

// say writes a line above the bars.
func (b *bars) say(line string) { fmt.Fprintln(b.p, charset.Shown(line)) }

func (b *bars) addTotal(e Event) {
	if e.Runs == 0 {
		return
	}
	b.all = b.p.AddBar(int64(e.Runs), mpb.BarPriority(lastPriority), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name("all runs", decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.CountersNoUnit("%d of %d"), decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 9})))
}

// partSteps is the length of a batch method's bar.
const partSteps = 1000

func (b *bars) addRun(e Event) *runBar {
	r := &runBar{last: e}
	total, right := int64(e.Total), []decor.Decorator{decor.Any(r.text), decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 8})}
	if e.Batch { // the speed of its steps changes, so the remaining time can't be estimated
		total, right = partSteps, []decor.Decorator{decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 9})}
	}
	r.bar = b.p.AddBar(total, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(e.label(), decor.WCSyncSpaceR)),
		mpb.AppendDecorators(right...))
	return r
}

// finish removes a run's bar and writes a line if the run failed.
func (b *bars) finish(e Event) {
	if r := b.active[e.ID]; r != nil {
		r.bar.Abort(true)
		delete(b.active, e.ID)
	}
	if e.Kind == EventFail {
		b.say(verbs[e.Kind] + " " + endText(e))
	}
	if b.all != nil && e.Kind != EventStop {
		b.all.Increment()
	}
}

func (b *bars) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.active {
		r.bar.Abort(true)
	}
	if b.all != nil {
		b.all.Abort(true)
	}
	b.p.Wait()
}

func (r *runBar) show(e Event) {
	r.mu.Lock()
	r.last = e
	r.mu.Unlock()
	if e.Batch {
		r.bar.SetCurrent(int64(e.Part * partSteps))
		return
	}
	r.bar.SetCurrent(int64(e.Samples))
}

func (r *runBar) text(decor.Statistics) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%sorder %d", r.last.errorText(), r.last.Order)
}
