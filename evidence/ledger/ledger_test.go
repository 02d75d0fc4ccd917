package ledger

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/lists"
	"polkrepro/paper"
	"polkrepro/spec"
)

// TestLedgers checks that the ledgers are read and that their entries are found by ID.
// TestDepends and TestDependents of package evidence check which claims depend on which
// assumptions.
func TestLedgers(t *testing.T) {
	l := Embedded()
	c := l.Claim("table2.multidist.ksvm.polk")
	if c == nil || !c.Cell || c.Theorem() || len(c.Tests) != 3 || l.Claim("nonsense") != nil {
		t.Fatalf("%+v", c)
	}
	if table1 := slices.IndexFunc(l.Claims, func(c Claim) bool { return strings.HasPrefix(c.ID, "table1.") }); table1 < 0 || !l.Claims[table1].Theorem() {
		t.Error("no claim of Table 1, or it is no theorem")
	}
	if a := l.Assumption("bsgd-maintenance").Alternative("removal").Answer("table2.multidist.ksvm.bsgd"); a == nil || a.Spec != "multidist-bsgd" {
		t.Errorf("%+v", a)
	}
	if l.Assumption("nonsense") != nil || l.Assumptions[0].Alternative("nonsense") != nil {
		t.Error("what is not there is found")
	}
}

var names = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// wants returns a function that fails the test unless ok is true.
func wants(t *testing.T) func(ok bool, what string, args ...any) {
	return func(ok bool, what string, args ...any) {
		t.Helper()
		if !ok {
			t.Errorf(what, args...)
		}
	}
}

