package linear

import (
	"math"

	"polkrepro/internal/portable"
)

// A smooth is ℓ_μ with a margin of 1, or of 0 for the logistic loss.
type smooth struct{ margin, mu float64 }

// total is what one pass over the samples sums up.
type total struct {
	smooth  float64 // Σ ℓ_μ
	exact   float64 // Σ ℓ
	dual    float64 // Σ h(p)
	entropy float64 // Σ_i −Σ_c p_ic log p_ic
}

func (t *total) add(u total) {
	t.smooth += u.smooth
	t.exact += u.exact
	t.dual += u.dual
	t.entropy += u.entropy
}

// sample evaluates the loss at scores f and replaces them by the gradient u of
// ℓ_μ.
func (s smooth) sample(f []float64, y int) total {
	top := math.Inf(-1)
	own := f[y]
	for c, v := range f {
		v -= own
		if c != y {
			v += s.margin
		}
		f[c] = v
		top = max(top, v)
	}
	var sum, mean float64
	for c, v := range f {
		e := (v - top) / s.mu
		f[c] = portable.Exp(e)
		sum += f[c]
		if f[c] > 0 {
			mean += float64(f[c] * e)
		}
	}
	log := portable.Log(sum)
	// log p_c is e_c − log Σ exp(e), and Σ p = 1.
	t := total{smooth: top + float64(s.mu*log), exact: top, entropy: log - mean/sum}
	for c := range f {
		f[c] /= sum
		if c != y {
			t.dual += float64(s.margin * f[c])
		}
	}
	if s.margin == 0 {
		t.exact, t.dual = t.smooth, t.entropy
	}
	f[y]--
	return t
}
