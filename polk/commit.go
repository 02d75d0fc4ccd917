package polk

import "polkrepro/internal/gemm"

// commit writes what was removed to the dictionary, its weights, K and P.
// A step that removed just its own new elements touches the weights alone.
//
// The inverse over the new dictionary is P − YᵀY + ZᵀZ: first the removed old
// elements leave, by their scaled columns Y, then the kept new ones enter.
// This order has no cancellation when a new element replaces a near-duplicate.
func (k *komp) commit(b *batch) {
	m, c := k.g.m, k.f.Outputs
	copy(k.f.W, k.w[:m*c])
	k.old, k.kept = k.old[:0], k.kept[:0]
	for j, on := range k.alive {
		switch {
		case j < m && !on:
			k.old = append(k.old, j)
		case j >= m && on:
			k.kept = append(k.kept, j-m)
		}
	}
	if len(k.old)+len(k.kept) == 0 {
		return
	}
	k.schurKept(b)
	for i := range k.order {
		copy(k.g.add(-1, k.threads), k.v[i*m:(i+1)*m])
		k.g.added()
	}
	k.delete(b)
	k.insert(b)
	k.g.settle(k.threads)
}

// schurKept computes the vectors with which the kept new elements enter: the
// rows of Z = L'⁻¹·T'ᵀ with L'·L'ᵀ = S' = S_kept + HᵀH, the Schur complement
// over the old elements that stay, T' = T_kept − Yᵀ·H, and H = Y_R⁻ᵀ·T_R over
// the removed elements R.
func (k *komp) schurKept(b *batch) {
	n, m, ro, kn := b.m, k.g.m, len(k.order), len(k.kept)
	k.h, k.sl, k.z = grow(k.h, kn*ro), grow(k.sl, kn*kn), grow(k.z, kn*m)
	for i, p := range k.kept {
		h, z := k.h[i*ro:(i+1)*ro], k.z[i*m:(i+1)*m]
		copy(z, k.t[p*m:(p+1)*m])
		for j, r := range k.order {
			y := k.v[j*m : (j+1)*m]
			h[j] = z[r] / y[r]
			gemm.Axpy(-h[j], y, z)
		}
		for j, q := range k.kept[:i+1] {
			k.sl[i*kn+j] = k.s[p*n+q] + dot(h, k.h[j*ro:(j+1)*ro])
		}
	}
	cholesky(k.sl, kn)
	for i := range k.kept {
		z := k.z[i*m : (i+1)*m]
		for j := range i {
			gemm.Axpy(-k.sl[i*kn+j], k.z[j*m:(j+1)*m], z)
		}
		scale(1/k.sl[i*kn+i], z)
	}
}

// delete takes the removed old elements out of the dictionary and everything
// that is indexed by it.
func (k *komp) delete(b *batch) {
	stride, c := k.g.m, k.f.Outputs
	for i := len(k.old) - 1; i >= 0; i-- {
		j, last := k.old[i], k.g.m-1
		for q := range k.kept {
			k.z[q*stride+j] = k.z[q*stride+last]
		}
		for _, q := range k.kept {
			b.kx[q*stride+j] = b.kx[q*stride+last]
		}
		if k.refits {
			copy(k.values[j*c:(j+1)*c], k.values[last*c:])
		}
		k.f.Remove(j)
		k.g.remove(j)
	}
}

// insert appends the kept new elements to the dictionary, K and P. Row i of Z
// goes on over the new elements as row i of −L'⁻¹.
func (k *komp) insert(b *batch) {
	m, kn, c, dim := k.g.m, len(k.kept), k.f.Outputs, k.f.Dict.Dim()
	stride := m + len(k.old)
	k.linv = grow(k.linv, kn*kn)
	inverseLower(k.linv, k.sl, kn)
	for i, p := range k.kept {
		k.row = append(k.row[:0], b.kx[p*stride:p*stride+m]...)
		for _, q := range k.kept[:i] {
			k.row = append(k.row, b.kxx[p*b.m+q])
		}
		k.g.append(k.row, b.kxx[p*b.m+p])
		k.f.Append(b.x[p*dim:(p+1)*dim], k.w[(stride+p)*c:(stride+p+1)*c])
		if k.refits {
			copy(k.values[(m+i)*c:(m+i+1)*c], k.values[(stride+p)*c:])
		}
	}
	for i := range kn {
		v := k.g.add(1, k.threads)
		copy(v, k.z[i*stride:i*stride+m])
		clear(v[m:])
		for j, x := range k.linv[i*kn : i*kn+i+1] {
			v[m+j] = -x
		}
		k.g.added()
	}
}
