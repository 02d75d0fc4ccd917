package polk

import (
	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
)

// change holds the results of commit and refineWeights.
type change struct {
	keptNew       []int     // new elements that stay
	goneCoeff     []float64 // len(keptNew)×len(goneOld): H
	entering      []float64 // len(keptNew)×M: Z over the dictionary
	valueResidual []float64 // M×C: f̃ − f at the elements that stay
	residualT     []float64 // C×M: valueResidual, transposed
}

// commit applies the outcome of the loop to the dictionary, its weights, K and P. If a step
// removed just its own new elements, only the weights change.
//
// The inverse over the new dictionary is P − YᵀY + ZᵀZ. The removed old elements leave first:
// the rows of Y are their scaled columns (goneCols). Then the kept new elements enter. In the
// opposite order, a new element that replaces a near-duplicate would make P as large as
// 1/distance² before the removal makes it small again, and digits would cancel.
func (k *komp) commit() {
	m, c := k.dict, k.f.Outputs
	copy(k.f.W, k.weights[:m*c])
	for i, on := range k.present[m:] {
		if on {
			k.keptNew = append(k.keptNew, i)
		}
	}
	if len(k.goneOld)+len(k.keptNew) == 0 {
		return
	}
	if k.borrowed && !k.illConditioned {
		k.replaceElements()
		return
	}
	k.own(&k.inverse)
	k.schurKept()
	if k.ended() {
		return
	}
	for i := range k.goneOld {
		k.inverse.add(-1, k.goneCol(i), k.threads)
	}
	k.delete()
	k.insert()
	// Waiting for more vectors does not pay: r of them make every product with P more expensive by
	// a share of 2r/M.
	if g := &k.inverse; 16*g.rank > g.order || g.rank > maxRank/2 {
		g.flush(k.threads)
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
	n, m, gone, kept := k.b.n, k.dict, len(k.goneOld), len(k.keptNew)
	k.goneCoeff, k.chol, k.entering = grow(k.goneCoeff, kept*gone), grow(k.chol, kept*kept), grow(k.entering, kept*m)
	for i, p := range k.keptNew {
		h, z := k.goneCoeff[i*gone:(i+1)*gone], k.entering[i*m:(i+1)*m]
		copy(z, k.coeff[p*m:(p+1)*m])
		// Forward substitution: Y_R is triangular in the order of removal, because a column of
		// P̂ is zero at the elements that were removed before.
		for j, r := range k.goneOld {
			y := k.goneCol(j)
			h[j] = z[r] / y[r]
			gemm.Axpy(-h[j], y, z)
		}
		for j, q := range k.keptNew[:i+1] {
			k.chol[i*kept+j] = k.schur[p*n+q] + gemm.Dot(h, k.goneCoeff[j*gone:(j+1)*gone])
		}
	}
	cholesky(k.chol, kept, k.ended)
	for i := range k.keptNew {
		z := k.entering[i*m : (i+1)*m]
		for j := range i {
			gemm.Axpy(-k.chol[i*kept+j], k.entering[j*m:(j+1)*m], z)
		}
		scale(1/k.chol[i*kept+i], z)
	}
}

// delete deletes the removed old elements from the dictionary and from everything indexed by it.
func (k *komp) delete() {
	b, stride, c := k.b, k.dict, k.f.Outputs
	for j := stride - 1; j >= 0; j-- {
		if k.present[j] {
			continue
		}
		// The last element takes the place of element j, here as in K, P and the weights. The
		// loop runs backwards, so that the element that moves is never a removed one.
		last := k.inverse.order - 1
		for q := range k.keptNew {
			k.entering[q*stride+j] = k.entering[q*stride+last]
		}
		for _, q := range k.keptNew {
			b.toDict[q*stride+j] = b.toDict[q*stride+last]
		}
		if k.illConditioned {
			copy(k.target[j*c:(j+1)*c], k.target[last*c:])
		}
		k.f.Remove(j)
		k.inverse.remove(j)
	}
}

// insert appends the kept new elements to the dictionary, K and P. Over the new elements, row i
// of Z continues with row i of −L'⁻¹.
func (k *komp) insert() {
	b, m, kept, c := k.b, k.inverse.order, len(k.keptNew), k.f.Outputs
	stride := k.dict
	k.cholInv = grow(k.cholInv, kept*kept)
	factor.InvertLower(kept, k.chol, kept, k.cholInv, kept, 1)
	for i, p := range k.keptNew {
		k.scratch = append(k.scratch[:0], b.toDict[p*stride:p*stride+m]...)
		for _, q := range k.keptNew[:i] {
			k.scratch = append(k.scratch, b.gram[p*b.n+q])
		}
		k.inverse.append(k.scratch, b.gram[p*b.n+p])
		k.f.Append(b.points.At(p), k.weights[(stride+p)*c:(stride+p+1)*c])
		if k.illConditioned {
			copy(k.target[(m+i)*c:(m+i+1)*c], k.target[(stride+p)*c:])
		}
	}
	for i := range kept {
		k.scratch = append(k.scratch[:0], k.entering[i*stride:i*stride+m]...)
		for _, v := range k.cholInv[i*kept : i*kept+i+1] {
			k.scratch = append(k.scratch, -v)
		}
		for range kept - i - 1 {
			k.scratch = append(k.scratch, 0)
		}
		k.inverse.add(1, k.scratch, k.threads)
	}
}

// evaluateTarget computes the values of f̃ at all M+n elements, K_D̃D̃·w̃ without what Drop has taken
// out. It must run before commit, while K_D̃D̃ and the weights before the loop are still available.
func (k *komp) evaluateTarget() {
	b, n, m, c := k.b, k.b.n, k.dict, k.f.Outputs
	samples := n // points that a pruner has entered come after them
	for samples > 0 && b.samples[samples-1] < 0 {
		samples--
	}
	k.target = grow(k.target, (m+n)*c)
	gemm.MulAB(m, c, m, 1, k.inverse.gram, k.inverse.stride, k.f.W, c, 0, k.target, c, k.threads)
	gemm.MulAB(n, c, m, 1, b.toDict, m, k.f.W, c, 0, k.target[m*c:], c, k.threads)
	gemm.MulAB(n-samples, c, n, 1, b.gram[samples*n:], n, b.weights, c, 1, k.target[(m+samples)*c:], c, k.threads)
	for i := range n {
		wi := b.weights[i*c : (i+1)*c]
		for j, v := range b.toDict[i*m : (i+1)*m] {
			gemm.Axpy(v, wi, k.target[j*c:(j+1)*c])
		}
		for j := range samples {
			gemm.Axpy(b.gram[i*n+j], wi, k.target[(m+j)*c:(m+j+1)*c])
		}
	}
}

// refineWeights improves the weights by iterative refinement of K·w = f̃(D),
// w += P·(f̃(D) − K·w). The loop's weights have the error of P, of the order of K's condition
// number; the refined weights have only the error of the residual.
func (k *komp) refineWeights() {
	m, c := k.inverse.order, k.f.Outputs
	if m == 0 {
		return
	}
	k.valueResidual, k.residualT = grow(k.valueResidual, m*c), grow(k.residualT, c*m)
	// Two rounds: the first removes most of the error that comes from P, the second the rest.
	for range 2 {
		copy(k.valueResidual, k.target[:m*c])
		gemm.MulAB(m, c, m, -1, k.inverse.gram, k.inverse.stride, k.f.W, c, 1, k.valueResidual, c, k.threads)
		gemm.Transpose(m, c, k.valueResidual, c, k.residualT, m)
		k.addSolution(k.residualT)
	}
}

// addSolution adds P·vᵀ to the weights, for v of C×M, and returns v·P, also C×M.
func (k *komp) addSolution(v []float64) []float64 {
	m, c := k.inverse.order, k.f.Outputs
	k.scratch = grow(k.scratch, c*m)
	k.inverse.mul(c, v, 0, k.scratch, k.threads)
	for j := range m {
		for q := range c {
			k.f.W[j*c+q] += k.scratch[q*m+j]
		}
	}
	return k.scratch
}

// absorb removes all new elements and no dictionary element: f + Σ w_i κ(x_i, ·) becomes its
// projection on the span of the dictionary, w ← w + P·K_DX·w_X, with one product with P per
// function. The squared error is w_Xᵀ·S·w_X, summed over the functions.
func (k *komp) absorb(b *batch) {
	k.begin(b)
	if b.n == 0 {
		return
	}
	k.supervise()
	n, m, c := b.n, k.inverse.order, k.f.Outputs
	k.own(&k.inverse)
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
		b.gram[i*(n+1)] += k.ridge
		for j := range n {
			k.spent += float64(b.gram[i*n+j] * gemm.Dot(wi, b.weights[j*c:(j+1)*c]))
		}
		k.removed = append(k.removed, m+b.samples[i])
	}
	k.spent = max(0, k.spent-gemm.Dot(k.residualT, k.addSolution(k.residualT)))
}
