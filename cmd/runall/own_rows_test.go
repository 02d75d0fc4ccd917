package main

import (
	"fmt"
	"math/rand/v2"
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
