package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/record"
)

// asPruner makes the test binary be a pruner in a process of its own.
const asPruner = "RUNALL_TEST_AS_PRUNER"

// prunerProcess removes the elements of least cost, or fails.
func prunerProcess(mode string) {
	order := 0
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m map[string]map[string]json.RawMessage
		json.Unmarshal(line, &m)
		switch {
		case m["hello"] != nil:
			fmt.Println(`{"hello":{"version":1,"about":"removes the cheapest","inverse":true,"params":[{"name":"order","about":"M","integer":true,"least":1,"grid":[16]}]}}`)
		case m["start"] != nil:
			var p struct{ Order int }
			json.Unmarshal(m["start"]["params"], &p)
			order = p.Order
		case mode == "fails":
			fmt.Fprintln(os.Stderr, "out of ideas")
			os.Exit(7)
		default:
			fmt.Printf("{\"do\":[{\"remove_least\":{\"leave\":%d}}],\"done\":true}\n", order)
		}
	}
}

// TestCompareProcess: a process takes part in a tournament, time in it is told, and
// finished runs are not repeated.
func TestCompareProcess(t *testing.T) {
	sequential(t)
	t.Setenv(asPruner, "works")
	dir := t.TempDir()
	spec := writeFile(t, "tiny.yaml", tinyTournament)
	call := func() (int, string, string) {
		return call(t, "compare", spec, "--profile", "smoke", "--results", dir, "--progress", "json", "--with", "mine="+os.Args[0])
	}
	status, out, progress := call()
	if status != harness.ExitOK || !strings.Contains(strings.Join(strings.Fields(out), " "), "from each question to the answer: mine (") {
		t.Errorf("exit %d\n%s%s", status, out, progress)
	}
	if n := strings.Count(progress, `"event":"finish"`); n != 3*(3+2) {
		t.Errorf("%d runs, want 15:\n%s", n, progress)
	}
	t.Setenv(asPruner, "fails")
	if status, again, progress := call(); status != harness.ExitOK || again != out || strings.Contains(progress, `"event":"start"`) {
		t.Errorf("the second call: exit %d, differs, or trains:\n%s", status, progress)
	}
}

// TestProcessInSpec: a spec names a pruner that --pruner makes known, to reproduce and
// to report. Where its process fails, the run has failed, with the reason.
func TestProcessInSpec(t *testing.T) {
	t.Setenv(asPruner, "works")
	spec := writeFile(t, "own.yaml", `include: [base/multidist.yaml]
name: own
title: A process
task: ksvm
methods:
  - {method: polk, pruner: in-spec, pruner_params: {order: 16}}
repeats:
  - {draws: figure, seeds: 1}
`)
	results := t.TempDir()
	reproduce := []string{"reproduce", spec, "--profile", "smoke", "--results", results, "--progress", "quiet"}
	if status, _, said := call(t, reproduce...); status != harness.ExitUsage || !strings.Contains(said, `unknown pruner "in-spec"`) {
		t.Errorf("without --pruner: exit %d, %s", status, said)
	}
	pruner := "--pruner=in-spec=" + os.Args[0]
	if status, out, said := call(t, append(reproduce, pruner)...); status != harness.ExitOK {
		t.Errorf("reproduce: exit %d, %s%s", status, out, said)
	}
	if status, out, said := call(t, "report", spec, "--profile", "smoke", "--results", results, "--format", "csv", pruner); status != harness.ExitOK || !strings.Contains(out, ",POLK,1,1,0,") {
		t.Errorf("report: exit %d, %s%s", status, out, said)
	}
	made, err := record.ReadDir(harness.RecordsDir(results))
	if err != nil || len(made.Records) != 1 {
		t.Fatalf("%v, %v", made, err)
	}
	for _, r := range made.Records {
		if code := r.Header.Run.Code; !strings.Contains(code, "pruner in-spec: command ") || r.Final.Timing.Pruner <= 0 || r.Final.ModelOrder != 16 {
			t.Errorf("code %q, timing %+v, order %v", code, r.Final.Timing, r.Final.ModelOrder)
		}
	}

	t.Setenv(asPruner, "fails")
	status, _, said := call(t, append(reproduce, pruner, "--rerun")...)
	const want = "after 0 samples: polk: pruner in-spec: step: the process has ended (exit status 7); the end of its standard error:\n  out of ideas"
	if status != harness.ExitFailed || !strings.Contains(said, want) {
		t.Errorf("a process that fails: exit %d, %s", status, said)
	}
	if made, err = record.ReadDir(harness.RecordsDir(results)); err != nil || len(made.Failed) != 1 {
		t.Errorf("%v, %v", made, err)
	}
	for _, f := range made.Failed {
		if f.Failure.Error != want {
			t.Errorf("the record says %q", f.Failure.Error)
		}
	}
}

func TestPrunerUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"--pruner mine: want NAME=COMMAND, such as mine=./mine.py":                {"reproduce", "--pruner", "mine"},
		"pruner komp: there is one of that name already":                          {"compare", "--with", "komp=./mine.py"},
		"pruner mine: nowhere/mine.py: ":                                          {"compare", "--with", "mine=nowhere/mine.py"},
		"mine is given twice: " + os.Args[0] + " and ./usage.py":                  {"compare", "--with", "mine=" + os.Args[0], "--with", "mine=./usage.py"},
		"mine is given twice: " + os.Args[0] + " and ./other.py":                  {"reproduce", "--pruner", "mine=" + os.Args[0], "--pruner", "mine=./other.py"},
		`prune: heuristic "Mine" has a name other than lower-case letters`:        {"compare", "--with", "Mine=" + os.Args[0]},
		"make the file executable (chmod +x) and let its first line name the int": {"report", "--pruner", "mine=" + writeFile(t, "mine.py", "")},
	} {
		t.Setenv(asPruner, "works")
		status, out, said := call(t, append(args, "--results", t.TempDir())...)
		if status != harness.ExitUsage || out != "" || !strings.Contains(said, want) {
			t.Errorf("%v: exit %d, %s%s", args, status, out, said)
		}
	}
}

// TestWithUsage: a word of --with that names no heuristic is refused with what to write.
func TestWithUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(asPruner, "works")
	if err := os.WriteFile("ours.py", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	const help = "('runall list pruners' lists them; a heuristic of your own: NAME=COMMAND, such as mine=./mine.py; variants: mine=./mine.py,mine:power=0)\n"
	for with, want := range map[string]string{
		"nonne:power=0":          `--with nonne:power=0: unknown pruner "nonne"; did you mean "none"? ` + help,
		"ours:power=0":           `--with ours:power=0: unknown pruner "ours"; for ./ours.py, add ours=./ours.py ` + help,
		"ours:power=0=./ours.py": "--with ours:power=0=./ours.py: a variant has no command of its own: want ours=./ours.py,ours:power=0\n",
		"./ours.py":              "--with ./ours.py: no name: want NAME=COMMAND, such as mine=./ours.py\n",
		"ours.py":                "--with ours.py: no name: want NAME=COMMAND, such as mine=./ours.py\n",
		"python3 ours.py":        "--with python3 ours.py: no name: want NAME=COMMAND, such as 'mine=python3 ours.py'\n",
		"ours=ours.py":           "did you mean ./ours.py?\n",
		"comma=" + os.Args[0] + " 0.1,0.5": `--with 0.5: unknown pruner "0.5"; a command with a comma needs double quotes: --with '"comma=` +
			os.Args[0] + ` 0.1,0.5"'` + "\n",
	} {
		status, out, said := call(t, "compare", "--with", with, "--results", t.TempDir())
		if status != harness.ExitUsage || out != "" || !strings.HasSuffix(said, want) {
			t.Errorf("%s: exit %d, %s%s", with, status, out, said)
		}
	}
}

// TestRepeatCommands: the commands that are printed to repeat runs name the process.
func TestRepeatCommands(t *testing.T) {
	line := commands{results: "rq", profile: "smoke", pruners: []string{"mine=./mine.py", "ours=python3 ours.py"}}.line("reproduce", "own.yaml")
	if !strings.HasSuffix(line, "reproduce own.yaml --profile smoke --pruner mine=./mine.py --pruner 'ours=python3 ours.py' --results rq") {
		t.Error(line)
	}
}

// writeFile writes a file into a folder of its own.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
