package linear

import (
	"math"

	"polkrepro/internal/portable"
)

// A smooth is ℓ_μ with a margin of 1, or of 0 for the logistic loss.
type smooth struct{ margin, mu float64 }

// total is what one pass over the samples sums up.
type total struct {
	smooth float64 // Σ ℓ_μ
	exact  float64 // Σ ℓ
	dual   float64 // Σ h(p)
}

func (t *total) add(u total) {
	t.smooth += u.smooth
	t.exact += u.exact
	t.dual += u.dual
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
	var sum float64
	for c, v := range f {
		f[c] = portable.Exp((v - top) / s.mu)
		sum += f[c]
	}
	t := total{smooth: top + float64(s.mu*portable.Log(sum)), exact: top}
	if s.margin == 0 {
		t.exact = t.smooth
	}
	for c := range f {
		f[c] /= sum
		if s.margin == 0 && f[c] > 0 {
			t.dual -= float64(f[c] * portable.Log(f[c]))
		} else if c != y {
			t.dual += float64(s.margin * f[c])
		}
	}
	f[y]--
	return t
}
