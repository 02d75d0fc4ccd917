package polk

import "polkrepro/internal/gemm"

// evaluate stores the values of f̃ at all M+m elements, K_D̃D̃·w̃.
func (k *komp) evaluate(b *batch) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	k.values = grow(k.values, (m+n)*c)
	clear(k.values)
	k.transpose(k.w, m)
	if m > 0 {
		gemm.MulABT(m, c, m, 1, k.g.k, k.g.ld, k.wt, m, 0, k.values, c, k.threads)
		gemm.MulABT(n, c, m, 1, b.kx, m, k.wt, m, 0, k.values[m*c:], c, k.threads)
	}
	for i := range n {
		wi := b.w[i*c : (i+1)*c]
		for j, v := range b.kx[i*m : (i+1)*m] {
			axpy(v, wi, k.values[j*c:(j+1)*c])
		}
		for j := range n {
			axpy(b.kxx[i*n+j], wi, k.values[(m+j)*c:(m+j+1)*c])
		}
	}
}

// refit improves the weights by iterative refinement of K·w = f̃(D): the
// loop's weights carry the error of P, these the error of the residual.
func (k *komp) refit() {
	m, c := k.g.m, k.f.Outputs
	if m == 0 {
		return
	}
	k.res = grow(k.res, m*c)
	for range 2 {
		copy(k.res, k.values[:m*c])
		k.transpose(k.f.W, m)
		gemm.MulABT(m, c, m, -1, k.g.k, k.g.ld, k.wt, m, 1, k.res, c, k.threads)
		k.transpose(k.res, m)
		k.row = grow(k.row, c*m)
		k.g.mulP(c, k.wt, 0, k.row, k.threads)
		for j := range m {
			for q := range c {
				k.f.W[j*c+q] += k.row[q*m+j]
			}
		}
	}
}

// transpose sets k.wt to the C×m transpose of the first m rows of a.
func (k *komp) transpose(a []float64, m int) {
	c := k.f.Outputs
	k.wt = grow(k.wt, c*m)
	for j := range m {
		for q, v := range a[j*c : (j+1)*c] {
			k.wt[q*m+j] = v
		}
	}
}