// TestLedgersAreSound checks that each entry of the ledgers is complete, and that everything
// that an entry names exists in the ledgers, the paper or the specs.
func TestLedgersAreSound(t *testing.T) {
	l := Embedded()
	printed := paper.Printed()
	want := wants(t)
	seen := make(map[string]bool)
	namesText := regexp.MustCompile(`^[a-z0-9]+([-.][a-z0-9]+)*$`)
	entry := func(kind, id string, names *regexp.Regexp, texts ...string) {
		t.Helper()
		want(names.MatchString(id) && !seen[kind+id], "%s %q is malformed or duplicated", kind, id)
		seen[kind+id] = true
		for _, text := range texts {
			want(strings.TrimSpace(text) != "", "%s %s lacks a text", kind, id)
		}
	}
	among := func(word string, words ...string) bool { return slices.Contains(words, word) }
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

	want(len(l.Margins) == len(paper.Quantities), "margins %v", l.Margins)
	for q, m := range l.Margins {
		entry("margin of", q, names, m.Reason)
		want(among(q, paper.Quantities...) && min(m.Points, m.Percent, m.Least) >= 0 && max(m.Points, m.Percent) > 0 && finite(m.Points+m.Percent+m.Least), "margin of %s: %+v", q, m)
	}
	passes := make(map[string]string) // data set → assumption
	for _, a := range l.Assumptions {
		entry("assumption", a.ID, names, a.Paper, a.Chosen, a.Evidence)
		want(among(a.How, ChosenBlind, ChosenAlgebra, ChosenByResult) && len(a.Alternatives) > 0, "assumption %s: how %q, %d alternatives", a.ID, a.How, len(a.Alternatives))
		want((len(a.Targets) > 0) == (a.How == ChosenByResult), "assumption %s: %s, with %d targets", a.ID, a.How, len(a.Targets))
		for _, target := range a.Targets {
			cell := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(target, ".risk"), ".error"), ".order")
			c := l.Claim(cell)
			want(c != nil && c.Cell && among(a.ID, c.Assumptions...) && slices.ContainsFunc(c.Tests, func(t Test) bool {
				return (target == cell || target == cell+"."+t.ID) && among(a.ID, t.TargetOf...)
			}), "assumption %s: target %s: no printed number of a claim that depends on it", a.ID, target)
		}
		for _, v := range a.Alternatives {
			id := a.ID + "." + v.ID
			entry("alternative", id, namesText, v.Value)
			want(among(v.How, "", ChosenBlind, ChosenAlgebra, ChosenByResult), "%s: how %q", id, v.How)
			want(!v.Reading() || len(v.Answers) == 0, "%s has answers and is another reading of the same runs", id)
			for _, w := range v.Answers {
				entry("answer", id+"."+w.Cell, namesText, w.Spec)
				want(printed.Cells[w.Cell].ID != "" && spec.Method(w.Method) != nil, "%s: answer %+v", id, w)
			}
			for set, n := range v.Passes {
				want(printed.Data[set].Risk != "" && n > 0 && among(passes[set], "", a.ID), "%s: %d passes of %s", id, n, set)
				passes[set] = a.ID
			}
			for set, risk := range v.Risk {
				want(among(risk, paper.RiskTrain, paper.RiskTest) && printed.Data[set].Risk != "" && printed.Data[set].Risk != risk, "%s: %s of %s is not an alternative risk", id, risk, set)
			}
			for task, f := range v.Penalty {
				want(among(task, spec.Tasks()...) && f >= 0 && f != 1 && finite(f), "%s: %v times the penalty of %s", id, f, task)
			}
			for _, test := range v.Without {
				c := l.Claim(test[:max(strings.LastIndexByte(test, '.'), 0)])
				want(c != nil && len(c.Tests) > 1 && among(a.ID, c.Assumptions...) &&
					slices.ContainsFunc(c.Tests, func(t Test) bool { return c.ID+"."+t.ID == test }), "%s: %q is not one of the tests of a claim that depends on it", id, test)
			}
		}
	}
	for _, c := range l.Claims {
		entry("claim", c.ID, namesText, c.Section, c.Quote)
		want(len(c.Tests) > 0, "claim %s has no tests", c.ID)
		for i, a := range c.Assumptions {
			want(l.Assumption(a) != nil && !among(a, c.Assumptions[:i]...), "claim %s: assumption %q is unknown or duplicated", c.ID, a)
		}
		for _, test := range c.Tests {
			id := c.ID + "." + test.ID
			want(!seen["test"+id], "test %s is duplicated", id)
			seen["test"+id] = true
			want(!c.Cell || among(test.Kind, KindEquivalence, KindUpper, KindLower) && among(test.Of.Quantity, paper.Quantities...), "%s: %+v", id, test)
			soundTest(t, id, &test, l, printed)
		}
	}
	for i, u := range l.Untested {
		entry("untested", fmt.Sprint(i), names, u.Section, u.Quote, u.Reason)
	}
	for i, e := range l.Errata {
		entry("erratum", e.ID, names, e.Place, e.Printed, e.Right, e.How)
		want(among(e.Kind, "misprint", "contradiction", "gap", "reference"), "erratum %s: kind %q", e.ID, e.Kind)
		want(among(e.Severity, "", "setting", "algorithm", "theorem", "result") && (e.Severity != "") == (e.Title != "") && (e.Title != "") == (e.Follows != "") && (e.Severity != "") == (e.Rank > 0),
			"erratum %s: severity %q, rank %d, title %q, follows %q", e.ID, e.Severity, e.Rank, e.Title, e.Follows)
		want(among(e.Status, "", "certain", "repaired", "inferred", "measured") && (e.Status != "") == (e.Severity != ""), "erratum %s: status %q", e.ID, e.Status)
		want(e.Line > 0 && (i == 0 || e.Line >= l.Errata[i-1].Line), "erratum %s: line %d is before that of the erratum above", e.ID, e.Line)
		want(e.Assumption == "" || l.Assumption(e.Assumption) != nil, "erratum %s: unknown assumption %q", e.ID, e.Assumption)
		for _, id := range e.Claims {
			want(l.Claim(id) != nil, "erratum %s: unknown claim %q", e.ID, id)
		}
	}
	if e := lists.Find(l.Errata, func(e *Erratum) bool { return e.ID == "projection-formula" }); e == nil || len(e.Tests)+len(e.Claims) == 0 || e.Assumption != "projection" {
		t.Errorf("%+v", e)
	}
}

