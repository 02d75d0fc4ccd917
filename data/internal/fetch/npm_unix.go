//go:build unix

package fetch

import (
	"os/exec"
	"syscall"
)

// killGroup makes a command the first of a process group, all of which is
// killed when the command's context ends.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
