package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/online"
)

// errorOf returns the error in percent that evaluate prints for a model of rows
// on the same rows.
func errorOf(t *testing.T, rows []string, flags ...string) float64 {
	t.Helper()
	file, model := put(t, "rows.csv", rows...), filepath.Join(t.TempDir(), "m.polk")
	must(t, append([]string{"train", file, "--label", "last", "--no-tune", "--out", model}, flags...)...)
	_, rest, _ := strings.Cut(must(t, "evaluate", model, file), "error ")
	percent, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return percent
}

// Features are scaled before they are rounded to float32: neither an offset nor
// a unit makes a difference to a model of scaled features, timestamps in
// seconds and identifiers above 10⁸ included.
func TestOffsetsDoNotMatter(t *testing.T) {
	for _, scale := range []string{"unit", "standard"} {
		var plain float64
		for i, of := range []func(x float64) float64{
			func(x float64) float64 { return x },
			func(x float64) float64 { return 1.7e9 + 1000*x },
			func(x float64) float64 { return 1e8 + x },
			func(x float64) float64 { return 1e-42 * x },
			func(x float64) float64 { return 1e60 * x },
		} {
			rng := rand.New(rand.NewPCG(3, 0))
			rows := make([]string, 1500)
			for j := range rows {
				x, y := 3*rng.Float64(), 3*rng.Float64()
				rows[j] = fmt.Sprintf("%.17g,%.17g,%s\n", of(x), of(y), []string{"elm", "oak", "yew"}[(int(x)+int(y))%3])
			}
			got := errorOf(t, rows, "--scale", scale, "--bandwidth", "0.2", "--epochs", "2")
			if i == 0 {
				plain = got
			}
			if diff := got - plain; diff > 0.5 || diff < -0.5 {
				t.Errorf("--scale %s, transformation %d: error %.2f %%, want the %.2f %% of the plain features", scale, i, got, plain)
			}
		}
	}
}

// Without scaling, features that float32 can't tell apart are refused for that
// reason.
func TestRoundingWithoutScaling(t *testing.T) {
	rows := make([]string, 100)
	for i := range rows {
		rows[i] = fmt.Sprintf("%d,%.3f,%s\n", i, 1e8+float64(i%10)/10, []string{"elm", "oak"}[i%10/5])
	}
	out := filepath.Join(t.TempDir(), "m")
	code, _, stderr := call(t, "train", put(t, "rows.csv", rows...), "--label", "last", "--scale", "none", "--out", out)
	if code != harness.ExitFailed || !strings.Contains(stderr, "feature 2 ") || !strings.Contains(stderr, "float32") {
		t.Errorf("exit status %d: %s", code, stderr)
	}
}

// labelled returns n rows of two features and a label that depends on the first.
func labelled(n int, labels ...string) []string {
	rng := rand.New(rand.NewPCG(5, 0))
	rows := make([]string, n)
	for i := range rows {
		x := float64(len(labels)) * rng.Float64()
		rows[i] = fmt.Sprintf("%.3f,%.3f,%s\n", x, rng.Float64(), labels[int(x)])
	}
	return rows
}

// Labels of classes are text: what is written differently is a class of its own
// or refused by name, and predictions have labels as they are written.
func TestLabelsAreText(t *testing.T) {
	sequential(t)
	tests := []struct {
		labels, want, refused string
	}{
		{"250.1 250.2", "250.1 250.2", ""},
		{"1_1 11 1", "1 11 1_1", ""},
		{"0xA 10 0xAp0", "0xA 0xAp0 10", ""},
		{"9007199254740992 9007199254740993", "9007199254740992 9007199254740993", ""},
		{"12345678901234567890 12345678901234567891 7", "7 12345678901234567890 12345678901234567891", ""},
		{"1000000 2500000", "1000000 2500000", ""},
		{"00501 00502", "00501 00502", ""},
		{"+1 -1", "-1 1", ""},
		{"+1 1 1.0 2.0", "1 2", ""},
		{"0 -0 1", "0 1", ""},
		{"1.00 2.00", "1.00 2.00", ""},
		{"250.0 250.00 250.1 250.10", "", "250.00|250.10"},
		{"250.1 250.10", "", "250.10"},
		{"00501 501", "", "501"},
		{"1e1 10 3", "", "10"},
		{"1e400 10e399", "", "10e399"},
		{"1e-400 0.1e-399", "", "0.1e-399"},
	}
	for _, tt := range tests {
		labels := strings.Fields(tt.labels)
		rows := labelled(400, labels...)
		file, model := put(t, "rows.csv", rows...), filepath.Join(t.TempDir(), "m")
		args := []string{"train", file, "--label", "last", "--bandwidth", "0.2", "--out", model}
		if tt.refused != "" {
			code, _, stderr := call(t, args...)
			named := false
			for _, l := range strings.Split(tt.refused, "|") {
				named = named || strings.Contains(stderr, strconv.Quote(l))
			}
			if code != harness.ExitFailed || !strings.Contains(stderr, "rows.csv: line ") || !named {
				t.Errorf("%s: exit status %d, want a refusal of %s: %s", tt.labels, code, tt.refused, stderr)
			}
			continue
		}
		must(t, args...)
		m, err := readModel(model, online.Read)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Settings().Labels, " "); got != tt.want {
			t.Errorf("%s: classes %s, want %s", tt.labels, got, tt.want)
		}
		seen := make(map[string]int)
		for _, p := range strings.Fields(must(t, "predict", model, file)) {
			seen[p]++
		}
		for _, want := range strings.Fields(tt.want) {
			if seen[want] == 0 {
				t.Errorf("%s: no prediction is %s: %v", tt.labels, want, seen)
			}
		}
	}
}

