package evidence

import (
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
)

// answered adds made-up records of an alternative's runs, from the final values of cells.
func answered(t *testing.T, in Input, assumption, id string, final map[string][3]float64) {
	t.Helper()
	for _, w := range in.Ledger.Assumption(assumption).Alternative(id).Answers {
		for _, p := range in.Plan {
			if w.Matches(&p) {
				in.Records[p.ID] = made(p, final[w.Cell])
			}
		}
	}
}

// changeWords writes changes in words.
func changeWords(changes []Change) (out []string) {
	for _, c := range changes {
		out = append(out, c.Claim+": "+c.From.String()+" → "+c.To.String())
	}
	return out
}

// TestMultiverse checks that, under each alternative, every claim that depends on the assumption is
// listed once, as changed or by its verdict, and that a spec lacks runs until all its runs are
// planned and have records. testdata/text.txt has the effects of the alternatives.
func TestMultiverse(t *testing.T) {
	t.Parallel()
	in := fixture(t)
	answered(t, in, "epochs-multidist", "ten", finals())
	m := must(Multiverse(in))
	for _, a := range m.Assumptions {
		dependents := slices.Sorted(slices.Values(in.Ledger.Dependents(a.ID)))
		for i := range a.Alternatives {
			o := &a.Alternatives[i]
			var listed []string
			for _, c := range o.Claims {
				listed = append(listed, c.Claim)
			}
			if slices.Sort(listed); !slices.Equal(listed, dependents) {
				t.Errorf("%s=%s lists %q, want %q", a.ID, o.ID, listed, dependents)
			}
		}
	}
	answers := in.Ledger.Assumption("epochs-multidist").Alternative("ten")
	if got := newIndex(Input{}).lacking(answers); len(got) != 2 {
		t.Errorf("nothing planned: %q", got)
	}
	x := newIndex(in)
	delete(in.Records, x.planned(answers.Answers[0].Matches)[0].ID)
	if got := x.lacking(answers); !slices.Equal(got, []string{answers.Answers[0].Spec}) {
		t.Errorf("one record away: %q", got)
	}
}

// TestFigureRuns checks that a sentence on a figure is judged by the alternative's runs of the
// figure's draw and orders, and a cell by those of the tables' draws.
func TestFigureRuns(t *testing.T) {
	t.Parallel()
	in := fixture(t)
	// No figure of the ledger has other runs than its table, so two sentences get one.
	claims := in.Ledger.Claims
	in.Ledger = rewritten(in.Ledger, func(i, _ int, test *ledger.Test) {
		if id := claims[i].ID + "." + test.ID; id == "multidist.optimal-order.order" || id == "multidist.fixed-order.risk-16" {
			test.Of.Figure = "2"
		}
	})
	answered(t, in, "epochs-multidist", "ten", finals())
	in.Assume = map[string]string{"epochs-multidist": "ten"}
	a := must(Assess(in))
	for id, want := range map[string]int{"multidist.optimal-order.order": 5, "multidist.order-129.order": 20, "multidist.fixed-order.risk-16": 5} {
		runs := first(t, a, id).Of.Runs
		for _, r := range runs {
			if !strings.HasPrefix(r.Spec, "multiverse-multidist-ten-passes") {
				t.Errorf("%s is judged by %s", id, r.Spec)
			}
		}
		if len(runs) != want {
			t.Errorf("%s: %d runs, want %d", id, len(runs), want)
		}
	}
	// If the draws are entirely different, all of them judge the sentence.
	delete(in.Assume, "epochs-multidist")
	answered(t, in, "multidist-draws", "any", finals())
	in.Assume["multidist-draws"] = "any"
	if runs := first(t, must(Assess(in)), "multidist.optimal-order.order").Of.Runs; len(runs) != 20 || runs[0].Run.Data.Draw != 1 {
		t.Errorf("any draws: %d runs", len(runs))
	}
}

// TestNeverTheDefault removes a spec that runs one of two cells. The test that needs both is then
// not run: the records of the chosen values don't replace the missing ones.
func TestNeverTheDefault(t *testing.T) {
	t.Parallel()
	in := fixture(t)
	answered(t, in, "bandwidth", "variance", finals())
	in.Assume = map[string]string{"bandwidth": "variance"}
	a := must(Assess(in))
	for id, want := range map[string]stats.Verdict{
		"multidist.like-batch.lbfgs": stats.Reproduced,
		"multidist.like-batch.ivm":   stats.NotRun, // no spec runs IVM with this bandwidth
		"table3.mnist.ksvm.polk":     stats.NotRun, // nor any method on MNIST
		"multidist.like-libsvm":      stats.Reproduced,
	} {
		if r := first(t, a, id); r.Verdict != want {
			t.Errorf("%s: %v, want %v (%s)", id, r.Verdict, want, r.Note())
		}
	}
	if r := first(t, a, "multidist.like-batch.ivm"); r.Note() != "no spec runs table2.multidist.klr.ivm with bandwidth=variance" || r.Gap.Kind != Unanswered {
		t.Errorf("%q", r.Note())
	}
	for _, p := range in.Plan {
		if p.Spec == "multiverse-multidist-ksvm" && p.Label == "bandwidth-csvc" {
			delete(in.Records, p.ID)
		}
	}
	if r := first(t, must(Assess(in)), "multidist.like-libsvm"); r.Verdict != stats.NotRun || r.Note() != "no records" {
		t.Errorf("%v, %s", r.Verdict, r.Note())
	}
}

// TestRegularizer checks that the risks with λΣ‖f_c‖² are computed from the records of the same
// runs, only for the hinge, and that they are not run if the records have no Σ‖f_c‖².
func TestRegularizer(t *testing.T) {
	t.Parallel()
	in := fixture(t)
	const hinge, logistic = "table3.mnist.ksvm.polk", "table3.mnist.klr.polk"
	risk := func(claim string) Finding {
		in.Assume = map[string]string{"regularizer": "full"}
		return first(t, must(Assess(in)), claim+".risk")
	}
	if r := risk(hinge); r.Verdict != stats.NotRun || !strings.Contains(r.Note(), "no Σ‖f_c‖²") || r.Gap.Kind == Unanswered {
		t.Errorf("records without norms: %v, %s", r.Verdict, r.Note())
	}
	if r := risk(logistic); r.Verdict != stats.Reproduced {
		t.Errorf("the logistic loss: %v, %s", r.Verdict, r.Note())
	}
	for _, r := range in.Records {
		r.Final.NormSq = new(2 * r.Final.TestRisk / r.Header.Run.Params.Regularizer) // the penalty is all of the risk
	}
	if r, twice := risk(hinge), 2**risk(hinge).Test.Paper; r.Verdict != stats.Deviates || !(r.Ours.Value >= 0.99*twice) || r.Ours.Value > 1.01*twice {
		t.Errorf("risk %v, %v, want twice what is printed, %v", r.Verdict, r.Ours.Value, twice)
	}
	if r := risk(logistic); r.Verdict != stats.Reproduced {
		t.Errorf("the logistic loss: %v, %s", r.Verdict, r.Note())
	}
}
