package main

import (
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/harness"
)

func TestExplain(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: reading and writing alone, and the race detector makes it half a minute")
	}
	results := madeUp(t, experiments.ProfileQuick)
	for _, c := range []struct {
		id    string
		wants []string
	}{
		{"table3.mnist.ksvm.polk.error", []string{"paper's is 2.46", "measured  4 (point)", "runall reproduce mnist-ksvm --profile quick --results " + results}},
		{"table2.multidist.klr.polk", []string{"0.120/4.36/16", "risk: reproduced", "order: reproduced"}},
		{"projection-formula", []string{"misprint", "printed  w = K_DD [K_DD̃]† w̃", "polk.TestProjectionFormula", "assumption projection"}},
		{"mnist.like-libsvm", []string{"“POLK is able", "reproduce mnist-batch-ksvm", "libsvm-cost"}},
	} {
		code, stdout, stderr := call(t, "explain", c.id, "--results", results)
		if code != harness.ExitOK {
			t.Errorf("%s: exit %d, %s", c.id, code, stderr)
		}
		for _, want := range c.wants {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: %q is not in\n%s", c.id, want, stdout)
			}
		}
	}
	const cell = "table2.multidist.ksvm.polk"
	_, stdout, _ := call(t, "explain", cell+".error", "--results", results, "--json")
	e := validJSON(t, "explain", stdout).(map[string]any)
	claim, runs := e["claim"].(map[string]any), e["runs"].([]any)
	if claim["id"] != cell || len(claim["tests"].([]any)) != 1 || len(runs) == 0 || len(e["commands"].([]any)) != 1 {
		t.Errorf("%s in JSON: %v", cell, e)
	}
	for _, r := range runs {
		if r := r.(map[string]any); r["value"] != 4.0 || r["test"] != "error" || r["spec"] != "multidist-ksvm" {
			t.Errorf("%s in JSON: run %v", cell, r)
		}
	}
	for id, want := range map[string]string{
		"nonsense":                        "unknown claim or cell",
		"table3.mnist.klr.libsvm":         "not defined for the task",
		"table2.multidist.klr.polk-large": "its runs answer multidist.low-risk",
	} {
		code, stdout, stderr := call(t, "explain", id, "--results", results)
		if code != harness.ExitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q, want %q", id, code, stderr, want)
		}
	}
	if code, _, _ := call(t, "explain"); code != harness.ExitUsage {
		t.Errorf("without a claim: exit %d", code)
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a/b-c": "a/b-c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`} {
		if got := quote(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
}
