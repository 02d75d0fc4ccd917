package kernel

import (
	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
)

// A Matrix is a view of a row-major matrix.
type Matrix[T gemm.Float] = gemm.Matrix[T]

// MatrixOf returns data as a matrix whose rows follow each other without a gap.
func MatrixOf[T gemm.Float](rows, cols int, data []T) Matrix[T] {
	return gemm.MatrixOf(rows, cols, data)
}

// Block64 writes the kernel matrix κ(x_i, p_j) to dst, n×Len, for the rows x_i of x, n×Dim, which
// hold float32 values widened to float64. All values are computed in float64,
// as Gram matrices require. Block64 uses at most threads goroutines; the values do not depend
// on threads.
//
// The error of a Gaussian value is at most 2⁻³⁵, and at most 1/500 relative to the
// exact value, however large the norms are compared with the distance and the
// bandwidth. A polynomial value is accurate to within rounding of (‖x‖‖p‖ + b)^c.
func (p *Points) Block64(k Kernel, x, dst Matrix[float64], threads int) {
	n := dst.Len()
	if p.Len() == 0 || n == 0 {
		return
	}
	switch k := k.(type) { // by type: a type that embeds Gaussian has its methods but may be another kernel
	case Gaussian:
		largest := p.p64.Gaussian(x, k.Gamma(), dst, threads)
		if reach := k.reach64(p.dim); !(largest+p.p64.MaxNormSq() <= reach) {
			p.sumDifferences(k, reach, x, dst, threads)
		}
	case Polynomial:
		p.p64.MulABT(x, dst, threads)
		raise(dst, k)
	default:
		narrow := gemm.NewMatrix[float32](n, p.dim)
		for i := range n {
			gemm.Convert(narrow.Row(i), x.Row(i))
		}
		evaluate(p, k, narrow, dst, threads)
	}
}

// Block32 is Block64 in float32, for scores and never for Gram matrices. The error of a
// Gaussian value is at most 1/480 of Eval or 2⁻¹²⁶, whichever is larger; the error of a
// polynomial value is at most the larger of (‖x‖‖p‖ + b)^c/480 and 2⁻¹²⁶. A polynomial value
// that exceeds float32 is infinite. Values come from a float32 product if it is that
// accurate, and otherwise from Block64.
func (p *Points) Block32(k Kernel, x, dst Matrix[float32], threads int) {
	n := dst.Len()
	if p.Len() == 0 || n == 0 {
		return
	}
	var largest float32
	var reach float64
	switch k := k.(type) {
	case Gaussian:
		largest = p.p32.Gaussian(x, float32(k.Gamma()), dst, threads)
		reach = k.reach32(p.dim)
	case Polynomial:
		for i := range n {
			largest = max(largest, gemm.NormSq(x.Row(i)))
		}
		p.p32.MulABT(x, dst, threads)
		raise(dst, k)
		reach = k.reach32(p.dim)
	default:
		evaluate(p, k, x, dst, threads)
		return
	}
	if !(float64(largest)+float64(p.p32.MaxNormSq()) <= reach) {
		p.narrow(k, reach, x, dst, threads)
	}
}

// block calls Block32 or Block64, depending on the type of dst.
func block[T gemm.Float](p *Points, k Kernel, x Matrix[float32], dst Matrix[T], threads int) {
	switch dst := any(dst).(type) {
	case Matrix[float32]:
		p.Block32(k, x, dst, threads)
	case Matrix[float64]:
		p.Block64(k, widened(x), dst, threads)
	}
}

// narrowRows bounds the rows that narrow computes at once.
const narrowRows = 64

// narrow replaces, in a float32 block, the values of all pairs whose ‖x_i‖² + ‖p_j‖²
// exceeds reach with the values of Block64. The choice depends on the pair alone, so
// a value does not depend on the rest of the block.
func (p *Points) narrow(k Kernel, reach float64, x, dst Matrix[float32], threads int) {
	n, m := dst.Dims()
	most := float64(p.p32.MaxNormSq())
	var rows []int
	var norms []float64
	for i := range n {
		if norm := float64(gemm.NormSq(x.Row(i))); !(norm+most <= reach) {
			rows, norms = append(rows, i), append(norms, norm)
		}
	}
	most64 := min(len(rows), narrowRows)
	x64, k64 := gemm.NewMatrix[float64](most64, p.dim), gemm.NewMatrix[float64](most64, m)
	for lo := 0; lo < len(rows); lo += narrowRows {
		part := rows[lo:min(lo+narrowRows, len(rows))]
		for q, i := range part {
			Widen(x64.Row(q), x.Row(i))
		}
		p.Block64(k, x64.Rows(0, len(part)), k64.Rows(0, len(part)), threads)
		for q, i := range part {
			row := dst.Row(i)
			for j, v := range k64.Row(q) {
				if !(norms[lo+q]+float64(p.p32.NormSq(j)) <= reach) {
					row[j] = float32(v)
				}
			}
		}
	}
}

// sumDifferences replaces, in a float64 block, the values of pairs whose ‖x_i‖² + ‖p_j‖²
// exceeds reach with values computed from Σ_q (x_iq − p_jq)², which has no cancellation.
// The sum takes many times as long as a product. A value is therefore kept if it is so
// small that its exponent's error does not matter: the error is at most product64
// absolutely and relative64 relatively. With a narrow bandwidth most values are kept.
func (p *Points) sumDifferences(k Gaussian, reach float64, x, dst Matrix[float64], threads int) {
	most := p.p64.MaxNormSq()
	share(p.Len(), threads, func(from, to int) {
		for i := range dst.Len() {
			xi, values := x.Row(i), dst.Row(i)
			norm := gemm.NormSq(xi)
			if norm+most <= reach {
				continue
			}
			for j := from; j < to; j++ {
				sum, v := norm+p.p64.NormSq(j), &values[j]
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

// distanceSq returns ‖x − y‖². It uses four sums, because a single sum would wait for
// each addition. Swapping x and y does not change a bit of the result.
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
	return (s0 + s2) + (s1 + s3) // explicit order: the same bits on every machine
}

func raise[T gemm.Float](dst Matrix[T], k Polynomial) {
	for i := range dst.Len() {
		row := dst.Row(i)
		for j, v := range row {
			row[j] = powi(v+T(k.Offset), k.Degree)
		}
	}
}

// powi returns v^n for n ≥ 1 by repeated squaring; math.Pow takes ten times as long.
func powi[T gemm.Float](v T, n int) T {
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
func evaluate[T gemm.Float](p *Points, k Kernel, x Matrix[float32], dst Matrix[T], threads int) {
	share(p.Len(), threads, func(from, to int) {
		for i := range dst.Len() {
			xi, values := x.Row(i), dst.Row(i)
			for j := from; j < to; j++ {
				values[j] = T(k.Eval(xi, p.At(j)))
			}
		}
	})
}

// share splits m points among at most threads goroutines. It splits the points, not
// the rows of a block, because a block often has one row.
func share(m, threads int, part func(from, to int)) {
	parts := max(1, min(threads, m))
	parallel.Do(parts, parts, func(_, t int) { part(t*m/parts, (t+1)*m/parts) })
}
