package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// A workflow is what the tests need of a GitHub workflow.
type workflow struct {
	Jobs map[string]struct {
		Steps []workflowStep
	}
}

type workflowStep struct{ Name, Run string }

// readWorkflow returns the steps of the one job of a workflow that run commands.
func readWorkflow(t *testing.T, name string) (steps []workflowStep) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../.github/workflows", name))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil || len(w.Jobs) != 1 {
		t.Fatalf("%s: %d jobs, %v", name, len(w.Jobs), err)
	}
	for _, job := range w.Jobs {
		for _, s := range job.Steps {
			if s.Run != "" {
				steps = append(steps, s)
			}
		}
	}
	return steps
}

// TestCICommands checks the commands of the workflows and of docs/ci.md: each
// target of make and each command of runall, with its flags, must exist.
func TestCICommands(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)\n```.*?\n```|`[^`\n]+`").FindAllString(string(page), -1)
	scripts := map[string]string{"docs/ci.md": strings.Join(code, "\n")}
	for _, name := range []string{"test.yml", "paper-tables.yml"} {
		for _, s := range readWorkflow(t, name) {
			scripts[name] += s.Run + "\n"
		}
	}
	variables := strings.NewReplacer(`"$PROFILE"`, "quick", "$PROFILE", "quick", `"$RESULTS"`, "results", `"$results"`, "results", `"$1"`, "text")
	command := regexp.MustCompile(`(?:\bmake|bin/runall) [^\n>|;&)` + "`" + `#]*`)
	for source, script := range scripts {
		found := command.FindAllString(script, -1)
		if len(found) == 0 {
			t.Errorf("%s has no command", source)
		}
		for _, line := range found {
			words := strings.Fields(variables.Replace(line))
			if words[0] == "make" {
				if target := regexp.MustCompile(`(?m)^([a-z-]+ )*` + regexp.QuoteMeta(words[1]) + `[ :]`); !target.Match(makefile) {
					t.Errorf("%s: %s: no such target", source, line)
				}
				continue
			}
			root := newRoot()
			cmd, rest, err := root.Find(words[1:])
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil || cmd == root {
				t.Errorf("%s: %s: %v", source, line, err)
			}
		}
	}
	if !slices.ContainsFunc(readWorkflow(t, "paper-tables.yml"), func(s workflowStep) bool { return strings.Contains(s.Run, "--reference results/reference") }) {
		t.Error("paper-tables.yml compares nothing with the reference")
	}
}
