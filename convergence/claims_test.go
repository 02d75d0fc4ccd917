package convergence

import (
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
)

// TestTheoreticalRuns: runs as the theory has them reproduce every claim.
func TestTheoreticalRuns(t *testing.T) {
	for id, c := range judged(t, fullRecords(t), nil) {
		if c.Verdict != stats.Reproduced {
			t.Errorf("%s: %v: %+v", id, c.Verdict, c.Tests)
		}
	}
}

// TestDeviations: each way to contradict the paper makes just the claims about
// it deviate.
func TestDeviations(t *testing.T) {
	polk := func(r *Record, regime string) bool {
		return r.Header.Run.Method == POLK && r.Header.Run.Regime == regime
	}
	points := func(r *Record, change func(p *Point)) {
		for i := range r.Points {
			change(&r.Points[i])
		}
	}
	for name, c := range map[string]struct {
		change func(*Record)
		want   []string
	}{
		"a diminishing rate that stalls": {func(r *Record) {
			if polk(r, Diminishing) {
				points(r, func(p *Point) { p.Distance, p.Excess = 2, 0.04 })
			}
		}, []string{"table1.diminishing.convergence", "table1.diminishing.risk"}},
		"a diminishing rate that diverges": {func(r *Record) {
			if polk(r, Diminishing) {
				points(r, func(p *Point) { p.Distance = 1e-3 * float64(p.Samples) })
			}
		}, []string{"table1.diminishing.convergence"}},
		"an order that does not grow": {func(r *Record) {
			if polk(r, Diminishing) {
				points(r, func(p *Point) { p.Order = 50 })
			}
		}, []string{"table1.diminishing.order"}},
		"constant rates that stay outside": {func(r *Record) {
			if polk(r, Constant) {
				points(r, func(p *Point) { p.Distance = 1000 * r.Header.Run.Rate })
			}
		}, []string{"table1.constant.radius"}},
		"one floor for all rates": {func(r *Record) {
			if polk(r, Constant) {
				points(r, func(p *Point) { p.Distance = 0.3 })
			}
		}, []string{"table1.constant.rate"}},
		"an order that goes on growing": {func(r *Record) {
			if polk(r, Constant) {
				points(r, func(p *Point) { p.MeanOrder = float64(p.Samples) })
			}
		}, []string{"table1.constant.order"}},
		"an order above the bound": {func(r *Record) {
			if polk(r, Constant) {
				r.Summary.MaxOrder = 1e9
			}
		}, []string{"table1.constant.order"}},
		"elements that are too near": {func(r *Record) {
			if polk(r, Constant) {
				r.Points[3].Separation = 1e-5
			}
		}, []string{"table1.constant.separation"}},
		"one step beyond its budget": {func(r *Record) {
			if polk(r, Constant) && r.Header.Run.Seed == 2 {
				r.Summary.Ratio = 1 + 1e-4
			}
		}, []string{"table1.gradient"}},
		"a projection that hides its error": {func(r *Record) {
			if polk(r, Diminishing) {
				r.Summary.Direct = 1.5
			}
		}, []string{"table1.gradient"}},
		"a large iterate": {func(r *Record) {
			if polk(r, Constant) {
				r.Points[0].Norm = 142
			}
		}, []string{"table1.iterates"}},
	} {
		t.Run(name, func(t *testing.T) {
			claims := judged(t, fullRecords(t), c.change)
			want := map[string]bool{}
			for _, id := range c.want {
				want[id] = true
			}
			for id, a := range claims {
				if got := a.Verdict == stats.Deviates; got != want[id] {
					t.Errorf("%s: %v, want a deviation: %v", id, a.Verdict, want[id])
				}
			}
		})
	}
}

// TestNotRun: without records nothing is judged, and with those of runs that
// are too short nothing that is about t → ∞.
func TestNotRun(t *testing.T) {
	for id, c := range judged(t, nil, nil) {
		if c.Verdict != stats.NotRun {
			t.Errorf("%s: %v without records", id, c.Verdict)
		}
	}
	plan, err := Plan(experiments.ProfileSmoke)
	if err != nil {
		t.Fatal(err)
	}
	records := map[string]*Record{}
	for _, run := range plan {
		records[run.ID()] = theoretical(run)
	}
	s, err := newStudy(experiments.ProfileSmoke, records)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Claims {
		if c.ID == "table1.diminishing.convergence" && c.Verdict != stats.NotRun {
			t.Errorf("%s: %v after 3000 samples", c.ID, c.Verdict)
		}
		if c.ID == "table1.gradient" && c.Verdict != stats.Reproduced {
			t.Errorf("%s: %v", c.ID, c.Verdict)
		}
	}
}

// TestClaimsAreWhole: every claim says where it is from, has an ID of its own,
// and every test a reason for its target.
func TestClaimsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for id, c := range judged(t, nil, nil) {
		if c.Section == "" || c.Quote == "" || len(c.Tests) == 0 {
			t.Errorf("%s: section %q, quote %q, %d tests", id, c.Section, c.Quote, len(c.Tests))
		}
		for _, test := range c.Tests {
			if key := id + test.ID; seen[key] || test.Of == "" || test.Reason == "" || !(test.Low < test.High) {
				t.Errorf("%s %s: twice, or without statistic, reason or target: %+v", id, test.ID, test)
			} else {
				seen[key] = true
			}
		}
	}
	if len(claims) != len(judged(t, nil, nil)) {
		t.Error("two claims have one ID")
	}
}
