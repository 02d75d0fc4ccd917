//go:build unix && !linux

package external

import "syscall"

// attributes puts a process into its own group, so that Ctrl-C in the terminal does not reach
// it. When this program is killed, the process's standard input ends.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
