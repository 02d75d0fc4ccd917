package harness

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Kinds of events, in the order in which they occur.
const (
	EventPlan     = "plan"     // once, before the first run
	EventNote     = "note"     // something the user should know
	EventStart    = "start"    // a run begins
	EventProgress = "progress" // a run goes on
	EventFinish   = "finish"   // a run is finished
	EventFail     = "fail"     // a run failed
	EventStop     = "stop"     // a run was interrupted
)

// An Event is something that happens while runs are executed.
type Event struct {
	Kind    string  `json:"event"`
	Runs    int     `json:"runs,omitempty"`    // plan: number of runs to do
	Kept    int     `json:"kept,omitempty"`    // plan: number of runs that are finished already
	Workers int     `json:"workers,omitempty"` // plan: number of parallel runs
	ID      string  `json:"id,omitempty"`      // ID of the run; all events of a run have id, series, data, seed and total
	Series  string  `json:"series,omitempty"`
	Data    string  `json:"data,omitempty"`
	Seed    uint64  `json:"seed,omitempty"`
	Total   int     `json:"total,omitempty"`   // number of samples that the run will process
	Samples int     `json:"samples,omitempty"` // number of samples processed so far; 0 for a batch method
	Batch   bool    `json:"batch,omitempty"`   // whether the method is a batch method, which processes all samples again and again
	Part    float64 `json:"part,omitempty"`    // estimated fraction of a batch method's work that is done, below 1
	Error   float64 `json:"error"`             // test error of the latest evaluation; negative before the first
	Order   int     `json:"order"`             // model order
	Seconds float64 `json:"seconds"`           // time since the run began, in seconds
	Message string  `json:"message,omitempty"` // note, fail: text of the message; finish: how a run of a search diverged
}

// label names a run in a line of text.
func (e Event) label() string { return fmt.Sprintf("%s, %s, seed %d", e.Series, e.Data, e.Seed) }

// errorText returns the latest test error as "error 3.98 %, ", or "" before the first
// evaluation.
func (e Event) errorText() string {
	if e.Error < 0 {
		return ""
	}
	return fmt.Sprintf("error %.2f %%, ", 100*e.Error)
}

// A Progress displays events. Its methods may be called concurrently.
type Progress interface {
	Report(Event)
	Close() // ends the display; Report must not be called afterwards
}

// Progress modes.
const (
	ProgressAuto  = "auto" // tty on a terminal, else plain
	ProgressTTY   = "tty"
	ProgressPlain = "plain"
	ProgressJSON  = "json"
	ProgressQuiet = "quiet"
)

// ProgressModes lists the modes of NewProgress.
func ProgressModes() []string {
	return []string{ProgressAuto, ProgressTTY, ProgressPlain, ProgressJSON, ProgressQuiet}
}

// NewProgress returns the display of a mode, which writes to w. It panics if the mode is
// unknown.
func NewProgress(mode string, w io.Writer) Progress {
	switch {
	case mode == ProgressTTY, mode == ProgressAuto && CanRedraw(w):
		return newBars(w)
	case mode == ProgressPlain, mode == ProgressAuto:
		return newPlain(w)
	case mode == ProgressJSON:
		return newJSONLines(w)
	case mode == ProgressQuiet:
		return quiet{w}
	}
	panic("harness: unknown progress mode " + mode)
}

// CanRedraw reports whether w is a terminal that can redraw lines. Terminals with
// TERM=dumb, as in some editors, can't. The bars have no colour, so NO_COLOR is
// ignored.
func CanRedraw(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// quiet shows failures and notes only.
type quiet struct{ w io.Writer }

func (q quiet) Report(e Event) {
	switch e.Kind {
	case EventNote:
		fmt.Fprintln(q.w, e.Message)
	case EventFail:
		fmt.Fprintf(q.w, "failed: %s: %s\n", e.label(), e.Message)
	}
}

func (quiet) Close() {}
