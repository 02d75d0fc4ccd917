//go:build !unix

package data

import "io/fs"

// errNotDir is what looking for a file below something that is no folder gives.
var errNotDir error = fs.ErrNotExist
