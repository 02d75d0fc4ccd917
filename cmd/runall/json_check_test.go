//go:build check

package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// The programs of docs/export.md read the output of the page's commands: the first program with
// Python alone, the others with pandas.
func TestCheckJSONPage(t *testing.T) {
	_, err := exec.LookPath("python3")
	testutil.Need(t, err)
	page := contents(t, "../../docs/export.md")
	results, dir := madeUp(t, spec.ProfileSmoke), t.TempDir()
	commands := strings.ReplaceAll(blocks(page, "sh")[0], "--results results", "--results "+results)
	for _, line := range strings.Split(strings.TrimSpace(commands), "\n") {
		line, file, _ := strings.Cut(line, " > ")
		args := strings.Fields(line)[1:]
		code, stdout, stderr := call(t, args...)
		if code != 0 {
			t.Fatalf("%s: exit %d, %s", line, code, stderr)
		}
		putIn(t, dir, file, stdout)
	}
	interpreter := "python3"
	python := func(program string) string {
		cmd := exec.Command(interpreter, "-c", program)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	programs := blocks(page, "python")
	if out := python(programs[0]); strings.Count(out, "\n") < 3 || !regexp.MustCompile(`(?m)^multidist POLK, K = 0.04 1 4.00 % 368$`).MatchString(out) {
		t.Errorf("of Python alone:\n%s", out)
	}
	if exec.Command(interpreter, "-c", "import pandas").Run() != nil {
		interpreter = "/usr/bin/python3" // Debian's Python, if python3 is another
	}
	if exec.Command(interpreter, "-c", "import pandas").Run() != nil {
		t.Log("no pandas: its programs are left out")
		return
	}
	if out := python(strings.Replace(programs[1], "curves.plot(logy=True)", "print(curves)", 1)); !strings.Contains(out, "objective_test_error") && !strings.Contains(out, "mean") {
		t.Errorf("with pandas:\n%s", out)
	}
}
