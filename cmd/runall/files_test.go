package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
)

// TestSpecOnFiles: every command that takes a spec copes with one on the user's own
// files, and says so where they are missing.
func TestSpecOnFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: mostly reports, and the race detector makes it a minute; TestReproduceOwnSpec trains, too")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	var rows strings.Builder
	rows.WriteString("x\ty\tkind\n")
	for i := range 120 {
		x, y := i*37%101, i*53%89
		fmt.Fprintf(&rows, "%d\t%d\t%s\n", x, y, map[bool]string{true: "elm", false: "oak"}[x > y])
	}
	const data = "data: {train: trees.tsv, label: kind, holdout: 0.25, scale: unit}\n"
	for name, text := range map[string]string{
		"trees.tsv": rows.String(),
		"trees.yaml": "name: my-trees\ntitle: Trees\ntask: ksvm\n" + data + `kernel: {type: gaussian, bandwidth: 0.3}
regularizer: 1e-4
methods: [{method: polk, learning_rate: 1, batch_size: 4, parsimony: 0.05}]
repeats: [{seeds: 2}]
stopping: {epochs: 1}
evaluation: {every: 30, tail: 2, train_limit: 0}
`,
		"field.yaml": "name: mine\ntitle: Mine\nreference: komp\nheuristics: [merging]\nfields:\n  - name: own\n    title: Own\n    " + data + `    task: ksvm
    bandwidth: 0.3
    learning_rate: 1
    regularizer: 1e-4
    batch_size: 4
    levels: [4, 8]
    budgets: {order: [4, 8], parsimony: [0.1, 0.05]}
    profiles: {smoke: {samples: 60, replicates: 2, every: 30}}
`,
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	call := func(want int, args ...string) string {
		t.Helper()
		var out, errs strings.Builder
		if status := run(args, &out, &errs); status != want {
			t.Fatalf("%v: exit %d, want %d: %s", args, status, want, errs.String())
		}
		return out.String() + errs.String()
	}
	spec, results := in("trees.yaml"), in("results")
	says := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in\n%s", w, text)
			}
		}
	}
	says(call(harness.ExitOK, "reproduce", spec, "--results", results, "--progress", "quiet"), "Results of my-trees, profile quick: trees, ksvm", "POLK  ")
	says(call(harness.ExitOK, "report", "--results", results, "--format", "html", "--out", in("page")))
	says(call(harness.ExitOK, "data", "status", spec), "trees", "ok")
	says(call(harness.ExitOK, "compare", in("field.yaml"), "--profile", "smoke", "--results", in("compared"), "--progress", "quiet"), "Own: what no other run beats")

	for _, shard := range []string{"1/2", "2/2"} {
		says(call(harness.ExitOK, "reproduce", spec, "--shard", shard, "--results", in("shard"+shard[:1]), "--progress", "quiet"), "shard "+shard+": 1 finished, 0 kept, 0 failed")
	}
	call(harness.ExitOK, "merge", in("shard1"), in("shard2"), "--results", in("merged"))
	says(call(harness.ExitOK, "verify", "records", "--results", results, "--with", in("merged")), "2 runs compared, 2 the same bit for bit; 0 only in the first folder, 0 only in the second")

	if err := os.Rename(in("trees.tsv"), in("gone.tsv")); err != nil {
		t.Fatal(err)
	}
	says(call(harness.ExitOK, "reproduce", spec, "--results", in("later"), "--progress", "quiet"), "trees data  a file such as trees.tsv is not where the spec says")
	says(call(harness.ExitIncomplete, "reproduce", spec, "--results", in("later"), "--progress", "quiet", "--require-data"), "missing file "+in("trees.tsv"))
	says(call(harness.ExitOK, "data", "status", spec), "missing", "missing file "+in("trees.tsv"))
	says(call(harness.ExitIncomplete, "compare", in("field.yaml"), "--profile", "smoke", "--results", in("compared"), "--progress", "quiet"), "missing file "+in("trees.tsv"))
}
