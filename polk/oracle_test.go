package polk

import (
	"math/big"
	"slices"
)

// prec is the precision of the oracle in bits: near-duplicates make Gram
// matrices whose condition number float64 least squares cannot stand.
const prec = 240

// literalKOMP is Algorithm 1 as printed: for every candidate a least-squares
// problem is solved from scratch. gram is the Gram matrix of all elements, w
// their weights (row i: the C weights of element i). It returns the indices
// removed, in order, the weights of those that stay, the smallest relative
// gap between the two best candidates over all removals, and how near the
// last comparison with eps was.
func literalKOMP(gram [][]float64, w [][]float64, eps float64) (removed []int, weights [][]float64, gap float64) {
	n, c := len(gram), len(w[0])
	k := make([][]*big.Float, n)
	for i := range k {
		k[i] = make([]*big.Float, n)
		for j := range k[i] {
			k[i][j] = bf(gram[i][j])
		}
	}
	// g = K·w̃: the inner products ⟨f̃_c, κ(d_i, ·)⟩, and ‖f̃‖² = Σ_c w̃_cᵀ g_c.
	g := make([][]*big.Float, n)
	norm := bf(0)
	for i := range g {
		g[i] = make([]*big.Float, c)
		for q := range c {
			g[i][q] = bf(0)
			for j := range n {
				g[i][q].Add(g[i][q], mul(k[i][j], bf(w[j][q])))
			}
			norm.Add(norm, mul(bf(w[i][q]), g[i][q]))
		}
	}
	in := make([]int, n)
	for i := range in {
		in[i] = i
	}
	eps2 := mul(bf(eps), bf(eps))
	gap = 1
	best := in
	for len(in) > 0 {
		var lo, second *big.Float
		arg := -1
		for p := range in {
			rest := slices.Delete(slices.Clone(in), p, p+1)
			e := leftover(k, g, rest, norm)
			switch {
			case lo == nil || e.Cmp(lo) < 0:
				lo, second, arg = e, lo, p
			case second == nil || e.Cmp(second) < 0:
				second = e
			}
		}
		gap = min(gap, relative(lo, eps2))
		if lo.Cmp(eps2) > 0 {
			break
		}
		if second != nil {
			gap = min(gap, relative(lo, second))
		}
		removed = append(removed, in[arg])
		in = slices.Delete(slices.Clone(in), arg, arg+1)
		best = in
	}
	for _, row := range fit(k, g, best) {
		out := make([]float64, c)
		for q := range row {
			out[q], _ = row[q].Float64()
		}
		weights = append(weights, out)
	}
	return removed, weights, gap
}

// leftover returns min_w ‖f̃ − Σ_{i∈in} w_i κ(d_i, ·)‖², summed over the
// functions.
func leftover(k, g [][]*big.Float, in []int, norm *big.Float) *big.Float {
	e := new(big.Float).Copy(norm)
	for i, row := range fit(k, g, in) {
		for q, v := range row {
			e.Sub(e, mul(v, g[in[i]][q]))
		}
	}
	return e
}

// fit solves K_in·w = g_in by Gaussian elimination.
func fit(k, g [][]*big.Float, in []int) [][]*big.Float {
	n := len(in)
	a := make([][]*big.Float, n)
	for i, p := range in {
		for _, q := range in {
			a[i] = append(a[i], new(big.Float).Copy(k[p][q]))
		}
		for _, v := range g[p] {
			a[i] = append(a[i], new(big.Float).Copy(v))
		}
	}
	t := new(big.Float).SetPrec(prec)
	for j := range n {
		for i := j + 1; i < n; i++ {
			f := new(big.Float).SetPrec(prec).Quo(a[i][j], a[j][j])
			for q := j; q < len(a[i]); q++ {
				a[i][q].Sub(a[i][q], t.Mul(f, a[j][q]))
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		for q := n; q < len(a[i]); q++ {
			for j := i + 1; j < n; j++ {
				a[i][q].Sub(a[i][q], t.Mul(a[i][j], a[j][q]))
			}
			a[i][q].Quo(a[i][q], a[i][i])
		}
	}
	for i := range a {
		a[i] = a[i][n:]
	}
	return a
}

func bf(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }

func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Mul(a, b) }

// relative returns |a − b| / max(|a|, |b|), or 0 for two zeros.
func relative(a, b *big.Float) float64 {
	x, _ := a.Float64()
	y, _ := b.Float64()
	d, _ := new(big.Float).Sub(a, b).Float64()
	if d < 0 {
		d = -d
	}
	if m := max(x, -x, y, -y); m > 0 {
		return d / m
	}
	return 0
}
