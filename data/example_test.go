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

// A test file has the labels and features of the training file, whichever of
// them it happens to show.
func ExampleReadCSV() {
	train, err := data.ReadCSV(strings.NewReader("x,y,kind\n0.5,1,30\n2,0,10\n1,1,20\n"), data.ReadOptions{LabelColumn: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	test, err := data.ReadCSV(strings.NewReader("7,7,30\n"), data.ReadOptions{
		LabelColumn: -1, Labels: train.Labels, Dim: train.Dim,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("labels", train.Labels, "are classes", train.Y)
	fmt.Println(test.Row(0), "is of class", test.Y[0], "or", train.Labels[int(test.Y[0])])
	// Output:
	// labels [10 20 30] are classes [2 0 1]
	// [7 7] is of class 2 or 30
}
