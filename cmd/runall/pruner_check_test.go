//go:build check

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block returns the first block of a language in a Markdown text.
func block(t *testing.T, text, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n```"+language+"\n")
	code, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("no block of %s", language)
	}
	return code
}

// overlaid runs the go command on this module with more files in it, by their paths.
func overlaid(t *testing.T, files map[string]string, args ...string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := make(map[string]string)
	for path, text := range files {
		replace[filepath.Join(root, path)] = write(t, filepath.Base(path), text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "overlay.json", string(overlay))
	cmd := exec.Command("go", append([]string{args[0], "-overlay", path}, args[1:]...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The heuristic of docs/adding-a-pruner.md is one file of at most 40 lines. With
// it in the tree and nothing else changed it is listed, tested by the suite and
// run from the page's spec.
func TestCheckAddingAPruner(t *testing.T) {
	page, err := os.ReadFile("../../docs/adding-a-pruner.md")
	if err != nil {
		t.Fatal(err)
	}
	code := block(t, string(page), "go")
	if n := strings.Count(code, "\n"); n > 40 {
		t.Errorf("the heuristic has %d lines", n)
	}
	file := map[string]string{"polk/prune/graceful.go": code}
	out := overlaid(t, file, "test", "-v", "-run", "TestAll/graceful", "./polk/prune")
	if n := strings.Count(out, "--- PASS: TestAll/graceful/order="); n < 10 {
		t.Errorf("%d tests of the suite were run:\n%s", n, out)
	}

	bin := filepath.Join(t.TempDir(), "runall")
	overlaid(t, file, "build", "-o", bin, "./cmd/runall")
	list, err := exec.Command(bin, "list", "pruners").Output()
	if err != nil || !strings.Contains(string(list), "\ngraceful ") {
		t.Errorf("list pruners: %v\n%s", err, list)
	}
	spec := write(t, "graceful.yaml", block(t, string(page), "yaml"))
	results := t.TempDir()
	trained, err := exec.Command(bin, "reproduce", spec, "--profile", "smoke", "--results", results, "--progress", "json").CombinedOutput()
	if err != nil || len(regexp.MustCompile(`"event":"finish",.*"series":"POLK \(graceful\)`).FindAll(trained, -1)) != 3 {
		t.Errorf("reproduce: %v\n%s", err, trained)
	}
}
