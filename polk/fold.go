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
	n, m, c := b.n, k.inverse.order, k.f.Outputs
	rest := k.pivot(b)
	if len(rest) == 0 {
		return
	}
	r := len(k.pivotOrder)
	for i, p := range k.pivotOrder {
		copy(k.chol[i*n:i*n+r], k.pivotRows[p*n:p*n+r])
	}
	var lost float64 // a sum of norms: what the elements lose need not be orthogonal
	for _, i := range rest {
		coeff := k.pivotRows[i*n : i*n+r]
		backward(k.chol, n, coeff)
		k.fold(b, i, coeff)
		k.health.Folded++
		// ‖w_i‖ times the distance from the span of those that stay: what f̃ loses.
		lost += math.Sqrt(max(k.schurLeft[i*n+i], 0) * sumSquares(b.weights[i*c:(i+1)*c]))
		k.removed = append(k.removed, m+b.samples[i])
	}
	k.spent += float64(lost * lost)
	slices.Sort(k.pivotOrder)
	k.compress(b)
}

// pivot factorizes S with diagonal pivoting for as long as the pivots exceed
// dependence. k.pivotOrder lists the elements in the order of the pivots, row i of
// k.pivotRows is element i's row of the factor; the diagonal of k.schurLeft holds
// the squared distances of the elements that are returned, those that are left, to
// the span of all others.
func (k *komp) pivot(b *batch) []int {
	n := b.n
	k.schurLeft, k.pivotRows, k.chol = append(k.schurLeft[:0], k.schur[:n*n]...), grow(k.pivotRows, n*n), grow(k.chol, n*n)
	k.pivotOrder = k.pivotOrder[:0]
	rest := k.unpivoted[:0]
	for i := range n {
		rest = append(rest, i)
	}
	k.unpivoted = rest
	// Invariant: schurLeft over the elements of rest is S less what the r pivots so
	// far explain, the Schur complement over the dictionary and those pivots.
	for r := range n {
		q, left := 0, 0.0
		for p, i := range rest {
			if v := k.schurLeft[i*n+i] / b.gram[i*n+i]; v > left {
				q, left = p, v
			}
		}
		if left <= dependence { // relative to κ(x, x), so the kernel's scale does not matter
			break
		}
		k.illConditioned = k.illConditioned || left < delicate
		i := rest[q]
		rest = slices.Delete(rest, q, q+1)
		k.pivotOrder = append(k.pivotOrder, i)
		d := math.Sqrt(k.schurLeft[i*n+i])
		k.pivotRows[i*n+r] = d
		for _, j := range rest {
			k.pivotRows[j*n+r] = k.schurLeft[j*n+i] / d
		}
		for _, j := range rest {
			for _, p := range rest {
				k.schurLeft[j*n+p] -= float64(k.pivotRows[j*n+r] * k.pivotRows[p*n+r])
			}
		}
	}
	return rest
}

// fold gives the weights of new element i, which is Σ coeff_q κ(x_pivotOrder[q], ·)
// plus a combination of dictionary elements, to those. That combination's
// coefficients are t_i − Σ coeff_q t_q: its projection on the dictionary less what
// the kept ones already bring along.
func (k *komp) fold(b *batch, i int, coeff []float64) {
	m, c := k.inverse.order, k.f.Outputs
	wi := b.weights[i*c : (i+1)*c]
	t := k.coeff[i*m : (i+1)*m]
	for q, j := range k.pivotOrder {
		axpy(coeff[q], wi, b.weights[j*c:(j+1)*c])
		gemm.Axpy(-coeff[q], k.coeff[j*m:(j+1)*m], t)
	}
	for j, v := range t {
		axpy(v, wi, k.f.Weights(j))
	}
}

// compress drops from b, T and S the new elements that are not in k.pivotOrder.
func (k *komp) compress(b *batch) {
	n, m, c, dim, r := b.n, k.inverse.order, k.f.Outputs, k.f.Dict.Dim(), len(k.pivotOrder)
	for to, from := range k.pivotOrder {
		copy(b.points[to*dim:(to+1)*dim], b.points[from*dim:])
		copy(b.weights[to*c:(to+1)*c], b.weights[from*c:])
		copy(b.toDict[to*m:(to+1)*m], b.toDict[from*m:])
		copy(k.coeff[to*m:(to+1)*m], k.coeff[from*m:])
		b.samples[to] = b.samples[from]
		for q, j := range k.pivotOrder {
			k.schur[to*r+q] = k.schur[from*n+j]
			b.gram[to*r+q] = b.gram[from*n+j]
		}
	}
	b.n = r
}

// absorb removes all new elements and none of the dictionary: f + Σ w_i κ(x_i, ·)
// becomes its projection on the span of the dictionary, w ← w + P·K_DX·w_X, in one
// product with P for each function. The squared error is w_Xᵀ·S·w_X over all of them.
func (k *komp) absorb(b *batch) {
	k.begin()
	n, m, c := b.n, k.inverse.order, k.f.Outputs
	if n == 0 {
		return
	}
	k.inverse.flush(k.threads)
	k.residualT = grow(k.residualT, c*m)
	clear(k.residualT)
	for i := range n {
		wi := b.weights[i*c : (i+1)*c]
		for q, w := range wi {
			if w != 0 {
				gemm.Axpy(w, b.toDict[i*m:(i+1)*m], k.residualT[q*m:(q+1)*m])
			}
		}
		for j := range n {
			k.spent += float64(b.gram[i*n+j] * dot(wi, b.weights[j*c:(j+1)*c]))
		}
		k.removed = append(k.removed, m+b.samples[i])
	}
	k.spent = max(0, k.spent-dot(k.residualT, k.addSolution(k.residualT)))
}
