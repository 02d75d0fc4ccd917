//go:build check && unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// bash runs a script in the repository as GitHub runs a step, and returns its exit
// status and output.
func bash(t *testing.T, script string, env ...string) (status int, output string) {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), string(out)
	}
	testutil.NoError(t, err)
	return 0, string(out)
}

// TestCheckPaperTables runs the steps of paper-tables.yml in profile smoke, without a network.
// Missing data do not end the job. After a record is changed, the comparison of verdicts fails.
func TestCheckPaperTables(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	summary := filepath.Join(results, "summary.md")
	env := []string{"PROFILE=" + spec.ProfileSmoke, "RESULTS=" + results, "GITHUB_STEP_SUMMARY=" + summary}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	err := yaml.Unmarshal([]byte(contents(t, "../../.github/workflows/paper-tables.yml")), &workflow)
	if err != nil || len(workflow.Jobs) != 1 {
		t.Fatalf("%v, jobs %v", err, workflow.Jobs)
	}
	comparison := ""
	for _, s := range workflow.Jobs["tables"].Steps {
		if s.Run == "" {
			continue
		}
		if s.Name == "Compare the verdicts with the recorded run's" {
			comparison = s.Run
		}
		status, out := bash(t, s.Run, env...)
		if status == harness.ExitIncomplete && s.Name == "Download missing data" {
			continue // the workflow continues without the data
		}
		if status != 0 {
			t.Fatalf("%s%s: exit %d\n%s", s.Name, s.Run, status, out)
		}
	}
	page := contents(t, summary)
	for _, want := range []string{"17 same, 0 different, 0 not compared (runs missing), 48 not in profile smoke", "| table2.multidist.klr.polk ", "**Table 2.", "**Table 3."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the summary:\n%s", want, page)
		}
	}
	if len(page) > 1<<20 {
		t.Errorf("the summary has %d bytes, GitHub takes 1 MiB", len(page))
	}
	for _, kept := range []string{"report/report.html", "records", "verdicts.xml"} {
		if _, err := os.Stat(filepath.Join(results, kept)); err != nil {
			t.Error(err)
		}
	}

	plan, err := harness.PlanNamed([]string{"multidist-klr"}, spec.ProfileSmoke, spec.PlanOptions{}, data.Finder{})
	testutil.NoError(t, err)
	i := slices.IndexFunc(plan, func(p spec.Planned) bool { return slices.Contains(p.Cells, "table2.multidist.klr.polk") })
	testutil.NoError(t, rewrite(filepath.Join(harness.RecordsDir(results), plan[i].ID+".jsonl"), 7.5, true))
	status, out := bash(t, comparison, env...)
	if status != harness.ExitDeviates || !strings.Contains(out, "verdicts differ from results/reference: table2.multidist.klr.polk (deviates here, reproduced there)") {
		t.Errorf("an error of 30 %%: exit %d\n%s", status, out)
	}
	if !strings.Contains(contents(t, filepath.Join(results, "verdicts.xml")), `<failure message="deviates here, `) {
		t.Error("no failure in verdicts.xml")
	}
}

// TestCheckCIPage runs the shell commands of docs/ci.md as they are written. They print the
// output that the page shows.
func TestCheckCIPage(t *testing.T) {
	page := contents(t, "../../docs/ci.md")
	commands, outputs := blocks(page, "sh"), blocks(page, "text")
	if len(commands) != 1 || len(outputs) != 1 {
		t.Fatalf("%d blocks of commands and %d of output, want one of each", len(commands), len(outputs))
	}
	status, out := bash(t, commands[0], "TMPDIR="+t.TempDir())
	if status != 0 || !strings.HasSuffix(out, outputs[0]) {
		t.Errorf("exit %d; want an end of\n%sgot\n%s", status, outputs[0], out)
	}
}
