package gemm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// testNorms adds and removes rows of all lengths and compares squared norms
// and the largest of them, and the largest that Gaussian returns, with sums.
func testNorms[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 1))
	const dim = 11
	p := NewPanels[T](dim)
	var rows [][]T
	for range 300 {
		if len(rows) > 0 && rnd.IntN(3) == 0 {
			i, last := rnd.IntN(len(rows)), len(rows)-1
			p.Remove(i)
			rows[i] = rows[last]
			rows = rows[:last]
		} else {
			row := randMatrix[T](rnd, 1, dim, 0).data
			for q := range row {
				row[q] *= T(math.Pow(10, float64(rnd.IntN(12))))
			}
			p.Append(row)
			rows = append(rows, row)
		}
		var most T
		for i, row := range rows {
			if v := NormSq(row); p.NormSq(i) != v {
				t.Fatalf("‖p_%d‖² = %v, want %v", i, p.NormSq(i), v)
			} else {
				most = max(most, v)
			}
			var want float64
			for _, v := range row {
				want += float64(float64(v) * float64(v)) // the same on every architecture: not fused
			}
			if d := math.Abs(float64(p.NormSq(i)) - want); d > 2*epsOf[T]()*want {
				t.Fatalf("‖p_%d‖² = %v, want %v", i, p.NormSq(i), want)
			}
		}
		if p.MaxNormSq() != most {
			t.Fatalf("%d rows: the largest squared norm is %v, want %v", len(rows), p.MaxNormSq(), most)
		}
	}
	a := randMatrix[T](rnd, 5, dim, 2)
	var want T
	for i := range 5 {
		want = max(want, NormSq(a.row(i)))
	}
	if got := p.Gaussian(5, a.data, a.ld, 1, make([]T, 5*p.Len()), p.Len(), 1); got != want {
		t.Errorf("Gaussian returns %v, the largest squared norm is %v", got, want)
	}
	p.Reset()
	if p.MaxNormSq() != 0 {
		t.Errorf("no rows: the largest squared norm is %v", p.MaxNormSq())
	}
	p.Append(make([]T, dim))
	big := make([]T, dim)
	big[3] = T(math.Inf(1))
	p.Append(big)
	if !math.IsInf(float64(p.MaxNormSq()), 1) {
		t.Errorf("an infinite row: the largest squared norm is %v", p.MaxNormSq())
	}
}

func TestNorms(t *testing.T) { eachType(t, testNorms[float32], testNorms[float64]) }
