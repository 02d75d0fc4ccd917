package harness

import "errors"

var (
	// ErrRunsFailed is wrapped by the error of a reproduction in which some runs
	// failed and all other runs finished.
	ErrRunsFailed = errors.New("runs failed")

	// ErrInterrupted is wrapped by the error of work that was told to stop.
	// A reproduction can be resumed; calibrations and streams start over.
	ErrInterrupted = errors.New("interrupted")

	// ErrMissingData is wrapped by the error of a reproduction that requires all
	// data sets if one is unavailable.
	ErrMissingData = errors.New("required data not available")

	// ErrLocked is wrapped by the error for a results folder that is locked by
	// another process.
	ErrLocked = errors.New("results folder is locked")

	// ErrUsage is wrapped by the error for an invalid request.
	ErrUsage = errors.New("wrong use")

	// ErrIncomplete is wrapped by the error for missing or damaged records or a
	// broken seal.
	ErrIncomplete = errors.New("records missing or damaged")

	// ErrNoRecords is wrapped by the error for a results folder without records.
	ErrNoRecords = errors.New("no records")

	// ErrDeviates is wrapped by the error for claims, verdicts or records that
	// deviate from their expected values.
	ErrDeviates = errors.New("results deviate")
)

// Usage returns an error of the same text that also wraps ErrUsage, or nil.
func Usage(err error) error { return ofKind(ErrUsage, err) }

// Incomplete returns an error of the same text that also wraps ErrIncomplete, or nil.
func Incomplete(err error) error { return ofKind(ErrIncomplete, err) }

// Deviates returns an error of the same text that also wraps ErrDeviates, or nil.
func Deviates(err error) error { return ofKind(ErrDeviates, err) }

func ofKind(kind, err error) error {
	if err == nil {
		return nil
	}
	return &kindError{kind, err}
}

type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

// Exit statuses of the command line.
const (
	ExitOK          = 0
	ExitFailed      = 1   // a run failed, or anything else went wrong
	ExitUsage       = 2   // wrong use, or the results folder is in use
	ExitDeviates    = 3   // a claim, verdict or record deviates
	ExitIncomplete  = 4   // records or required data are missing or damaged
	ExitInterrupted = 130 // Ctrl-C or SIGTERM, as shells report it
)

// ExitCode returns the exit status for an error.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.Is(err, ErrDeviates):
		return ExitDeviates
	case errors.Is(err, ErrMissingData), errors.Is(err, ErrIncomplete):
		return ExitIncomplete
	case errors.Is(err, ErrUsage), errors.Is(err, ErrLocked):
		return ExitUsage
	}
	return ExitFailed
}
