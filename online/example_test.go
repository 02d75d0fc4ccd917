package online_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"polkrepro/data/rows"
	"polkrepro/online"
)

// This example trains a model on a CSV stream, saves and reads it, and predicts. The first rows
// determine features, classes, scaling and bandwidth.
func ExampleTrain() {
	var lines strings.Builder
	for i := range 400 { // label, two features: class a left of 0, class b right of it
		x := float64(i%20)/10 - 0.95
		label := "a"
		if x > 0 {
			label = "b"
		}
		fmt.Fprintf(&lines, "%s,%.2f,%.2f\n", label, x, float64(i%7)/10)
	}
	ctx := context.Background()
	model, err := online.Train(ctx, online.TrainOptions{
		Source:   online.Source{Path: "-", Stdin: strings.NewReader(lines.String())},
		Settings: online.Settings{Loss: "multi-logistic", Format: rows.FormatCSV},
	})
	if err != nil {
		log.Fatal(err)
	}

	var file bytes.Buffer
	if err := model.Save(&file); err != nil {
		log.Fatal(err)
	}
	if model, err = online.Read(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Println("rows:", model.Rows(), "classes:", model.Settings().Labels)

	source := online.Source{Path: "-", Stdin: strings.NewReader("-0.8,0.1\n0.8,0.1\n")}
	if err := model.Predict(ctx, source, rows.FormatCSV, false, os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// rows: 400 classes: [a b]
	// a
	// b
}
