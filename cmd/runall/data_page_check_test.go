//go:build check && unix

package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// TestCheckPages runs the commands of docs/own-data.md, docs/deploy.md and docs/specs.md in their order. A command prints the
// output that the page shows, with numbers to within a tenth, because learned figures differ a
// little between kinds of machines.
func TestCheckPages(t *testing.T) {
	for page, least := range map[string]int{"own-data": 8, "deploy": 7, "specs": 6} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			checkPage(t, "../../docs/"+page+".md", least)
		})
	}
}

// checkPage runs the commands of a page with at least so many prompts.
func checkPage(t *testing.T, page string, least int) {
	dir := t.TempDir()
	script, shown := pageScript(contents(t, page))
	runall, err := exec.LookPath("runall")
	testutil.NoError(t, err)
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o777))
	testutil.NoError(t, os.Symlink(runall, filepath.Join(dir, "bin", "runall")))
	cmd := exec.Command("sh")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err != nil || len(shown) < least {
		t.Fatalf("%d commands with output, %v\n%s", len(shown), err, out)
	}
	for _, part := range strings.Split(string(out), mark)[1:] {
		number, printed, _ := strings.Cut(part, "\n")
		i, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("mark %q", number)
		}
		if want := shown[i]; want != "" && !alike(printed, want) {
			t.Errorf("the page shows\n%sand the command prints\n%s", want, printed)
		}
	}
}

// mark begins the line that the script prints before the output of a command.
const mark = "=== command "

// pageScript returns the commands in the blocks of a page as a shell script, and the output that
// the page shows. In a block with prompts, a command follows each prompt: the script prints a mark
// before the command, and a command without shown output must succeed. A block without prompts is
// all commands, unless it is marked as text.
func pageScript(page string) (script string, shown map[int]string) {
	var b strings.Builder
	shown = make(map[int]string)
	n := 0
	for i, block := range strings.Split(page, "```") {
		if i%2 == 0 || strings.HasPrefix(block, "text\n") {
			continue
		}
		if !strings.Contains(block, "\n$ ") {
			b.WriteString(block)
			continue
		}
		for _, command := range strings.Split(strings.TrimPrefix(block, "\n"), "$ ")[1:] {
			n++
			text, output, _ := strings.Cut(command, "\n")
			if before, after, here := strings.Cut(output, "\nEND\n"); here {
				text, output = text+"\n"+before+"\nEND", after
			}
			b.WriteString("echo '" + mark + strconv.Itoa(n) + "'\n" + text + "\n")
			if shown[n] = output; output == "" {
				b.WriteString("[ $? = 0 ] || { echo 'command " + strconv.Itoa(n) + " failed'; exit 1; }\n")
			}
		}
	}
	return b.String(), shown
}

// alike reports whether two texts have the same words, and numbers that differ
// by at most a tenth.
func alike(a, b string) bool {
	f, g := strings.FieldsFunc(a, between), strings.FieldsFunc(b, between)
	if len(f) != len(g) {
		return false
	}
	for i := range f {
		x, errX := strconv.ParseFloat(f[i], 64)
		y, errY := strconv.ParseFloat(g[i], 64)
		numbers := errX == nil && errY == nil
		if numbers && math.Abs(x-y) > 0.1*math.Max(math.Abs(x), math.Abs(y)) || !numbers && f[i] != g[i] {
			return false
		}
	}
	return true
}

// between reports whether r separates words.
func between(r rune) bool { return strings.ContainsRune(" \n,", r) }
