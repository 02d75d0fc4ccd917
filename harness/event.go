package harness

import (
	"fmt"
	"io"
	"os"
	"strings"

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
	Runs    int     `json:"runs,omitempty"`    // plan: runs to be done
	Kept    int     `json:"kept,omitempty"`    // plan: runs that are finished already
	Workers int     `json:"workers,omitempty"` // plan
	ID      string  `json:"id,omitempty"`      // of the run; this and the next four in all events of a run
	Series  string  `json:"series,omitempty"`
	Data    string  `json:"data,omitempty"`
	Seed    uint64  `json:"seed,omitempty"`
	Total   int     `json:"total,omitempty"`   // samples that the run will process
	Samples int     `json:"samples,omitempty"` // samples processed so far; 0 of a batch method
	Batch   bool    `json:"batch,omitempty"`   // a batch method's run, which processes all samples again and again
	Part    float64 `json:"part,omitempty"`    // of a batch method's way to its end, below 1, as far as it can tell
	Error   float64 `json:"error"`             // test error of the latest evaluation, negative before it
	Order   int     `json:"order"`             // model order
	Seconds float64 `json:"seconds"`           // since the run began
	Message string  `json:"message,omitempty"` // note, fail
}

// label names a run in a line of text.
func (e Event) label() string { return fmt.Sprintf("%s, %s, seed %d", e.Series, e.Data, e.Seed) }

// errorText shows the test error so far.
func (e Event) errorText() string {
	if e.Error < 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*e.Error)
}

// A Progress shows what happens. Its methods may be called concurrently.
type Progress interface {
	Report(Event)
	Close() // ends the display; nothing may be reported afterwards
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

// NewProgress returns the display of a mode, which writes to w. The error
// wraps ErrUsage if there is no such mode.
func NewProgress(mode string, w io.Writer) (Progress, error) {
	if mode == ProgressAuto {
		mode = detectMode(w)
	}
	switch mode {
	case ProgressTTY:
		return newBars(w), nil
	case ProgressPlain:
		return newPlain(w), nil
	case ProgressJSON:
		return newJSONLines(w), nil
	case ProgressQuiet:
		return quiet{w}, nil
	}
	return nil, Usage(fmt.Errorf("no progress mode %q (there are %s)", mode, strings.Join(ProgressModes(), ", ")))
}

// detectMode chooses bars for a terminal and lines for everything else.
func detectMode(w io.Writer) string {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return ProgressTTY
	}
	return ProgressPlain
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
