//go:build check

package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/record"
)

// block returns the first block of a language in a Markdown text.
func block(t *testing.T, text, language string) string {
	t.Helper()
	all := blocks(text, language)
	if len(all) == 0 {
		t.Fatalf("no block of %s", language)
	}
	return all[0]
}

// overlaid runs the go command on this module with added files, given by path.
func overlaid(t *testing.T, files map[string]string, args ...string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	testutil.NoError(t, err)
	replace := make(map[string]string)
	for path, text := range files {
		replace[filepath.Join(root, path)] = put(t, filepath.Base(path), text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	testutil.NoError(t, err)
	path := put(t, "overlay.json", string(overlay))
	cmd := exec.Command("go", append([]string{args[0], "-overlay", path}, args[1:]...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// runs counts the finished runs of the page's heuristic in the output of --progress json.
func runs(said string) int {
	return len(regexp.MustCompile(`"event":"finish",.*"series":"POLK \(graceful\)`).FindAllString(said, -1))
}

// The heuristic of docs/adding-a-pruner.md is one file of at most 40 lines. When this file alone is
// added to the tree, the heuristic is listed, tested by the suite and run from the page's spec.
// After an edit its runs are repeated.
func TestCheckAddingAPruner(t *testing.T) {
	page := contents(t, "../../docs/adding-a-pruner.md")
	code := block(t, page, "go")
	if n := strings.Count(code, "\n"); n > 40 {
		t.Errorf("the heuristic has %d lines", n)
	}
	file := map[string]string{"polk/prune/graceful.go": code}
	out := overlaid(t, file, "test", "-v", "-run", "TestAll/graceful", "./polk/prune")
	if n := strings.Count(out, "--- PASS: TestAll/graceful/order="); n < 12 {
		t.Errorf("%d tests of the suite were run:\n%s", n, out)
	}

	bin := filepath.Join(t.TempDir(), "runall")
	overlaid(t, file, "build", "-o", bin, "./cmd/runall")
	list, err := exec.Command(bin, "list", "pruners").Output()
	if err != nil || !strings.Contains(string(list), "\ngraceful ") {
		t.Errorf("list pruners: %v\n%s", err, list)
	}
	spec := put(t, "graceful.yaml", block(t, page, "yaml"))
	results := t.TempDir()
	train := func(more ...string) string {
		t.Helper()
		args := append([]string{"reproduce", spec, "--profile", "smoke", "--results", results, "--progress", "json"}, more...)
		out, err := exec.Command(bin, args...).CombinedOutput()
		if err != nil {
			t.Errorf("reproduce: %v\n%s", err, out)
		}
		return string(out)
	}
	if said := train(); runs(said) != 3 {
		t.Errorf("reproduce:\n%s", said)
	}
	if said := train(); runs(said) != 0 {
		t.Errorf("finished runs were repeated:\n%s", said)
	}
	t.Run("in Python", func(t *testing.T) { pythonPage(t, page, spec, results) })

	// An edited heuristic does not reuse the runs of the original.
	edited := strings.Replace(code, "1e100 + s.Cost(j)", "1e100 - s.Cost(j)", 1)
	if edited == code {
		t.Fatalf("nothing to edit in\n%s", code)
	}
	overlaid(t, map[string]string{"polk/prune/graceful.go": edited}, "build", "-o", bin, "./cmd/runall")
	if said, err := exec.Command(bin, "report", spec, "--profile", "smoke", "--results", results, "--out", t.TempDir()).CombinedOutput(); err != nil ||
		!strings.Contains(string(said), "not shown: 3 finished runs of other code, 3 of method polk: version 2, pruner graceful: source ") {
		t.Errorf("report: %v, or not a word on the other code:\n%s", err, said)
	}
	if said := train("--keep"); runs(said) != 0 || !strings.Contains(said, "3 runs are of other code: 3 of method polk: version 2, pruner graceful: source ") {
		t.Errorf("--keep: runs were repeated, or not a word on the other code:\n%s", said)
	}
	if said := train(); runs(said) != 3 || !strings.Contains(said, "not reused (--keep reuses them): 3 finished runs of other code, 3 of method polk: version 2, pruner graceful: source ") {
		t.Errorf("the edited heuristic was not run, or not a word on the other code:\n%s", said)
	}
	if said := train("--rerun"); runs(said) != 3 {
		t.Errorf("--rerun repeated %d runs:\n%s", runs(said), said)
	}
}

// pythonPage: the page's heuristic in Python passes the suite and has the same records as the
// heuristic in Go, except for times. After an edit its runs are repeated.
func pythonPage(t *testing.T, page, spec, results string) {
	dir := python(t)
	code := block(t, page, "python")
	if n := strings.Count(code, "\n"); n > 30 {
		t.Errorf("the heuristic has %d lines", n)
	}
	script := putIn(t, dir, "graceful.py", code)
	passes(t, script)
	own := t.TempDir()
	train := func() int {
		t.Helper()
		status, _, said := call(t, "reproduce", spec, "--profile", "smoke", "--results", own, "--progress", "json", "--pruner", "graceful="+script)
		if status != 0 {
			t.Errorf("reproduce: exit %d\n%s", status, said)
		}
		return runs(said)
	}
	if n := train(); n != 3 {
		t.Errorf("%d runs, want 3", n)
	}
	ours, theirs := byRun(t, results, "graceful"), byRun(t, own, "graceful")
	if len(ours) != 3 || len(theirs) != 3 {
		t.Errorf("%d and %d records", len(ours), len(theirs))
	}
	for run, r := range ours {
		if o := theirs[run]; o == nil || r.Final.Model == nil || !bytes.Equal(record.Canonical(r), record.Canonical(o)) {
			t.Errorf("%s: the records differ", run)
		} else if (r.Final.Timing.Pruner > 0) == (o.Final.Timing.Pruner > 0) {
			t.Errorf("%s: times in the process are %v and %v", run, r.Final.Timing.Pruner, o.Final.Timing.Pruner)
		}
	}
	if n := train(); n != 0 {
		t.Errorf("%d finished runs were repeated", n)
	}
	putIn(t, dir, "graceful.py", strings.Replace(code, "1e100 + s.cost(j)", "1e100 - s.cost(j)", 1))
	if n := train(); n != 3 {
		t.Errorf("%d runs of an edited script, want 3", n)
	}
	status, out, said := call(t, "compare", tinySpec, "--profile", "smoke", "--with", "other="+script, "--results", own, "--progress", "quiet")
	if status != 0 || !strings.Contains(out, "other") {
		t.Errorf("compare: exit %d\n%s%s", status, out, said)
	}
}
