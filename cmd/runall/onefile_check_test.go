//go:build check

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"polkrepro/harness"
)

// The learner, batch baseline, data set, kernel and loss of docs/adding-one-file.md are one new
// file each. Each builds when it alone is added to the tree. With all of them the program lists
// them and runs the page's spec.
func TestCheckOneFileEach(t *testing.T) {
	t.Parallel()
	page := contents(t, "../../docs/adding-one-file.md")
	all := make(map[string]string)
	for _, section := range []string{"A learner", "A baseline", "A data set", "A kernel", "A loss"} {
		_, body, _ := strings.Cut(page, "\n## "+section+"\n")
		body, _, _ = strings.Cut(body, "\n## ")
		files := regexp.MustCompile("(?s)\n`([a-z/_]+\\.go)`:\n\n```go\n(.*?)```").FindAllStringSubmatch(body, -1)
		if len(files) != 1 || strings.Count(body, "```go\n") != 1 {
			t.Fatalf("%s takes %d files, want 1", section, len(files))
		}
		path, code := files[0][1], files[0][2]
		if _, err := os.Stat(filepath.Join("../..", path)); err == nil {
			t.Errorf("%s: %s is in the tree already", section, path)
		}
		overlaid(t, map[string]string{path: code}, "vet", "./"+filepath.Dir(path))
		all[path] = code
	}

	bin := filepath.Join(t.TempDir(), "runall")
	overlaid(t, all, "build", "-o", bin, "./cmd/runall")
	for what, names := range map[string][]string{"methods": {"window", "means"}, "datasets": {"rings"}} {
		list, err := exec.Command(bin, "list", what).Output()
		for _, name := range names {
			if err != nil || !strings.Contains("\n"+string(list), "\n"+name+" ") {
				t.Errorf("list %s: %v, no %s in\n%s", what, err, name, list)
			}
		}
	}
	spec := put(t, "trial.yaml", block(t, page, "yaml"))
	var progress bytes.Buffer
	run := exec.Command(bin, "reproduce", spec, "--profile", "smoke", "--results", t.TempDir(), "--progress", "json")
	run.Stderr = &progress
	if out, err := run.Output(); err != nil {
		t.Fatalf("reproduce: %v\n%s%s", err, out, &progress)
	}
	errors := make(map[string]float64)
	for _, e := range reported(t, progress.String(), harness.EventFinish) {
		errors[e.Series] = e.Error
	}
	// The largest ring has 61 % of the points, so guessing it errs on 39 %.
	for _, series := range []string{"Window, w = 50", "Window, w = 200", "POLK", "Class means"} {
		if e, ok := errors[series]; !ok || !(e > 0 && e < 0.35) {
			t.Errorf("%s: error %v, want one below 0.35; all: %v", series, e, errors)
		}
	}

	misspelt := put(t, "trial.yaml", strings.Replace(block(t, page, "yaml"), "width: [50, 200]", "width: [50, 0]", 1))
	out, err := exec.Command(bin, "reproduce", misspelt).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "width is 0, want at least 1") {
		t.Errorf("width: 0: %v\n%s", err, out)
	}
}
