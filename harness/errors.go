package harness

import "errors"

var (
	// ErrRunsFailed is wrapped by the error of a reproduction of which some
	// runs failed; the others are finished.
	ErrRunsFailed = errors.New("runs failed")

	// ErrInterrupted is wrapped by the error of work that was told to stop.
	// A reproduction can be resumed; calibrations and streams begin anew.
	ErrInterrupted = errors.New("interrupted")

	// ErrMissingData is wrapped by the error of a reproduction that was told
	// to require all data sets and lacks one.
	ErrMissingData = errors.New("required data not available")

	// ErrLocked is wrapped by the error of a results folder that another
	// process is at work in.
	ErrLocked = errors.New("results folder is locked")

	// ErrUsage is wrapped by the error of a request that makes no sense.
	ErrUsage = errors.New("wrong use")
)

// Usage returns an error of the same text that also wraps ErrUsage, or nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

type usageError struct{ err error }

func (e *usageError) Error() string   { return e.err.Error() }
func (e *usageError) Unwrap() []error { return []error{ErrUsage, e.err} }

// Exit statuses of the command line.
const (
	ExitOK          = 0
	ExitFailed      = 1   // a run failed, or anything else went wrong
	ExitUsage       = 2   // wrong use, a results folder in use included
	ExitMissingData = 4   // --require-data, and some are missing
	ExitInterrupted = 130 // Ctrl-C or SIGTERM, as shells report it
)

// ExitCode returns the exit status that belongs to an error.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.Is(err, ErrMissingData):
		return ExitMissingData
	case errors.Is(err, ErrUsage), errors.Is(err, ErrLocked):
		return ExitUsage
	}
	return ExitFailed
}
