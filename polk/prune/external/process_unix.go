//go:build unix

package external

import (
	"os"
	"syscall"
)

// attributes puts a process into its own group, so that Ctrl-C in the terminal does not reach
// it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process and the processes that it has started.
func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != syscall.ESRCH {
		return err
	}
	return os.ErrProcessDone
}
