package online

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/data"
)

// A model that a program of version 2 left unfinished goes on, in the file that
// it was learning, to the model that this program made of the whole file, bit for
// bit: its features are rounded before they are scaled, and its labels are numbers,
// however the rows write them. The files were made from these rows by
//
//	runall train a.csv --label last --bandwidth 0.3 --parsimony 0.05
//
// stopped after 4,130 of 4,160 rows, and not stopped.
func TestVersion2(t *testing.T) {
	rows := table(4160, "multi-hinge", 31)
	for i := range rows {
		rows[i] = strings.NewReplacer("elm", "1000000", "oak", "2500000", "pine", "40").Replace(rows[i])
	}
	read := func(name string) *Model {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Read(bytes.NewReader(b))
		if err != nil || b[7] != 2 || !m.old() {
			t.Fatalf("%s, version %d: %v", name, b[7], err)
		}
		return m
	}
	whole := read("version2-finished.polk")
	path := filepath.Join(t.TempDir(), "a.csv")
	for name, text := range map[string]string{
		"the same":        strings.Join(rows, "\n"),
		"other notations": strings.ReplaceAll(strings.Join(rows, "\n"), ",40", ",+40.0"),
	} {
		write(t, path, []byte(text))
		opt := options("multi-hinge", Source{Path: path})
		opt.Resume, opt.Continue = reread(t, read("version2.polk")), true
		m := mustTrain(t, opt)
		if m.Rows() != 4160 || m.Unfinished() || !bytes.Equal(saved(t, m), saved(t, whole)) {
			t.Errorf("%s: the model of %d rows is another one", name, m.Rows())
		}
		if again := reread(t, m); !again.old() {
			t.Errorf("%s: saved again, it has forgotten how it was made", name)
		}
	}
	readers := map[string]*Model{"read": whole}
	for name, file := range map[string][]byte{"version 2": testFile(t, "version2-finished.polk"), "saved again": saved(t, whole)} {
		m, err := ReadForPrediction(bytes.NewReader(file))
		if err != nil || !m.old() {
			t.Fatalf("%s: for prediction: %v", name, err)
		}
		readers[name+", for prediction"] = m
	}
	for name, m := range readers {
		for line, want := range map[string]string{"0.2,1,1e6": "1e+06", "2.6,2.5,40": "40"} {
			if got := strings.TrimSpace(predictions(t, m, []string{line})); got != want {
				t.Errorf("%s: %s: predicted %s, want %s", name, line, got, want)
			}
			if _, err := m.target(&data.Row{Label: line[strings.LastIndexByte(line, ',')+1:]}); err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
			}
		}
	}
}

// The first row of a file with numeric names is taken as in the training, whatever
// is looked at to find out: its names are the model's.
func TestHeaderIsRemembered(t *testing.T) {
	rows := make([]string, 300)
	for i := range rows {
		rows[i] = strings.Join([]string{[]string{"7", "8"}[i%2], []string{"3", "41", "59"}[i%3], []string{"26", "53"}[i%2]}, ",")
	}
	text := "species,2019,2020\n" + strings.Join(rows, "\n")
	var first []data.FirstRow
	src := func(text string) Source {
		return Source{Path: "-", Stdin: strings.NewReader(text), Decided: func(f data.FirstRow) { first = append(first, f) }}
	}
	opt := options("multi-hinge", src(text))
	opt.Settings.LabelColumn = 1
	m := reread(t, mustTrain(t, opt))
	for text, want := range map[string]int{text: 300, rows[0]: 1, "2019,2020\n" + rows[0][2:]: 1, "2019,2021\n" + rows[0][2:]: 2, "9,2019,2020\n" + rows[0]: 2} {
		var b bytes.Buffer
		if err := m.Predict(t.Context(), src(text), data.FormatCSV, false, &b); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != want {
			t.Errorf("%.20q: %d predictions, want %d (%v)", text, bytes.Count(b.Bytes(), []byte("\n")), want, err)
		}
	}
	if len(first) != 6 || !first[0].Header || !strings.Contains(first[0].Why, "only one that is not a number") {
		t.Errorf("said of the first rows: %+v", first)
	}
	if again, err := ReadForPrediction(bytes.NewReader(saved(t, m))); err != nil || again.names == nil || *again.names != *m.names {
		t.Errorf("for prediction: other names, or %v", err)
	}
	// Without a header, what it would be is not asked of the rows that go on.
	opt.Source, opt.Resume = src(strings.Join(rows, "\n")), m
	if names := m.names; names == nil || mustTrain(t, opt).names != names {
		t.Errorf("names %v", names)
	}
}
