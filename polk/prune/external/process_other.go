//go:build !unix

package external

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) error { return p.Kill() }
