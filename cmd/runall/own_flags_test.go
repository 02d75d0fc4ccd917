package main

import (
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
)

// What a model file holds can't be changed by a flag.
func TestSavedFlags(t *testing.T) {
	file, model := put(t, "trees.csv", trees(300)...), filepath.Join(t.TempDir(), "m")
	must(t, "train", file, "--label", "last", "--order", "8", "--no-tune", "--out", model)
	for _, name := range savedFlags {
		value := map[string]string{"loss": "hinge", "scale": "unit", "kernel": "gaussian", "pruner": "komp-order", "pruner-params": "order=8", "label": "last", "no-tune": "true"}[name]
		if value == "" {
			value = "2"
		}
		code, _, stderr := call(t, "train", file, "--resume", model, "--"+name+"="+value)
		if code != harness.ExitUsage || !strings.Contains(stderr, "--"+name+" can't be changed") {
			t.Errorf("--resume --%s: exit status %d: %s", name, code, stderr)
		}
	}
}
