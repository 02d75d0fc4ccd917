package record_test

import (
	"fmt"
	"log"
	"os"

	"polkrepro/record"
	"polkrepro/spec"
)

// This example writes the record of a run into a folder and reads the folder. A record is complete
// or missing.
func ExampleReadDir() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	run := spec.Run{Method: "polk", Task: "ksvm", Seed: 1, Samples: 64}
	w, err := record.Create(dir, record.Header{ID: spec.ID(run), Run: run, DataSums: map[string]string{"rows.csv": "SHA-256"}})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // leaves a .partial file if Finish is not reached
	points := []record.Point{{Samples: 32, TestError: 0.03125, ModelOrder: 5}, {Samples: 64, TestError: 0.015625, ModelOrder: 5}}
	for _, p := range points {
		if err := w.Point(p); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Finish(record.Average(points, run.Samples)); err != nil {
		log.Fatal(err)
	}

	records, err := record.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range records.Records {
		fmt.Println(r.Header.Run.Method, "seed", r.Header.Run.Seed)
		for _, p := range r.Points {
			fmt.Printf("%d samples: error %.3f\n", p.Samples, p.TestError)
		}
	}
	fmt.Println(len(records.Failed), "failed,", len(records.Partial), "unfinished,", len(records.Errors), "damaged")
	// Output:
	// polk seed 1
	// 32 samples: error 0.031
	// 64 samples: error 0.016
	// 0 failed, 0 unfinished, 0 damaged
}
