//go:build check

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// brokenTest needs modules that 'go mod download' does not bring: go mod tidy
// asks for those of the tests of dependencies. A test of this project did so, and
// failed on every machine whose module cache nothing else had filled.
const brokenTest = `package files

import (
	"os/exec"
	"testing"
)

func TestBrokenOnPurpose(t *testing.T) {
	cmd := exec.Command("sh", "-ec", ` + "`" + `
		root=$(go env GOMOD) && root=${root%/go.mod}
		cd "$TMPDIR" && mkdir mine && cd mine
		go mod init example.com/mine
		go mod edit -require polkrepro@v0.0.0 -replace polkrepro="$root"
		cp "$root/go.sum" .
		printf 'package main\nimport _ "polkrepro/report/export"\nfunc main() {}\n' > main.go
		go mod tidy` + "`" + `)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
`

// TestCheckStranger: .ci/stranger fails if a test needs a module that 'go mod
// download' does not bring. (That it passes otherwise, .ci/run shows.)
func TestCheckStranger(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("clone", "--quiet", root, clone)
	if err := os.WriteFile(filepath.Join(clone, "internal/files/broken_test.go"), []byte(brokenTest), 0o644); err != nil {
		t.Fatal(err)
	}
	git("-C", clone, "add", ".")
	git("-C", clone, "commit", "--quiet", "--message", "A test that needs a module of no download")
	out, err := exec.Command(filepath.Join(root, ".ci/stranger"), clone, "go", "test", "./internal/files").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("TestBrokenOnPurpose")) || !bytes.Contains(out, []byte("module lookup disabled by GOPROXY=off")) {
		t.Errorf("error %v, want one of the broken test's that names GOPROXY=off", err)
	}
	t.Logf("%s", out)
}
