//go:build check

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// blocks returns all blocks of a language in a Markdown text, in their order.
func blocks(text, language string) (out []string) {
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// shell runs commands of the page in a folder, without a network, and returns their output. It
// replaces ../polkrepro in the commands by the path of this repository.
func shell(t *testing.T, dir, commands string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	testutil.NoError(t, err)
	cmd := exec.Command("sh", "-e", "-c", strings.ReplaceAll(commands, "../polkrepro", "'"+root+"'"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", commands, err, out, stderr.String())
	}
	return string(out)
}

// The program of docs/library.md prints the output that the page shows, in a module that the
// page's commands set up and in a workspace.
func TestCheckLibraryPage(t *testing.T) {
	page := contents(t, "../../docs/library.md")
	commands, programs, outputs := blocks(page, "sh"), blocks(page, "go"), blocks(page, "text")
	if len(commands) != 3 || len(programs) != 1 || len(outputs) != 1 {
		t.Fatalf("%d blocks of commands, %d programs and %d outputs, want 3, 1 and 1", len(commands), len(programs), len(outputs))
	}
	setUp, run, workspace := commands[0], commands[1], commands[2]
	if out := inModule(t, setUp, programs[0], run); out != outputs[0] {
		t.Errorf("the program printed\n%swant\n%s", out, outputs[0])
	}
	if out := inModule(t, "mkdir mine && cd mine && go mod init example.com/mine", programs[0], workspace); out != outputs[0] {
		t.Errorf("in a workspace it printed\n%s", out)
	}
}

// inModule runs a program in the module mine, which the commands setUp create, and returns its
// output.
func inModule(t *testing.T, setUp, program, run string) string {
	t.Helper()
	dir := t.TempDir()
	shell(t, dir, setUp)
	mine := filepath.Join(dir, "mine")
	putIn(t, mine, "main.go", program)
	return shell(t, mine, run)
}
