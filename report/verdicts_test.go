package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/paper"
	"polkrepro/report/table"
	"polkrepro/spec"
)

// fixtureVerdicts has a claim of every outcome. note is the remark on the claim whose run failed.
func fixtureVerdicts(note string) *Verdicts {
	printed := 0.1
	test := func(v stats.Verdict, explained, remark string) evidence.Finding {
		f := evidence.NewFinding(ledger.Test{ID: "risk", Of: ledger.Selector{Quantity: paper.QuantityRisk, Cell: "c"}, Paper: &printed, Explained: explained})
		f.Verdict, f.Remark = v, remark
		f.Target, f.Ours = evidence.Number{Low: 0.05, High: 0.15, Basis: evidence.Target}, evidence.Number{Value: 0.1, Low: 0.09, High: 0.11, Basis: stats.Student}
		f.Of.Runs = make([]evidence.Observation, 5)
		return f
	}
	claim := func(id, section string, tests ...evidence.Finding) evidence.ClaimResult {
		c := evidence.ClaimResult{Claim: ledger.Claim{ID: id, Section: section, Quote: "a <quote> | & so_on"}, Tests: tests}
		for _, t := range tests {
			c.Verdict = max(c.Verdict, t.Verdict)
		}
		return c
	}
	notRun := test(stats.NotRun, "", note)
	notRun.Ours, notRun.Of = evidence.Number{}, evidence.Side{Missing: make([]spec.Planned, 5)}
	part := test(stats.Reproduced, "", "")
	part.Of.Missing = make([]spec.Planned, 1)
	part.Gap = &evidence.Gap{Kind: evidence.Pending, Runs: part.Of.Missing, N: 5}
	cell := claim("table2.x", "Table 2", test(stats.Reproduced, "", ""))
	cell.Claim.Cell, cell.Claim.Quote = true, "0.1/-/-"
	return &Verdicts{
		Assessment: &evidence.Assessment{Claims: []evidence.ClaimResult{
			cell,
			claim("x.explained", "Results; Figure 1", test(stats.Deviates, "measured\nreason", ""), test(stats.Reproduced, "", "one run")),
			claim("x.deviates", "Results; Figure 1", test(stats.Deviates, "", "")),
			claim("x.inconclusive", "Results; Figure 1", test(stats.Inconclusive, "", "")),
			claim("x.part", "Results; Figure 1", part),
			claim("table2.y", "Table 2", notRun),
		}},
		Profile: "quick",
	}
}

// fixtureReference has one verdict that differs and one that is not compared.
func fixtureReference() *Reference {
	return &Reference{"results/a|b", evidence.Comparison{
		Same: 3, NotRun: 1,
		Changed:     []evidence.Difference{{Claim: "x.deviates", Here: "deviates", Reference: "reproduced"}},
		NotCompared: []evidence.Difference{{Claim: "x.part", Here: "reproduced", Reference: "reproduced"}},
	}}
}

func TestVerdictsFaces(t *testing.T) {
	for name, with := range map[string]func(*Verdicts){
		"verdicts": func(*Verdicts) {},
		"verdicts-reference": func(v *Verdicts) {
			v.Assume = []string{"risk=captions"}
			v.Changes = []evidence.Change{{Claim: "x.deviates", From: stats.Reproduced, To: stats.Deviates}}
			v.Reference = fixtureReference()
		},
	} {
		plain, markup := fixtureVerdicts("failed: out of luck"), fixtureVerdicts(hostile[:40])
		with(plain)
		with(markup)
		for ext, write := range map[string]func(io.Writer) error{"txt": plain.Text, "md": markup.Markdown, "xml": markup.JUnit} {
			var b bytes.Buffer
			testutil.NoError(t, write(&b))
			golden.Check(t, "testdata/"+name+"."+ext, b.String())
		}
	}
}

// hostile is an error message with everything that markup could misinterpret.
var hostile = "failed: \x00\x1b[31m]]><!-- & \"'<b>\xff\ufffe`|\r\n](http://example.com)\\ " + strings.Repeat("€", 1<<20)

// TestHostile checks that an error cannot break out of XML or Markdown, nor fill a page.
func TestHostile(t *testing.T) {
	v := fixtureVerdicts(hostile)
	var junit, markdown bytes.Buffer
	testutil.NoError(t, v.JUnit(&junit))
	if want := "failed: \ufffd\ufffd[31m]]><!-- & \"'<b>\ufffd\ufffd`|"; !strings.Contains(xmlText(t, junit.Bytes()), want) {
		t.Errorf("JUnit: no %q", want)
	}
	testutil.NoError(t, v.Markdown(&markdown))
	text := markdown.String()
	if want := "failed:   \\[31m]]>&lt;!-- & \"'&lt;b>\ufffd\ufffe\\`\\|  ](http://example.com)\\\\ €"; len(text) > 10_000 || !strings.Contains(text, want) {
		t.Errorf("Markdown: %d bytes, want %q in\n%s", len(text), want, text)
	}
	if strings.ContainsAny(text, "\x00\x1b\r") {
		t.Errorf("control characters in %q", text)
	}
}

// TestJudgedLines checks that a cell shows the verdict on each printed number, the verdicts at half
// and twice the margin, and whether the number lies in the interval of one new run.
func TestJudgedLines(t *testing.T) {
	printed := 4.0
	judged := func(low, high float64) *evidence.Finding {
		f := evidence.NewFinding(ledger.Test{Kind: ledger.KindEquivalence, Low: &printed, High: &printed, Margin: 1, Paper: &printed})
		f.Verdict, f.Ours = stats.Reproduced, evidence.Number{Value: 4.6, Low: 4.4, High: 4.8, Basis: stats.Student}
		f.NewRun = evidence.Number{Low: low, High: high, Basis: stats.OneRun}
		return &f
	}
	c := &Cell{Ours: finalStats(nil, ""), Judged: [3]*evidence.Finding{nil, judged(4.1, 5.1), judged(4, 4)}}
	c.Judged[2].Test.Margin = 0
	want := []table.Line{
		{Label: "verdict", Cells: [3]string{"", "✓ (½ ?, 2× ✓)", "✓"}},
		{Label: "new run", Cells: [3]string{"", "4.10 to 5.10 ≠", "4 ✓"}},
	}
	if got := c.lines(); !slices.Equal(got[2:], want) { // below those of the paper and of the runs
		t.Errorf("%q, want %q", got, want)
	}
	c.Judged = [3]*evidence.Finding{}
	if got := c.lines(); len(got) != 2 {
		t.Errorf("nothing judged: %q", got)
	}
	c.Varied, c.Ours[1], c.Drawn[1] = true, statOf([]float64{4, 5, 6}), statOf([]float64{1, 2, 3, 4})
	want = []table.Line{
		{Label: "90 %, orders", Cells: [3]string{"", "3.31 to 6.69", ""}},
		{Label: "4 draws", Cells: [3]string{"", "2.50 ± 1.29", ""}},
		{Label: "90 %, draws", Cells: [3]string{"", "0.98 to 4.02", ""}},
	}
	if got := c.lines(); !slices.Equal(got[2:], want) {
		t.Errorf("%q, want %q", got, want)
	}
}
