package data_test

import (
	"fmt"

	"polkrepro/data"
)

func ExampleLoad() {
	set, err := data.Load(data.Ref{Name: "multidist", Variant: data.Calibrated, Draw: 36}, data.Finder{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Train.N, set.Test.N, set.Train.Dim, set.Classes)
	fmt.Printf("%.4f\n", set.Facts["bayes_error"])
	// Output:
	// 5000 2500 2 5
	// 0.0386
}

func ExampleFigureDraw() {
	d := data.FigureDraw()
	fmt.Printf("draw %d, Bayes error %.2f %%\n", d.Seed, 100*d.BayesError)
	// Output:
	// draw 1236, Bayes error 3.69 %
}
