package evidence

import (
	"reflect"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/spec"
)

// TestCompareTo pairs claims of all kinds.
func TestCompareTo(t *testing.T) {
	type claim struct {
		verdict   stats.Verdict
		explained bool
		missing   int
	}
	here, reference := new(Assessment), new(Assessment)
	for i, pair := range [][2]claim{
		{{stats.Reproduced, false, 0}, {stats.Reproduced, false, 0}},
		{{stats.Inconclusive, false, 0}, {stats.Inconclusive, false, 0}},
		{{stats.Reproduced, false, 0}, {stats.Deviates, false, 0}},
		{{stats.Deviates, true, 0}, {stats.Deviates, true, 0}},
		{{stats.Deviates, false, 0}, {stats.Deviates, true, 0}},
		{{stats.NotRun, false, 0}, {stats.NotRun, false, 0}}, // not in the plan
		{{stats.Reproduced, false, 1}, {stats.Reproduced, false, 0}},
		{{stats.Deviates, false, 0}, {stats.NotRun, false, 5}},
	} {
		for k, a := range []*Assessment{here, reference} {
			c := pair[k]
			r := Finding{Verdict: c.verdict}
			if c.explained {
				r.Test.Explained = "measured"
			}
			r.To.Missing = make([]spec.Planned, c.missing)
			a.Claims = append(a.Claims, ClaimResult{Claim: ledger.Claim{ID: string(rune('a' + i))}, Verdict: c.verdict, Tests: []Finding{r}})
		}
	}
	want := &Comparison{
		Same: 3, NotRun: 1,
		Changed:     []Difference{{"c", "reproduced", "deviates"}, {"e", "deviates", "deviates, explained"}},
		NotCompared: []Difference{{"g", "reproduced", "reproduced"}, {"h", "deviates", "not run"}},
	}
	if got := here.CompareTo(reference); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for i, want := range []bool{false, false, false, false, false, true, true, false} {
		if got := here.Claims[i].Incomplete(); got != want {
			t.Errorf("claim %s: incomplete %v", here.Claims[i].Claim.ID, got)
		}
	}
}
