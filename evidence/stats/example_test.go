package stats_test

import (
	"fmt"

	"polkrepro/evidence/stats"
)

// This example judges three samples of five runs by the claim that the error lies between 2.3 and
// 2.7 %.
func ExampleJudge() {
	for _, errors := range [][]float64{
		{2.43, 2.41, 2.52, 2.48, 2.45},
		{2.21, 2.75, 2.62, 2.38, 2.31},
		{3.01, 3.10, 2.95, 3.03, 3.07},
	} {
		e := stats.Mean(errors)
		fmt.Printf("%.2f, 90 %% interval %.2f to %.2f (%s): %s\n", e.Value, e.Low, e.High, e.Basis, stats.Judge(e, 2.3, 2.7))
	}
	// Output:
	// 2.46, 90 % interval 2.42 to 2.50 (Student's t): reproduced
	// 2.45, 90 % interval 2.24 to 2.67 (Student's t): inconclusive
	// 3.03, 90 % interval 2.98 to 3.09 (Student's t): deviates
}
