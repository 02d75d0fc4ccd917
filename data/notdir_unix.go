//go:build unix

package data

import "syscall"

// errNotDir is what looking for a file below something that is no folder gives.
var errNotDir error = syscall.ENOTDIR
