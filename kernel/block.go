package kernel

import (
	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
)

// Block64 writes the kernel matrix κ(x_i, p_j) to dst, n×Len with row stride
// ldd, for x of n×Dim in row-major order; x holds float32 values widened to
// float64. The values are computed in float64 throughout: this is what enters
// Gram matrices. They do not depend on threads, the most goroutines to use.
//
// A Gaussian value is within 2⁻³⁵ of the exact one, and within 1/500 of it relative
// to it, however long the vectors are beside their distance and the bandwidth; a polynomial one within rounding of
// (‖x‖‖p‖ + b)^c.
func (p *Points) Block64(k Kernel, n int, x []float64, dst []float64, ldd, threads int) {
	if p.Len() == 0 || n == 0 {
		return
	}
	switch k := k.(type) { // by type: one that embeds a Gaussian has its methods and may be another kernel
	case Gaussian:
		largest := p.p64.Gaussian(n, x, p.dim, k.Gamma(), dst, ldd, threads)
		if reach := k.reach64(p.dim); !(largest+p.p64.MaxNormSq() <= reach) {
			p.sumDifferences(k, reach, n, x, dst, ldd, threads)
		}
	case Polynomial:
		p.p64.MulABT(n, x, p.dim, dst, ldd, threads)
		raise(dst, n, p.Len(), ldd, k)
	default:
		narrow := make([]float32, n*p.dim)
		gemm.Convert(narrow, x[:len(narrow)])
		evaluate(p, k, n, narrow, dst, ldd, threads)
	}
}

// Block32 is Block64 in float32: for scores, never for a Gram matrix. A
// Gaussian value is within 1/480 of Eval, relative to it, or within 2⁻¹²⁶; a
// polynomial one within (‖x‖‖p‖ + b)^c/480 or 2⁻¹²⁶, and infinite if it exceeds
// float32. It comes from a float32 product where that is as good, else from
// Block64.
func (p *Points) Block32(k Kernel, n int, x []float32, dst []float32, ldd, threads int) {
	if p.Len() == 0 || n == 0 {
		return
	}
	var largest float32
	var reach float64
	switch k := k.(type) {
	case Gaussian:
		largest = p.p32.Gaussian(n, x, p.dim, float32(k.Gamma()), dst, ldd, threads)
		reach = k.reach32(p.dim)
	case Polynomial:
		for i := range n {
			largest = max(largest, gemm.NormSq(x[i*p.dim:(i+1)*p.dim]))
		}
		p.p32.MulABT(n, x, p.dim, dst, ldd, threads)
		raise(dst, n, p.Len(), ldd, k)
		reach = k.reach32(p.dim)
	default:
		evaluate(p, k, n, x, dst, ldd, threads)
		return
	}
	if !(float64(largest)+float64(p.p32.MaxNormSq()) <= reach) {
		p.narrow(k, reach, n, x, dst, ldd, threads)
	}
}

// block is Block32 or Block64, by the type of dst.
func block[T float32 | float64](p *Points, k Kernel, n int, x []float32, dst []T, ldd, threads int) {
	switch dst := any(dst).(type) {
	case []float32:
		p.Block32(k, n, x, dst, ldd, threads)
	case []float64:
		wide := make([]float64, n*p.dim)
		Widen(wide, x[:n*p.dim])
		p.Block64(k, n, wide, dst, ldd, threads)
	}
}

// narrowRows bounds the rows that narrow computes at once.
const narrowRows = 64

// narrow replaces, in a float32 block, the values of pairs whose ‖x_i‖² + ‖p_j‖²
// exceeds reach by those of Block64. The choice is one of the pair alone, so a
// value does not depend on what else is in the block.
func (p *Points) narrow(k Kernel, reach float64, n int, x []float32, dst []float32, ldd, threads int) {
	m := p.Len()
	most := float64(p.p32.MaxNormSq())
	var rows []int
	var norms []float64
	for i := range n {
		if norm := float64(gemm.NormSq(x[i*p.dim : (i+1)*p.dim])); !(norm+most <= reach) {
			rows, norms = append(rows, i), append(norms, norm)
		}
	}
	x64, k64 := make([]float64, min(len(rows), narrowRows)*p.dim), make([]float64, min(len(rows), narrowRows)*m)
	for lo := 0; lo < len(rows); lo += narrowRows {
		part := rows[lo:min(lo+narrowRows, len(rows))]
		for q, i := range part {
			Widen(x64[q*p.dim:], x[i*p.dim:(i+1)*p.dim])
		}
		p.Block64(k, len(part), x64, k64, m, threads)
		for q, i := range part {
			for j, v := range k64[q*m : (q+1)*m] {
				if !(norms[lo+q]+float64(p.p32.NormSq(j)) <= reach) {
					dst[i*ldd+j] = float32(v)
				}
			}
		}
	}
}

// sumDifferences replaces, in a float64 block, values of pairs whose
// ‖x_i‖² + ‖p_j‖² exceeds reach by those at Σ_q (x_iq − p_jq)², which has no
// cancellation. It takes many times as long as a product, and so a value stays
// that is too small for its exponent's error to matter: no more than product64
// in itself, and relative64 relative to it. With a narrow bandwidth most do.
func (p *Points) sumDifferences(k Gaussian, reach float64, n int, x []float64, dst []float64, ldd, threads int) {
	most := p.p64.MaxNormSq()
	share(p.Len(), threads, func(from, to int) {
		for i := range n {
			xi := x[i*p.dim : (i+1)*p.dim]
			norm := gemm.NormSq(xi)
			if norm+most <= reach {
				continue
			}
			for j := from; j < to; j++ {
				sum, v := norm+p.p64.NormSq(j), &dst[i*ldd+j]
				if sum <= reach {
					continue
				}
				// The error of the exponent grows with ‖x‖² + ‖p‖² and is product64 at reach.
				exponent := sum / reach * product64
				if !(0 <= exponent && exponent <= relative64 && *v*exponent <= product64) {
					*v = k.at(distanceSq(xi, p.At(j)))
				}
			}
		}
	})
}

// distanceSq returns ‖x − y‖², in four sums because one would wait for each
// addition. x and y may change places without changing a bit.
func distanceSq(x []float64, y []float32) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		d0, d1, d2, d3 := x[0]-float64(y[0]), x[1]-float64(y[1]), x[2]-float64(y[2]), x[3]-float64(y[3])
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		d := v - float64(y[i])
		s0 += float64(d * d)
	}
	return (s0 + s2) + (s1 + s3) // one written order: the same bits on every machine
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
			r = T(r * v)
		}
		v *= v
	}
	return r
}

// evaluate computes a block value by value.
func evaluate[T float32 | float64](p *Points, k Kernel, n int, x []float32, dst []T, ldd, threads int) {
	share(p.Len(), threads, func(from, to int) {
		for i := range n {
			xi := x[i*p.dim : (i+1)*p.dim]
			for j := from; j < to; j++ {
				dst[i*ldd+j] = T(k.Eval(xi, p.At(j)))
			}
		}
	})
}

// share lets at most threads goroutines work on m points. They share the points
// out, not the rows of a block: a block is often of one row.
func share(m, threads int, part func(from, to int)) {
	parts := max(1, min(threads, m))
	parallel.Do(parts, parts, func(_, t int) { part(t*m/parts, (t+1)*m/parts) })
}
