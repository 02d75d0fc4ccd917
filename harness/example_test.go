package harness_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"polkrepro/harness"
	"polkrepro/record"
	"polkrepro/spec"
)

// One experiment from Go: a spec, its runs, their records.
func ExampleReproduce() {
	mine, err := spec.Parse("mine.yaml", []byte(`
include: [base/multidist.yaml]
name: mine
title: POLK with two parsimony constants
description: How the dictionary depends on K.
task: ksvm
methods:
  - {method: polk, grid: {parsimony: [0.001, 0.04]}}
`))
	if err != nil {
		log.Fatal(err)
	}
	plan, err := mine[0].Plan(spec.ProfileSmoke, spec.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	results, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(results)

	if _, err := harness.Reproduce(context.Background(), plan, harness.Options{Results: results}); err != nil {
		log.Fatal(err)
	}
	records, err := record.ReadDir(harness.RecordsDir(results))
	if err != nil {
		log.Fatal(err)
	}
	var orders []float64
	for _, p := range plan {
		final := records.Records[p.ID].Final
		fmt.Printf("%s: %d samples, error below 6 %%: %v\n", p.Series, final.Samples, final.TestError < 0.06)
		orders = append(orders, final.ModelOrder)
	}
	fmt.Println("the smaller K keeps more elements:", orders[0] > orders[1])
	// Output:
	// POLK, K = 0.001: 5000 samples, error below 6 %: true
	// POLK, K = 0.04: 5000 samples, error below 6 %: true
	// the smaller K keeps more elements: true
}
