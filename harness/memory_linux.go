package harness

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memoryLimit returns the maximum memory of a run in bytes: nine tenths of the
// machine's memory, or of the control group's limit if that is less. It is 0, no
// limit, if the system does not tell.
func memoryLimit() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	total := int64(info.Totalram) * int64(info.Unit)
	if b, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if group, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
			total = min(total, group)
		}
	}
	return total / 10 * 9
}
