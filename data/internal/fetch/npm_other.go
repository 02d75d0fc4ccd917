//go:build !unix

package fetch

import "os/exec"

// killGroup does nothing: on these systems only the command itself is killed
// when its context ends.
func killGroup(*exec.Cmd) {}
