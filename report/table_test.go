package report

import (
	"math"
	"strings"
	"testing"

	"polkrepro/evidence/theory/theorytest"
	"polkrepro/internal/golden"
	"polkrepro/record"
	"polkrepro/report/table"
	"polkrepro/spec"
)

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

func TestGoldenFaces(t *testing.T) {
	for _, c := range []struct {
		prefix string
		in     Input
	}{{"whole", fixtureInput()}, {"mixed", mixedInput()}} {
		r := built(c.in)
		for _, tb := range append(r.Tables, r.Runs) {
			for _, f := range table.Faces {
				golden.Check(t, "testdata/"+c.prefix+"-"+tb.Name+"."+f.Ext, f.Of(tb))
			}
		}
	}
}

// widestInput has a record for each run of the profile full, with values like those of the widest
// cells: risks of four digits with their spread.
func widestInput(t *testing.T) Input {
	t.Helper()
	in := Input{Planned: theorytest.Plan(t, spec.ProfileFull), Records: make(map[string]*record.Record), Profile: spec.ProfileFull}
	for i, p := range in.Planned {
		v := 1 + 0.01*float64(i%7)
		in.Records[p.ID] = &record.Record{Header: record.Header{ID: p.ID, Run: p.Run},
			Points: []record.Point{{Samples: p.Run.Samples, TrainRisk: 0.0826 * v, TestRisk: 0.0826 * v, TestError: 0.0379 * v, ModelOrder: int(1173 * v)}},
			Final:  record.Final{TrainRisk: 0.0826 * v, TestRisk: 0.0826 * v, TestError: 0.0379 * v, ModelOrder: 1173 * v}}
	}
	return in
}

// TestLaTeX checks that LaTeX can represent all characters of the tables.
func TestLaTeX(t *testing.T) {
	all := ""
	for _, tb := range Build(widestInput(t)).Tables {
		all += tb.LaTeX()
	}
	if i := strings.IndexByte(all, '?'); i >= 0 {
		t.Errorf("a character is lost: %q", all[max(0, i-20):i+20])
	}
	if !strings.Contains(all, `0.0851 $\pm$`) {
		t.Errorf("no risk of the runs in\n%s", all)
	}
}

// TestWhyACellIsEmpty checks reasons that the golden faces of mixedInput don't show.
func TestWhyACellIsEmpty(t *testing.T) {
	if c := built(mixedInput()).Cells["table2.multidist.klr.polk"]; c.Lost != "1 of 5 runs are missing." || c.Runs() != 4 {
		t.Errorf("in part: %q, %d runs", c.Lost, c.Runs())
	}
	if got := built(mixedInput()).Cells["table3.mnist.klr.lbfgs"].Why; got != "—" {
		t.Errorf("only dashes printed, and no runs planned: %q", got)
	}
	in := fixtureInput()
	in.Records = nil
	if got := built(in).Cells["table3.mnist.ksvm.polk"].Why; got != "not run yet" {
		t.Errorf("no records: %q", got)
	}
	if got := built(Input{}).Cells["table3.mnist.ksvm.polk"].Why; got != "not planned" {
		t.Errorf("empty input: %q", got)
	}
}

// TestNumbers compares intervals with t(0.95, 2) = 2.920 of printed tables: 2 ± 2.920/√3.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		values         []float64
		q              int
		text, interval string
	}{
		{nil, qRisk, "", ""},
		{[]float64{0.0912345}, qRisk, "0.0912", ""},
		{[]float64{0.09, 0.11}, qRisk, "0.100 ± 0.014", ""},
		{[]float64{1e300, 1.5e308}, qRisk, "7.50e+307 ± 1.06e+308", ""},
		{[]float64{0}, qRisk, "0.000", ""},
		{[]float64{-0.5}, qRisk, "-0.500", ""},
		{[]float64{math.NaN(), 1}, qRisk, "1 of 2 diverged", ""},
		{[]float64{1, 2, 3}, qError, "2.00 ± 1.00", "0.31 to 3.69"},
		{[]float64{2, 2, 2}, qError, "2.00 ± 0.00", "2.00"},
		{[]float64{1, 2, 3, math.Inf(1)}, qError, "1 of 4 diverged", ""},
		{[]float64{16}, qOrder, "16", ""},
		{[]float64{16, 17}, qOrder, "16.5 ± 0.7", ""},
		{[]float64{1086, 1090}, qOrder, "1088 ± 3", ""},
	} {
		s := statOf(c.values)
		full := c.text
		if c.interval != "" {
			full += " (" + c.interval + ")"
		}
		if s.text(c.q) != c.text || s.interval(c.q) != c.interval || s.full(c.q) != full {
			t.Errorf("%v: %q, %q, %q; want %q, %q", c.values, s.text(c.q), s.interval(c.q), s.full(c.q), c.text, c.interval)
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
