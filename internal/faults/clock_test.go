//go:build check && linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"polkrepro/record"
)

// jumpingSource is what every package that asks for the time gets. The time
// has the true monotonic reading, from which Go takes durations, and a date
// that is off by up to 18 hours, otherwise every 10 ms. A Time's date is in the
// upper part of its first word.
const jumpingSource = `package %s

import (
	"time"
	"unsafe"
)

var jumpingBegun = time.Now()

func jumpingNow() time.Time {
	now := time.Now()
	slot := uint64(now.Sub(jumpingBegun) / (10 * time.Millisecond))
	seconds := int64(slot*0x9e3779b97f4a7c15>>47) - 1<<16
	*(*uint64)(unsafe.Pointer(&now)) += uint64(seconds) << 30
	return now
}
`

// buildJumping builds a runall whose clock jumps, without a change to the
// source: the compiler is given other files in the place of those that call
// time.Now.
func buildJumping(t *testing.T, dir, binary string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := make(map[string]string)
	put := func(path, text string) {
		if replace[path] != "" {
			return // the folder has another file that calls time.Now
		}
		other := filepath.Join(dir, fmt.Sprintf("clock%d.go", len(replace)))
		if err := os.WriteFile(other, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[path] = other
	}
	for _, path := range clockFiles(t, root) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(path, strings.ReplaceAll(string(b), "time.Now", "jumpingNow")+"\nvar _ time.Duration\n")
		parsed, err := parser.ParseFile(token.NewFileSet(), path, b, parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		put(filepath.Join(filepath.Dir(path), "jumping.go"), fmt.Sprintf(jumpingSource, parsed.Name.Name))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	build(t, binary, "-overlay", path)
}

// clockFiles returns the source files of the program that call time.Now.
func clockFiles(t *testing.T, root string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("time.Now")) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files call time.Now: %v", len(paths), err)
	}
	return paths
}

// build builds runall.
func build(t *testing.T, binary string, flags ...string) {
	t.Helper()
	cmd := exec.Command("go", append(append([]string{"build", "-o", binary}, flags...), "polkrepro/cmd/runall")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// clockTrial notes by how much the dates in records are off.
func (k *kit) clockTrial(results string) {
	c, err := record.ReadDir(filepath.Join(results, "records"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		k.tb.Error(err)
		return
	}
	for _, r := range c.Records {
		k.mu.Lock()
		k.jump = max(k.jump, time.Since(r.Header.Started).Abs())
		k.mu.Unlock()
	}
}
