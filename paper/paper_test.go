package paper

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/internal/testutil"
)

// TestPaperTables compares the tables with the paper's LaTeX, row by row.
func TestPaperTables(t *testing.T) {
	p := Printed()
	want := map[string][]string{
		"table2": {
			"LIBSVM & -/3.92/656 & -/-/-",
			"L-BFGS & 0.0854/4.08/5000 & 0.0854/4.04/5000",
			"IVM & -/-/- & 0.0894/4.08/16",
			"BSGD & 0.385/21.8/16 & -/-/-",
			"POLK & 0.0919/3.98/16 & 0.120/4.36/16",
		},
		"table3": {
			"LIBSVM & -/1.50/16118 & -/-/- & -/3.72/4777 & -/-/-",
			"L-BFGS & -/-/- & -/-/- & 0.0319/4.44/10000 & 0.0572/4.00/10000",
			"BSGD & 0.0731/2.67/1086 & -/-/- & 0.0560/4.72/1171 & -/-/-",
			"POLK & 0.0684/2.46/1086 & 0.116/2.68/2326 & 0.0507/4.53/1171 & 0.0871/4.41/1833",
		},
	}
	for _, table := range p.Tables {
		var got []string
		for _, row := range table.Rows {
			line := row.Title
			for _, col := range table.Columns {
				line += " & " + p.Cells[table.CellID(col, row)].Printed
			}
			got = append(got, line)
		}
		if g, w := strings.Join(got, "\n"), strings.Join(want[table.ID], "\n"); g != w {
			t.Errorf("%s:\n%s\nwant\n%s", table.ID, g, w)
		}
	}
}

// TestPaperFits checks that the parts of paper.yaml are consistent with each other.
func TestPaperFits(t *testing.T) {
	p := Printed()
	want := func(ok bool, what string, args ...any) {
		t.Helper()
		if !ok {
			t.Errorf(what, args...)
		}
	}
	known := func(data, task string) bool {
		_, ok := p.Data[data]
		return ok && (task == "ksvm" || task == "klr")
	}
	for name, d := range p.Data {
		want(d.Risk == RiskTrain || d.Risk == RiskTest, "%s: risk %q", name, d.Risk)
	}
	for _, table := range p.Tables {
		want(table.ID == fmt.Sprint("table", table.Number), "table %s has number %d", table.ID, table.Number)
		ids := make(map[string]bool)
		for _, row := range slices.Concat(table.Rows, table.Extra) {
			want(row.ID != "" && !ids[row.ID], "%s: row %q is empty or duplicated", table.ID, row.ID)
			ids[row.ID] = true
		}
		for _, col := range table.Columns {
			want(known(col.Data, col.Task), "%s: column %+v", table.ID, col)
			for _, row := range table.Rows {
				want(p.Cells[table.CellID(col, row)].ID != "", "cell %s is missing", table.CellID(col, row))
			}
		}
	}
	for id, c := range p.Cells {
		want(c.ID == id, "cell %s is in no row and column of a table", id)
		dash := c.Risk == nil || c.Error == nil || c.Order == nil
		want(dash == (p.Reasons[c.Reason] != "") && dash == (c.Reason != ""), "%s is %s, with reason %q", id, c.Printed, c.Reason)
		want(!c.Extra || c.Order == nil || c.Quote != "", "%s is in no printed table and needs a quote", id)
	}
	for i, f := range p.Figures {
		want(f.Title != "" && f.Caption != "" && (f.Kind != FigureCurves || len(f.Panels) == 3), "figure %s lacks a title, a caption or a panel", f.ID)
		want(f.Number == i+1, "figure %s has number %d", f.ID, f.Number)
		want(slices.Contains([]string{FigureCurves, FigureDecision, FigureData}, f.Kind), "figure %s is of kind %q", f.ID, f.Kind)
		for _, q := range f.Panels {
			want(f.Kind != FigureCurves || known(f.Data, f.Task) && slices.Contains(Quantities, q.Quantity), "figure %s: panel %+v", f.ID, q)
		}
		for _, s := range f.Stated {
			panel := slices.ContainsFunc(f.Panels, func(q Panel) bool { return q.ID == s.Panel && q.Quantity == s.Quantity })
			bounds := (s.Low != nil || s.High != nil) && (s.Low == nil || s.High == nil || *s.Low <= *s.High)
			want(panel && bounds && s.Quote != "" && s.Samples >= 0 && (s.Cell == "" || p.Cells[s.Cell].ID != ""), "figure %s states %+v", f.ID, s)
		}
	}
}

// TestPaperErrors checks that paper.yaml is read strictly.
func TestPaperErrors(t *testing.T) {
	src, err := experiments.Files.ReadFile(file)
	testutil.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{"0.0919/3.98/16", "0.0919/3.98", `printed is "0.0919/3.98", want risk/error/order`},
		{"0.0919/3.98/16", "0.0919/3.98/x", `printed is "0.0919/3.98/x"`},
		{"        samples: 1249", "        sample: 1249", `unknown key "sample", want one of panel`},
	} {
		text := strings.Replace(string(src), c.old, c.new, 1)
		_, err := parse("paper.yaml", []byte(text))
		if text == string(src) || err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "paper.yaml:") {
			t.Errorf("%q: error %v, want %s", c.new, err, c.want)
		}
	}
}
