package main

import (
	"fmt"
	"io"
	"strings"

	"polkrepro/harness"
)

// remark prints the data sets whose runs were not started, the failed runs, and why others were not
// started: the first failure in full, which may be a traceback of many lines, the others in a line each.
func remark(stderr io.Writer, results string, out *harness.Outcome) {
	for _, u := range out.Unavailable {
		fmt.Fprintln(stderr, u)
	}
	for i, f := range out.Failed {
		text := f.Err.Error()
		if i > 0 {
			text = brief(text)
		}
		fmt.Fprintf(stderr, "failed, see %s/%s.failed.jsonl: %s\n", harness.RecordsDir(results), f.ID, text)
	}
	for _, line := range out.LeftOut() {
		fmt.Fprintln(stderr, line)
	}
}

// brief returns a text's first line and, after an ellipsis, its last line, which in a
// traceback is the error.
func brief(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return text
	}
	return first + " … " + strings.TrimSpace(rest[strings.LastIndexByte(rest, '\n')+1:])
}

// progressOn is harness.NewProgress on standard error. Bars bypass screen, because they
// redraw the terminal.
func progressOn(mode string, w io.Writer) harness.Progress {
	if mode == harness.ProgressTTY || mode == harness.ProgressAuto && harness.CanRedraw(raw(w)) {
		return harness.NewProgress(harness.ProgressTTY, raw(w))
	}
	return harness.NewProgress(mode, w)
}

// newProgress is progressOn for commands that end with remark.
func newProgress(mode string, w io.Writer) harness.Progress {
	p := progressOn(mode, w)
	if mode == harness.ProgressJSON {
		return p
	}
	return briefFailures{p}
}

// briefFailures shows failures in one line; remark prints the full text once.
type briefFailures struct{ harness.Progress }

func (p briefFailures) Report(e harness.Event) {
	if e.Kind == harness.EventFail {
		e.Message = brief(e.Message)
	}
	p.Progress.Report(e)
}
