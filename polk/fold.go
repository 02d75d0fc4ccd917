package polk

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
)

// foldDependent takes out of b the new elements that lie, to rounding, in the
// span of the dictionary and the other new elements, and gives their weights
// to those. Diagonal pivoting chooses the elements to keep: in any other order
// the coefficients of the rest could be as large as the condition of S.
func (k *komp) foldDependent(b *batch) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	rest := k.pivot(b)
	if len(rest) == 0 {
		return
	}
	r := len(k.kept)
	for i, p := range k.kept {
		copy(k.sl[i*n:i*n+r], k.l[p*n:p*n+r])
	}
	var lost float64 // a sum of norms: what the elements lose need not be orthogonal
	for _, i := range rest {
		coeff := k.l[i*n : i*n+r]
		backward(k.sl, n, coeff)
		k.fold(b, i, coeff)
		k.health.Folded++
		lost += math.Sqrt(max(k.a[i*n+i], 0) * sumSquares(b.w[i*c:(i+1)*c]))
		k.removed = append(k.removed, m+b.orig[i])
	}
	k.err2 += lost * lost
	slices.Sort(k.kept)
	k.compress(b)
}

// pivot factorizes S with diagonal pivoting for as long as the pivots exceed
// dependence. k.kept lists the elements in the order of the pivots, row i of
// k.l is element i's row of the factor; the diagonal of k.a holds the squared
// distances of the elements that are returned, those that are left, to the
// span of all others.
func (k *komp) pivot(b *batch) []int {
	n := b.m
	k.a, k.l, k.sl = append(k.a[:0], k.s[:n*n]...), grow(k.l, n*n), grow(k.sl, n*n)
	k.kept = k.kept[:0]
	rest := k.rest[:0]
	for i := range n {
		rest = append(rest, i)
	}
	k.rest = rest
	for r := range n {
		q, left := 0, 0.0
		for p, i := range rest {
			if v := k.a[i*n+i] / b.kxx[i*n+i]; v > left {
				q, left = p, v
			}
		}
		if left <= dependence {
			break
		}
		k.refits = k.refits || left < delicate
		i := rest[q]
		rest = slices.Delete(rest, q, q+1)
		k.kept = append(k.kept, i)
		d := math.Sqrt(k.a[i*n+i])
		k.l[i*n+r] = d
		for _, j := range rest {
			k.l[j*n+r] = k.a[j*n+i] / d
		}
		for _, j := range rest {
			for _, p := range rest {
				k.a[j*n+p] -= k.l[j*n+r] * k.l[p*n+r]
			}
		}
	}
	return rest
}

// fold gives the weights of new element i, which is Σ coeff_q κ(x_kept[q], ·)
// plus a combination of dictionary elements, to those.
func (k *komp) fold(b *batch, i int, coeff []float64) {
	m, c := k.g.m, k.f.Outputs
	wi := b.w[i*c : (i+1)*c]
	t := k.t[i*m : (i+1)*m]
	for q, j := range k.kept {
		axpy(coeff[q], wi, b.w[j*c:(j+1)*c])
		gemm.Axpy(-coeff[q], k.t[j*m:(j+1)*m], t)
	}
	for j, v := range t {
		axpy(v, wi, k.f.Weights(j))
	}
}

// compress drops from b, T and S the new elements that are not in k.kept.
func (k *komp) compress(b *batch) {
	n, m, c, dim, r := b.m, k.g.m, k.f.Outputs, k.f.Dict.Dim(), len(k.kept)
	for to, from := range k.kept {
		copy(b.x[to*dim:(to+1)*dim], b.x[from*dim:])
		copy(b.w[to*c:(to+1)*c], b.w[from*c:])
		copy(b.kx[to*m:(to+1)*m], b.kx[from*m:])
		copy(k.t[to*m:(to+1)*m], k.t[from*m:])
		b.orig[to] = b.orig[from]
		for q, j := range k.kept {
			k.s[to*r+q] = k.s[from*n+j]
			b.kxx[to*r+q] = b.kxx[from*n+j]
		}
	}
	b.m = r
}
