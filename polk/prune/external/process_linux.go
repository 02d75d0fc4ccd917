package external

import "syscall"

// attributes puts a process into its own group, so that Ctrl-C in the terminal does not reach
// it, and has it killed when this program is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
