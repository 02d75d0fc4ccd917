package evidence

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/experiments"
	"polkrepro/record"
)

var update = flag.Bool("update", false, "write the golden files again")

var readReference = sync.OnceValues(func() (*record.Collection, error) {
	have, err := record.ReadDir("../results/reference/records")
	if err == nil {
		err = have.Damage()
	}
	return have, err
})

// referenceInput are the records of results/reference.
func referenceInput(t *testing.T) Input {
	t.Helper()
	have, err := readReference()
	if err != nil {
		t.Fatal(err)
	}
	return Input{Ledger: ledger(t), Plan: theorytest.Plan(t, experiments.ProfileFull), Records: have.Records}
}

// sentences are all sentences of an assessment, a line a test.
func sentences(t *testing.T, a *Assessment) string {
	t.Helper()
	paper := experiments.Paper()
	var b strings.Builder
	for _, c := range a.Claims {
		fmt.Fprintf(&b, "%s\n", c.Claim.ID)
		for _, r := range c.Tests {
			fmt.Fprintf(&b, "  %s, %s: %s\n", r.Test.ID, r.Verdict, r.Sentence(paper))
		}
	}
	return b.String()
}

// golden compares with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run with -update and look at the difference. Got:\n%s", path, got)
	}
}

// TestSentences compares the sentence of every test, by the recorded runs, with
// testdata/sentences.txt, for readers to review.
func TestSentences(t *testing.T) {
	golden(t, "sentences.txt", sentences(t, mustAssess(t, referenceInput(t))))
}

// TestSentencesWithoutRuns makes the sentences of a ledger that nothing answers.
func TestSentencesWithoutRuns(t *testing.T) {
	a := mustAssess(t, Input{Ledger: ledger(t), Plan: theorytest.Plan(t, experiments.ProfileFull)})
	for line := range strings.Lines(sentences(t, a)) {
		if strings.HasPrefix(line, " ") && !strings.Contains(line, " not measured (no records); the ") && !strings.Contains(line, " not compared with ") {
			t.Errorf("%s", line)
		}
		if strings.Contains(line, "support vectors") && !strings.HasPrefix(line, "  order") {
			t.Errorf("%s", line)
		}
	}
}

// TestSentenceWords looks at sentences that the recorded runs don't lead to, such as of
// values that are not finite.
func TestSentenceWords(t *testing.T) {
	paper, l := experiments.Paper(), ledger(t)
	inf := math.Inf(1)
	for _, c := range []struct {
		claim, test     string
		of, to          float64 // means
		value, low, end float64 // of the statistic
		want            string
	}{
		{"table2.multidist.ksvm.bsgd", "error", 21, 0, 21, 20.5, 21.5,
			"BSGD on multidist: 21.0 % error where the paper prints 21.8 %."},
		{"table2.multidist.ksvm.bsgd", "error", inf, 0, inf, inf, inf,
			"BSGD on multidist: error not finite, because a run diverged; the paper prints 21.8 %."},
		{"multidist.below-4", "samples", inf, 0, inf, inf, inf,
			"POLK on multidist, hinge loss: at least one run never has an error below 4 %; the paper says after 1249."},
		{"multidist.below-4", "samples", 12000, 0, 12000, 11000, 13000,
			"POLK on multidist, hinge loss: below 4 % error after 12,000 samples where the paper says after 1249."},
		{"multidist.low-risk", "risk", 0.1, 0, 0.1, 0.098, 0.102,
			"POLK with the smaller K on multidist, logistic loss: training risk 0.100 where the claim needs at most 0.1."},
		{"multidist.beats-lbfgs", "error", 3.8, 3.8, 0, -0.1, 0.1,
			"On multidist with the hinge loss, the error of POLK is equal to that of L-BFGS (3.80 % against 3.80 %); the paper says lower."},
		{"multidist.beats-lbfgs", "error", 3.799, 3.8, -0.001, -0.0012, -0.0008,
			"On multidist with the hinge loss, the error of POLK is 0.001 points lower than that of L-BFGS (3.80 % against 3.80 %), as the paper says."},
		{"multidist.beats-lbfgs", "error", 3.79, 3.8, -0.005, -0.006, -0.004,
			"On multidist with the hinge loss, the error of POLK is 0.01 points lower than that of L-BFGS (3.79 % against 3.80 %), as the paper says."},
		{"multidist.order-of-magnitude", "error", inf, 3.8, inf, inf, inf,
			"On multidist with the hinge loss, the error of BSGD can't be compared with that of POLK: a run diverged or never reached it; the claim needs at least 3.16 times."},
		{"multidist.order-of-magnitude", "error", 12, 4, 3, 2.9, 3.3,
			"On multidist with the hinge loss, the error of BSGD is 3.00 times that of POLK (12.00 % against 4.00 %); the claim needs at least 3.16 times."},
		{"table2.multidist.ksvm.lbfgs", "order", 1, 0, 1, 1, 1,
			"L-BFGS on multidist, hinge loss: model order 1 where the paper prints 5000."},
		{"table2.multidist.ksvm.lbfgs", "risk", 0.1, 0, 0.1, 0.1, 0.1,
			"L-BFGS on multidist, hinge loss: training risk 0.100 where the paper prints 0.0854."},
	} {
		claim := l.Claim(c.claim)
		i := slices.IndexFunc(claim.Tests, func(t experiments.Test) bool { return t.ID == c.test })
		r := NewFinding(claim.Tests[i])
		r.Ours = Number{Value: c.value, Low: c.low, High: c.end, Basis: stats.Paired}
		r.Of.Runs, r.To.Runs = []Observation{{Value: c.of}}, []Observation{{Value: c.to}}
		r.Verdict = stats.Judge(stats.Estimate(r.Ours), r.Target.Low, r.Target.High)
		if got := r.Sentence(paper); got != c.want {
			t.Errorf("%s.%s:\n got %s\nwant %s", c.claim, c.test, got, c.want)
		}
	}
}

// TestNumbers counts the numbers of the tables by hand.
func TestNumbers(t *testing.T) {
	printed := 4.0
	test := func(v stats.Verdict) Finding {
		return Finding{Verdict: v, Test: experiments.Test{Paper: &printed}}
	}
	explained := Finding{Verdict: stats.Deviates, Test: experiments.Test{Paper: &printed, Explained: "because"}}
	unprinted := Finding{Verdict: stats.Reproduced}
	needless := explained
	needless.Verdict = stats.Reproduced
	a := &Assessment{Claims: []ClaimResult{
		{Claim: experiments.Claim{Cell: true}, Tests: []Finding{needless, test(stats.Deviates), test(stats.Deviates), explained}},
		{Claim: experiments.Claim{Cell: true}, Tests: []Finding{test(stats.Inconclusive), test(stats.NotRun), unprinted}},
		{Tests: []Finding{test(stats.Deviates), explained}},
	}}
	if got, want := a.Numbers(), (Counts{Reproduced: 1, Inconclusive: 1, NotRun: 1, Deviates: 3, Explained: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
