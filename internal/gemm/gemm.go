// Package gemm computes A·Bᵀ and A·B for row-major float32 and float64 matrices, Gaussian
// kernel blocks, which are A·Bᵀ with an epilogue, and a few related vector operations.
//
// # Backends
//
// On amd64 the kernels are AVX-512 or AVX2 assembly with FMA, depending on the CPU; on arm64 they
// are NEON assembly, which every such CPU supports. On other architectures, on older CPUs and
// with the build tag noasm, the kernels are plain Go. [Backend] returns the name of the backend
// in use. All backends give the same bits on every architecture; section Arithmetic defines them.
//
// # Summation order
//
// Results do not depend on the number of threads, on which elements of C are computed
// together, or on strides. Two orders exist:
//
//   - In sequence: C_ij is the chain of multiply-adds over q = 0, 1, …. The chain
//     restarts at every block of at most 384 columns, and the blocks are added.
//     [Panels] always uses this order, so a kernel value has the same bits
//     whatever the size of the set and of the mini-batch, and κ(x, y) has the
//     same bits as κ(y, x).
//   - In lanes: C_ij is a dot product over 64-byte vectors whose lanes are
//     added at the end. [MulABT] and [MulAB] use this order if min(m, n) ≤ 4 and
//     k ≥ 32, or min(m, n) ≤ 12 and k ≥ 256. For these shapes the other order would
//     read the large operand at a fraction of the memory bandwidth.
//
// # Arithmetic
//
// Every operation rounds to the element type, to nearest with ties to even, and
// subnormal numbers are kept. fma(x, y, z) is x·y + z rounded once. Any kernel that
// does exactly this is a valid backend, whatever its tile sizes and the order in
// which it computes the elements of C. The sign and payload of NaN are not defined.
//
// In sequence: the k columns are split into blocks of K = ⌈k/⌈k/384⌉⌉ columns,
// rounded up to a multiple of 8, and a last block with the rest. In each block, s ← 0
// and then s ← fma(a_iq, b_jq, s) for its columns q in order. The block then updates
// C: c ← α·s if β = 0, else c ← fma(α, s, β·c). From the second block on β is 1.
//
// In lanes: the L lanes of 64 bytes, 16 of float32 or 8 of float64, start at 0. Lane
// l sums the columns q ≡ l (mod L) by s_l ← fma(a_iq, b_jq, s_l). If L does not
// divide k, the last vector is padded with zeros, which are added too (this turns −0
// into 0). Lanes are added in halves, s_l ← s_l + s_{l+h} for l < h and h = L/2, L/4,
// …, 1. Then c ← α·s_0 if β = 0, else c ← α·s_0 + β·c with both products rounded.
//
// [Dot] has 32 lanes. Each whole block of 32 elements adds one product to every lane.
// The remaining elements go to the first eight lanes, eight at a time, with the last
// group padded with zeros. Then s_l ← (s_l + s_{8+l}) + (s_{16+l} + s_{24+l}) for l < 8,
// and these eight are added in halves. [Axpy] is y ← fma(α, x, y), [Product] x·y,
// [Largest] y ← x if x > y. The squared norm of a float64 row is Dot(x, x). The squared
// norm of a float32 row is summed in eight lanes of float64, which are added in halves,
// and the squares of the remaining elements are added in order; the squares are exact.
//
// A Gaussian value is computed from c, the product in sequence, by
//
//	d ← fma(−2, c, ‖a_i‖² + ‖p_j‖²), 0 if that is negative
//	exp((−γ)·d)
//
// with the norms rounded to the element type. exp(x) is
//
//	x ← max(x, −110), min(x, 89)     of float64 −750 and 710; NaN stays NaN
//	n ← the integer nearest x·log₂e, ties to even, of the rounded product
//	r ← fma(−n, ln2lo, fma(−n, ln2hi, x))
//	p ← fma(… fma(fma(c_d, r, c_{d−1}), r, c_{d−2}) …, r, c_0)
//	p·2ⁿ, rounded once
//
// with log₂e = 1.4426950408889634 and, rounded to the element type, ln2hi and ln2lo
// 0.6931471824645996 and −1.904654299957768e−09 for float32, 0.6931471805599453
// and 2.3190468138462996e−17 for float64. The coefficients are poly32 and poly64 in
// the source, c_d first.
//
// Go has math.FMA only for float64. For float32 the generic backend forms the product in
// float64, where it is exact, and adds in float64. Rounding the sum to float32 then gives
// fma, unless float64 rounds it to the midpoint of two neighbouring float32s. Such a sum is
// first rounded to odd: to the one of its two neighbouring float64s whose last bit is set.
package gemm

