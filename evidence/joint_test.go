package evidence

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/internal/testutil"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/spec"
)

// few returns records of the profile full and a ledger of the cells, with some of the
// assumptions.
func few(t *testing.T, assumptions ...string) Input {
	t.Helper()
	in := fixture(t)
	l := *in.Ledger
	l.Claims = slices.DeleteFunc(slices.Clone(l.Claims), func(c ledger.Claim) bool { return !c.Cell })
	l.Assumptions = nil
	for _, id := range assumptions {
		l.Assumptions = append(l.Assumptions, *in.Ledger.Assumption(id))
	}
	in.Ledger = &l
	return in
}

// divided returns records in which BSGD deviates unless it projects, and Brodatz after all eight
// passes.
func divided(t *testing.T) Input {
	t.Helper()
	in := few(t, "risk", "bsgd-maintenance", "epochs-brodatz", "lbfgs-risk", "ivm-stopping")
	for i, keep := range map[int][]string{1: {"removal", "projection"}, 2: {"four", "five"}} {
		a := &in.Ledger.Assumptions[i]
		a.Alternatives = slices.DeleteFunc(slices.Clone(a.Alternatives), func(a ledger.Alternative) bool { return !slices.Contains(keep, a.ID) })
	}
	answered(t, in, "bsgd-maintenance", "projection", finals())
	answered(t, in, "epochs-brodatz", "four", finals())
	for _, p := range in.Plan {
		r := in.Records[p.ID]
		if r == nil {
			continue
		}
		if p.Run.Method == "bsgd" && p.Run.Params.Maintenance == "merging" {
			r.Final.TestError, r.Final.TrainRisk = 0.3, 3*r.Final.TrainRisk
		}
		if p.Run.Data.Name == "brodatz" && p.Run.Samples > 50000 {
			r.Final.TrainRisk /= 2
		}
		r.Final.TestRisk *= 1.5 // so that it differs from the training risk
		for i := range r.Points {
			r.Points[i].TestRisk *= 1.5
		}
	}
	return in
}

// TestJointCounts compares the counts of all combinations with those of calling Assess for each.
func TestJointCounts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it half a minute")
	}
	in := divided(t)
	j := must(Joint(in))
	want := make(map[[3]int]int)
	fewest := make(map[[3]int]int)
	combinations := []map[string]string{{}}
	for _, a := range in.Ledger.Assumptions {
		for _, c := range slices.Clone(combinations) {
			for _, alternative := range a.Alternatives {
				if a.ID == "ivm-stopping" { // no record has it
					continue
				}
				with := maps.Clone(c)
				with[a.ID] = alternative.ID
				combinations = append(combinations, with)
			}
		}
	}
	for _, assume := range combinations {
		byResult := 1 // ivm-stopping, which does not vary
		for _, a := range in.Ledger.Assumptions[:4] {
			how := a.How
			if id, ok := assume[a.ID]; ok {
				how = ledger.ChosenByResult
				if h := a.Alternative(id).How; h != "" {
					how = h
				}
			}
			if how == ledger.ChosenByResult {
				byResult++
			}
		}
		in.Assume = assume
		a := must(Assess(in))
		cells, _, _ := a.Counts()
		key := [3]int{byResult, cells.Reproduced, a.Numbers().Reproduced}
		want[key]++
		if n, ok := fewest[key]; !ok || len(assume) < n {
			fewest[key] = len(assume)
		}
	}
	got := make(map[[3]int]int)
	for _, c := range j.Counts {
		key := [3]int{c.ByResult, c.Cells, c.Numbers}
		got[key] = c.Combinations
		in.Assume = c.assume()
		a := must(Assess(in))
		cells, _, _ := a.Counts()
		oneRun := 0
		for i := range a.Claims {
			within, _ := a.Claims[i].Within()
			oneRun += one(within && a.Claims[i].Verdict != stats.Reproduced)
		}
		if cells.Reproduced != c.Cells || a.Numbers().Reproduced != c.Numbers || cells.NotRun != c.NotRun || oneRun != c.OneRun {
			t.Errorf("%s: %+v; Assess has %+v, %+v, %d of one run", c.Names(), c, cells, a.Numbers(), oneRun)
		}
		if len(c.Assumed) != fewest[key] {
			t.Errorf("%v: %d alternatives, want %d", key, len(c.Assumed), fewest[key])
		}
	}
	if !maps.Equal(got, want) || j.Combinations != len(combinations) || len(j.Assumptions) != 4 || len(want) < 10 {
		t.Errorf("%d combinations, want %d:\n%v, want\n%v", j.Combinations, len(combinations), got, want)
	}
	if len(j.Chosen.Assumed) > 0 || j.Chosen.ByResult != 2 { // risk, ivm-stopping
		t.Errorf("as chosen: %+v", j.Chosen)
	}
	for i, r := range j.Front[1:] {
		before := j.Front[i]
		if r.ByResult <= before.ByResult || r.Cells < before.Cells || r.Cells == before.Cells && r.Numbers <= before.Numbers {
			t.Errorf("front: %+v after %+v", r, before)
		}
	}
	best := j.Front[len(j.Front)-1]
	reproduced := 0
	for _, c := range j.Best {
		reproduced += one(c.Verdict == stats.Reproduced)
	}
	if reproduced != best.Cells || len(j.Best) != 17 || best.Cells <= j.Chosen.Cells {
		t.Errorf("the best: %+v with %d of %d cells", best, reproduced, len(j.Best))
	}
}

