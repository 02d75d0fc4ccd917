package main

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"polkrepro/data"
	"polkrepro/harness"
)

// A fetchDisplay shows how far downloads are, in the modes of --progress.
type fetchDisplay interface {
	report(data.FetchEvent)
	close()
}

// newFetchDisplay returns the display of a mode, which writes to w. The error
// is that of harness.NewProgress.
func newFetchDisplay(mode string, w io.Writer) (fetchDisplay, error) {
	if mode == harness.ProgressTTY || mode == harness.ProgressAuto && harness.CanRedraw(raw(w)) {
		return &fetchBars{p: mpb.New(mpb.WithOutput(raw(w)), mpb.WithAutoRefresh(), mpb.WithWidth(24))}, nil
	}
	notes, err := harness.NewProgress(mode, w)
	if err != nil {
		return nil, err
	}
	return &fetchLines{notes: notes, terse: mode == harness.ProgressQuiet, now: time.Now}, nil
}

// fetchName names what an event is about: a file, or a data set that comes as a
// package.
func fetchName(e data.FetchEvent) string {
	if e.File == "" {
		return e.Dataset
	}
	return e.Dataset + "/" + e.File
}

// fetchText describes an event in a line; "" for one that needs none.
func fetchText(e data.FetchEvent) string {
	name := fetchName(e)
	switch e.Kind {
	case data.FetchStart:
		if e.File == "" {
			return fmt.Sprintf("fetching  %s from %s, %s", name, e.Source, megabytes(e.Total))
		}
		if e.Done > 0 {
			return fmt.Sprintf("fetching  %s from %s, from byte %d on", name, e.Source, e.Done)
		}
		return fmt.Sprintf("fetching  %s from %s", name, e.Source)
	case data.FetchRetry:
		return fmt.Sprintf("again in %s: %s from %s: %v", e.Wait.Round(100*time.Millisecond), name, e.Source, e.Err)
	case data.FetchGiveUp:
		return fmt.Sprintf("failed    %s from %s: %v", name, e.Source, e.Err)
	case data.FetchDone:
		return fmt.Sprintf("fetched   %s, %s", name, megabytes(e.Done))
	}
	return ""
}

// megabytes writes a number of bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// fetchLines shows downloads in lines. If terse, only of failures.
type fetchLines struct {
	notes harness.Progress
	terse bool
	now   func() time.Time
	said  time.Time // when the last line was written
}

// fetchHeartbeat is how often a line says how far a download is.
const fetchHeartbeat = 10 * time.Second

func (f *fetchLines) report(e data.FetchEvent) {
	line := fetchText(e)
	if e.Kind == data.FetchProgress && f.now().Sub(f.said) >= fetchHeartbeat {
		line = heartbeatText(e)
	}
	if line == "" || f.terse && e.Kind != data.FetchGiveUp {
		return
	}
	f.said = f.now()
	f.notes.Report(harness.Event{Kind: harness.EventNote, Message: line})
}

func (f *fetchLines) close() { f.notes.Close() }

// heartbeatText says how far a download is.
func heartbeatText(e data.FetchEvent) string {
	if e.File == "" {
		return fmt.Sprintf("after %.0f s  %s from %s, %s", e.Elapsed.Seconds(), fetchName(e), e.Source, megabytes(e.Total))
	}
	return fmt.Sprintf("at %s%s  %s", megabytes(e.Done), ofTotal(e.Total), fetchName(e))
}

// ofTotal writes how much there is to come, if that is known.
func ofTotal(total int64) string {
	if total == 0 {
		return ""
	}
	return " of " + megabytes(total)
}

// fetchBars draws a bar for the file that is being downloaded, or a spinner for
// a package, below lines that say what happened.
type fetchBars struct {
	p   *mpb.Progress
	bar *mpb.Bar
}

func (f *fetchBars) report(e data.FetchEvent) {
	switch {
	case e.Kind == data.FetchStart:
		f.start(e)
	case e.Kind == data.FetchProgress && e.File == "": // the spinner turns by itself
	case e.Kind == data.FetchProgress:
		f.bar.SetTotal(e.Total, false)
		f.bar.SetCurrent(e.Done)
	default:
		f.stop()
		fmt.Fprintln(f.p, fetchText(e))
	}
}

// start draws a new bar or spinner, in place of one that may be there.
func (f *fetchBars) start(e data.FetchEvent) {
	f.stop()
	name := mpb.PrependDecorators(decor.Name(fetchName(e), decor.WCSyncSpaceR))
	if e.File == "" {
		begun := time.Now()
		f.bar = f.p.AddSpinner(0, name, mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			return fmt.Sprintf("%.0f s, %s from %s", time.Since(begun).Seconds(), megabytes(e.Total), e.Source)
		})))
		return
	}
	f.bar = f.p.AddBar(0, name, mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
		return megabytes(s.Current) + ofTotal(s.Total) + " from " + e.Source
	})))
	f.bar.SetCurrent(e.Done)
}

// stop takes the bar away.
func (f *fetchBars) stop() {
	if f.bar != nil {
		f.bar.Abort(true)
		f.bar = nil
	}
}

func (f *fetchBars) close() {
	f.stop()
	f.p.Wait()
}
