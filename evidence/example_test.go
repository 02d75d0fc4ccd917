package evidence_test

import (
	"fmt"
	"log"

	"polkrepro/evidence"
	"polkrepro/experiments"
)

// This example judges all claims of the paper without any records.
func ExampleAssess() {
	a, err := evidence.Assess(evidence.Input{Ledger: experiments.Ledgers()})
	if err != nil {
		log.Fatal(err)
	}
	cells, sentences, theorems := a.Counts()
	fmt.Println("cells not run:", cells.NotRun == cells.Total())
	fmt.Println("sentences not run:", sentences.NotRun == sentences.Total())
	fmt.Println("theorems not run:", theorems.NotRun == theorems.Total())
	c, _ := a.Find("table2.multidist.ksvm.polk")
	fmt.Println(c.Claim.Verdict, "for", len(c.Tests), "tests of", c.Claim.Claim.ID)
	// Output:
	// cells not run: true
	// sentences not run: true
	// theorems not run: true
	// not run for 3 tests of table2.multidist.ksvm.polk
}
