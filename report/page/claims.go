package page

import (
	"fmt"
	"strconv"
	"strings"

	"polkrepro/evidence"
	"polkrepro/experiments"
)

// verdictView is a verdict in words, with a mark that needs no colour.
type verdictView struct {
	Class string
	Mark  string
	Text  string
	Rank  int // the worse, the greater
}

// verdictOf words a verdict; explained is the reason of a deviation, if there
// is one.
func verdictOf(v evidence.Verdict, explained string) *verdictView {
	out := &verdictView{Text: v.String(), Rank: 2 * int(v)}
	switch v {
	case evidence.Reproduced:
		out.Class, out.Mark = "good", "✓"
	case evidence.Deviates:
		out.Class, out.Mark = "bad", "≠"
	case evidence.Inconclusive:
		out.Class, out.Mark = "open", "?"
	case evidence.NotRun:
		out.Class, out.Mark = "none", "–"
	}
	if v == evidence.Deviates && explained != "" {
		out.Text += ", explained"
		out.Rank--
	}
	return out
}

// countRow counts the verdicts on a kind of claims.
type countRow struct {
	What string
	evidence.Counts
}

// claimGroup is the claims of one kind.
type claimGroup struct {
	ID     string
	Title  string
	Claims []*claimView
}

// claimView is a claim with its verdict.
type claimView struct {
	ID          string
	Anchor      string
	Section     string
	Quote       string
	Note        string
	Cell        bool
	Differing   string // the tests that are not reproduced, with their values
	Order       int    // the paper's
	Verdict     *verdictView
	Tests       []testView
	Assumptions []link
}

// testView is one test of a claim.
type testView struct {
	evidence.Words
	ID        string
	Statistic string
	Basis     string
	Verdict   *verdictView
	Remarks   []string
}

// A link is a name and the anchor of what it names.
type link struct{ Name, Anchor string }

// marginView is the margin of a quantity.
type marginView struct{ Quantity, Margin, Reason string }

// claims fills in the claims, their counts and which of them are open.
func (v *view) claims(in Input) {
	cells, sentences := in.Assessment.Counts()
	v.Counts = []countRow{{"Cells of Tables 2 and 3", cells}, {"Sentences and captions", sentences}}
	groups := []claimGroup{
		{ID: "claims-sentences", Title: "Sentences and captions of the paper"},
		{ID: "claims-cells", Title: "Cells of the paper's tables"},
	}
	for i := range in.Assessment.Claims {
		c := newClaim(&in.Assessment.Claims[i], in.Ledger)
		c.Order = i
		g := &groups[0]
		if in.Assessment.Claims[i].Claim.Cell {
			g = &groups[1]
		}
		g.Claims = append(g.Claims, c)
		if c.Verdict.Class == "bad" || c.Verdict.Class == "open" {
			v.Open = append(v.Open, c)
		}
	}
	v.Claims, v.Margins = groups, margins(in.Ledger)
}

// newClaim lays a claim out.
func newClaim(c *evidence.ClaimResult, l *experiments.Ledger) *claimView {
	out := &claimView{
		ID: c.Claim.ID, Cell: c.Claim.Cell, Anchor: anchor(c.Claim.ID), Section: c.Claim.Section,
		Quote: "“" + strings.TrimSpace(c.Claim.Quote) + "”", Note: strings.TrimSpace(c.Claim.Note),
	}
	if c.Claim.Cell {
		out.Quote = "risk / error / order: " + c.Claim.Quote
	}
	explained := ""
	if c.Explained() {
		explained = "in its tests"
	}
	out.Verdict = verdictOf(c.Verdict, explained)
	for i := range c.Tests {
		out.Tests = append(out.Tests, newTest(&c.Tests[i], l))
	}
	out.Differing = differing(out.Tests)
	for _, id := range c.Claim.Assumptions {
		out.Assumptions = append(out.Assumptions, link{id, assumptionAnchor(id)})
	}
	return out
}

