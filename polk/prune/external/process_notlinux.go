//go:build unix && !linux

package external

import "syscall"

// attributes puts a process into a group of its own, so that a Ctrl-C at the terminal
// leaves it alone. When this program is killed, its standard input ends.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
