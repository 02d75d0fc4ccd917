package polk

import (
	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
)

// outcome holds the results of the loop that commit and refineWeights apply to the dictionary.
type outcome struct {
	kept      []int  // new elements that stay
	keptCoeff matrix // len(kept)×len(takenOld): H
	rows      matrix // len(kept)×M: Z over the dictionary
	target    matrix // (M+n)×C: f̃ at all elements, if the weights are refined
	residual  matrix // M×C: f̃ − f at the elements that stay
	residualT matrix // C×M: residual, transposed
	vector    []float64
}

// commit applies the outcome of the loop to the dictionary, its weights, K and P. If a step
// removed just its own new elements, only the weights change.
//
// The inverse over the new dictionary is P − YᵀY + ZᵀZ. The removed old elements leave first:
// the rows of Y are their scaled columns (takenCols). Then the kept new elements enter. In the
// opposite order, a new element that replaces a near-duplicate would make P as large as
// 1/distance² before the removal makes it small again, and digits would cancel.
func (k *komp) commit() {
	d := &k.dict
	d.weights().Copy(k.weights.Rows(0, k.order))
	for i, on := range k.present[k.order:] {
		if on {
			k.kept = append(k.kept, i)
		}
	}
	if len(k.takenOld)+len(k.kept) == 0 {
		return
	}
	if d.borrowed && !k.illConditioned {
		k.replaceElements()
		return
	}
	d.keep(&d.inverse)
	k.schurKept()
	if k.ended() {
		return
	}
	for i := range k.takenOld {
		d.inverse.add(-1, k.takenCols.Row(i), d.threads)
	}
	k.delete()
	k.insert()
	// Waiting for more vectors does not pay: r of them make every product with P more expensive by
	// a share of 2r/M.
	if r := d.inverse.rank(); 16*r > d.inverse.order() || r > maxRank/2 {
		d.inverse.flush(d.threads)
	}
}

// replaceElements applies the outcome of the loop to the dictionary and its weights alone, in the
// order of delete and insert.
func (k *komp) replaceElements() {
	for j := k.order - 1; j >= 0; j-- {
		if !k.present[j] {
			k.dict.f.Remove(j)
		}
	}
	for _, p := range k.kept {
		k.dict.f.Append(k.in.points.At(p), k.Weights(k.order+p))
	}
}

// schurKept computes the vectors with which the kept new elements enter, the rows of
// Z = L'⁻¹·T'ᵀ. With R the removed old elements,
//
//	H = Y_R⁻ᵀ·T_R,    T' = T_kept − Yᵀ·H,    S' = S_kept + HᵀH = L'·L'ᵀ,
//
// where S' is the Schur complement over the old elements that stay. Like (c), S' adds squares
// and subtracts nothing: the distances of the kept elements can only grow when others leave.
func (k *komp) schurKept() {
	in, kept := &k.in, len(k.kept)
	k.keptCoeff, k.rows = k.keptCoeff.Fresh(kept, len(k.takenOld)), k.rows.Fresh(kept, k.order)
	in.chol = in.chol.Fresh(kept, kept)
	for i, p := range k.kept {
		h, z := k.keptCoeff.Row(i), k.rows.Row(i)
		copy(z, in.coeff.Row(p))
		// Forward substitution: Y_R is triangular in the order of removal, because a column of
		// P̂ is zero at the elements that were removed before.
		for j, r := range k.takenOld {
			y := k.takenCols.Row(j)
			h[j] = z[r] / y[r]
			gemm.Axpy(-h[j], y, z)
		}
		for j, q := range k.kept[:i+1] {
			in.chol.Set(i, j, in.schur.At(p, q)+gemm.Dot(h, k.keptCoeff.Row(j)))
		}
	}
	cholesky(in.chol, k.ended)
	for i := range kept {
		z, l := k.rows.Row(i), in.chol.Row(i)
		for j := range i {
			gemm.Axpy(-l[j], k.rows.Row(j), z)
		}
		scale(1/l[i], z)
	}
}

// delete deletes the removed old elements from the dictionary and from everything indexed by it.
func (k *komp) delete() {
	for j := k.order - 1; j >= 0; j-- {
		if k.present[j] {
			continue
		}
		// The last element takes the place of element j, here as in K, P and the weights. The
		// loop runs backwards, so that the element that moves is never a removed one.
		last := k.dict.inverse.order() - 1
		k.rows.MoveColumn(j, last)
		k.in.toDict.MoveColumn(j, last)
		if k.illConditioned {
			copy(k.target.Row(j), k.target.Row(last))
		}
		k.dict.remove(j)
	}
}

