package report

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report/table"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// mixedInput has every kind of cell: finished, in part, failed, diverged,
// unavailable, not planned, not in this version.
func mixedInput() Input {
	in := fixtureInput()
	in.Profile = "quick"
	in.Unavailable["mnist"] = "mnist: data not available: searched data/cache; to get it, download it"
	planned := in.Planned[:0]
	for _, p := range in.Planned {
		switch {
		case p.Cells[0] == "table3.mnist.klr.polk", p.Cells[0] == "table2.multidist.klr.polk-large":
			continue
		case p.Run.Data.Name == "mnist":
			delete(in.Records, p.ID)
		case p.Series == "BSGD, B = 129":
			delete(in.Records, p.ID)
			in.Failed[p.ID] = "step 12: the budget\nis 100 % <used up> & gone_for_good"
		case p.Series == "BSGD, B = 16" && p.Run.Seed == 2:
			in.Records[p.ID].Final.TrainRisk = math.Inf(1)
		case p.Series == "POLK, K = 0.03" && p.Run.Data.Draw == 36:
			delete(in.Records, p.ID)
		}
		planned = append(planned, p)
	}
	in.Planned = planned
	return in
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with -update and look at the difference. Got:\n%s", path, got)
	}
}

func TestGoldenFaces(t *testing.T) {
	for _, c := range []struct {
		prefix string
		in     Input
	}{{"whole", fixtureInput()}, {"mixed", mixedInput()}} {
		r := build(c.in, fixturePaper(), fixtureDraw)
		for _, tb := range append(r.Tables, r.Runs) {
			for _, f := range table.Faces {
				var b bytes.Buffer
				if err := f.Write(tb, &b); err != nil {
					t.Fatal(err)
				}
				golden(t, c.prefix+"-"+tb.Name+"."+f.Ext, b.Bytes())
			}
		}
		var b bytes.Buffer
		if err := r.Index(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, c.prefix+"-index.md", b.Bytes())
	}
}

func TestTextWidth(t *testing.T) {
	r := build(mixedInput(), fixturePaper(), fixtureDraw)
	for _, table := range r.Tables {
		var b bytes.Buffer
		if err := table.Text(&b); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if n := len([]rune(l)); n > 120 {
				t.Errorf("%s: a line of %d characters: %s", table.Name, n, l)
			}
		}
	}
}

func cellOf(t *testing.T, r *Report, id string) *Cell {
	t.Helper()
	if r.Cells[id] == nil {
		t.Fatalf("no cell %s", id)
	}
	return r.Cells[id]
}

