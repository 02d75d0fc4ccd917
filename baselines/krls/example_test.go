package krls_test

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"polkrepro/baselines/krls"
	"polkrepro/kernel"
)

// A stream of numbers is predicted from its two latest ones. The learner is saved, and goes on.
func Example() {
	c := krls.Config{Kernel: kernel.Gaussian{Bandwidth: 2}, Dim: 2, Threshold: 1e-4, Noise: 1e-6, Budget: 20, Forgetting: 1}
	l, err := krls.New(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 500 {
		at := func(j int) float64 { return math.Sin(0.3 * float64(i+j)) }
		if _, err := l.Step(context.Background(), 1, []float32{float32(at(1)), float32(at(0))}, []float64{at(2)}); err != nil {
			fmt.Println(err)
		}
	}
	var state bytes.Buffer
	if err := l.WriteState(&state); err != nil {
		fmt.Println(err)
	}
	if l, err = krls.Restore(c, &state); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d elements predict %.2f, and sin(0.6) is %.2f\n",
		l.Expansion().Order(), l.Score([]float32{float32(math.Sin(0.3)), 0}), math.Sin(0.6))
	// Output: 11 elements predict 0.56, and sin(0.6) is 0.56
}
