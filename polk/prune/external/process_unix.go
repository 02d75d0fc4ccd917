//go:build unix

package external

import (
	"os"
	"syscall"
)

// killGroup kills a process and the processes that it has started.
func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != syscall.ESRCH {
		return err
	}
	return os.ErrProcessDone
}
