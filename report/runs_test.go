package report

import (
	"slices"
	"strings"
	"testing"
)

// TestOtherData: runs on data that the paper does not have get a table and a
// figure of curves each for a data set and task, batch methods the former
// alone, and nothing of them is in the paper's.
func TestOtherData(t *testing.T) {
	in := fixtureInput()
	with := built(in)
	if slices.ContainsFunc(with.Tables, func(t *Table) bool { return t.Name == "tableS1" }) {
		t.Error("a table of other data without such data")
	}
	for _, s := range []shape{
		{"glyphs", "ksvm", "polk", "POLK, K = 0.016", "", "", nil, 2, 40000, 1600, 0.1, 0.03, 800, 1.2, 0.03},
		{"glyphs", "ksvm", "csvc", "C-SVC", "", "", nil, 1, 20000, 20000, 0.1, 0.01, 8000, 1, 0},
		{"glyphs", "klr", "polk", "POLK, K = 0.008", "", "", nil, 1, 40000, 1600, 0.1, 0.03, 900, 1.2, 0.03},
	} {
		for seed := range uint64(s.seeds) {
			p := s.planned(0, seed+1)
			p.Cells, p.Figures = nil, nil
			in.Planned = append(in.Planned, p)
			if s.task == "ksvm" {
				in.Records[p.ID] = s.record(p)
			}
		}
	}
	r := built(in)
	table := r.Tables[len(r.Tables)-1]
	var rows []string
	for _, row := range table.Rows {
		rows = append(rows, strings.Join(row[:4], " | "))
	}
	want := []string{
		"glyphs | ksvm | POLK, K = 0.016 | 2 of 2", "glyphs | ksvm | C-SVC | 1 of 1", "glyphs | klr | POLK, K = 0.008 | 0 of 1",
	}
	if table.Name != "tableS1" || !slices.Equal(rows, want) {
		t.Errorf("table %s\n%s\nwant\n%s", table.Name, strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	if risk := table.Rows[1][4]; risk != whyDash {
		t.Errorf("the risk of a method that votes is %q", risk)
	}
	var names []string
	for _, f := range r.Figures[len(with.Figures):] {
		names = append(names, f.Name+": "+f.Title+" "+f.Missing)
	}
	if want := []string{"figureS2: Figure S2. Multi-KSVM on glyphs ", "figureS3: Figure S3. Multi-Logistic on glyphs not run yet"}; !slices.Equal(names, want) {
		t.Errorf("figures %q, want %q", names, want)
	}
	if n := len(r.Figures[len(with.Figures)].Series); n != 1 {
		t.Errorf("%d series in the figure of curves, want POLK's alone", n)
	}
}
