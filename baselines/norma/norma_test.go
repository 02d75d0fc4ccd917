package norma

import (
	"math"
	"strings"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

func config(l loss.Loss, memory int) Config {
	return Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: l, Classes: 3, Dim: 2, Regularizer: 0.05,
		LearningRate: polk.Constant(0.4), Memory: memory,
	}
}

// TestEqualsThePaper: after every step the model is the paper's f_t, Σ_i α_i κ(x_i, ·) with
// α_i = −η ℓ'(f_i(x_i), y_i)·(1 − ηλ)^{t−1−i}, restricted to the latest τ nonzero terms. The norm
// of the dropped terms, with the weights they would have now, stays below the paper's bound of the
// truncation error, (1 − ηλ)^τ·GX/λ with G = √2 and X = 1.
func TestEqualsThePaper(t *testing.T) {
	for name, l := range map[string]loss.Loss{"hinge": loss.MultiHinge{}, "logistic": loss.MultiLogistic{}} {
		t.Run(name, func(t *testing.T) {
			const eta, n, tau = 0.4, 200, 15
			c := config(l, tau)
			xs, ys := learnertest.Blobs(1, n, c.Dim, c.Classes)
			row := func(i int) []float32 { return xs[i*c.Dim : (i+1)*c.Dim] }
			norma := learnertest.New(t, New, c)
			var at []int          // indices i of the nonzero terms
			var entry [][]float64 // −η ℓ' of these terms
			var largest float64
			for time := range n {
				x, y := row(time), ys[time]
				term := func(i int) learnertest.Term {
					w := make([]float64, c.Classes)
					for q, g := range entry[i] {
						w[q] = g * math.Pow(1-eta*c.Regularizer, float64(time-1-at[i]))
					}
					return learnertest.Term{X: row(at[i]), W: w}
				}
				var kept, dropped learnertest.Terms
				for i := range at {
					if i < len(at)-tau {
						dropped = append(dropped, term(i))
					} else {
						kept = append(kept, term(i))
					}
				}
				if time > 0 {
					kept.Hold(t, time, norma.Expansion(), 1e-9)
				}
				norm := math.Sqrt(math.Max(0, dropped.NormSq(c.Kernel)))
				if bound := math.Pow(1-eta*c.Regularizer, tau) * math.Sqrt2 / c.Regularizer; !(norm < bound) {
					t.Fatalf("step %d: dropped terms have norm %v, bound %v", time, norm, bound)
				}
				largest = math.Max(largest, norm)
				g := make([]float64, c.Classes)
				if l.Gradient(g, kept.Score(c.Kernel, x, c.Classes), y); g[int(y)] != 0 {
					for q := range g {
						g[q] *= -eta
					}
					at, entry = append(at, time), append(entry, g)
				}
				learnertest.Step(t, norma, x, []float64{y})
			}
			if d := norma.Health()["dropped"]; d != float64(len(at)-tau) || !(d >= 10) || largest == 0 {
				t.Errorf("%v elements dropped of %d, norm %v", d, len(at), largest)
			}
		})
	}
}

// TestBadSamples: a step with an invalid label is refused as a whole, and diverging iterates are
// an error.
func TestBadSamples(t *testing.T) {
	c := config(loss.MultiHinge{}, 3)
	l := learnertest.New(t, New, c)
	if _, err := l.Step(t.Context(), 2, []float32{1, 2, 3, 4}, []float64{0, 3}); err == nil || l.Expansion().Order() != 0 {
		t.Errorf("%v, order %d", err, l.Expansion().Order())
	}
	c.Kernel, c.LearningRate = kernel.Polynomial{Offset: 1, Degree: 20}, polk.Constant(1)
	l = learnertest.New(t, New, c)
	x, y := []float32{1e15, 1e15, 1e15, 1e15}, []float64{0, 1}
	if _, err := l.Step(t.Context(), 2, x, y); err == nil || !strings.Contains(err.Error(), "norma: sample 2 of 2: scores are no longer finite") {
		t.Errorf("%v", err)
	}
}
