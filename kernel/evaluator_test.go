package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// asFromScratch compares an evaluation with Scorer.Scores and NormSq on the same expansion, which
// do not depend on earlier evaluations.
func asFromScratch(t rapid.TB, v *Evaluator, e *Expansion, dim, threads int, sets ...[]float32) {
	t.Helper()
	scores, normSq := v.Evaluate(e, threads)
	if want := e.NormSq(1); math.Float64bits(normSq) != math.Float64bits(want) {
		t.Fatalf("order %d: ‖f‖² = %v, from scratch %v", e.Order(), normSq, want)
	}
	for q, x := range sets {
		n := len(x) / dim
		want := make([]float64, n*e.Outputs)
		new(Scorer).Scores(e, n, x, want, 1)
		if !slices.Equal(scores[q], want) {
			t.Fatalf("order %d, set %d: scores differ from those from scratch", e.Order(), q)
		}
	}
}

// shake removes random elements of e, adds random elements, and changes all weights.
func shake(r *rand.Rand, e *Expansion, add, remove int) {
	for range min(remove, e.Order()) {
		e.Remove(r.IntN(e.Order()))
	}
	appendRandom(r, e, add)
	for i := range e.W {
		e.W[i] *= 1 + r.Float64()/8
	}
}

// TestEvaluatorAgainstScratch evaluates a model that changes at random, sometimes completely, and
// clones of it that change separately. Some limits keep nothing. Sizes cross the boundaries of
// blocks of rows. Outputs and orders cross the shapes at which matrix products change their order
// of summation.
func TestEvaluatorAgainstScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		// With 100 features most values are worth keeping, with few features only if little
		// changed.
		dim, outputs := rapid.SampledFrom([]int{1, 7, 100}).Draw(t, "dim"), rapid.IntRange(1, 6).Draw(t, "outputs")
		k := rapid.SampledFrom([]Kernel{Gaussian{2}, Polynomial{1, 2}}).Draw(t, "kernel")
		var sets [][]float32
		for _, n := range []int{rapid.SampledFrom([]int{0, 1, 3, 256, 259}).Draw(t, "n"), 5} {
			sets = append(sets, randomPoints(r, n, dim, 1))
		}
		limit := rapid.SampledFrom([]int{0, 100_000, 1 << 30, 1 << 30}).Draw(t, "limit")
		v := NewEvaluator(dim, limit, sets...)
		e := randomExpansion(r, k, rapid.IntRange(0, 60).Draw(t, "order"), dim, outputs)
		t.Repeat(map[string]func(*rapid.T){
			"few":  func(t *rapid.T) { shake(r, e, r.IntN(4), r.IntN(4)) },
			"many": func(t *rapid.T) { shake(r, e, r.IntN(40), r.IntN(40)) },
			"all":  func(t *rapid.T) { shake(r, e, r.IntN(80), e.Order()) },
			"far": func(t *rapid.T) { // beyond the reach of float32 products, and of float64 ones
				for _, scale := range []float64{1e4, 1e9, 1e30}[:r.IntN(4)] {
					e.Append(randomPoints(r, 1, dim, scale), make([]float64, outputs))
				}
			},
			"weights": func(t *rapid.T) { // beyond float32
				if e.Order() > 0 {
					e.W[0] = rapid.SampledFrom([]float64{1, 1e60, 1e-60}).Draw(t, "w")
				}
			},
			"clone": func(t *rapid.T) {
				other := e.Clone()
				shake(r, other, 2, 2)
				asFromScratch(t, v, other, dim, 1, sets...)
				shake(r, e, 2, 2)
			},
			"kernel": func(t *rapid.T) {
				e.Kernel = rapid.SampledFrom([]Kernel{Gaussian{1}, Gaussian{2}, Polynomial{1, 2}, Gaussian{1e-3}}).Draw(t, "to")
			},
			"": func(t *rapid.T) { asFromScratch(t, v, e, dim, 1+r.IntN(3), sets...) },
		})
	})
}

// TestEvaluatorThreads evaluates a model that is large enough for products on several threads, and
// that outgrows the room for kernel values while most of them are kept.
func TestEvaluatorThreads(t *testing.T) {
	const dim = 200
	r := rand.New(rand.NewPCG(8, 1))
	e := randomExpansion(r, Gaussian{10}, 300, dim, 10)
	x := randomPoints(r, 600, dim, 1)
	v := NewEvaluator(dim, 1<<30, x)
	for range 4 {
		asFromScratch(t, v, e, dim, 3, x)
		shake(r, e, 70, 40)
	}
}

// TestEvaluatorComputesOnlyNewElements checks which elements are packed for a product, and how
// many values are kept under a limit.
func TestEvaluatorComputesOnlyNewElements(t *testing.T) {
	const dim = 784 // values are expensive enough to keep
	r := rand.New(rand.NewPCG(10, 1))
	e := randomExpansion(r, Gaussian{1}, 100, dim, 2)
	x := randomPoints(r, 1000, dim, 1)
	v := NewEvaluator(dim, 1<<20, x)
	for _, want := range []int{100, 0, 7} {
		v.Evaluate(e, 1)
		if got := v.change.points.Len(); got != want {
			t.Errorf("values of %d elements computed, want %d", got, want)
		}
		if want == 0 {
			shake(r, e, 7, 30)
		}
	}
	kept := 0
	for _, b := range v.sets[0].blocks {
		rows, cols := b.Dims()
		kept += 4 * rows * cols
	}
	if kept > 1<<20 || kept < 4*1000*e.Order() {
		t.Errorf("%d bytes are kept, limit %d", kept, 1<<20)
	}
	need := 4 * 1000 * spare(100)
	if !NewEvaluator(dim, need, x).fits(100) || NewEvaluator(dim, need-1, x).fits(100) {
		t.Errorf("values of 100 elements need %d bytes", need)
	}
	shake(r, e, 200, 0)
	v.Evaluate(e, 1)
	if v.sets[0].blocks != nil || len(v.ids) > 0 {
		t.Error("kernel values are kept beyond the limit")
	}
}
