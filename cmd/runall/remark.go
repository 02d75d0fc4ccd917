package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"polkrepro/harness"
)

// remark prints the data sets whose runs were not started and the failed runs. Runs that
// failed for the same reason share one text, which may be a traceback of many lines.
func remark(stderr io.Writer, results string, out *harness.Outcome) {
	for _, u := range out.Unavailable {
		fmt.Fprintln(stderr, u)
	}
	path := func(f harness.FailedRun) string { return harness.RecordsDir(results) + "/" + f.ID + ".failed.jsonl" }
	var reasons []string // in order of the first failed run
	failed := make(map[string][]harness.FailedRun)
	for _, f := range out.Failed {
		_, reason := splitFailure(f.Err)
		if failed[reason] == nil {
			reasons = append(reasons, reason)
		}
		failed[reason] = append(failed[reason], f)
	}
	for _, reason := range reasons {
		first, others := failed[reason][0], failed[reason][1:]
		fmt.Fprintf(stderr, "failed, see %s: %v\n", path(first), first.Err)
		if len(others) > 0 {
			fmt.Fprintf(stderr, "%d runs failed for this reason; the others:\n", 1+len(others))
		}
		for _, f := range others {
			run, _ := splitFailure(f.Err)
			fmt.Fprintf(stderr, "  %s: %s\n", path(f), run)
		}
	}
}

var untilSamples = regexp.MustCompile(`^.*?after \d+ samples: `)

// splitFailure splits the text of a failure into the run with its number of samples, which
// may be missing, and the reason.
func splitFailure(err error) (run, reason string) {
	text := err.Error()
	run = untilSamples.FindString(text)
	return strings.TrimSuffix(run, ": "), text[len(run):]
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

// briefFailures shows a failure's first line and, after an ellipsis, its last line, which in
// a traceback is the error. remark prints the full text once.
type briefFailures struct{ harness.Progress }

func (p briefFailures) Report(e harness.Event) {
	if first, rest, ok := strings.Cut(e.Message, "\n"); ok && e.Kind == harness.EventFail {
		e.Message = first + " … " + strings.TrimSpace(rest[strings.LastIndexByte(rest, '\n')+1:])
	}
	p.Progress.Report(e)
}
