package kernel

import "sync"

// Block64 writes the kernel matrix κ(x_i, p_j) to dst, n×Len with row stride
// ldd, for x of n×Dim in row-major order; x holds float32 values widened to
// float64. The values are computed in float64 throughout: this is what enters
// Gram matrices. They do not depend on threads, the most goroutines to use.
func (p *Points) Block64(k Kernel, n int, x []float64, dst []float64, ldd, threads int) {
	if p.Len() == 0 || n == 0 {
		return
	}
	switch k := k.(type) { // by type: one that embeds a Gaussian has its methods and may be another kernel
	case Gaussian:
		p.p64.Gaussian(n, x, p.dim, k.Gamma(), dst, ldd, threads)
	case Polynomial:
		p.p64.MulABT(n, x, p.dim, dst, ldd, threads)
		raise(dst, n, p.Len(), ldd, k)
	default:
		narrow := make([]float32, n*p.dim)
		for i := range narrow {
			narrow[i] = float32(x[i])
		}
		evaluate(p, k, n, narrow, dst, ldd, threads)
	}
}

// Block32 is Block64 in float32: for scores, never for a Gram matrix.
func (p *Points) Block32(k Kernel, n int, x []float32, dst []float32, ldd, threads int) {
	if p.Len() == 0 || n == 0 {
		return
	}
	switch k := k.(type) {
	case Gaussian:
		p.p32.Gaussian(n, x, p.dim, float32(k.Gamma()), dst, ldd, threads)
	case Polynomial:
		p.p32.MulABT(n, x, p.dim, dst, ldd, threads)
		raise(dst, n, p.Len(), ldd, k)
	default:
		evaluate(p, k, n, x, dst, ldd, threads)
	}
}

func raise[T float32 | float64](dst []T, n, m, ldd int, k Polynomial) {
	for i := range n {
		row := dst[i*ldd : i*ldd+m]
		for j, v := range row {
			row[j] = powi(v+T(k.Offset), k.Degree)
		}
	}
}

// powi is v^n for n ≥ 1 by repeated squaring: math.Pow is ten times as dear.
func powi[T float32 | float64](v T, n int) T {
	r := T(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= v
		}
		v *= v
	}
	return r
}

// evaluate computes a block value by value. The goroutines share the points
// out, not the rows: a block is often of one row.
func evaluate[T float32 | float64](p *Points, k Kernel, n int, x []float32, dst []T, ldd, threads int) {
	part := func(from, to int) {
		for i := range n {
			xi := x[i*p.dim : (i+1)*p.dim]
			for j := from; j < to; j++ {
				dst[i*ldd+j] = T(k.Eval(xi, p.At(j)))
			}
		}
	}
	m := p.Len()
	threads = max(1, min(threads, m))
	var others sync.WaitGroup
	for t := 1; t < threads; t++ {
		others.Go(func() { part(t*m/threads, (t+1)*m/threads) })
	}
	part(0, m/threads)
	others.Wait()
}
