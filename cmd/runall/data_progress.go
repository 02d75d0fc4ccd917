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
	if mode == harness.ProgressTTY || mode == harness.ProgressAuto && harness.CanRedraw(w) {
		return &fetchBars{p: mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh(), mpb.WithWidth(24))}, nil
	}
	notes, err := harness.NewProgress(mode, w)
	if err != nil {
		return nil, err
	}
	return &fetchLines{notes: notes, terse: mode == harness.ProgressQuiet, now: time.Now}, nil
}

// fetchText says what happened, in a line; "" for what is not worth one.
func fetchText(e data.FetchEvent) string {
	name := e.Dataset + "/" + e.File
	switch e.Kind {
	case data.FetchStart:
		if e.Done > 0 {
			return fmt.Sprintf("fetching  %s from %s, from byte %d on", name, e.Host, e.Done)
		}
		return fmt.Sprintf("fetching  %s from %s", name, e.Host)
	case data.FetchRetry:
		return fmt.Sprintf("again in %s: %s from %s: %v", e.Wait.Round(100*time.Millisecond), name, e.Host, e.Err)
	case data.FetchGiveUp:
		return fmt.Sprintf("failed    %s from %s: %v", name, e.Host, e.Err)
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
		line = fmt.Sprintf("at %s%s  %s/%s", megabytes(e.Done), ofTotal(e.Total), e.Dataset, e.File)
	}
	if line == "" || f.terse && e.Kind != data.FetchGiveUp {
		return
	}
	f.said = f.now()
	f.notes.Report(harness.Event{Kind: harness.EventNote, Message: line})
}

func (f *fetchLines) close() { f.notes.Close() }

// ofTotal writes how much there is to come, if that is known.
func ofTotal(total int64) string {
	if total == 0 {
		return ""
	}
	return " of " + megabytes(total)
}

// fetchBars draws a bar for the file that is being downloaded, below lines that
// say what happened.
type fetchBars struct {
	p   *mpb.Progress
	bar *mpb.Bar
}

func (f *fetchBars) report(e data.FetchEvent) {
	switch e.Kind {
	case data.FetchStart:
		f.start(e)
	case data.FetchProgress:
		f.bar.SetTotal(e.Total, false)
		f.bar.SetCurrent(e.Done)
	default:
		f.stop()
		fmt.Fprintln(f.p, fetchText(e))
	}
}

// start draws a new bar, in place of one that may be there.
func (f *fetchBars) start(e data.FetchEvent) {
	f.stop()
	f.bar = f.p.AddBar(0,
		mpb.PrependDecorators(decor.Name(e.Dataset+"/"+e.File, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			return megabytes(s.Current) + ofTotal(s.Total) + " from " + e.Host
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