// The rule for 1, +1 and 1.0 is the same in files, in --classes and in specs, and
// so is the refusal of what it does not make the same.
func TestLabelsOfFlagsAndSpecs(t *testing.T) {
	sequential(t)
	file := put(t, "rows.csv", labelled(300, "1", "2")...)
	want := trained(t, file, "--label", "last")
	same := map[string][]string{
		"flag":  {"--label", "last", "--classes", "+1,2.0"},
		"spec":  {"--spec", put(t, "s.yaml", "label: last\nclasses: [1.0, +2]\n")},
		"spec2": {"--spec", put(t, "s.yaml", "label: last\nclasses: ['1', 2.0]\n")},
	}
	for name, flags := range same {
		if got := trained(t, file, flags...); string(got) != string(want) {
			t.Errorf("%s: another model than with the file's classes", name)
		}
	}
	model := filepath.Join(t.TempDir(), "m")
	for _, tt := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--classes", "1,2,1.0"}, `"1"`},
		{[]string{"--classes", "1,2,2.00"}, `"2.00"`},
		{[]string{"--classes", "1,2,nan"}, `"nan"`},
		{[]string{"--spec", put(t, "s.yaml", "classes: [1, 2, 2e0]\n")}, `"2e0"`},
		{[]string{"--classes", "01,2"}, `rows.csv: line `},
	} {
		code, _, stderr := call(t, append([]string{"train", file, "--label", "last", "--out", model}, tt.flags...)...)
		if code == 0 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit status %d, want %s: %s", tt.flags, code, tt.want, stderr)
		}
	}
	if bools := trained(t, put(t, "rows.csv", labelled(300, "False", "True")...), "--spec", put(t, "s.yaml", "label: last\nclasses: [False, True]\n")); len(bools) == 0 {
		t.Error("no model")
	}
	must(t, "train", file, "--label", "last", "--out", model)
	other := put(t, "other.csv", "1,1,1\n1,1,+2\n1,1,2.0\n1,1,02\n")
	code, _, stderr := call(t, "evaluate", model, other)
	if code != harness.ExitFailed || !strings.Contains(stderr, `other.csv: line 4: label "02"`) || !strings.Contains(stderr, `"2"`) {
		t.Errorf("a class written otherwise: exit status %d: %s", code, stderr)
	}
}

// pandasRows returns rows as to_csv writes a table: whole columns of fractions
// or of whole numbers.
func pandasRows(n int, label func(i int) string, ints bool) []string {
	rng := rand.New(rand.NewPCG(9, 0))
	rows := make([]string, n)
	for i := range rows {
		x, y := rng.Float64(), rng.Float64()
		if ints {
			rows[i] = fmt.Sprintf("%s,%d,%d\n", label(i), int(90*x), int(90*y))
		} else {
			rows[i] = fmt.Sprintf("%s,%.3f,%.3f\n", label(i), x, y)
		}
	}
	return rows
}

