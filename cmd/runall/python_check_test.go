//go:build check

package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/record"
)

// python returns a folder with the Python client, for scripts.
func python(t *testing.T) string {
	t.Helper()
	_, err := exec.LookPath("python3")
	testutil.Need(t, err)
	dir := t.TempDir()
	putIn(t, dir, "polkprune.py", contents(t, "../../polk/prune/external/python/polkprune.py"))
	return dir
}

// byRun returns the records of a pruner by data, parameters and seed. It clears the fields that
// differ between versions of the code.
func byRun(t *testing.T, results, pruner string) map[string]*record.Record {
	t.Helper()
	out := make(map[string]*record.Record)
	for _, r := range records(t, results).Records {
		if run := &r.Header.Run; run.Params.Pruner == pruner {
			r.Header.ID, run.Code = "", ""
			out[run.Data.String()+" "+run.Params.PrunerParams.String()+" "+strconv.FormatUint(run.Seed, 10)] = r
		}
	}
	return out
}

// conformance runs the conformance suite on a script, with model order 7.
func conformance(script string) (string, error) {
	cmd := exec.Command("go", "test", "./polk/prune/external", "-run", "TestCommand/order=7", "-command", script, "-v")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// passes fails unless a script passes the suite.
func passes(t *testing.T, script string) {
	t.Helper()
	if out, err := conformance(script); err != nil || strings.Count(out, "--- PASS: TestCommand/order=7/") < 6 {
		t.Errorf("%v\n%s", err, out)
	}
}

// The example passes the suite and removes the same elements as komp-order: the errors and model
// orders of the curves are the same. (The loop of komp-order in Go rounds weights differently.)
func TestCheckPythonPruner(t *testing.T) {
	python(t)
	const script = "../../polk/prune/external/python/komp_order.py"
	absolute, err := filepath.Abs(script)
	testutil.NoError(t, err)
	passes(t, absolute)
	results := t.TempDir()
	status, out, said := call(t, "compare", tinySpec, "--profile", "smoke", "--with", "mine="+script+",komp-order", "--results", results, "--progress", "quiet")
	if status != 0 || !strings.Contains(out, "mine") {
		t.Fatalf("exit %d\n%s%s", status, out, said)
	}
	mine, inGo := byRun(t, results, "mine"), byRun(t, results, "komp-order")
	if len(mine) != 6 {
		t.Errorf("%d runs", len(mine))
	}
	for run, r := range mine {
		want := inGo[run]
		if want == nil || len(r.Points) == 0 || len(r.Points) != len(want.Points) {
			t.Errorf("%s: not the run of komp-order", run)
			continue
		}
		for i, p := range want.Points {
			if r.Points[i].TestError != p.TestError || r.Points[i].ModelOrder != p.ModelOrder {
				t.Errorf("%s, point %d: %v, in Go %v", run, i, r.Points[i].Figures(), p.Figures())
			}
		}
	}
}

// A script with statistics by an element's number fails the suite; one with statistics in kept
// passes.
func TestCheckPythonState(t *testing.T) {
	t.Parallel()
	dir := python(t)
	const text = `#!/usr/bin/env python3
from polkprune import ORDER, run

sums = {}


def prune(s, order):
    for j in s:
        KEPT
    while len(s) > order:
        s.drop(s.least(score))


run(prune, about="drops what has been heavy for the shortest time", params=[ORDER])
`
	good := strings.NewReplacer("KEPT", "s.kept[j] = s.kept.get(j, 0) + s.norm2(j)", "score", "lambda j: s.kept[j]").Replace(text)
	bad := strings.NewReplacer("KEPT", `sums[j] = sums.get(j, 0) + s.norm2(j)`, "score", "lambda j: sums[j]").Replace(text)
	passes(t, putIn(t, dir, "good.py", good))
	out, err := conformance(putIn(t, dir, "bad.py", bad))
	if err == nil || !strings.Contains(out, "must be kept by their ID, and ties must not be broken by their number") {
		t.Errorf("by number: %v\n%s", err, out)
	}
}

// A script can add elements with a refit; the suite compares them with the definition.
func TestCheckPythonEnter(t *testing.T) {
	t.Parallel()
	dir := python(t)
	passes(t, putIn(t, dir, "halves.py", `#!/usr/bin/env python3
from polkprune import ORDER, run


def prune(s, order):
    while len(s) > max(order, 1):
        total, left = s.total, len(s)
        p = s.least(s.cost)
        q = s.least(lambda j: s.cost(j) if j != p else float("inf"))
        z = [(a + b) / 2 for a, b in zip(s.point(p), s.point(q))]
        near = s.values(z)[p] > 0.5
        j = s.enter(z)
        if j is None:
            assert s.total == total and len(s) == left
        else:
            assert j == total and s.total == total + 1 and len(s) == left + 1
            assert j in s and s.age(j) == 0 and len(s.ids) == s.total
            s.remove(q if near else j)
        s.remove(p)


run(prune, about="replaces two elements by the point between them", params=[ORDER], inverse=True)
`))
}

// points, rows and columns of all elements are those of each, as lists and as arrays.
func TestCheckPythonMatrices(t *testing.T) {
	t.Parallel()
	dir := python(t)
	const script = `#!/usr/bin/env python3
IMPORT
from polkprune import ORDER, run


def prune(s, order):
    while len(s) > order:
        for name in "point", "row", "column":
            matrix, each = getattr(s, name + "s"), getattr(s, name)
            assert len(matrix) == s.total and all(list(matrix[j]) == list(each(j)) for j in s), name
            assert all(v != v for j in range(s.total) if j not in s for v in matrix[j]), name
        s.remove(s.least(s.cost))


run(prune, about="compares", params=[ORDER], inverse=True)
`
	passes(t, putIn(t, dir, "lists.py", strings.Replace(script, "IMPORT", "", 1)))
	if exec.Command("python3", "-c", "import numpy").Run() == nil {
		passes(t, putIn(t, dir, "arrays.py", strings.Replace(script, "IMPORT", "import numpy", 1)))
	}
}

// A script that merges with NumPy passes the suite: it sees the points and weights that the
// definition gives, and adds the elements that it names.
func TestCheckPythonMerge(t *testing.T) {
	t.Parallel()
	dir := python(t)
	interpreter := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import numpy").Run() == nil {
			interpreter = p
		}
	}
	if interpreter == "" {
		testutil.Need(t, errors.New("no python3 has NumPy"))
	}
	script := putIn(t, dir, "merge.py", `import numpy
from numpy.testing import assert_allclose

from polkprune import ORDER, run


def prune(s, order):
    while len(s) > order:
        p = s.least(s.norm2)
        assert_allclose(s.norm(p) ** 2, s.norm2(p))
        assert s.norms[p] == s.norm(p) and s.norms2[p] == s.norm2(p)
        row = s.row(p)
        row[p] = -1
        assert isinstance(s.weights, numpy.ndarray) and s.weights.shape == (s.total, s.outputs)
        assert numpy.isnan(s.norms2).sum() == numpy.isnan(s.norms).sum() == s.total - len(s)
        q = max(s, key=lambda j: row[j])
        w = numpy.array([s.norm2(p), s.norm2(q)])
        z = (w[0] * s.point(p) + w[1] * s.point(q)) / w.sum() if w.sum() > 0 else s.point(q)
        weights = s.weights[p] + s.weights[q]
        s.drop(p)
        s.drop(q)
        j = s.add(z, weights)
        assert list(s.weights[j]) == list(weights) and s.age(j) == 0 and len(s.ids) == s.total


run(prune, about="merges the lightest element with its nearest", params=[ORDER], wants=["norms2", "weights"])
`)
	passes(t, interpreter+" "+script)
}

