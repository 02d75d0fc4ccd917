package ivm

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"polkrepro/baselines/internal/parallel"
	"polkrepro/internal/gemm"
)

// A newton is the Newton equation over the import points. Its unknown a·q+t is
// the change of contrast a's coefficient of basis vector t.
type newton struct {
	upper    blas64.Triangular // U with UᵀU the Hessian
	gradient []float64         // D·q
	reduced  []float64         // U⁻ᵀ·gradient
}

// hessianRows is the rows of the Hessian's blocks that a goroutine takes at a
// time.
const hessianRows = 128

var errNotDefinite = errors.New("ivm: the Hessian is not positive definite in floating point: the regularizer is too small for the kernel's values")

// newton sets up the equation at the present f.
func (s *state) newton() (*newton, error) {
	size := s.dims() * s.order()
	e := &newton{gradient: s.spanGradient()}
	if size == 0 {
		return e, nil
	}
	h := blas64.Symmetric{Uplo: blas.Upper, N: size, Stride: size, Data: s.hessian()}
	var ok bool
	if e.upper, ok = lapack64.Potrf(h); !ok {
		return nil, errNotDefinite
	}
	// U⁻ᵀ·gradient is kept, and not only U⁻¹·U⁻ᵀ·gradient: a trial candidate
	// borders U by one column a contrast and goes on from it.
	e.reduced = append([]float64(nil), e.gradient...)
	blas64.Trsv(blas.Trans, e.upper, blas64.Vector{N: size, Inc: 1, Data: e.reduced})
	return e, nil
}

// direction returns the Newton step over the import points, q×D.
func (e *newton) direction(q, d int) []float64 {
	v := append([]float64(nil), e.reduced...)
	blas64.Trsv(blas.NoTrans, e.upper, blas64.Vector{N: len(v), Inc: 1, Data: v})
	dir := make([]float64, q*d)
	for t := range q {
		for a := range d {
			dir[t*d+a] = -v[a*q+t]
		}
	}
	return dir
}

// hessian returns the Hessian of H by beta, row-major; only its upper half is
// valid.
func (s *state) hessian() []float64 {
	q, d := s.order(), s.dims()
	h := make([]float64, d*q*d*q)
	blocks := (q + hessianRows - 1) / hessianRows
	scaled := make([][]float64, s.Threads)
	parallel.Do(s.Threads, d*(d+1)/2*blocks, func(w, u int) {
		scaled[w] = grow(scaled[w], q*chunk)
		a, b := pairAt(d, u/blocks)
		lo := u % blocks * hessianRows
		s.hessianBlock(h, a, b, u/blocks, lo, min(lo+hessianRows, q), scaled[w])
	})
	// The basis is orthonormal, so that λ/2·‖f‖² adds λ to the diagonal alone.
	for t := range d * q {
		h[t*d*q+t] += s.Regularizer
	}
	return h
}

// hessianBlock computes rows t0 … t1−1, from the diagonal on, of the block of
// contrasts a and b, and what is the same by symmetry.
func (s *state) hessianBlock(h []float64, a, b, pair, t0, t1 int, scaled []float64) {
	q, size := s.order(), s.dims()*s.order()
	block := h[a*q*size+b*q:]
	for lo := 0; lo < s.n; lo += chunk {
		n := min(chunk, s.n-lo)
		weigh(scaled, s.phi[t0*s.n+lo:], s.n, q-t0, s.weight[pair*s.n+lo:pair*s.n+lo+n])
		gemm.MulABT(t1-t0, q-t0, n, 1, s.phi[t0*s.n+lo:], s.n, scaled, chunk, 1, block[t0*size+t0:], size, 1)
	}
	for t := t0; t < t1; t++ {
		for v := max(t+1, t1); v < q; v++ {
			block[v*size+t] = block[t*size+v]
		}
	}
}

// weigh multiplies rows of src, ld apart, by w elementwise into rows of dst,
// chunk apart.
func weigh(dst, src []float64, ld, rows int, w []float64) {
	for t := range rows {
		gemm.Product(dst[t*chunk:t*chunk+len(w)], src[t*ld:t*ld+len(w)], w)
	}
}

// pairAt returns pair number i of (0, 0), (0, 1), …, (1, 1), … below d.
func pairAt(d, i int) (a, b int) {
	for i >= d-a {
		i -= d - a
		a++
	}
	return a, a + i
}
