package external

import "syscall"

// attributes puts a process into a group of its own, so that a Ctrl-C at the terminal
// leaves it alone, and has it killed when this program is.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