// A header is no row and a row no header, in training as in what follows; where it is in
// doubt, the command that decides is named (the rule itself: data/rows).
func TestHeaders(t *testing.T) {
	number := func(i int) string { return strconv.Itoa(i % 3) }
	word := func(i int) string { return []string{"elm", "oak"}[i%2] }
	real := func(i int) string { return fmt.Sprintf("%.2f", float64(i%17)) }
	tests := []struct {
		name, first string
		rows        []string
		flags       []string
		header      bool
	}{
		{"words", "label,x,y", pandasRows(60, number, false), nil, true},
		{"pandas, classes are numbers", "label,0,1", pandasRows(60, number, false), nil, true},
		{"pandas, regression", "label,0,1", pandasRows(60, real, false), []string{"--loss", "squared"}, true},
		{"said", "label,5,1", pandasRows(60, word, true), []string{"--header", "yes"}, true},

		{"whole numbers", "2,5,1", pandasRows(60, number, true), nil, false},
		{"like names, of a class", "elm,0,1", pandasRows(60, word, false), nil, false},
		{"said not to be", "0,1,2", pandasRows(60, number, false), []string{"--header", "no"}, false},
		{"regression", "0.5,1,2", pandasRows(60, real, false), []string{"--loss", "squared"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file, model := put(t, "rows.csv", append([]string{tt.first + "\n"}, tt.rows...)...), filepath.Join(t.TempDir(), "m")
			rows := len(tt.rows)
			if !tt.header {
				rows++
			}
			code, stdout, stderr := call(t, append([]string{"train", file, "--no-tune", "--out", model}, tt.flags...)...)
			if want := fmt.Sprintf(": %d rows, ", rows); code != 0 || !strings.Contains(stdout, want) || strings.Contains(stderr, "line 1 is a header") != tt.header {
				t.Fatalf("exit status %d, want%s %s%s", code, want, stdout, stderr)
			}
			var header []string
			for i, f := range tt.flags {
				if f == "--header" {
					header = tt.flags[i : i+2]
				}
			}
			// A line for every row: as in training, without the labels, with one that is
			// made up, from a pipe.
			for name, text := range map[string]string{
				"as it is":   tt.first + "\n" + strings.Join(tt.rows, ""),
				"made up":    relabelled(append([]string{tt.first + "\n"}, tt.rows...), tt.header),
				"no header":  strings.Join(tt.rows, ""),
				"one row":    tt.rows[7],
				"unlabelled": unlabelled(append([]string{tt.first + "\n"}, tt.rows...)),
			} {
				if _, features, _ := strings.Cut(tt.first, ","); name == "unlabelled" && !tt.header && (features == "0,1" || features == "1,2") {
					continue // nobody could tell
				}
				want, args := strings.Count(text, "\n"), []string{}
				if tt.header && name != "no header" && name != "one row" {
					want--
				}
				if name != "no header" && name != "one row" {
					args = header
				}
				path := put(t, "rows.csv", text)
				if got := strings.Count(must(t, append([]string{"predict", model, path}, args...)...), "\n"); got != want {
					t.Errorf("%s: %d predictions, want %d", name, got, want)
				}
			}
			evaluated := must(t, append([]string{"evaluate", model, file}, header...)...)
			if !strings.HasPrefix(evaluated, fmt.Sprintf("rows         %d\n", rows)) {
				t.Errorf("evaluate: %s", evaluated)
			}
		})
	}
}

// Whether it is a header is not guessed.
func TestHeaderInDoubt(t *testing.T) {
	for _, first := range []string{"0,1,2\n", "yew,5,1\n", "label,x,1\n"} {
		file := put(t, "rows.csv", append([]string{first}, pandasRows(60, func(i int) string { return []string{"elm", "oak"}[i%2] }, true)...)...)
		for _, args := range [][]string{{"train", file, "--out", filepath.Join(t.TempDir(), "m")}, {"bench", file, "--results", t.TempDir()}} {
			if code, _, stderr := call(t, args...); code == 0 || !strings.Contains(stderr, "rows.csv: the first row may be a header (") || !strings.Contains(stderr, "use --header yes or --header no") {
				t.Errorf("%s: exit status %d: %s", args, code, stderr)
			}
		}
	}
}

