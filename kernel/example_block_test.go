package kernel_test

import (
	"fmt"

	"polkrepro/kernel"
)

// The kernel values between one vector and two stored ones.
func ExamplePoints_Block64() {
	p := kernel.NewPoints(2)
	p.Append([]float32{0, 0})
	p.Append([]float32{3, 4})
	x := kernel.MatrixOf(1, 2, []float64{1, 1})
	values := kernel.MatrixOf(1, p.Len(), make([]float64, p.Len()))
	p.Block64(kernel.Polynomial{Offset: 1, Degree: 2}, x, values, 1)
	fmt.Println(values.Row(0))
	// Output: [1 64]
}
