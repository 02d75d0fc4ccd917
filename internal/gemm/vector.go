package gemm

// Dot returns Σ x[i]·y[i]. It panics if the lengths differ.
func Dot(x, y []float64) float64 {
	checkLength(len(x), len(y))
	return active.v.dot(x, y)
}

// Axpy computes y[i] ← α·x[i] + y[i]. It panics if the lengths differ.
func Axpy(alpha float64, x, y []float64) {
	checkLength(len(x), len(y))
	active.v.axpy(alpha, x, y)
}

// Product computes dst[i] ← x[i]·y[i]. dst may be x or y. It panics if the lengths differ.
func Product[T Float](dst, x, y []T) {
	checkLength(len(x), len(y))
	checkLength(len(x), len(dst))
	kernelsOf[T]().product(dst, x, y)
}

// Largest sets y[i] to x[i] where that is greater. It panics if the lengths differ.
func Largest(x, y []float64) {
	checkLength(len(x), len(y))
	active.v.largest(x, y)
}

// Exp computes dst[i] ← exp(src[i]), to 3e-7 (float32) or 1e-15 (float64)
// relative. Overflow gives +Inf, underflow gives subnormals and then 0, and NaN
// stays NaN. dst may be src. It panics if the lengths differ.
func Exp[T Float](dst, src []T) {
	checkLength(len(src), len(dst))
	kernelsOf[T]().exp(dst, src)
}

// checkLength panics if two vectors differ in length.
func checkLength(m, n int) {
	if m != n {
		panic("gemm: vectors of different lengths")
	}
}