// insert appends the kept new elements to the dictionary, K and P. Over the new elements, row i
// of Z continues with row i of −L'⁻¹.
func (k *komp) insert() {
	in, d, m, kept := &k.in, &k.dict, k.dict.inverse.order(), len(k.kept)
	in.cholInv = in.cholInv.Fresh(kept, kept)
	factor.InvertLower(in.chol, in.cholInv, 1)
	for i, p := range k.kept {
		k.vector = append(k.vector[:0], in.toDict.Row(p)[:m]...)
		for _, q := range k.kept[:i] {
			k.vector = append(k.vector, in.gram.At(p, q))
		}
		d.inverse.append(k.vector, in.gram.At(p, p))
		d.f.Append(in.points.At(p), k.Weights(k.order+p))
		if k.illConditioned {
			copy(k.target.Row(m+i), k.target.Row(k.order+p))
		}
	}
	for i := range kept {
		k.vector = append(k.vector[:0], k.rows.Row(i)[:m]...)
		for _, v := range in.cholInv.Row(i)[:i+1] {
			k.vector = append(k.vector, -v)
		}
		for range kept - i - 1 {
			k.vector = append(k.vector, 0)
		}
		d.inverse.add(1, k.vector, d.threads)
	}
}

// evaluateTarget computes the values of f̃ at all M+n elements, K_D̃D̃·w̃ without what Drop has taken
// out. It must run before commit, while K_D̃D̃ and the weights before the loop are still available.
func (k *komp) evaluateTarget() {
	in, d, m, n := &k.in, &k.dict, k.order, k.in.n
	samples := n // points that a pruner has entered come after them
	for samples > 0 && in.samples[samples-1] < 0 {
		samples--
	}
	k.target = k.target.Fresh(m+n, d.f.Outputs)
	gemm.MulAB(1, d.inverse.gram, d.weights(), 0, k.target.Rows(0, m), d.threads)
	gemm.MulAB(1, in.toDict, d.weights(), 0, k.target.Rows(m, m+n), d.threads)
	gemm.MulAB(1, in.gram.Rows(samples, n), in.weights, 1, k.target.Rows(m+samples, m+n), d.threads)
	for i := range n {
		w := in.weights.Row(i)
		for j, v := range in.toDict.Row(i) {
			gemm.Axpy(v, w, k.target.Row(j))
		}
		for j, v := range in.gram.Row(i)[:samples] {
			gemm.Axpy(v, w, k.target.Row(m+j))
		}
	}
}

// refineWeights improves the weights by iterative refinement of K·w = f̃(D),
// w += P·(f̃(D) − K·w). The loop's weights have the error of P, of the order of K's condition
// number; the refined weights have only the error of the residual.
func (k *komp) refineWeights() {
	d, m, c := &k.dict, k.dict.inverse.order(), k.dict.f.Outputs
	if m == 0 {
		return
	}
	k.residual, k.residualT = k.residual.Fresh(m, c), k.residualT.Fresh(c, m)
	// Two rounds: the first removes most of the error that comes from P, the second the rest.
	for range 2 {
		k.residual.Copy(k.target.Rows(0, m))
		gemm.MulAB(-1, d.inverse.gram, d.weights(), 1, k.residual, d.threads)
		gemm.Transpose(k.residual, k.residualT)
		d.addSolution(k.residualT)
	}
}

// absorb removes all new elements and no dictionary element: f + Σ w_i κ(x_i, ·) becomes its
// projection on the span of the dictionary, w ← w + P·K_DX·w_X, with one product with P per
// function. The squared error is w_Xᵀ·S·w_X, summed over the functions.
func (k *komp) absorb() {
	k.begin()
	in, d := &k.in, &k.dict
	if in.n == 0 {
		return
	}
	k.supervise()
	m := d.inverse.order()
	d.keep(&d.inverse)
	d.inverse.flush(d.threads)
	k.residualT = k.residualT.Fresh(d.f.Outputs, m)
	k.residualT.Clear()
	for i := range in.n {
		wi := in.weights.Row(i)
		for q, w := range wi {
			if w != 0 {
				gemm.Axpy(w, in.toDict.Row(i), k.residualT.Row(q))
			}
		}
		in.gram.Row(i)[i] += d.ridge
		for j, v := range in.gram.Row(i) {
			k.squaredError += float64(v * gemm.Dot(wi, in.weights.Row(j)))
		}
		k.removed = append(k.removed, m+in.samples[i])
	}
	k.squaredError = max(0, k.squaredError-gemm.Dot(k.residualT.Data(), d.addSolution(k.residualT).Data()))
}
