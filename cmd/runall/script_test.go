package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/spec"
)

// TestScripts runs the scripts of testdata/script, each in a new folder, without data and
// network. Cmds lists the commands that scripts have in addition to testscript's.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, data.EnvOffline+"=1", "SPEC="+shortSpec, "TINY="+tinySpec, "DOCS="+filepath.Dir(schemas))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails":   fails,
			"has":     hasText,
			"json":    jsonHas,
			"glob":    glob,
			"planned": planned,
			"madeup":  madeUpFolder,
			"rewrite": rewriteRecord,
			"trees":   treesFile,
			"arrays":  arrayFiles,
		},
	})
}

// fails STATUS MESSAGE ARGS… checks that 'runall ARGS…' ends with the exit status and prints
// the message to standard error. A usage error prints nothing to standard output. No command
// prints SENTINEL, the text of the files of hostile.txtar that no command may read.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails STATUS MESSAGE ARGS…")
	}
	var exit *exec.ExitError
	if err := ts.Exec("runall", args[2:]...); !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("%v, want exit status %s", err, args[0])
	}
	hasText(ts, false, []string{"stderr", args[1]})
	hasText(ts, true, []string{"stdout", "SENTINEL"})
	hasText(ts, true, []string{"stderr", "SENTINEL"})
	if args[0] == strconv.Itoa(harness.ExitUsage) && (ts.ReadFile("stdout") != "" || !strings.HasPrefix(ts.ReadFile("stderr"), "runall: ")) {
		ts.Fatalf("more than a message")
	}
}

// hasText is the command has FILE TEXT…: the file must contain each text, or with ! none of
// them.
func hasText(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	for _, want := range args[1:] {
		if strings.Contains(text, want) == neg {
			ts.Fatalf("%s: contains %q: %v", args[0], want, neg)
		}
	}
}

// jsonStep matches a step of the path to a JSON value: a key, the number of an element, len
// for the length, or [key=value] for the first element that has the value.
var jsonStep = regexp.MustCompile(`\[(\w+)=([^\]]*)\]|\w+`)

// jsonHas is the command json SCHEMA FILE [PATH VALUE]…: the file must be valid by the schema
// of docs/schemas (-: any JSON) and have the values.
func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	document, err := readJSON(args[0], ts.ReadFile(args[1]))
	ts.Check(err)
	if len(args)%2 != 0 {
		ts.Fatalf("usage: json SCHEMA FILE [PATH VALUE]…")
	}
	for ; len(args) > 3; args = args[2:] {
		v := document
		for _, step := range jsonStep.FindAllStringSubmatch(args[2], -1) {
			v = jsonAt(v, step)
		}
		if got := fmt.Sprint(v); got != args[3] {
			ts.Fatalf("%s is %.200s, want %s", args[2], got, args[3])
		}
	}
}

// jsonAt returns the value one step into v, or nil if there is none.
func jsonAt(v any, step []string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[step[0]]
	case []any:
		if step[0] == "len" {
			return len(v)
		}
		for i, element := range v {
			if object, _ := element.(map[string]any); strconv.Itoa(i) == step[0] || step[1] != "" && fmt.Sprint(object[step[1]]) == step[2] {
				return element
			}
		}
	}
	return nil
}

// glob NAME COUNT PATTERN checks that COUNT files match the pattern. It sets NAME0, NAME1 … to
// their paths and NAME0_BASE … to their names.
func glob(ts *testscript.TestScript, neg bool, args []string) {
	paths, err := filepath.Glob(ts.MkAbs(args[2]))
	ts.Check(err)
	if strconv.Itoa(len(paths)) != args[1] {
		ts.Fatalf("%d files are %s, want %s: %q", len(paths), args[2], args[1], paths)
	}
	for i, path := range paths {
		name := args[0] + strconv.Itoa(i)
		ts.Setenv(name, strings.TrimPrefix(path, ts.MkAbs(".")+"/"))
		ts.Setenv(name+"_BASE", filepath.Base(path))
	}
}