// TestTogether assumes two alternatives: either one of them has runs, which are cut for the other,
// or neither has, and the note names the two.
func TestTogether(t *testing.T) {
	t.Parallel()
	in := fixture(t)
	answered(t, in, "bsgd-maintenance", "projection", finals())
	answered(t, in, "epochs-mnist", "rule", finals())
	for _, c := range []struct {
		assume     map[string]string
		test, spec string
		samples    int
		note       string // of the finding
	}{
		{map[string]string{"epochs-brodatz": "five"}, "table3.brodatz.ksvm.polk.risk", "brodatz-ksvm", 50000, "the first 50,000 of 80,000 samples"},
		{map[string]string{"epochs-brodatz": "five", "bsgd-maintenance": "projection"}, "table3.brodatz.ksvm.bsgd.risk", "multiverse-brodatz-ksvm", 50000, "the first 50,000 of 80,000 samples, one evaluation"},
		{map[string]string{"epochs-brodatz": "five"}, "table3.brodatz.ksvm.libsvm.error", "brodatz-batch-ksvm", 10000, "one run"},
		{map[string]string{"epochs-mnist": "five"}, "table3.mnist.ksvm.polk.risk", "multiverse-mnist-six-passes-ksvm", 300000, "the first 300,000 of 360,000 samples"},
		{map[string]string{"epochs-mnist": "six"}, "table3.mnist.ksvm.polk.risk", "multiverse-mnist-six-passes-ksvm", 360000, ""},
		{map[string]string{"epochs-mnist": "three"}, "table3.mnist.ksvm.polk.risk", "mnist-ksvm", 180000, "the first 180,000 of 240,000 samples"},
		{map[string]string{"epochs-mnist": "five", "bsgd-maintenance": "projection"}, "table3.mnist.ksvm.bsgd.risk", "", 0,
			"no run of table3.mnist.ksvm.bsgd with bsgd-maintenance=projection has epochs-mnist=five"},
		{map[string]string{"epochs-mnist": "rule", "bsgd-maintenance": "projection"}, "table3.mnist.ksvm.bsgd.risk", "", 0,
			"no run of table3.mnist.ksvm.bsgd has both bsgd-maintenance=projection and epochs-mnist=rule"},
		{map[string]string{"mini-batch": "sum", "budget-norm": "squared"}, "table2.multidist.ksvm.polk.risk", "", 0,
			"no run of table2.multidist.ksvm.polk has both budget-norm=squared and mini-batch=sum"},
	} {
		in.Assume = c.assume
		r := first(t, must(Assess(in)), c.test)
		if r.Note() != c.note || (r.Gap != nil && r.Gap.Kind == Unanswered) != (c.spec == "") {
			t.Errorf("%v: %s: %q, want %q", c.assume, c.test, r.Note(), c.note)
		}
		for _, run := range r.Of.Runs {
			if run.Spec != c.spec || run.Record.Header.Run.Samples != c.samples {
				t.Errorf("%v: %s: run of %s with %d samples", c.assume, c.test, run.Spec, run.Record.Header.Run.Samples)
			}
		}
	}
	// Runs that can't be cut leave the test not run, whatever their length.
	for _, p := range in.Plan {
		if r := in.Records[p.ID]; r != nil && slices.Contains(p.Cells, "table3.brodatz.ksvm.polk") {
			r.Points = r.Points[len(r.Points)-1:]
		}
	}
	in.Assume = map[string]string{"epochs-brodatz": "five"}
	if r := first(t, must(Assess(in)), "table3.brodatz.ksvm.polk.risk"); r.Verdict != stats.NotRun || !strings.Contains(r.Note(), "no evaluation in the last 5 %") {
		t.Errorf("%v, %q", r.Verdict, r.Note())
	}
}