func TestWhyACellIsEmpty(t *testing.T) {
	r := build(mixedInput(), fixturePaper(), fixtureDraw)
	for id, want := range map[string]string{
		"table2.multidist.ksvm.ivm":        "—",
		"table2.multidist.klr.bsgd":        "—",
		"table2.multidist.ksvm.libsvm":     "",
		"table2.multidist.klr.ivm":         "full profile only",
		"table2.multidist.ksvm.bsgd-large": "failed: step 12: the budget is 100 % <used up> & gone_for_good",
		"table2.multidist.klr.polk-large":  "full profile only",
		"table3.mnist.ksvm.polk":           "data not available",
		"table3.mnist.klr.polk":            "data not available",
		"table3.brodatz.ksvm.polk":         "full profile only",
		"table2.multidist.ksvm.polk":       "",
	} {
		if got := cellOf(t, r, id).Why; got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if c := cellOf(t, r, "table2.multidist.klr.polk"); c.Lost != "1 of 5 runs are not there yet." || c.Runs() != 4 {
		t.Errorf("in part: %q, %d runs", c.Lost, c.Runs())
	}
	dashed := mixedInput()
	dashed.FullCells = map[string]bool{"table3.mnist.ksvm.lbfgs": true}
	for id, want := range map[string]string{"table3.mnist.ksvm.lbfgs": "data not available", "table3.mnist.klr.lbfgs": "—"} {
		if got := cellOf(t, build(dashed, fixturePaper(), fixtureDraw), id).Why; got != want {
			t.Errorf("%s, which only the full profile may feed: %q, want %q", id, got, want)
		}
	}
	in := fixtureInput()
	in.Records = nil
	if got := cellOf(t, build(in, fixturePaper(), fixtureDraw), "table3.mnist.ksvm.polk").Why; got != "not run yet" {
		t.Errorf("no records: %q", got)
	}
	if got := cellOf(t, build(Input{}, fixturePaper(), fixtureDraw), "table3.mnist.ksvm.polk").Why; got != "not planned" {
		t.Errorf("empty input: %q", got)
	}
}

func TestCellNumbers(t *testing.T) {
	r := build(fixtureInput(), fixturePaper(), fixtureDraw)
	c := cellOf(t, r, "table2.multidist.ksvm.polk")
	if c.Runs() != 15 || c.Draw == nil || c.Draw.Draw != fixtureDraw {
		t.Fatalf("runs %d, draw %+v", c.Runs(), c.Draw)
	}
	var want *record.Record
	for _, rec := range fixtureInput().Records {
		if run := rec.Header.Run; rec.Header.ID == shapes()[0].planned(fixtureDraw, 1).ID && run.Seed == 1 {
			want = rec
		}
	}
	if c.Draw.Values != [3]float64{want.Final.TrainRisk, 100 * want.Final.TestError, want.Final.ModelOrder} {
		t.Errorf("the figures' draw is %v, want the numbers of seed 1 with the training risk", c.Draw.Values)
	}
	if m := cellOf(t, r, "table3.mnist.klr.polk"); m.Draw != nil || m.Ours[qRisk].Mean != fixtureInput().Records[shapes()[12].planned(0, 1).ID].Final.TestRisk {
		t.Error("MNIST shows a draw or not the test risk")
	}
	if c := cellOf(t, r, "table2.multidist.ksvm.libsvm"); c.Ours[qRisk].N != 0 || c.Ours[qError].N != 5 {
		t.Errorf("a method that votes has a risk, or no error: %+v", c.Ours)
	}
	if got := cellOf(t, build(mixedInput(), fixturePaper(), fixtureDraw), "table2.multidist.ksvm.bsgd").Ours[qRisk].text(qRisk); got != "5 of 15 diverged" {
		t.Errorf("diverged: %q", got)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		s    Stat
		q    int
		want string
	}{
		{statOf(nil), qRisk, ""},
		{statOf([]float64{0.0912345}), qRisk, "0.0912"},
		{statOf([]float64{0.09, 0.11}), qRisk, "0.100 ± 0.014"},
		{statOf([]float64{4, 5}), qError, "4.50 ± 0.71"},
		{statOf([]float64{16}), qOrder, "16"},
		{statOf([]float64{16, 17}), qOrder, "16.5 ± 0.7"},
		{statOf([]float64{1086, 1090}), qOrder, "1088 ± 3"},
		{statOf([]float64{1e300, 1.5e308}), qRisk, "7.50e+307 ± 1.06e+308"},
		{statOf([]float64{0}), qRisk, "0.000"},
		{statOf([]float64{-0.5}), qRisk, "-0.500"},
		{statOf([]float64{math.NaN(), 1}), qRisk, "1 of 2 diverged"},
		{statOf([]float64{math.Inf(1)}), qError, "1 of 1 diverged"},
	} {
		if got := c.s.text(c.q); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
	for _, c := range []struct {
		v, paper float64
		q        int
		want     string
	}{
		{0.11, 0.1, qRisk, "+10 %"}, {4.1, 3.98, qError, "+0.12"}, {3.9, 3.98, qError, "−0.08"},
		{16, 16, qOrder, "0 %"}, {1600, 16, qOrder, "×1e+02"}, {1, 0, qRisk, ""},
	} {
		if got := difference(statOf([]float64{c.v}), &c.paper, c.q); got != c.want {
			t.Errorf("%v against %v: %q, want %q", c.v, c.paper, got, c.want)
		}
	}
}

var (
	latexEnv   = regexp.MustCompile(`\\(begin|end)\{(\w+)\}`)
	latexMulti = regexp.MustCompile(`\\multicolumn\{(\d)\}`)
	latexMath  = regexp.MustCompile(`\$[^$]*\$`)
)

// checkLaTeX checks what a LaTeX run would: braces and environments nest,
// every row has the tabular's columns, nothing special is bare.
func checkLaTeX(t *testing.T, tex string, columns int) {
	t.Helper()
	depth := 0
	for i, r := range tex {
		escaped := i > 0 && tex[i-1] == '\\' && (i < 2 || tex[i-2] != '\\')
		switch {
		case r > '~' || r == '\t':
			t.Errorf("%q in LaTeX", r)
		case r == '{' && !escaped:
			depth++
		case r == '}' && !escaped:
			depth--
		case (r == '#' || r == '~' || r == '_' || r == '%' && i > 0) && !escaped:
			t.Errorf("bare %q near %q", r, tex[max(0, i-20):i+1])
		}
		if depth < 0 {
			t.Fatalf("a brace too many near %q", tex[max(0, i-40):i+1])
		}
	}
	if depth != 0 {
		t.Errorf("%d braces left open", depth)
	}
	var open []string
	for _, m := range latexEnv.FindAllStringSubmatch(tex, -1) {
		if m[1] == "begin" {
			open = append(open, m[2])
		} else if len(open) == 0 || open[len(open)-1] != m[2] {
			t.Fatalf("\\end{%s} in %v", m[2], open)
		} else {
			open = open[:len(open)-1]
		}
	}
	if len(open) != 0 {
		t.Errorf("not ended: %v", open)
	}
	for _, l := range strings.Split(tex, "\n") {
		if !strings.HasSuffix(l, `\\`) {
			continue
		}
		n := strings.Count(strings.ReplaceAll(l, `\&`, ""), "&") + 1
		for _, m := range latexMulti.FindAllStringSubmatch(l, -1) {
			n += int(m[1][0]-'0') - 1
		}
		if n != columns {
			t.Errorf("%d columns, want %d: %s", n, columns, l)
		}
	}
	if rest := latexMath.ReplaceAllString(strings.ReplaceAll(tex, `\$`, ""), ""); strings.ContainsAny(rest, "$^") {
		t.Error("mathematics is not balanced")
	}
}

func TestLaTeX(t *testing.T) {
	for _, in := range []Input{fixtureInput(), mixedInput(), {}} {
		r := build(in, fixturePaper(), fixtureDraw)
		for _, table := range append(r.Tables, r.Runs) {
			var b bytes.Buffer
			if err := table.LaTeX(&b); err != nil {
				t.Fatal(err)
			}
			columns := 8
			if table.Blocks == nil {
				columns = len(table.Header)
			}
			_, tex, _ := strings.Cut(b.String(), "\n") // the first line is a comment
			checkLaTeX(t, tex, columns)
		}
	}
}

func TestBuildOnThePapersValues(t *testing.T) {
	r, err := Build(Input{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tables) != 2 || len(r.Figures) != 8 {
		t.Fatalf("%d tables and %d figures, want 2 and 8", len(r.Tables), len(r.Figures))
	}
	paper, err := experiments.Paper()
	if err != nil {
		t.Fatal(err)
	}
	for id, pc := range fixturePaper().Cells {
		if got, ok := paper.Cells[id]; !ok || got.Printed != pc.Printed {
			t.Errorf("%s: %q, the fixture has %q", id, got.Printed, pc.Printed)
		}
	}
}

// TestDashNotes: a row that is a dash throughout is named once.
func TestDashNotes(t *testing.T) {
	cells := make(map[string]*Cell)
	row := func(id, why string) *table.Row {
		cell := fmt.Sprint(len(cells))
		cells[cell] = &Cell{Dash: why}
		return &table.Row{ID: id, Cell: cell, Title: strings.ToUpper(id)}
	}
	tb := &Table{Blocks: []*table.Block{
		{Data: "a", Title: "KSVM", Rows: []*table.Row{row("x", "today"), row("y", "large"), row("z", "large")}},
		{Data: "a", Title: "KLR", Rows: []*table.Row{row("x", "today"), row("y", "")}},
	}}
	got := dashNotes(tb, cells)
	if want := []string{"—: today (X).", "—: large (Y, KSVM; Z, KSVM)."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
