package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/harness"
)

// trained returns the model file that train makes of rows with flags.
func trained(t *testing.T, file string, flags ...string) string {
	t.Helper()
	model := filepath.Join(t.TempDir(), "m.polk")
	must(t, append([]string{"train", file, "--out", model}, flags...)...)
	return contents(t, model)
}

// A spec is the flags that its keys stand for, all of them; a flag beside it
// wins, and so it does over keys that would contradict it.
func TestTrainSpecIsFlags(t *testing.T) {
	file := put(t, "trees.csv", trees(250)...)
	const all = `loss: logistic
kernel: {type: polynomial, offset: 0.5, degree: 3}
learning_rate: 0.2
regularizer: 1e-5
pruner: komp-age
pruner_params: {order: 12, memory: 50}
batch_size: 16
epochs: 2
scale: standard
classes: [elm, oak, yew, "fir, tree"]
features: 2
label: last
format: csv
header: no
save_every: 100
`
	flags := strings.Fields(`--loss logistic --kernel polynomial --offset 0.5 --degree 3 --learning-rate 0.2 --regularizer 1e-5
		--pruner komp-age --pruner-params memory=50,order=12 --batch 16 --epochs 2 --scale standard --features 2 --label last --format csv --header no`)
	flags = append(flags, "--classes", `elm,oak,yew,"fir, tree"`)
	tests := []struct {
		name, spec  string
		with, flags []string
	}{
		{"all", all, nil, flags},
		{"gaussian", "label: 3\nkernel: {type: gaussian, bandwidth: 0.3}\nparsimony: 0.03\n", nil, strings.Fields("--label 3 --bandwidth 0.3 --parsimony 0.03")},
		{"order", "label: last\norder: 9\n", nil, strings.Fields("--label last --order 9")},
		{"a flag wins", all, []string{"--epochs", "1", "--degree", "2"}, append(flags, "--epochs", "1", "--degree", "2")},
		{"kernel wins", "label: last\nkernel: {type: polynomial, degree: 3}\n", strings.Fields("--kernel gaussian --bandwidth 0.2"), strings.Fields("--label last --bandwidth 0.2")},
		{"order wins", "label: last\npruner: nearest\npruner_params: {order: 7}\n", strings.Fields("--order 9"), strings.Fields("--label last --order 9")},
		{"the pruner's order", "label: last\npruner: nearest\norder: 7\n", nil, strings.Fields("--label last --pruner nearest --pruner-params order=7")},
		{"pruner wins", "label: last\norder: 7\n", strings.Fields("--pruner komp"), strings.Fields("--label last")},
		{"parsimony wins", "label: last\norder: 7\n", strings.Fields("--parsimony 0.02"), strings.Fields("--label last --parsimony 0.02")},
	}
	for _, tt := range tests {
		a := trained(t, file, append(tt.with, "--spec", put(t, "s.yaml", tt.spec+"no_tune: true\n"))...)
		if b := trained(t, file, slices.Concat(tt.flags, []string{"--no-tune"})...); a != b {
			t.Errorf("%s: the spec makes another model than the flags", tt.name)
		}
	}
}

// What is wrong with a spec is wrong use, and said with file and line.
func TestTrainSpecErrors(t *testing.T) {
	file := put(t, "trees.csv", trees(50)...)
	tests := []struct{ spec, want string }{
		{"los: hinge\n", `s.yaml:1:1: unknown key "los"; did you mean "loss"?`},
		{"loss: hinge\nkernel: {bandwith: 1}\n", `s.yaml:2:10: unknown key "bandwith"; did you mean "bandwidth"?`},
		{"loss: huber\n", `s.yaml:1:7: "huber" must be one of hinge, logistic`},
		{"loss: hinge\nlearning_rate: -1\n", `s.yaml:2:16: "-1" must be a number greater than 0`},
		{"kernel: {bandwidth: wide}\n", `s.yaml:1:21: "wide" must be a number`},
		{"kernel: gaussian\n", "want a mapping"},
		{"epochs: 0\n", `s.yaml:1:9: "0" must be an integer from 1`},
		{"epochs: [1]\n", "want text"},
		{"loss:\n", "want text"},
		{"pruner_params: {order: many}\n", "want a number"},
		{"classes: elm\n", "want a list"},
		{"loss: hinge\nloss: hinge\n", "duplicate key"},
		{"", "the file is empty"},
		{"parsimony: 1\norder: 3\n", "give one"},
		{"pruner: nearst\n", `unknown pruner "nearst"`},
		{"pruner: nearest\n", "needs the parameter order"},
		{"pruner: nearest\npruner_params: {ordr: 3, order: 3}\n", "takes no parameter ordr"},
		{"pruner: nearest\npruner_params: {order: 3}\nparsimony: 1\n", "does not use it"},
		{"kernel: {type: polynomial, bandwidth: 1}\n", "--bandwidth"},
		{"kernel: {degree: 3}\n", "--offset and --degree"},
		{"kernel: {type: polynomial}\npruner: merging\npruner_params: {order: 3}\n", "needs the gaussian kernel"},
		{"label: middle\n", "--label"},
		{"no_tune: maybe\n", "want true or false"},
		{strings.Repeat("#", 70_000), "more than 65536 bytes"},
	}
	out := filepath.Join(t.TempDir(), "m.polk")
	for _, tt := range tests {
		code, _, stderr := call(t, "train", file, "--out", out, "--spec", put(t, "s.yaml", tt.spec))
		if code != harness.ExitUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("%q: exit status %d, want %q: %s", tt.spec, code, tt.want, stderr)
		}
	}
	if code, _, stderr := call(t, "train", file, "--out", out, "--spec", out); code != harness.ExitUsage || !strings.Contains(stderr, "no such file") {
		t.Errorf("no spec: exit status %d: %s", code, stderr)
	}
}

// FuzzTrainSpec: whatever the text, it is applied or refused, and what is
// applied is a set of flags that train takes.
func FuzzTrainSpec(f *testing.F) {
	f.Add("loss: logistic\nkernel: {type: polynomial, degree: 3}\npruner_params: {order: 9}\nclasses: [a, 1, 1.5]\n")
	f.Add("header: yes\nclasses: [True, 00501, 1.0, 250.10, 1_1, 0xA]\n")
	f.Add("los: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		cmd := newTrain()
		if err := applyTrainSpec("s.yaml", []byte(text), cmd.Flags()); err != nil && !strings.Contains(err.Error(), "s.yaml") {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}