// Float is the element type of a matrix.
type Float interface{ float32 | float64 }

// Backend returns the name of the backend in use: "avx512", "avx2", "neon" or "generic".
func Backend() string { return kernelsOf[float64]().name }

// MulABT computes C ← α·A·Bᵀ + β·C for A of m×k, B of n×k and C of m×n, on at most threads
// goroutines. With β = 0, C is not read; with α = 0, A and B are not, as in BLAS. The result does
// not depend on threads. C must not overlap A or B. MulABT panics if the shapes do not fit.
func MulABT[T Float](alpha T, a, b Matrix[T], beta T, c Matrix[T], threads int) {
	checkShapes(a.cols == b.cols && a.rows == c.rows && b.rows == c.cols)
	mul(alpha, a, b, beta, c, threads, (*task[T]).plan)
}

// MulAB computes C ← α·A·B + β·C for A of m×k, B of k×n and C of m×n. It follows the rules of
// [MulABT], and its result has the same bits as that of MulABT with the transpose of B.
func MulAB[T Float](alpha T, a, b Matrix[T], beta T, c Matrix[T], threads int) {
	checkShapes(a.cols == b.rows && a.rows == c.rows && b.cols == c.cols)
	mul(alpha, a, b, beta, c, threads, (*task[T]).planAB)
}

// mul implements both products; plan depends on how B is stored.
func mul[T Float](alpha T, a, b Matrix[T], beta T, c Matrix[T], threads int, plan func(*task[T], int)) {
	if c.rows == 0 || c.cols == 0 {
		return
	}
	if a.cols == 0 || alpha == 0 {
		scale(beta, c)
		return
	}
	t := newTask(kernelsOf[T]())
	t.m, t.n, t.k = c.rows, c.cols, a.cols
	t.alpha, t.beta = alpha, beta
	t.a, t.b, t.c = a, b, c
	plan(t, threads)
	t.run(threads)
}

// Transpose computes B ← Aᵀ for A of m×n and B of n×m, which must not overlap. It panics if the
// shapes do not fit.
func Transpose[T Float](a, b Matrix[T]) {
	checkShapes(a.rows == b.cols && a.cols == b.rows)
	// Write four elements of a row of B at a time, and visit so few rows in turn that
	// their cache lines are still cached for the next four.
	const strip = 64
	for j0 := 0; j0 < a.cols; j0 += strip {
		cols := min(strip, a.cols-j0)
		i := 0
		for ; i+4 <= a.rows; i += 4 {
			a0, a1, a2, a3 := a.from(i, j0)[:cols], a.from(i+1, j0)[:cols], a.from(i+2, j0)[:cols], a.from(i+3, j0)[:cols]
			for j := range cols {
				row := b.from(j0+j, i)[:4:4]
				row[0], row[1], row[2], row[3] = a0[j], a1[j], a2[j], a3[j]
			}
		}
		for ; i < a.rows; i++ {
			for j, v := range a.from(i, j0)[:cols] {
				b.Set(j0+j, i, v)
			}
		}
	}
}

// Convert sets dst[i] to src[i], rounded to dst's type. It panics if dst is shorter.
func Convert[D, S Float](dst []D, src []S) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = D(v)
	}
}

// checkShapes panics unless the shapes of a product's matrices fit.
func checkShapes(fit bool) {
	if !fit {
		panic("gemm: the shapes of the matrices do not fit")
	}
}

// scale computes C ← β·C.
func scale[T Float](beta T, c Matrix[T]) {
	if beta == 0 {
		c.Clear()
		return
	}
	for i := range c.rows {
		row := c.Row(i)
		for j := range row {
			row[j] *= beta
		}
	}
}
