package evidence

import (
	"math"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/spec"
)

// TestFindingWords checks a finding's texts, which all faces show.
func TestFindingWords(t *testing.T) {
	low, high, paper := 2.0, 2.0, 2.0
	of := ledger.Selector{Cell: "table2.multidist.ksvm.polk", Quantity: "error"}
	to := ledger.Selector{Cell: "table2.multidist.ksvm.bsgd", Quantity: "error"}
	mean := NewFinding(ledger.Test{ID: "error", Kind: ledger.KindEquivalence, Of: of, Low: &low, High: &high, Margin: 1, Paper: &paper})
	mean.Verdict, mean.Ours = stats.Reproduced, Number(stats.Mean([]float64{1, 2, 3}))
	ratio := NewFinding(ledger.Test{ID: "error", Kind: ledger.KindRatio, Of: of, To: &to, Low: &low})
	ratio.Verdict, ratio.Ours = stats.Deviates, Number(stats.Single(1.5))
	ratio.Test.Explained = "because"
	less := NewFinding(ledger.Test{Kind: ledger.KindLess, Of: of, To: &to})
	less.Gap = &Gap{Kind: Failed, Runs: make([]spec.Planned, 2), N: 5, Why: "a reason"}
	for _, c := range []struct {
		of   Finding
		want [8]string // compared, printed, target, ours, runs, outcome, note, sentence
	}{
		{mean, [8]string{"", "2", "1 to 3", "2 [0.3141, 3.686]", "0", "reproduced", "",
			"error of " + of.Cell + ": 2 [0.3141, 3.686]; claimed 1 to 3, printed 2."}},
		{ratio, [8]string{"error of " + to.Cell, "—", "≥ 2", "1.5", "0 : 0", "deviates, explained", "",
			"error of " + of.Cell + " divided by error of " + to.Cell + ": 1.5; claimed ≥ 2."}},
		{less, [8]string{"error of " + to.Cell, "—", "< 0", "", "0 : 0", "not run", "2 of 5 runs failed",
			"error of " + of.Cell + " minus error of " + to.Cell + ": not measured (2 of 5 runs failed); claimed < 0."}},
	} {
		f := &c.of
		if got := [8]string{f.Compared(), f.Printed(), f.Target.String(), f.Ours.String(), f.Runs(), f.Outcome(), f.Note(), f.Sentence()}; got != c.want || f.Measured() != "error of "+of.Cell {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := mean.Margins(); len(got) != 2 || ratio.Margins() != nil || mean.Ours.Interval() != "0.3141 to 3.686" || ratio.Ours.Interval() != "" {
		t.Errorf("margins %v and %v, intervals %q and %q", got, ratio.Margins(), mean.Ours.Interval(), ratio.Ours.Interval())
	}
	bound := Number{Low: math.Inf(-1), High: 1.000001, Basis: ExactTarget}
	if low, high := bound.Bounds(); bound.String() != "≤ 1.000001" || low != nil || *high != 1.000001 {
		t.Errorf("%s, from %v to %v", bound, low, high)
	}
	if _, high := less.Target.Bounds(); *high != 0 {
		t.Errorf("less than %v, want 0", *high)
	}
}

// TestGaps checks that each run without a record is in one gap, and the gap's text for each face.
func TestGaps(t *testing.T) {
	plan := func(id, set, series string) spec.Planned {
		p := spec.Planned{ID: id, Series: series}
		p.Run.Data.Name, p.Run.Task = set, "ksvm"
		return p
	}
	planned := []spec.Planned{plan("a", "x", "s"), plan("b", "y", "s"), plan("c", "y", "s"), plan("c", "y", "s"), plan("d", "y", "s"), plan("e", "y", "r")}
	gaps := Gaps(planned, nil, map[string]string{"b": "out of\nluck", "c": "out of\nluck", "e": "no"}, map[string]string{"x": "x: data not available: buy it"})
	for i, want := range [][3]string{
		{"Data set x is not available: buy it", "data not available", "x: data not available: buy it"},
		{"Failed: y, ksvm, s: out of luck (2 runs, one of them b)", "failed: out of luck", "failed: out of\nluck"},
		{"Failed: y, ksvm, r: no (run e)", "failed: no", "failed: no"},
		{"1 planned run without a record.", "not run yet", "no records"},
	} {
		if i >= len(gaps) || [3]string{gaps[i].Sentence(), gaps[i].Cell(), gaps[i].Note()} != want {
			t.Fatalf("gap %d of %d: want %q", i, len(gaps), want)
		}
	}
	if got := Lost(6, gaps); got != "3 of 6 runs failed. 2 of 6 runs are missing." {
		t.Error(got)
	}
	if got := Lost(6, gaps[1:3]); got != "3 of 6 runs failed." {
		t.Error(got)
	}
	if got := Lost(6, gaps[3:]) + Lost(6, nil); got != "1 of 6 runs are missing." {
		t.Error(got)
	}
	for profile, want := range map[string][2]string{
		"smoke": {"not in the smoke profile", "Profile smoke: the other cells need `runall reproduce`."},
		"quick": {"full profile only", "Profile quick: some cells need `runall reproduce --profile full`."},
		"full":  {"not planned"},
	} {
		g := &Gap{Kind: NotPlanned, What: profile}
		if g.Cell() != want[0] || want[1] != "" && g.Sentence() != want[1] {
			t.Errorf("%s: %s, %s", profile, g.Cell(), g.Sentence())
		}
	}
	if got := (&Gap{Kind: Corrupt, What: "r", N: 1}).Error(); got != "r: 1 record incomplete or corrupt; rerun 'runall reproduce'" {
		t.Error(got)
	}
	if got := (&Gap{Kind: Pending, What: "r", Runs: planned}).Error(); got != "6 records missing in r: a.jsonl (, s), b.jsonl (, s), c.jsonl (, s), c.jsonl (, s), d.jsonl (, s), and 1 more" {
		t.Error(got)
	}
}