// TestLongerRunsBeginWithShorterOnes checks that the recorded runs of more passes have the points
// of the same runs of fewer passes, bit for bit where both were evaluated.
func TestLongerRunsBeginWithShorterOnes(t *testing.T) {
	t.Parallel()
	x := newIndex(Input{Ledger: ledger.Embedded(), Plan: theorytest.Plan(t, spec.ProfileFull)})
	read := func(p spec.Planned) *record.Record {
		return must(record.Read(filepath.Join("../results/reference/records", p.ID+".jsonl.gz")))
	}
	compared := 0
	for _, c := range []struct{ assumption, alternative, cell string }{
		{"epochs-multidist", "one", "table2.multidist.ksvm.polk"}, {"epochs-multidist", "ten", "table2.multidist.klr.polk"},
		{"epochs-multidist", "ten", "table2.multidist.ksvm.bsgd"}, {"epochs-brodatz", "four", "table3.brodatz.ksvm.polk"},
		{"epochs-brodatz", "four", "table3.brodatz.ksvm.bsgd"}, {"epochs-mnist", "rule", "table3.mnist.klr.polk"},
	} {
		answer := ledger.Embedded().Assumption(c.assumption).Alternative(c.alternative).Answer(c.cell)
		own := x.selected(ledger.Selector{Cell: c.cell})
		of := func(plan []spec.Planned) spec.Planned { // of the first draw and order
			i := slices.IndexFunc(plan, func(p spec.Planned) bool {
				return p.Run.Seed == own[0].Run.Seed && p.Run.Data.Draw == own[0].Run.Data.Draw
			})
			return plan[i]
		}
		short, long := read(of(own)), read(of(x.answers(answer)))
		if short.Header.Run.Samples > long.Header.Run.Samples {
			short, long = long, short
		}
		for _, p := range must(long.Cut(short.Header.Run.Samples)).Points {
			i := slices.IndexFunc(short.Points, func(q record.Point) bool { return q.Samples == p.Samples })
			if i < 0 {
				continue
			}
			q := short.Points[i]
			p.Timing, q.Timing = record.Timing{}, record.Timing{}
			if p.TrainRisk != q.TrainRisk || p.TestRisk != q.TestRisk || p.TestError != q.TestError || p.ModelOrder != q.ModelOrder {
				t.Errorf("%s after %d samples: %+v in the longer run, %+v in the shorter", c.cell, p.Samples, p, q)
			}
			compared++
		}
	}
	if compared < 100 {
		t.Errorf("only %d points compared", compared)
	}
}

