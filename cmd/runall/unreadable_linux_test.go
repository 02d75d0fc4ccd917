package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// TestUnreadable: a record or a folder without permission to read it is neither damaged nor missing.
// Every command names it with the system's error, ends with exit status 1 and changes nothing.
func TestUnreadable(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	obeyPermissions(t)
	results := madeUp(t, spec.ProfileSmoke)
	all, err := filepath.Glob(filepath.Join(harness.RecordsDir(results), "*"))
	testutil.NoError(t, err)
	for _, sealed := range []bool{false, true} {
		if sealed {
			_, _, err := harness.Seal(results)
			testutil.NoError(t, err)
		}
		for _, path := range []string{all[3], filepath.Dir(all[0])} {
			testutil.NoError(t, os.Chmod(path, 0))
			for _, args := range [][]string{
				{"verify"}, {"verify", "records"}, {"report"}, {"export"}, {"explain", "table3.multidist.ksvm.polk"}, {"merge", results},
				{"seal"}, {"reproduce", "multidist-ksvm", "--profile", "smoke", "--progress", "quiet"},
			} {
				to := results
				if args[0] == "merge" {
					to = filepath.Join(t.TempDir(), "merged")
				} else if args[0] == "reproduce" && sealed {
					continue // it never writes to a sealed folder
				}
				err := execute(t.Context(), append(args, "--results", to), &output{to: io.Discard}, io.Discard)
				if code := harness.ExitCode(err); code != harness.ExitFailed || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), ": permission denied") {
					t.Errorf("%v, sealed %t: exit status %d, %v", args, sealed, code, err)
				}
			}
			testutil.NoError(t, os.Chmod(path, 0o700))
		}
	}
	if again, _ := filepath.Glob(filepath.Join(harness.RecordsDir(results), "*")); len(again) != len(all) {
		t.Errorf("%d files, were %d", len(again), len(all))
	}
}

// obeyPermissions takes root's right to read every file from the test's thread.
func obeyPermissions(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // without an unlock: the thread ends with the test
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	testutil.NoError(t, unix.Capget(&h, &sets[0]))
	sets[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	testutil.NoError(t, unix.Capset(&h, &sets[0]))
}