// soundTest checks the bounds of a test against its kind, and its selectors against the
// paper. TestPaperReproducesItself of package evidence finds the selectors' runs.
func soundTest(t *testing.T, id string, test *Test, l *Ledger, printed *paper.Values) {
	t.Helper()
	low, high := test.Low != nil, test.High != nil
	fits, ok := map[string]bool{KindEquivalence: low && high, KindUpper: high && !low, KindLower: low && !high, KindLess: !low && !high}[test.Kind]
	kinds := []string{KindEquivalence, KindUpper, KindLower, KindLess, KindRatio, KindDifference}
	switch {
	case test.Of.Measured():
		kinds = []string{KindUpper, KindLower, KindEvery, KindExponent}
	case test.Of.Spec != "":
		kinds = kinds[:3]
	}
	from, to := test.Target()
	two := slices.Contains([]string{KindLess, KindRatio, KindDifference}, test.Kind)
	if !slices.Contains(kinds, test.Kind) || !fits && (ok || !low && !high) || two != (test.To != nil) || !(from <= to) || !(test.Margin >= 0 && test.Margin < math.Inf(1)) {
		t.Errorf("%s: kind %q does not fit %+v", id, test.Kind, test)
	}
	own := test.Of.Spec != "" || test.Kind == KindRatio || test.Kind == KindLower
	if low && high && test.Margin > 0 {
		own = own || test.Margin != l.Margins[test.Of.Quantity].Around(*test.High)
	}
	if own && strings.TrimSpace(test.Reason) == "" {
		t.Errorf("%s has its own margin or bound and needs a reason", id)
	}
	for _, s := range []*Selector{&test.Of, test.To} {
		if s == nil {
			continue
		}
		if s.Spec != "" {
			if !s.Measured() && s.Quantity != paper.QuantityOrder || len(s.Methods) == 0 || s.Cell+s.Figure != "" || s.Samples != 0 || s.Below != nil {
				t.Errorf("%s: a spec's runs are selected by methods and quantity alone: %+v", id, s)
			}
			continue
		}
		cell := printed.Cells[s.Cell]
		modes := s.Quantity == QuantityNearModes || s.Quantity == QuantityModeDistance
		risk := s.Quantity == paper.QuantityRisk || s.Quantity == QuantityRoughness
		switch {
		case cell.ID == "" || len(s.Methods) > 0:
			t.Errorf("%s: want a cell, or methods of a spec: %+v", id, s)
		case !modes && !risk && s.Quantity != paper.QuantityError && s.Quantity != paper.QuantityOrder, modes && cell.Data != "multidist", risk && cell.Reason == "no-risk":
			t.Errorf("%s: %s has no %q", id, s.Cell, s.Quantity)
		case s.Samples < 0 || s.Samples > 0 && (s.Below != nil || s.Quantity == QuantityRoughness):
			t.Errorf("%s: samples must be at least 0, without below, and not of roughness", id)
		case s.Below != nil && (!(*s.Below > 0) || s.Quantity != paper.QuantityError && s.Quantity != paper.QuantityRisk):
			t.Errorf("%s: below must be greater than 0, and of an error or a risk", id)
		}
	}
}

// TestLedgerErrors: the ledgers are read strictly.
func TestLedgerErrors(t *testing.T) {
	claims, assumptions := string(source("claims")), string(source("assumptions"))
	for _, c := range []struct{ old, new, want string }{
		{"    section: Table 2\n", "    secton: Table 2\n", `unknown key "secton", want one of id, section`},
		{"  - id: table2.multidist.ksvm.polk\n", "  - id: table2.multidist.ksvm.polk\n    quote: q\n", "it has no quote and no tests"},
		{"    section: Table 2\n", "    section: Table 2\n    explained: {slope: x}\n", `has no test "slope"`},
		{"methods: [polk-diminishing], quantity: slope", "methods: [polk], quantity: slope", `spec table1 has no method "polk"`},
		{"        high: 1249\n        margin: 160\n", "        low: 1\n        high: 1249\n", "no default margin for this test: give one"},
		{"how: algebra", "how: 1", `want text`},
	} {
		a, b := strings.Replace(claims, c.old, c.new, 1), strings.Replace(assumptions, c.old, c.new, 1)
		_, err := parse([]byte(a), []byte(b))
		if a+b == claims+assumptions || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), ".yaml:") {
			t.Errorf("%q: error %v, want %s", c.new, err, c.want)
		}
	}
}

// TestTarget checks that targets are the printed bounds, widened by the margin, and that a
// difference claimed to be less than 0 can't be 0.
func TestTarget(t *testing.T) {
	one, two := 1.0, 2.0
	for _, tt := range []struct {
		test      Test
		low, high float64
	}{
		{Test{Low: &one, High: &two, Margin: 0.5}, 0.5, 2.5},
		{Test{High: &two}, math.Inf(-1), 2},
		{Test{Low: &one}, 1, math.Inf(1)},
		{Test{Kind: KindLess}, math.Inf(-1), math.Nextafter(0, -1)},
	} {
		if low, high := tt.test.Target(); low != tt.low || high != tt.high {
			t.Errorf("%+v: %v to %v, want %v to %v", tt.test, low, high, tt.low, tt.high)
		}
	}
	for printed, want := range map[float64]float64{10: 1, -10: 1, 1: 0.25, 100: 10} {
		if got := (Margin{Percent: 10, Least: 0.25}).Around(printed); got != want {
			t.Errorf("the margin around %v is %v, want %v", printed, got, want)
		}
	}
}
