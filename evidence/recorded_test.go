package evidence

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"sync"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/spec"
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
	return Input{Ledger: ledger.Embedded(), Plan: theorytest.Plan(t, spec.ProfileFull), Records: have.Records}
}

// TestRecorded compares stats/testdata/runs.csv, from which the study of coverage
// draws, with results/reference: the values that the runs measured for each test
// with an interval, pair by pair if they are paired. To write the file:
//
//	go test ./evidence -run TestRecorded -update
func TestRecorded(t *testing.T) {
	t.Parallel()
	a := must(Assess(referenceInput(t)))
	rows := [][]string{{"claim", "test", "of", "to"}}
	for _, c := range a.Claims {
		if c.Claim.Theorem() { // judged by the worst run, or by fitted exponents
			continue
		}
		for _, r := range c.Tests {
			if e := r.Ours; e.Basis == "" || e.Basis == stats.Point || e.Low == e.High {
				continue
			}
			of, to, paired := pairs(&r.Of, &r.To)
			if !paired {
				of, to = r.Of.values(), nil
			}
			for i, v := range of {
				row := []string{c.Claim.ID, r.Test.ID, strconv.FormatFloat(v, 'g', 6, 64), ""}
				if to != nil {
					row[3] = strconv.FormatFloat(to[i], 'g', 6, 64)
				}
				rows = append(rows, row)
			}
		}
	}
	var want bytes.Buffer
	testutil.NoError(t, csv.NewWriter(&want).WriteAll(rows))
	golden.Check(t, "stats/testdata/runs.csv", want.String())
}
