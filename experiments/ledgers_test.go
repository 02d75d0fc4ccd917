package experiments

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestLedgers: the ledgers are read; what they name of each other is there, by ID.
func TestLedgers(t *testing.T) {
	l, err := Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	c := l.Claim("table2.multidist.ksvm.polk")
	if c == nil || !c.Cell || c.Theorem() || len(c.Tests) != 3 || l.Claim("nonsense") != nil {
		t.Fatalf("%+v", c)
	}
	if table1 := slices.IndexFunc(l.Claims, func(c Claim) bool { return strings.HasPrefix(c.ID, "table1.") }); table1 < 0 || !l.Claims[table1].Theorem() {
		t.Error("no claim of Table 1, or it is no theorem")
	}
	for _, a := range l.Assumptions {
		if l.Assumption(a.ID) == nil {
			t.Errorf("%s is not found", a.ID)
		}
		for _, id := range l.Dependents(a.ID) {
			if claim := l.Claim(id); claim == nil || claim.Cell && !l.Depends(id, a.ID) {
				t.Errorf("%s: %s does not depend on it", a.ID, id)
			}
		}
		for _, alternative := range a.Alternatives {
			if a.Alternative(alternative.ID) == nil || alternative.Reading() && len(alternative.Answers) > 0 {
				t.Errorf("%s.%s is not found, or both a reading and run", a.ID, alternative.ID)
			}
			for _, w := range alternative.Answers {
				if alternative.Answer(w.Cell) == nil {
					t.Errorf("%s.%s does not answer %s", a.ID, alternative.ID, w.Cell)
				}
			}
		}
	}
	if l.Assumption("nonsense") != nil || l.Assumptions[0].Alternative("nonsense") != nil || len(l.Dependents("nonsense")) != 0 {
		t.Error("what is not there is found")
	}
	for _, id := range c.Assumptions { // a row that the paper does not print has those of the row that it varies
		if !l.Depends("table2.multidist.ksvm.polk-large", id) {
			t.Errorf("polk-large does not depend on %s", id)
		}
	}
}

// TestErrata: errata are found by ID, and read strictly.
func TestErrata(t *testing.T) {
	l, err := Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	if e := l.Erratum("projection-formula"); e == nil || !e.Settled() || e.Assumption != "projection" || l.Erratum("nonsense") != nil {
		t.Errorf("%+v", e)
	}
	const good = "errata:\n  - {id: a, kind: gap, line: 3, place: p, printed: q, right: r, how: h, claims: [mnist.orders], assumption: risk}\n" +
		"  - {id: b, kind: misprint, line: 3, place: p, printed: q, right: r, how: h}\n"
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"kind: gap", "kind: slip", `kind is "slip"`},
		{"id: b", "id: a", "duplicated"},
		{"how: h}", "how: ''}", "how"},
		{"kind: misprint, line: 3", "kind: misprint, line: 2", "not before that of the erratum above"},
		{"[mnist.orders]", "[mnist.order]", `unknown claim "mnist.order"`},
		{"assumption: risk", "assumption: risks", `unknown assumption "risks"`},
		{"right: r", "rihgt: r", `unknown key "rihgt"`},
	} {
		fresh := Ledger{Claims: l.Claims, Assumptions: l.Assumptions}
		err := fresh.readErrata("errata.yaml", []byte(strings.Replace(good, c.old, c.new, 1)))
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "errata.yaml:")) {
			t.Errorf("%q: error %v, want %q", c.new, err, c.want)
		}
	}
}

// TestTarget: bounds as printed, widened by the margin; a difference that is claimed to be
// less than 0 is not 0.
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

// TestMixedCode: runs of other code are counted by it.
func TestMixedCode(t *testing.T) {
	present := Planned{Run: Run{Task: "ksvm", Method: "fsgd"}}
	present.Run.Code = present.Run.PresentCode()
	other := present
	other.Run.Code = "pruner twin: source 0dd1f09ac7b2"
	if got := MixedCode([]Planned{present}); got != "" {
		t.Errorf("of this code alone: %q", got)
	}
	if got := MixedCode([]Planned{other, present, other}); got != "2 runs are of other code: 2 of pruner twin: source 0dd1f09ac7b2." {
		t.Error(got)
	}
	if got := CodeNote([]Run{{}, {Code: "x"}, {}}); got != "2 of the recorded versions; 1 of x" {
		t.Error(got)
	}
}

// TestNumbers: a POLK run keeps dictionary, weights and inverse, on a user's files as many as
// their facts say; what a batch method keeps is not known.
func TestNumbers(t *testing.T) {
	run := Run{Method: MethodPOLK}
	run.Data.Name = "multidist"
	if got := run.Numbers(16, nil); got != 16*(2+5)+16*16 {
		t.Errorf("POLK on multidist: %v", got)
	}
	if got := run.Numbers(16, map[string]float64{"features": 10, "classes": 3}); got != 16*(10+3)+16*16 {
		t.Errorf("POLK on files: %v", got)
	}
	for _, change := range []func(*Run){
		func(r *Run) { r.Data.Name = "mine" }, func(r *Run) { r.Method = "lbfgs" }, func(r *Run) { r.Method = "nonsense" },
	} {
		r := run
		if change(&r); !math.IsNaN(r.Numbers(16, nil)) {
			t.Errorf("%s on %s: %v", r.Method, r.Data.Name, r.Numbers(16, nil))
		}
	}
}