// The record of a failed run contains the traceback.
func TestCheckPythonFails(t *testing.T) {
	script := putIn(t, python(t), "mine.py", `#!/usr/bin/env python3
from polkprune import ORDER, run


def prune(s, order):
    print("step", s.t)
    if s.t == 3:
        s.remove(s.total)
    while len(s) > order:
        s.drop(s.least(s.norm2))


run(prune, about="fails")
`)
	results := t.TempDir()
	status, _, said := call(t, "compare", tinySpec, "--profile", "smoke", "--with", "mine="+script, "--results", results, "--progress", "quiet")
	failed := records(t, results).Failed
	// After three runs no more begin; one may have begun beside the third.
	if status != 1 || len(failed) < 3 || len(failed) > 4 || !strings.Contains(said, "3 runs of mine failed alike") {
		t.Fatalf("exit %d, %d failed runs\n%s", status, len(failed), said)
	}
	for _, f := range failed {
		for _, want := range []string{"after 96 samples: polk: pruner mine: step: the process has ended (exit status 1)", "\n  step 3\n", "KeyError", "is not present"} {
			if !strings.Contains(f.Failure.Error, want) {
				t.Errorf("no %q in\n%s", want, f.Failure.Error)
			}
		}
	}
}

// A print before run does not break the hello. Errors in a script are reported; errors that the
// hello shows, before any run.
func TestCheckPythonScripts(t *testing.T) {
	t.Setenv("PYTHONUNBUFFERED", "1")
	const prune = "def prune(s, order):\n    while len(s) > order:\n        s.drop(s.least(SCORE))\n\n\n"
	const imports, run = "#!/usr/bin/env python3\nfrom polkprune import ORDER, run\n", "run(prune, about=\"drops the lightest\")\n"
	for _, tt := range []struct {
		text, score string
		status      int
		want        string
	}{
		{imports + "print('loading my module')\n" + prune + run, "s.norm2", harness.ExitOK, ""},
		{"#!/usr/bin/env python3\nprint('loading my module')\n", "", harness.ExitUsage,
			"hello: loading my module: this line is not a JSON object (a print? write to standard error)"},
		{imports + prune + "run(prune, about=\"a\", params=[ORDER, {\"name\": \"grace\", \"about\": \"b\"}])\n", "s.norm2", harness.ExitUsage,
			"prune(s, order) does not fit params: got an unexpected keyword argument 'grace'. It is called with the state and, by name, order, grace."},
		{imports + prune + run, "lambda j: float('nan')", harness.ExitFailed, "ValueError: the score of every element is nan: "},
	} {
		script := putIn(t, python(t), "mine.py", strings.Replace(tt.text, "SCORE", tt.score, 1))
		status, _, said := call(t, "compare", tinySpec, "--profile", "smoke", "--with", "mine="+script, "--results", t.TempDir(), "--progress", "quiet")
		if status != tt.status || !strings.Contains(said, tt.want) {
			t.Errorf("%sexit %d, %s", tt.text, status, said)
		}
	}
}