// Rows are the same in every format: train, evaluate and predict take arrays, with their
// labels in a second file, as they take text.
func TestFormatsOfRows(t *testing.T) {
	sequential(t)
	dir := t.TempDir()
	var csv, tsv, libsvm strings.Builder
	var x, y []byte
	for i := range 300 {
		a, b := i*i%97, i*31%89
		label := 3
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
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, array := range map[string]string{"x": npy("(300, 2)", x), "y": npy("(300,)", y)} {
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = io.WriteString(w, array)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"t.csv": csv.String(), "t.tsv": tsv.String(), "t.libsvm": libsvm.String(), "t.npz": archive.String(),
		"x.npy": npy("(300, 2)", x), "y.npy": npy("(300,)", y),
		"x.idx": "\x00\x00\x08\x02\x00\x00\x01\x2c\x00\x00\x00\x02" + string(x), "y.idx": "\x00\x00\x08\x01\x00\x00\x01\x2c" + string(y),
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	said := ""
	for file, labels := range map[string]string{"t.csv": "", "t.tsv": "", "t.libsvm": "", "x.npy": "y.npy", "t.npz:x": "t.npz:y", "x.idx": "y.idx"} {
		model, flags := at("m.polk"), []string(nil)
		if labels != "" {
			flags = []string{"--labels", at(labels)}
		}
		train := append([]string{"train", at(file), "--epochs", "2", "--out", model}, flags...)
		if ending := filepath.Ext(file); ending == ".csv" || ending == ".tsv" {
			train = append(train, "--label", "last")
		}
		must(t, train...)
		must(t, append([]string{"train", at(file), "--resume", model, "--skip", "100"}, flags...)...)
		got := must(t, append([]string{"evaluate", model, at(file)}, flags...)...) + must(t, "predict", model, at(file))
		if said == "" {
			said = got
		}
		if got != said {
			t.Errorf("%s: %s, want %s", file, got, said)
		}
	}
	model := at("m.polk")
	for want, args := range map[string][]string{
		"--labels is missing":                    {"train", at("x.npy"), "--out", at("n")},
		"the labels of an IDX file are in a":     {"evaluate", model, at("x.idx")},
		"--labels is for IDX, NPY and NPZ files": {"train", at("t.csv"), "--labels", at("y.npy"), "--out", at("n")},
		"--label is for CSV and TSV files":       {"train", at("x.npy"), "--labels", at("y.npy"), "--label", "last", "--out", at("n")},
		"is the same file as FILE":               {"train", at("t.npz:x"), "--labels", at("t.npz:y"), "--out", at("t.npz")},
		"is the same file as --labels":           {"train", at("x.npy"), "--labels", at("y.npy"), "--out", at("y.npy")},
	} {
		if code, _, stderr := call(t, args...); code != harness.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit status %d, want %q: %s", args, code, want, stderr)
		}
	}
}

// unlabelled returns rows without their first column.
func unlabelled(rows []string) string {
	var b strings.Builder
	for _, r := range rows {
		_, rest, _ := strings.Cut(r, ",")
		b.WriteString(rest)
	}
	return b.String()
}

// relabelled returns rows whose labels are all a question mark, but for a header's.
func relabelled(rows []string, header bool) string {
	var b strings.Builder
	for i, r := range rows {
		label, rest, _ := strings.Cut(r, ",")
		if i > 0 || !header {
			label = "?"
		}
		b.WriteString(label + "," + rest)
	}
	return b.String()
}

// --header is a choice, a spec has it, and a LIBSVM file has no header.
func TestHeaderFlag(t *testing.T) {
	sequential(t)
	file := put(t, "rows.csv", append([]string{"elm,5,6\n"}, pandasRows(60, func(i int) string { return []string{"elm", "oak"}[i%2] }, true)...)...)
	if spec, flag := trained(t, file, "--spec", put(t, "s.yaml", "header: yes\n")), trained(t, file, "--header", "yes"); string(spec) != string(flag) {
		t.Error("the spec's header is not the flag's")
	}
	model := filepath.Join(t.TempDir(), "m")
	code, stdout, _ := call(t, "train", file, "--spec", put(t, "s.yaml", "header: yes\n"), "--header", "no", "--no-tune", "--out", model)
	if code != 0 || !strings.Contains(stdout, ": 61 rows") {
		t.Errorf("the flag does not win: %s", stdout)
	}
	svm := put(t, "rows.libsvm", "+1 1:1\n-1 1:2\n+1 1:3\n")
	for _, args := range [][]string{
		{"train", file, "--header", "perhaps", "--out", model},
		{"train", svm, "--header", "yes", "--out", model},
		{"evaluate", model, svm, "--header", "yes"},
		{"predict", model, svm, "--header", "yes"},
	} {
		if code, _, stderr := call(t, args...); code != harness.ExitUsage || !strings.Contains(stderr, "--header") {
			t.Errorf("%v: exit status %d: %s", args, code, stderr)
		}
	}
}

// A training that goes on takes the first row as it did before it stopped.
func TestHeaderOfResumed(t *testing.T) {
	dir := t.TempDir()
	rows := append([]string{"label,0,1\n"}, pandasRows(2000, func(i int) string { return strconv.Itoa(i % 3) }, false)...)
	bad := append(append([]string{}, rows[:1500]...), "1,x,y\n")
	model, whole := filepath.Join(dir, "m"), filepath.Join(dir, "whole")
	args := []string{"--classes", "0,1,2", "--features", "2", "--scale", "none", "--bandwidth", "0.3", "--no-tune"} // nothing to look for in the file before
	code, _, stderr := call(t, append([]string{"train", put(t, "bad.csv", bad...), "--out", model}, args...)...)
	if code != harness.ExitFailed || !strings.Contains(stderr, "line 1501: column 2") {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	good := put(t, "good.csv", rows...)
	must(t, "train", good, "--resume", model)
	must(t, append([]string{"train", good, "--out", whole}, args...)...)
	a, errA := os.ReadFile(model)
	b, errB := os.ReadFile(whole)
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("the model is another one (%v, %v)", errA, errB)
	}
}
