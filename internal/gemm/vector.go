package gemm

// Dot returns Σ x[i]·y[i]. It panics if the lengths differ.
func Dot(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("gemm: vectors of different lengths")
	}
	if len(x) == 0 {
		return 0
	}
	return active.v.dot(x, y)
}

// Axpy computes y[i] ← α·x[i] + y[i]. It panics if the lengths differ.
func Axpy(alpha float64, x, y []float64) {
	if len(x) != len(y) {
		panic("gemm: vectors of different lengths")
	}
	if len(x) > 0 {
		active.v.axpy(alpha, x, y)
	}
}

// Product computes dst[i] ← x[i]·y[i]. dst may be x or y. It panics if the lengths differ.
func Product[T Float](dst, x, y []T) {
	if len(x) != len(y) || len(dst) != len(x) {
		panic("gemm: vectors of different lengths")
	}
	if len(x) > 0 {
		kernelsOf[T]().product(dst, x, y)
	}
}

// Largest sets y[i] to x[i] where that is greater. It panics if the lengths differ.
func Largest(x, y []float64) {
	if len(x) != len(y) {
		panic("gemm: vectors of different lengths")
	}
	if len(x) > 0 {
		active.v.largest(x, y)
	}
}

// Exp computes dst[i] ← exp(src[i]), to 3e-7 (float32) or 1e-15 (float64)
// relative. Overflow gives +Inf, underflow gives subnormals and then 0, and NaN
// stays NaN. dst may be src. It panics if the lengths differ.
func Exp[T Float](dst, src []T) {
	if len(dst) != len(src) {
		panic("gemm: vectors of different lengths")
	}
	if len(dst) > 0 {
		kernelsOf[T]().exp(dst, src)
	}
}