// TestJointText checks the text of the front and of the best combination.
func TestJointText(t *testing.T) {
	chosen := JointReading{Assumed: []Assumed{}, ByResult: 2, Cells: 12, Numbers: 40, Combinations: 1}
	best := JointReading{Assumed: []Assumed{{"a", "x", "another\n way", "one way", "by result"}}, ByResult: 3, Cells: 14, Numbers: 43, NotRun: 1, OneRun: 2, Combinations: 20_000}
	j := JointReport{
		Cells: 17, Numbers: 48, Combinations: 12_000, Assumptions: []JointAssumption{{"a", "blind", []string{"x"}}},
		Chosen: chosen, Front: []JointReading{chosen, best}, Counts: []JointReading{chosen, best},
		Best: []ClaimResult{{Claim: ledger.Claim{ID: "c"}, Verdict: stats.Deviates}},
	}
	var b bytes.Buffer
	testutil.NoError(t, j.WriteText(&b))
	_, got, _ := strings.Cut(b.String(), "confirms nothing.\n\n")
	const want = `by result  cells     numbers   one run's  not run  combinations  assumed otherwise
2          12 of 17  40 of 48  0          0        1             nothing (as chosen)
3          14 of 17  43 of 48  2          1        20,000        a=x

The most reproduced: 14 of 17 cells and 43 of 48 numbers, with 3 choices by result (as chosen: 12 cells, 40 numbers, 2 choices). In 2 more, all printed numbers lie in the interval of a new run. Assumed otherwise: a=x.

  a=x (by result): another way
    instead of (blind): one way

Its cells:
  deviates     c

'runall verify --assume a=x' judges all claims so.
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	j.Front = j.Front[1:]
	if got := j.Shown(); len(got) != 2 || got[0].Cells != 12 {
		t.Errorf("the chosen values are not shown: %+v", got)
	}
}

// TestAtOtherMargins checks the verdicts at other margins, and whether the interval of one run
// contains the printed value.
func TestAtOtherMargins(t *testing.T) {
	printed := 4.0
	r := NewFinding(ledger.Test{Kind: ledger.KindEquivalence, Low: &printed, High: &printed, Margin: 1, Paper: &printed})
	r.Ours, r.Verdict = Number{Value: 4.6, Low: 4.4, High: 4.8, Basis: stats.Student}, stats.Reproduced
	r.NewRun = Number{Value: 4.6, Low: 4.1, High: 5.1, Basis: stats.OneRun}
	if half, twice := r.At(0.5), r.At(2); half != stats.Inconclusive || twice != stats.Reproduced || r.At(0.25) != stats.Deviates {
		t.Errorf("half %v, twice %v", half, twice)
	}
	if within, known := r.Within(r.NewRun); within || !known {
		t.Errorf("within %v, known %v", within, known)
	}
	r.NewRun.Low = 4
	c := ClaimResult{Claim: ledger.Claim{Cell: true}, Tests: []Finding{r, r}, Verdict: stats.Reproduced}
	if within, known := c.Within(); !within || !known || c.At(0.25) != stats.Deviates || len(c.Margins()) != 2 {
		t.Errorf("cell: within %v, known %v, %v", within, known, c.At(0.25))
	}
	c.Tests[1].NewRun = Number{}
	if within, known := c.Within(); within || known {
		t.Errorf("one number without runs enough: within %v, known %v", within, known)
	}
	c.Tests[1].Test.Margin, c.Tests[1].Verdict = 0, stats.Inconclusive
	if c.At(2) != stats.Inconclusive {
		t.Errorf("a test without a margin: %v", c.At(2))
	}
	a := Assessment{Claims: []ClaimResult{c}}
	if cells, of, numbers, ofNumbers := a.WithinOneRun(); cells != 0 || of != 0 || numbers != 1 || ofNumbers != 1 {
		t.Errorf("%d of %d cells, %d of %d numbers", cells, of, numbers, ofNumbers)
	}
	if n := a.CellsAt(0.25); n.Deviates != 1 || n.Total() != 1 {
		t.Errorf("%+v", n)
	}
}

// TestFewestAlternatives checks that the combination kept for a tally is one with the fewest
// alternatives and, among these, the one with the most cells that one run could have given.
func TestFewestAlternatives(t *testing.T) {
	all := make(tallies)
	for i, c := range [][2]int{{3, 9}, {2, 1}, {2, 4}, {2, 3}, {5, 7}} {
		all.add(combinations{JointReading{OneRun: c[1], Combinations: 1}, c[0], []uint8{uint8(i)}})
	}
	if got := all[[3]int{}]; got.flips != 2 || got.OneRun != 4 || got.Combinations != 5 || got.choice[0] != 2 {
		t.Errorf("%+v", got)
	}
}

// TestOneRun checks that the interval is that of averages over the last 5 % of a cell's runs, so
// that the variation of single evaluations does not count.
func TestOneRun(t *testing.T) {
	x := newIndex(Input{Ledger: ledger.Embedded()})
	of := ledger.Selector{Cell: "table3.mnist.ksvm.polk", Quantity: paper.QuantityError}
	var s Side
	for _, e := range []float64{0.02, 0.03, 0.04} {
		r := &record.Record{Points: []record.Point{{Samples: 500, TestError: 0.9}, {Samples: 960, TestError: e - 0.01}, {Samples: 1000, TestError: e + 0.01}}}
		r.Final = record.Average(r.Points, 1000)
		s.Runs = append(s.Runs, Observation{Record: r, Value: value(r, of, x.printed(of.Cell))})
	}
	want := stats.Prediction([]float64{2, 3, 4})
	if got := s.newRun(); got.Basis != stats.OneRun || !near(got.Low, want.Low) || !near(got.High, want.High) {
		t.Errorf("%+v, want %+v", got, want)
	}
	two := Side{Runs: s.Runs[:2]}
	if got := two.newRun(); got != (Number{}) {
		t.Errorf("two runs: %+v", got)
	}
	if got := s.newTest(of); got != (Number{}) {
		t.Errorf("a test set of nobody's: %+v", got)
	}
	for i := range s.Runs {
		s.Runs[i].Run.Data.Name = "mnist"
	}
	want = want.Sampled(2 * stats.Binomial(3, 10000)) // of two test sets of as many rows as MNIST's
	if got := s.newTest(of); got.Basis != stats.OneRun || !near(got.Low, want.Low) || !near(got.High, want.High) {
		t.Errorf("other test rows: %+v, want %+v", got, want)
	}
	s.Runs[1].Run.Data.Draw = 2
	if got := s.newTest(of); got != (Number{}) {
		t.Errorf("draws, each with test rows of its own: %+v", got)
	}
}
