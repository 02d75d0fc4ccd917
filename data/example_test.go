package data_test

import (
	"fmt"
	"strings"

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

func ExampleReadLIBSVM() {
	const file = `
+1 1:0.5 3:2  # features that are not named are 0
-1 2:1
`
	s, err := data.ReadLIBSVM(strings.NewReader(file), data.ReadOptions{Task: data.Binary})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, y := range s.Y {
		fmt.Println(y, s.Row(i))
	}
	_, err = data.ReadLIBSVM(strings.NewReader("1 3:1 2:1"), data.ReadOptions{})
	fmt.Println(err)
	// Output:
	// 1 [0.5 0 2]
	// -1 [0 1 0]
	// line 1: feature index 2 comes after 3: indices must ascend
}
