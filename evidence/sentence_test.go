package evidence

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/experiments"
	"polkrepro/internal/golden"
	"polkrepro/record"
)

var readReference = sync.OnceValues(func() (*record.Collection, error) {
	have, err := record.ReadDir("../results/reference/records")
	if err == nil {
		err = have.Damage()
	}
	return have, err
})

// referenceInput returns the records of results/reference.
func referenceInput(t *testing.T) Input {
	t.Helper()
	have := must(readReference())
	return Input{Ledger: experiments.Ledgers(), Plan: theorytest.Plan(t, experiments.ProfileFull), Records: have.Records}
}

// TestSentences compares the sentence of every test, by the recorded runs, with
// testdata/sentences.txt, which readers can review.
func TestSentences(t *testing.T) {
	var b strings.Builder
	for _, c := range must(Assess(referenceInput(t))).Claims {
		fmt.Fprintf(&b, "%s\n", c.Claim.ID)
		for _, r := range c.Tests {
			fmt.Fprintf(&b, "  %s, %s: %s\n", r.Test.ID, r.Verdict, r.Sentence())
		}
	}
	golden.Check(t, "testdata/sentences.txt", b.String())
}

// TestSentenceWords checks sentences that the recorded runs do not produce.
func TestSentenceWords(t *testing.T) {
	test := experiments.Ledgers().Claim("table2.multidist.ksvm.bsgd").Tests[1]
	missing, diverged := NewFinding(test), NewFinding(test)
	missing.Gap = &Gap{Kind: Pending}
	diverged.Verdict, diverged.Ours = stats.Deviates, Number(stats.Single(math.Inf(1)))
	for want, f := range map[string]Finding{
		"error of BSGD on multidist, hinge loss: not measured (no records); the paper prints 21.8.": missing,
		"error of BSGD on multidist, hinge loss: ∞ %; the paper prints 21.8.":                       diverged,
	} {
		if got := f.Sentence(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
