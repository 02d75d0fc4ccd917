package csvc

import (
	"math"
	"slices"
	"testing"
)

// TestDecisions compares decision values with sums over the solver's α, and predictions with a
// count of the votes.
func TestDecisions(t *testing.T) {
	p, test := blobs(20, 150, 2, 4), blobs(21, 80, 2, 4)
	m, _ := train(t, gaussian, p)
	pairs := solveAll(t, gaussian, p)
	values, classes := make([]float64, test.n*6), make([]float64, test.n)
	m.Decisions(test.n, test.x, values, 2)
	m.Predict(test.n, test.x, classes, 2)
	for i := range test.n {
		votes := make([]int, 4)
		for q, s := range pairs {
			var f float64
			for j, a := range s.alpha {
				f += s.y[j] * a * gaussian.Kernel.Eval(s.x[j], test.at(i))
			}
			f -= s.stats.Rho
			if got := values[i*6+q]; !(math.Abs(got-f) <= 1e-5*float64(p.n)) {
				t.Fatalf("point %d, pair %d: %v, want %v", i, q, got, f)
			}
			if values[i*6+q] > 0 {
				votes[s.stats.Plus]++
			} else {
				votes[s.stats.Minus]++
			}
		}
		if most := slices.Max(votes); votes[int(classes[i])] != most {
			t.Fatalf("point %d is said to be %v with votes %v", i, classes[i], votes)
		}
	}
}

// TestVote: the pairs of positions are (0,1), (0,2), (1,2). A value of 0 is a vote for the second
// position of the pair; a tie goes to the first.
func TestVote(t *testing.T) {
	m := &Model{Labels: []int{7, 5, 6}}
	for _, c := range []struct {
		values []float64
		want   int
	}{
		{[]float64{1, 1, 1}, 0},
		{[]float64{-1, 1, 1}, 1},
		{[]float64{1, -1, -1}, 2},
		{[]float64{1, -1, 1}, 0}, // one vote each
		{[]float64{-1, 1, -1}, 0},
		{[]float64{0, 0, 0}, 2}, // votes 0, 1, 2
		{[]float64{math.Inf(1), math.SmallestNonzeroFloat64, -1}, 0},
	} {
		if got := m.vote(c.values); got != c.want {
			t.Errorf("%v: position %d wins, want %d", c.values, got, c.want)
		}
	}
}

// TestPredictBlocks: a point's prediction is the same alone and among more than predictRows
// points.
func TestPredictBlocks(t *testing.T) {
	m, _ := train(t, gaussian, blobs(22, 60, 2, 3))
	test := blobs(23, predictRows+77, 2, 3)
	all, one := make([]float64, test.n), make([]float64, 1)
	m.Predict(test.n, test.x, all, 2)
	for _, i := range []int{0, predictRows - 1, predictRows, test.n - 1} {
		m.Predict(1, test.at(i), one, 1)
		if one[0] != all[i] {
			t.Errorf("point %d: %v alone, %v among all", i, one[0], all[i])
		}
	}
	m.Predict(0, nil, nil, 1)
}

func TestShortSlicesPanic(t *testing.T) {
	m, _ := train(t, gaussian, blobs(24, 20, 2, 3))
	for name, f := range map[string]func(){
		"Decisions, x":   func() { m.Decisions(2, make([]float32, 3), make([]float64, 6), 1) },
		"Decisions, dst": func() { m.Decisions(2, make([]float32, 4), make([]float64, 5), 1) },
		"Predict, x":     func() { m.Predict(2, make([]float32, 3), make([]float64, 2), 1) },
		"Predict, dst":   func() { m.Predict(2, make([]float32, 4), make([]float64, 1), 1) },
	} {
		func() {
			defer func() {
				if r := recover(); r != badLength {
					t.Errorf("%s: panicked with %v", name, r)
				}
			}()
			f()
		}()
	}
}
