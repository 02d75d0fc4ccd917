package data

import "errors"

var (
	// ErrNotAvailable is wrapped by the error of a data set whose files are
	// found nowhere on the search path. The error's text says where was
	// searched and how to get them.
	ErrNotAvailable = errors.New("data not available")

	// ErrUnknown is wrapped by the error of a reference that names no data
	// set, or no variant or draw of it.
	ErrUnknown = errors.New("unknown data set")

	// ErrCorrupt is wrapped by the error of a file that exists but does not
	// hold what the manifest says.
	ErrCorrupt = errors.New("corrupt data file")
)
