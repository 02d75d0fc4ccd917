package docs

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"polkrepro/experiments"
)

// TestPruningTables: the cells of docs/pruning.md's tables are those of the recorded
// tournament.
func TestPruningTables(t *testing.T) {
	fields := map[string]string{
		"multidist, hinge": "multidist-ksvm", "multidist, logistic": "multidist-klr", "drifting multidist": "drift-ksvm", "MNIST": "mnist-ksvm",
		"Brodatz": "brodatz-ksvm", "Fashion-MNIST": "fashion-ksvm", "letter": "letter-ksvm", "satimage": "satimage-ksvm",
	}
	// The tables of the page, by the heading that they follow: a folder and a column.
	for heading, from := range map[string]struct{ folder, column string }{
		"## At equal model order": {"tournament", "error, equal order"},
		"### Against merging":     {"tournament/against-merging", "error, equal order"},
		"### The time it takes":   {"tournament", "time, equal order"},
		"### Over the stream":     {"tournament", "mean error"},
	} {
		_, section, found := strings.Cut(read(t, "docs/pruning.md"), "\n"+heading+"\n")
		if !found {
			t.Errorf("no heading %q", heading)
			continue
		}
		var header []string
		rows := 0
		for line := range strings.Lines(section) {
			if strings.HasPrefix(line, "#") {
				break
			}
			if !strings.HasPrefix(line, "|") {
				continue
			}
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			if header == nil {
				header = cells
				continue
			}
			if strings.HasPrefix(cells[1], "--") {
				continue
			}
			rows++
			name, _, _ := strings.Cut(strings.TrimPrefix(cells[0], "`"), "`")
			for i, cell := range cells[1:] {
				field, ok := fields[header[i+1]]
				if !ok {
					t.Fatalf("%s: no field %q", heading, header[i+1])
				}
				want := recorded(t, "../results/reference/"+from.folder+"/tables/"+field+".csv", name, from.column)
				if strings.ReplaceAll(cell, "**", "") != want {
					t.Errorf("%s: %s on %s is %q, and the recorded tournament has %q", heading, name, header[i+1], cell, want)
				}
			}
		}
		if rows < 3 {
			t.Errorf("%s: %d rows", heading, rows)
		}
	}
}

// recorded returns a cell of a table, a dash if the heuristic has no row.
func recorded(t *testing.T, path, name, column string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(rows[0], column)
	if i < 0 {
		t.Fatalf("%s has no column %q", path, column)
	}
	for _, row := range rows[1:] {
		if row[0] == name {
			return row[i]
		}
	}
	t.Fatalf("%s has no heuristic %q", path, name)
	return ""
}

// TestLearnersTable: the errors in docs/learners.md are those of the recorded Table S3.
func TestLearnersTable(t *testing.T) {
	fields := map[string][2]string{
		"multidist, hinge": {"multidist (calibrated)", "ksvm"}, "multidist, logistic": {"multidist (calibrated)", "klr"},
		"MNIST, hinge": {"mnist", "ksvm"}, "MNIST, logistic": {"mnist", "klr"},
	}
	f, err := os.Open("../results/reference/tables/tableS3.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(rows[0], "error (%)")
	want := make(map[[3]string]string) // by data, task and series
	for _, row := range rows[1:] {
		want[[3]string(row[:3])], _, _ = strings.Cut(row[column], " (")
	}
	_, section, _ := strings.Cut(read(t, "docs/learners.md"), "\n| | multidist, hinge |")
	section, _, _ = strings.Cut(section, "\n\n")
	header := []string{"", "multidist, hinge", "multidist, logistic", "MNIST, hinge", "MNIST, logistic"}
	compared := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(cells[0]), "`"), "`")
		m := experiments.Method(name)
		if m == nil || len(cells) != len(header) {
			continue
		}
		for i, cell := range cells[1:] {
			cell = strings.Trim(strings.TrimSpace(cell), "*")
			if cell == "—" {
				continue
			}
			of := fields[header[i+1]]
			if got := want[[3]string{of[0], of[1], m.Title}]; got != cell {
				t.Errorf("%s on %s: %q, and the recorded runs have %q", name, header[i+1], cell, got)
			}
			compared++
		}
	}
	if compared < 20 {
		t.Errorf("%d errors compared", compared)
	}
}
