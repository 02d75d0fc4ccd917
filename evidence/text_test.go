package evidence

import (
	"math"
	"strings"
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/record"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0.123456: "0.1235", 16: "16", 16118.4: "16118", -1930.2: "−1930", -0.5: "−0.5", 1e-7: "1e−07",
		math.Inf(1): "∞", math.Inf(-1): "−∞",
	} {
		if got := number(v); got != want {
			t.Errorf("%v becomes %s, want %s", v, got, want)
		}
	}
}

func TestCountsInWords(t *testing.T) {
	for n, want := range map[Counts]string{
		{Reproduced: 3, Inconclusive: 1, NotRun: 2, Deviates: 4, Explained: 1}: "3 of 10 reproduced, 4 deviating (1 explained), 1 inconclusive, 2 not run",
		{Reproduced: 5, Deviates: 1}: "5 of 6 reproduced, 1 deviating",
		{Reproduced: 5}:              "5 of 5 reproduced",
	} {
		if got := n.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	inf := math.Inf(1)
	for want, r := range map[string]TestResult{
		"1.235 to 3": {Low: 1.23456, High: 3},
		"≤ 1.235":    {Low: -inf, High: 1.23456},
		"≥ 1.235":    {Low: 1.23456, High: inf},
		"≤ 1.000001": {Low: -inf, High: 1.000001, Test: experiments.Test{Of: experiments.Selector{Spec: "s"}}},
		"< 0":        {Low: -inf, Test: experiments.Test{Kind: experiments.KindLess}},
	} {
		if got := r.target(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNotes: what a verdict rests on, by the number of runs on either side.
func TestNotes(t *testing.T) {
	side := func(n int) (s Side) {
		for range n {
			s.Runs = append(s.Runs, Observation{Record: new(record.Record)})
		}
		return s
	}
	missing := Side{Missing: make([]experiments.Planned, 1)}
	for _, c := range []struct {
		of, to int
		want   string
	}{
		{1, 0, "one run"}, {1, 1, "one run"}, {1, 2, "one run on one side"}, {3, 1, "one run on one side"},
		{2, 0, "two runs"}, {2, 2, "two runs"}, {2, 5, "two runs"}, {3, 0, ""}, {3, 3, ""},
	} {
		r := TestResult{Of: side(c.of), To: side(c.to), Test: experiments.Test{Of: experiments.Selector{Quantity: "error"}}}
		if c.to > 0 {
			r.Test.To = new(experiments.Selector)
		}
		if got := r.note(nil); got != c.want {
			t.Errorf("%d and %d runs: %q, want %q", c.of, c.to, got, c.want)
		}
	}
	for want, r := range map[string]TestResult{"not in this profile": {}, "no records": {Of: missing, To: missing}} {
		if got := r.absent(nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// explained is a claim with a test that has all that an explanation may say of
// one, and one that has nothing of it.
func explained() Subject {
	paper, low := 2.0, 0.5
	of := experiments.Selector{Cell: "table2.multidist.ksvm.polk", Quantity: "error"}
	to := experiments.Selector{Cell: "table2.multidist.ksvm.bsgd", Quantity: "error", Below: &low, Figure: "1a"}
	run := Observation{Planned: experiments.Planned{ID: "r1", Spec: "made", Series: "first"}, Value: 2.5, Record: &record.Record{Path: "records/r1.jsonl"}}
	run.Run.Data.Draw, run.Run.Seed = 3, 4
	run.Record.Header.Provenance.Revision, run.Record.Header.Provenance.Dirty, run.Record.Final.Digest = "0123456789abcdef", true, "d1"
	c := &ClaimResult{
		Claim:   experiments.Claim{ID: "c", Section: "Section 5", Quote: "so it is", Note: "a remark\n"},
		Verdict: stats.Deviates,
		Tests: []TestResult{
			{
				Test: experiments.Test{
					ID: "full", Kind: experiments.KindDifference, Of: of, To: &to, Paper: &paper, Reason: "a reason", Explained: "an explanation",
				},
				Low: 1, High: 3, Verdict: stats.Deviates, Estimate: stats.Single(2.5), Note: "one run", Of: Side{Runs: []Observation{run}},
				To: Side{Missing: []experiments.Planned{{ID: "r2", Spec: "other", Series: "second"}}},
			},
			{
				Test: experiments.Test{ID: "bare", Kind: experiments.KindLess, Of: of, Explained: "not of what isn't run"},
				High: 1, Verdict: stats.NotRun,
			},
		},
	}
	return Subject{c, c.Tests}
}

func TestExplanation(t *testing.T) {
	e := Explanation{Ledger: new(experiments.Ledger), Command: func(spec string) string { return "run " + spec }}
	want := `c: deviates
Section 5: “so it is”
a remark

full: deviates
  claimed   difference of error of table2.multidist.ksvm.polk to samples until the error of table2.multidist.ksvm.bsgd is below 0.5 in figure 1a: 1 to 3; the paper's is 2
  because   a reason
  measured  2.5 (point)
  note      one run
  explained an explanation
  error of table2.multidist.ksvm.polk:
    value  draw  seed  series  evaluations  revision                  file              digest
    2.5    3     4     first   0            0123456789ab and changes  records/r1.jsonl  d1
  samples until the error of table2.multidist.ksvm.bsgd is below 0.5 in figure 1a:
    value    draw  seed  series  evaluations  revision  file      digest
    missing  0     0     second                         r2.jsonl  

bare: not run
  claimed   less of error of table2.multidist.ksvm.polk: < 0
  error of table2.multidist.ksvm.polk:
    value  draw  seed  series  evaluations  revision  file  digest

To run it again:
  run made
  run other
`
	var b strings.Builder
	if err := e.Write(&b, explained()); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	// A cell without tests has no specs, and without assumptions it says nothing of them.
	b.Reset()
	want = "c: not run\nTable 2 prints risk/error/order 1/2/3\n"
	cell := &ClaimResult{Claim: experiments.Claim{ID: "c", Cell: true, Section: "Table 2", Quote: "1/2/3"}, Verdict: stats.NotRun}
	if err := e.Write(&b, Subject{Claim: cell}); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
}

// TestTestDocument: what is written for programs of a test that is not run, and of
// one that is and deviates.
func TestTestDocument(t *testing.T) {
	tests := explained().Tests
	full, bare := tests[0].document(), tests[1].document()
	if full.To == "" || full.OtherRuns == nil || *full.High != 3 || full.Explained == "" || full.Value == nil || *full.Value != 2.5 {
		t.Errorf("%+v", full)
	}
	if bare.To != "" || bare.OtherRuns != nil || *bare.High != 0 || bare.Explained != "" || bare.Value != nil {
		t.Errorf("%+v", bare)
	}
}

func TestMultiverseWords(t *testing.T) {
	m := MultiverseReport{
		Assumptions: []AssumptionOutcome{{ID: "a", How: "by result", Chosen: "one\n way", Alternatives: []AlternativeOutcome{
			{ID: "x", Value: "another", Effect: "none", Specs: []string{"s"}, Claims: []Change{
				{"c1", stats.Reproduced, stats.Deviates}, {"c2", stats.Reproduced, stats.Reproduced}, {"c3", stats.NotRun, stats.Deviates}, {"c4", stats.Deviates, stats.NotRun},
			}},
			{ID: "y", Value: "a third", Claims: []Change{{"c4", stats.Deviates, stats.NotRun}}},
			{ID: "z", Value: "all run", Claims: []Change{{"c2", stats.Reproduced, stats.Reproduced}}},
			{ID: "none", Value: "unused"},
		}}},
		Claims: []ClaimStanding{
			{Claim: "c1", Verdict: stats.Reproduced, Run: 1, Hinges: []Hinge{{"a", "x", stats.Deviates}}},
			{Claim: "c2", Verdict: stats.Reproduced, Run: 2},
			{Claim: "c3", Verdict: stats.NotRun, Run: 1},
			{Claim: "c4", Verdict: stats.Deviates, NotRun: 2},
		},
	}
	const alternatives = `Each alternative is flipped alone; --joint has their combinations.

a (chosen: by result)
  one way

  a=x: another
    noted earlier: none
    changes      c1: reproduced → deviates
    reproduced   c2
    deviates     c3
    not run      c4
    to run it:   run s

  a=y: a third
    not run      c4
    no spec runs what is not run

  a=z: all run
    reproduced   c2

  a=none: unused
    no claim depends on it
`
	want := alternatives + `
1 claims have the same verdict under every alternative that was run:
  c2: reproduced (2 of 2 alternatives run)

1 claims hinge on a choice:
  c1: reproduced (1 of 1 alternative run)
    deviates with a=x

2 claims have no verdict, or none under any alternative:
  c3
  c4
`
	command := func(specs []string) string { return "run " + strings.Join(specs, "+") }
	var b strings.Builder
	if err := m.WriteText(&b, command); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	m.Claims = nil
	want = alternatives + "\n0 claims have the same verdict under every alternative that was run:\n\n0 claims hinge on a choice:\n"
	if err := m.WriteText(&b, command); err != nil || b.String() != want {
		t.Errorf("without claims: %v\n%s\nwant\n%s", err, b.String(), want)
	}
}

// TestWording: the ends of the ranges in which numbers are worded alike.
func TestWording(t *testing.T) {
	inf := math.Inf(1)
	of := func(kind, quantity string, low, high float64) wording {
		return wording{TestResult: &TestResult{Low: low, High: high, Test: experiments.Test{Kind: kind, Of: experiments.Selector{Quantity: quantity}}}}
	}
	difference := func(q string) wording { return of(experiments.KindDifference, q, 0, 0) }
	for _, c := range []struct{ got, want string }{
		{grouped(9_999), "9999"}, {grouped(10_000), "10,000"}, {grouped(123_456), "123,456"}, {grouped(1_234_567), "1,234,567"},
		{difference("error").difference(0.004), "0.004"}, {difference("error").difference(0.006), "0.01"},
		{difference("error").declared(12.6), "13 points"}, {difference("error").declared(1), "1 point"},
		{difference("order").declared(12.4), "12"}, {difference("order").declared(10.4), "10"}, {difference("order").declared(9.5), "9.5"},
		{of(experiments.KindRatio, "order", 0, 0).manySamples(1.456), "1.46 times as many samples"},
		{difference("order").manySamples(-12_000), "12,000 fewer samples"},
		{difference("order").manySamples(12.4), "12 more samples"}, {difference("order").manySamples(0), "0 more samples"},
		{of(experiments.KindRatio, "order", 2, inf).expectation(), "the claim needs at least 2 times"},
		{of(experiments.KindRatio, "order", -inf, 2).expectation(), "the claim needs at most 2 times"},
		{of(experiments.KindDifference, "error", -inf, 2).expectation(), "the claim allows at most 2 points more"},
		{of(experiments.KindDifference, "error", -2, inf).expectation(), "the claim allows at most 2 points less"},
		{of(experiments.KindDifference, "error", -2, 2).expectation(), "the claim allows 2 points either way"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
