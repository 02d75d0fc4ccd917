package evidence

import (
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/record"
	"polkrepro/spec"
)

// theoryInput returns made-up records of Table 1's runs in a profile that agree with the theory,
// each modified by change.
func theoryInput(t *testing.T, profile string, change func(*record.Record)) Input {
	t.Helper()
	in := Input{Ledger: ledger.Embedded(), Plan: theorytest.Plan(t, profile, "table1"), Records: make(map[string]*record.Record)}
	for _, p := range in.Plan {
		in.Records[p.ID] = theorytest.Record(p)
		if change != nil {
			change(in.Records[p.ID])
		}
	}
	return in
}

// theorems returns the results of Table 1's claims.
func theorems(t *testing.T, in Input) map[string]ClaimResult {
	t.Helper()
	out := make(map[string]ClaimResult)
	for _, c := range must(Assess(in)).Claims {
		if c.Claim.Theorem() {
			out[c.Claim.ID] = c
		}
	}
	if len(out) != 9 {
		t.Fatalf("%d claims of Table 1, want 9", len(out))
	}
	return out
}

// TestTheoremsDeviate checks that runs that agree with the theory reproduce every claim, and that
// each contradiction of the paper makes exactly the claims about it deviate.
func TestTheoremsDeviate(t *testing.T) {
	polk := func(schedule string) func(*record.Record) bool {
		return func(r *record.Record) bool {
			run := r.Header.Run
			return run.Method == spec.MethodPOLK && run.Params.Schedule == schedule
		}
	}
	diminishing, constant := polk(spec.ScheduleInverse), polk(spec.ScheduleConstant)
	points := func(of func(*record.Record) bool, change func(r *record.Record, p *record.Point)) func(*record.Record) {
		return func(r *record.Record) {
			for i := range r.Points {
				if of(r) {
					change(r, &r.Points[i])
				}
			}
		}
	}
	final := func(of func(*record.Record) bool, name string, v float64) func(*record.Record) {
		return func(r *record.Record) {
			if of(r) {
				r.Final.Measured[name] = v
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*record.Record)
		want   []string
	}{
		"as the theory has it": {nil, nil},
		"a diminishing rate that stalls": {points(diminishing, func(_ *record.Record, p *record.Point) {
			p.Measured[theory.Distance], p.Measured[theory.Excess] = 2, 0.04
		}), []string{"table1.diminishing.convergence", "table1.diminishing.risk"}},
		"a diminishing rate that diverges": {points(diminishing, func(_ *record.Record, p *record.Point) {
			p.Measured[theory.Distance] = 1e-3 * float64(p.Samples)
		}), []string{"table1.diminishing.convergence"}},
		"an order that does not grow": {points(diminishing, func(_ *record.Record, p *record.Point) {
			p.ModelOrder = 50
		}), []string{"table1.diminishing.order"}},
		"constant rates that stay outside": {points(constant, func(r *record.Record, p *record.Point) {
			p.Measured[theory.Distance] = 1000 * r.Header.Run.Params.LearningRate
		}), []string{"table1.constant.radius"}},
		"one floor for all rates": {points(constant, func(_ *record.Record, p *record.Point) {
			p.Measured[theory.Distance] = 0.3
		}), []string{"table1.constant.rate"}},
		"an order that goes on growing": {points(constant, func(_ *record.Record, p *record.Point) {
			p.Measured[theory.MeanOrder] = float64(p.Samples)
		}), []string{"table1.constant.order"}},
		"an order above the bound": {final(constant, theory.MaxOrder, 1e9), []string{"table1.constant.order"}},
		"elements that are too near": {func(r *record.Record) {
			if constant(r) {
				r.Points[3].Measured[theory.Separation] = 1e-5
			}
		}, []string{"table1.constant.separation"}},
		"one step beyond its budget": {final(func(r *record.Record) bool { return constant(r) && r.Header.Run.Seed == 2 }, theory.Ratio, 1+1e-4),
			[]string{"table1.gradient"}},
		"a projection that hides its error": {final(diminishing, theory.Direct, 1.5), []string{"table1.gradient"}},
		"a large iterate": {points(constant, func(_ *record.Record, p *record.Point) {
			p.Measured[theory.Norm] = 142
		}), []string{"table1.iterates"}},
	} {
		for id, r := range theorems(t, theoryInput(t, spec.ProfileFull, c.change)) {
			want := stats.Reproduced
			if slices.Contains(c.want, id) {
				want = stats.Deviates
			}
			if r.Verdict != want {
				t.Errorf("%s: %s: %v, want %v: %+v", name, id, r.Verdict, want, r.Tests[0].Ours)
			}
		}
	}
}

// TestTheoremsNotRun checks that runs that are too short for t → ∞ and methods that are not planned
// leave the claim not run, and that an exponent needs a seed with a run at every learning rate.
func TestTheoremsNotRun(t *testing.T) {
	for id, r := range theorems(t, theoryInput(t, spec.ProfileSmoke, nil)) {
		want := stats.NotRun
		if strings.HasPrefix(id, "table1.diminishing") {
			if note := r.Tests[0].Note(); note != "3000 samples are too few for η = 1" {
				t.Errorf("%s: note %q", id, note)
			}
		}
		if r.Verdict != want {
			t.Errorf("%s: %v in profile smoke", id, r.Verdict)
		}
		for _, test := range r.Tests {
			every := test.Test.Kind == ledger.KindEvery
			if test.Test.Of.Label == "polk-large-k" && every && (test.Verdict != stats.Reproduced || test.Note() != "the worst of all runs") {
				t.Errorf("%s.%s: %v, %s", id, test.Test.ID, test.Verdict, test.Note())
			}
			if test.Test.Of.Label == "polk-small-k" && (test.Verdict != stats.NotRun || test.Note() != "not in this profile") {
				t.Errorf("%s.%s: %v, %s", id, test.Test.ID, test.Verdict, test.Note())
			}
		}
	}
	in := theoryInput(t, spec.ProfileQuick, nil)
	for _, p := range in.Plan {
		if p.Label == "polk-small-k" && p.Run.Params.LearningRate == 0.1 {
			delete(in.Records, p.ID)
		}
	}
	rate := theorems(t, in)["table1.constant.rate"]
	large, small := rate.Tests[0], rate.Tests[1]
	if large.Verdict != stats.Reproduced || len(large.Of.Runs) != 9 || !near(large.Ours.Value, large.Ours.Low) {
		t.Errorf("%s: %v from %d runs, %+v", large.Test.ID, large.Verdict, len(large.Of.Runs), large.Ours)
	}
	if small.Verdict != stats.NotRun || small.Note() != "no seed has a run at every learning rate" {
		t.Errorf("%s: %v, %s", small.Test.ID, small.Verdict, small.Note())
	}
}
