package bsgd

import (
	"math"
	"sync"

	"polkrepro/internal/merged"
	"polkrepro/internal/portable"
)

// A mergeTable holds the minimum of D/‖α_p‖² on a grid of r, c and √(1−κ), for linear
// interpolation. It extends the precomputed search of Glasmachers and Qaadan ("Speeding up
// budgeted stochastic gradient descent SVM training with precomputed golden section search",
// 2018), who tabulate the binary case c = 1, by the axis c for the angle that several classes
// introduce.
//
// The axis of κ is √(1−κ), because partners worth merging have κ near 1, where D falls like (1−κ)
// to the first or second power. So the error falls with D.
//
// The table proposes partners, and the exact search decides among the best few (shortlist). So
// the table need not hold h.
type mergeTable struct {
	d [tableK + 1][tableR + 1][tableC + 1]float32
}

// Number of cells along each axis. TestTableError bounds the interpolation error by 4e-3 of
// ‖α_p‖², reached only where two minima separate (r = c = 1, κ = e⁻²), and its average by 2e-4.
// TestShortlist shows that this accuracy is enough for the exact choice.
const (
	tableK = 64
	tableR = 32
	tableC = 32
	scanH  = 64 // intervals of [0, ½] scanned for the minimum
)

// mergeLosses returns the table, built at the first call.
var mergeLosses = sync.OnceValue(buildMergeTable)

func buildMergeTable() *mergeTable {
	t := new(mergeTable)
	for i := range t.d {
		s := float64(i) / tableK
		kappa := 1 - float64(s*s)
		scan := scanTerms(kappa)
		for j := range t.d[i] {
			for k := range t.d[i][j] {
				r, c := float64(j)/tableR, 2*float64(k)/tableC-1
				t.d[i][j][k] = float32(leastLoss(r, c, kappa, scan))
			}
		}
	}
	return t
}

func scanTerms(kappa float64) []merged.Terms {
	if kappa <= 0 {
		return nil
	}
	scan := make([]merged.Terms, scanH+1)
	for i := range scan {
		scan[i] = merged.NewTerms(portable.Log(kappa), 0.5*float64(i)/scanH)
	}
	return scan
}

// leastLoss returns min_h D/‖α_p‖² from its values on a grid of h, refined by the parabola
// through the best of them and its two neighbours.
func leastLoss(r, c, kappa float64, scan []merged.Terms) float64 {
	if scan == nil {
		return 1
	}
	if r == 0 {
		return limitLoss(c, kappa)
	}
	best := 0
	for i, t := range scan {
		if t.Loss(r, c) < scan[best].Loss(r, c) {
			best = i
		}
	}
	i := min(max(best, 1), len(scan)-2)
	low := parabola(scan[i-1].Loss(r, c), scan[i].Loss(r, c), scan[i+1].Loss(r, c))
	return max(0, min(low, scan[best].Loss(r, c)))
}

// limitLoss is min_h D/‖α_p‖² for r → 0, where h → r·c·κ.
func limitLoss(c, kappa float64) float64 {
	if kappa >= 1 {
		return 0
	}
	gain := kappa * max(c, 0)
	return 1 - float64(kappa*kappa) + float64(2*portable.Log(kappa)*gain*gain)
}

// parabola returns the minimum of the parabola through three equidistant points, whose values are
// a, b and c, between the outer two.
func parabola(a, b, c float64) float64 {
	slope, bend := (c-a)/2, a-2*b+c
	if bend <= 0 || math.Abs(slope) >= bend {
		return min(a, c)
	}
	return b - slope*slope/(2*bend)
}

// at interpolates at r ∈ [0, 1], c ∈ [−1, 1], κ ∈ [0, 1].
func (t *mergeTable) at(r, c, kappa float64) float64 {
	i, u := cell(math.Sqrt(max(0, 1-kappa)), tableK)
	j, v := cell(r, tableR)
	k, w := cell((c+1)/2, tableC)
	lo, hi := &t.d[i], &t.d[i+1]
	a := blend(v, blend(w, lo[j][k], lo[j][k+1]), blend(w, lo[j+1][k], lo[j+1][k+1]))
	b := blend(v, blend(w, hi[j][k], hi[j][k+1]), blend(w, hi[j+1][k], hi[j+1][k+1]))
	return float64(blend(u, a, b))
}

// cell returns which of n equal intervals of [0, 1] holds v, and how far into the interval v
// lies, as a fraction of its length.
func cell(v float64, n int) (int, float32) {
	v = float64(v * float64(n))
	i := max(0, min(int(v), n-1))
	return i, float32(min(v-float64(i), 1))
}

func blend(u, a, b float32) float32 { return a + float32(u*(b-a)) }
