package evidence_test

import (
	"fmt"
	"log"

	"polkrepro/evidence"
	"polkrepro/experiments"
)

// Five runs against a claim that the error lies between 2.3 and 2.7 %.
func ExampleJudge() {
	for _, errors := range [][]float64{
		{2.43, 2.41, 2.52, 2.48, 2.45},
		{2.21, 2.75, 2.62, 2.38, 2.31},
		{3.01, 3.10, 2.95, 3.03, 3.07},
	} {
		e := evidence.Mean(errors)
		fmt.Printf("%.2f, 90 %% interval %.2f to %.2f (%s): %s\n", e.Value, e.Low, e.High, e.Basis, evidence.Judge(e, 2.3, 2.7))
	}
	// Output:
	// 2.46, 90 % interval 2.42 to 2.50 (Student's t): reproduced
	// 2.45, 90 % interval 2.24 to 2.67 (Student's t): inconclusive
	// 3.03, 90 % interval 2.98 to 3.09 (Student's t): deviates
}

// All claims of the paper, judged by no records at all.
func ExampleAssess() {
	ledger, err := experiments.Ledgers()
	if err != nil {
		log.Fatal(err)
	}
	a, err := evidence.Assess(evidence.Input{Ledger: ledger})
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