// differing names the tests that deviate or are inconclusive.
func differing(tests []testView) string {
	var out []string
	for _, t := range tests {
		if t.Verdict.Class != "bad" && t.Verdict.Class != "open" {
			continue
		}
		s := t.ID + " " + t.Ours
		if t.Paper != dash {
			s += " (paper " + t.Paper + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// newTest lays a test out.
func newTest(r *evidence.TestResult, l *experiments.Ledger) testView {
	t := testView{Words: r.Words(l), ID: r.Test.ID, Basis: string(r.Estimate.Basis), Verdict: verdictOf(r.Verdict, r.Test.Explained)}
	t.Statistic = t.Of
	switch r.Test.Kind {
	case experiments.KindLess, experiments.KindDifference:
		t.Statistic += " − " + t.To
	case experiments.KindRatio:
		t.Statistic += " ÷ " + t.To
	}
	if r.Test.Reason != "" {
		t.Remarks = append(t.Remarks, "Target: "+strings.TrimSpace(r.Test.Reason))
	}
	if r.Note != "" {
		t.Remarks = append(t.Remarks, "Note: "+r.Note)
	}
	if r.Verdict == evidence.Deviates && r.Test.Explained != "" {
		t.Remarks = append(t.Remarks, "Explained: "+strings.TrimSpace(r.Test.Explained))
	}
	return t
}

// margins are the margins of all quantities.
func margins(l *experiments.Ledger) []marginView {
	var out []marginView
	for _, q := range []string{experiments.QuantityRisk, experiments.QuantityError, experiments.QuantityOrder} {
		m, ok := l.Margins[q]
		if !ok {
			continue
		}
		v := marginView{Quantity: q, Reason: strings.TrimSpace(m.Reason)}
		switch {
		case m.Points > 0:
			v.Margin = plain(m.Points) + " in percentage points"
		case m.Least > 0:
			v.Margin = fmt.Sprintf("%s %% of the printed value, at least %s", plain(m.Percent), plain(m.Least))
		default:
			v.Margin = plain(m.Percent) + " % of the printed value"
		}
		out = append(out, v)
	}
	return out
}

// plain writes a number with as few digits as it has.
func plain(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// anchor is the name of a claim's place on the page.
func anchor(claim string) string { return "claim-" + claim }

// assumptionAnchor is the name of an assumption's place on the page.
func assumptionAnchor(id string) string { return "assumption-" + id }

// assumptionView is an assumption with what rests on it.
type assumptionView struct {
	ID, Anchor   string
	Paper        string
	Chosen       string
	How          string
	Evidence     string
	Alternatives []alternativeView
	Claims       []dependentView
}

// alternativeView is another value of an assumption.
type alternativeView struct {
	ID, Value, Effect string
	Run               bool // a spec runs it
}

// dependentView is a claim that depends on an assumption.
type dependentView struct {
	link
	Verdict *verdictView
}

// assumptions lays the assumptions out.
func assumptions(in Input) []assumptionView {
	verdicts := make(map[string]*verdictView)
	for i := range in.Assessment.Claims {
		c := newClaim(&in.Assessment.Claims[i], in.Ledger)
		verdicts[c.ID] = c.Verdict
	}
	var out []assumptionView
	for _, a := range in.Ledger.Assumptions {
		v := assumptionView{
			ID: a.ID, Anchor: assumptionAnchor(a.ID), Paper: a.Paper, Chosen: a.Chosen,
			How: a.How, Evidence: strings.TrimSpace(a.Evidence),
		}
		for _, alt := range a.Alternatives {
			v.Alternatives = append(v.Alternatives, alternativeView{alt.ID, alt.Value, alt.Effect, len(alt.Answers) > 0})
		}
		for _, id := range in.Ledger.Dependents(a.ID) {
			v.Claims = append(v.Claims, dependentView{link{id, anchor(id)}, verdicts[id]})
		}
		out = append(out, v)
	}
	return out
}