// planned SPEC PROFILE [CELL] sets ID0, ID1 … to the IDs of a spec's runs, or of a cell's runs.
func planned(ts *testscript.TestScript, neg bool, args []string) {
	plan, err := harness.PlanNamed(args[:1], args[1], spec.PlanOptions{}, data.Finder{})
	ts.Check(err)
	n := 0
	for _, p := range plan {
		if len(args) < 3 || strings.Contains(strings.Join(p.Cells, " ")+" ", args[2]+" ") {
			ts.Setenv("ID"+strconv.Itoa(n), p.ID)
			n++
		}
	}
}

// madeUpFolder is the command madeup PROFILE DIR: it writes records of all runs that claims need.
func madeUpFolder(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(writeMadeUp(ts.MkAbs(args[1]), args[0]))
}

// rewriteRecord is the command rewrite FILE FACTOR [last]: it multiplies the final risk and error on
// the test set in a record's file and the points behind them, or only those in the last line.
func rewriteRecord(ts *testscript.TestScript, neg bool, args []string) {
	factor, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	ts.Check(rewrite(ts.MkAbs(args[0]), factor, len(args) == 2))
}

// rewrite multiplies the risk and error on the test set in the last line of a record's file and, if
// points is true, in the points that they average.
func rewrite(path string, factor float64, points bool) error {
	r, err := record.Read(path)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	r.Final.TestRisk *= factor
	r.Final.TestError *= factor
	if points {
		tail := record.Tail(r.Points, r.Header.Run.Samples)
		for i := range tail {
			tail[i].TestRisk *= factor
			tail[i].TestError *= factor
		}
		mean := record.Average(r.Points, r.Header.Run.Samples) // rounds in another order
		r.Final.TestRisk, r.Final.TestError = mean.TestRisk, mean.TestError
	}
	return writeRecord(filepath.Dir(path), r)
}

// treesFile is the command trees FROM TO FILE [HEADER]: it writes some of the rows of trees.
func treesFile(ts *testscript.TestScript, neg bool, args []string) {
	from, err := strconv.Atoi(args[0])
	ts.Check(err)
	to, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := strings.Join(trees(to)[from:], "")
	if len(args) > 3 {
		text = args[3] + "\n" + text
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o666))
}

// arrayFiles writes the same 300 rows of two features and a label as t.csv, t.tsv, t.libsvm,
// t.npz, x.npy with y.npy, and x.idx with y.idx.
func arrayFiles(ts *testscript.TestScript, neg bool, args []string) {
	var csv, tsv, libsvm, archive strings.Builder
	var x, y []byte
	for i := range 300 {
		a, b, label := i*i%97, i*31%89, 3
		if a < b {
			label = 7
		}
		x, y = append(x, byte(a), byte(b)), append(y, byte(label))
		fmt.Fprintf(&csv, "%d,%d,%d\n", a, b, label)
		fmt.Fprintf(&tsv, "%d\t%d\t%d\n", a, b, label)
		fmt.Fprintf(&libsvm, "%d 1:%d 2:%d\n", label, a, b)
	}
	npy := func(shape string, b []byte) string {
		header := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", shape)
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + string(b)
	}
	z := zip.NewWriter(&archive)
	for name, array := range map[string]string{"x": npy("(300, 2)", x), "y": npy("(300,)", y)} {
		w, err := z.Create(name + ".npy")
		ts.Check(err)
		_, err = io.WriteString(w, array)
		ts.Check(err)
	}
	ts.Check(z.Close())
	for name, text := range map[string]string{
		"t.csv": csv.String(), "t.tsv": tsv.String(), "t.libsvm": libsvm.String(), "t.npz": archive.String(),
		"x.npy": npy("(300, 2)", x), "y.npy": npy("(300,)", y),
		"x.idx": "\x00\x00\x08\x02\x00\x00\x01\x2c\x00\x00\x00\x02" + string(x), "y.idx": "\x00\x00\x08\x01\x00\x00\x01\x2c" + string(y),
	} {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o666))
	}
}
