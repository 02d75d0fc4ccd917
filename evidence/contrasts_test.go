package evidence

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/spec"
)

// supplemented returns the records of results/reference with a plan that includes the supplements.
func supplemented(t *testing.T) Input {
	t.Helper()
	in := referenceInput(t)
	var names []string
	for _, s := range spec.EmbeddedAll() {
		names = append(names, s.Name)
	}
	in.Plan = theorytest.Plan(t, spec.ProfileFull, names...)
	return in
}

// TestOnDraws: runs on ten draws answer a sentence about final numbers on Brodatz, unless one of them
// is not recorded or an alternative replaces the runs of one side. They never answer a cell.
func TestOnDraws(t *testing.T) {
	t.Parallel()
	in := supplemented(t)
	lacking := in
	lacking.Records = maps.Clone(in.Records)
	x := newIndex(in)
	runs, varied := in.Ledger.OnDraws("table3.brodatz.klr.polk")
	if _, other := in.Ledger.OnDraws("table3.mnist.klr.polk"); runs == nil || !varied || other {
		t.Fatal(runs, varied, other)
	}
	delete(lacking.Records, x.answers(runs)[3].ID)
	assumed := in
	assumed.Assume = map[string]string{"bsgd-maintenance": "projection"}
	for name, v := range map[string]struct {
		in   Input
		test string
		runs int
	}{
		"drawn":     {in, "brodatz.ranks.bsgd", 10},
		"lacking":   {lacking, "brodatz.ranks.klr-lbfgs", 5},
		"elsewhere": {lacking, "brodatz.ranks.bsgd", 10},
		"assumed":   {assumed, "brodatz.ranks.bsgd", 5},
		"untouched": {assumed, "brodatz.ranks.lbfgs", 10},
		"early":     {in, "brodatz.beats-bsgd.speed-1171", 5},
		"half":      {in, "brodatz.dense-domain.error", 5}, // the larger K has no such runs
		"cell":      {in, "table3.brodatz.ksvm.polk.error", 5},
	} {
		x := newIndex(v.in)
		if err := x.assume(v.in.Assume); err != nil {
			t.Fatal(err)
		}
		at := strings.LastIndexByte(v.test, '.')
		c, id := in.Ledger.Claim(v.test[:at]), v.test[at+1:]
		i := slices.IndexFunc(c.Tests, func(test ledger.Test) bool { return test.ID == id })
		if f := x.assess(*c, c.Tests[i]); max(len(f.Of.Runs), len(f.To.Runs)) != v.runs || f.Of.drawn != (v.runs == 10) {
			t.Errorf("%s: %s rests on %d and %d runs, want %d", name, v.test, len(f.Of.Runs), len(f.To.Runs), v.runs)
		}
	}
}

// TestContrasts: a contrast is the mean of the differences of pairs. One without runs is left out, and
// every side has runs in the profile full, as have all draws of the ledger.
func TestContrasts(t *testing.T) {
	t.Parallel()
	in := supplemented(t)
	got := must(Contrasts(in))
	i := slices.IndexFunc(got, func(c Contrast) bool {
		return c.On == "MNIST, 1,086 elements" && c.Assume["bsgd-maintenance"] == "projection"
	})
	x := newIndex(in)
	if err := x.assume(got[i].Assume); err != nil {
		t.Fatal(err)
	}
	of, to := x.side(got[i].Of, false), x.side(got[i].To, false)
	mean, of1 := 0.0, of.values()
	for k, v := range to.values() {
		mean += (of1[k] - v) / 5
	}
	if c := got[i]; c.N != 5 || math.Abs(c.Runs.Value-mean) > 1e-12 || c.Runs.Basis != stats.Paired || !(c.Runs.High < 0 && c.Tested.High > 0) {
		t.Errorf("%+v, want a mean of %v", c, mean)
	}
	in.Records = nil
	if got := must(Contrasts(in)); len(got) > 0 {
		t.Errorf("without records: %+v", got)
	}
	for _, d := range in.Ledger.Draws {
		if len(x.answers(&d)) != 10 {
			t.Errorf("%s: %d draws", d.Cell, len(x.answers(&d)))
		}
	}
	for _, c := range in.Ledger.Contrasts {
		x := newIndex(in)
		if err := x.assume(c.Assume); err != nil {
			t.Error(err)
		}
		if of, to := x.side(c.Of, false), x.side(c.To, false); len(of.Missing) == 0 || len(of.Missing) != len(to.Missing) {
			t.Errorf("%s, %s: %d and %d runs are planned", c.On, c.Title, len(of.Missing), len(to.Missing))
		}
	}
}
