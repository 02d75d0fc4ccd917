//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/charset"
)

// No command prints the control characters in the name of a file, a column or a label. bench
// refuses a file whose name a table would take for a formula, before its search.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	rows := "a\x1b[2Jb,x\u202e,y\n" + strings.Repeat("e\x1b[31m,1,2\no,2,1\n", 30)
	for _, name := range []string{"\x1b]0;t\x07.csv", "=1+1.csv", "-x.csv", "@home.csv", "plain.csv"} {
		putIn(t, dir, name, rows)
	}
	model := at("m\x1b[2J")
	must(t, "train", put(t, "t.csv", trees(300)...), "--label", "last", "--no-tune", "--out", model)
	for _, args := range [][]string{
		{"train", at("\x1b]0;t\x07.csv"), "--out", at("m")}, {"train", at("plain.csv"), "--out", at("m")}, {"train", at("\x1b[2J"), "--out", at("m")},
		{"bench", at("plain.csv"), "--label", "c"}, {"bench", at("plain.csv")}, {"bench", at("\x1b]0;t\x07.csv")}, {"bench", at("=1+1.csv")}, {"bench", at("-x.csv")},
		{"bench", at("@home.csv")}, {"evaluate", model, at("plain.csv")}, {"predict", model, at("\x1b]0;t\x07.csv")}, {"predict", at("\x1b[2J"), at("plain.csv")},
		{"data", "status", at("\x1b[2J.yaml")}, {"no\x1b[2J"}, {"report", "--results", at("\x1b[2J")},
	} {
		code, stdout, stderr := call(t, args...)
		if code == 0 || charset.Shown(stdout+stderr) != stdout+stderr {
			t.Errorf("%q: exit status %d, %q", args, code, stdout+stderr)
		}
		if strings.HasPrefix(filepath.Base(args[len(args)-1]), "=") && (code != harness.ExitUsage || !strings.Contains(stderr, "rename the file")) {
			t.Errorf("%q: exit status %d, %s", args, code, stderr)
		}
	}
}
