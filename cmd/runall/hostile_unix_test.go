//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/charset"
	"polkrepro/record"
)

// guarded is a results folder of made-up records beside a folder that nothing
// may touch.
type guarded struct {
	results, outside string
	before           map[string]string
}

// newGuarded makes a results folder and the files beside it.
func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{results: madeUp(t, experiments.ProfileSmoke), outside: t.TempDir()}
	for _, name := range []string{"precious", "figure2.csv", "index.md", "report.html", "tables/table2.csv", "records/x.jsonl"} {
		path := filepath.Join(g.outside, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("SENTINEL"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	g.before = filesBelow(t, g.outside)
	return g
}

// check fails if a file outside was changed, made or removed, or its contents
// were shown.
func (g *guarded) check(t *testing.T, shown string) {
	t.Helper()
	after := filesBelow(t, g.outside)
	for name, text := range after {
		if text != g.before[name] {
			t.Errorf("outside of the folder, %s now holds %.40q", name, text)
		}
	}
	if len(after) != len(g.before) {
		t.Errorf("outside of the folder there are %d files, were %d", len(after), len(g.before))
	}
	if strings.Contains(shown, "SENTINEL") {
		t.Errorf("shown: %s", shown)
	}
}

// TestHostileResults: links of a results folder that lead out of it are neither
// read nor written through, whatever the command.
func TestHostileResults(t *testing.T) {
	sequential(t)
	writes := func(g *guarded) [][]string {
		return [][]string{{"reproduce", "multidist-ksvm", "--profile", "smoke"}, {"report", "--out", harness.ReportDir(g.results)}}
	}
	reads := func(*guarded) [][]string {
		return [][]string{{"verify"}, {"export"}, {"verify", "records", "--with", "."}, {"seal"}}
	}
	for link, commands := range map[string]func(*guarded) [][]string{
		".lock": writes, "report": writes, "report/figures": writes, "records": reads,
	} {
		t.Run(link, func(t *testing.T) {
			g := newGuarded(t)
			path := filepath.Join(g.results, filepath.FromSlash(link))
			target := g.outside
			if link == ".lock" {
				target = filepath.Join(g.outside, "precious")
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			for _, args := range commands(g) {
				code, stdout, stderr := call(t, append(args, "--results", g.results)...)
				if code == 0 || code == 3 || !strings.Contains(stderr, "is a symbolic link, which is not followed") {
					t.Errorf("%v: exit %d, %s", args, code, stderr)
				}
				g.check(t, stdout+stderr)
			}
		})
	}
}

// TestHostileFiles: what is named like a record and is a link, a pipe or a device
// is named as such and not opened, and what is made is made of the others.
func TestHostileFiles(t *testing.T) {
	sequential(t)
	g := newGuarded(t)
	records := harness.RecordsDir(g.results)
	if err := os.Symlink(filepath.Join(g.outside, "precious"), filepath.Join(records, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(records, "zero.jsonl.gz")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe.jsonl", "pipe.failed.jsonl"} {
		if err := syscall.Mkfifo(filepath.Join(records, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := call(t, "export", "--results", g.results)
	if code != harness.ExitFailed || strings.Count(stderr, "not a regular file") != 4 || !strings.Contains(stdout, "multidist") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	g.check(t, stdout+stderr)
	code, stdout, stderr = call(t, "seal", "--results", g.results)
	if code != harness.ExitIncomplete {
		t.Errorf("a pipe among the records: exit %d, %s", code, stderr)
	}
	g.check(t, stdout+stderr)
	if err := os.WriteFile(filepath.Join(g.results, record.ManifestName), fmt.Appendf(nil, "%064x  records/../../precious\n", 1), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = call(t, "verify", "--results", g.results)
	if code != harness.ExitIncomplete || !strings.Contains(stderr, "is not the path of a result") {
		t.Errorf("a manifest that leads outside: exit %d, %s", code, stderr)
	}
	g.check(t, stdout+stderr)
}

// TestHostileSpecs: neither names nor includes of a spec lead out of a folder.
func TestHostileSpecs(t *testing.T) {
	g := newGuarded(t)
	text, err := os.ReadFile(writeSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	spec := filepath.Join(t.TempDir(), "hostile.yaml")
	for _, change := range [][2]string{
		{"name: short", "name: ../../../short"},
		{"name: short", `name: "/tmp/short"`},
		{"name: short", "include: [" + filepath.Join(g.outside, "precious") + "]\nname: short"},
		{"  - method: polk", "  - method: polk\n    label: ../../polk"},
		{"  - method: polk", `  - {method: polk, figures: ["../../figure"]}` + "\n  - method: polk"},
		{"data: {name: multidist}", "data: {name: ../../multidist}"},
		{"data: {name: multidist}", "data: {name: multidist, variant: ../../../x}"},
	} {
		hostile := strings.Replace(string(text), change[0], change[1], 1)
		if hostile == string(text) {
			t.Fatalf("no %q in the spec", change[0])
		}
		if err := os.WriteFile(spec, []byte(hostile), 0o666); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call(t, "reproduce", spec, "--results", g.results)
		if code != harness.ExitUsage {
			t.Errorf("%s: exit %d, %s", change[1], code, stderr)
		}
		g.check(t, stdout+stderr)
	}
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"reproduce", pipe}, {"compare", pipe}} {
		if code, _, stderr := call(t, append(args, "--results", g.results)...); code != harness.ExitUsage || !strings.Contains(stderr, "not a regular file") {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// No control character of a file's name, a column or a label is written, whatever the
// command says of it, and a file that a table would take for a formula is refused before
// anything is searched.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	rows := "a\x1b[2Jb,x\u202e,y\n" + strings.Repeat("e\x1b[31m,1,2\no,2,1\n", 30)
	for _, name := range []string{"\x1b]0;t\x07.csv", "=1+1.csv", "-x.csv", "@home.csv", "plain.csv"} {
		if err := os.WriteFile(at(name), []byte(rows), 0o666); err != nil {
			t.Fatal(err)
		}
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
