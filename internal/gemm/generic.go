package gemm

import "math"

// The generic backend. Every product is rounded by an explicit conversion, so
// that no compiler fuses it with the addition: results are the same on every
// architecture.

func genericKernels[T Float]() *kernels[T] {
	return &kernels[T]{
		name: "generic", mr: 2, nr: 4, lanes: 4,
		tile: tileGeneric[T],
		dots: dotsGeneric[T], dotA: 1, dotB: 1,
		gauss:      gaussGeneric[T],
		exp:        expGeneric[T],
		sumSquares: sumSquaresGeneric[T],
	}
}

func genericBackend() backend {
	return backend{genericKernels[float32](), genericKernels[float64](), &vectors{dotGeneric[float64], axpyGeneric, productGeneric, largestGeneric}}
}

func tileGeneric[T Float](rows, cols, k int, a []T, lda int, p []T, alpha, beta T, c []T, ldc int) {
	var s0, s1 [4]T
	if rows == 2 {
		s0, s1 = tileGeneric2(a[:k], a[lda:lda+k], p)
	} else {
		s0 = tileGeneric1(a[:k], p)
	}
	storeGeneric(c[:cols], &s0, alpha, beta)
	if rows == 2 {
		storeGeneric(c[ldc:ldc+cols], &s1, alpha, beta)
	}
}

// tileGeneric2 multiplies two rows by a panel of four columns.
func tileGeneric2[T Float](x, y, p []T) (_, _ [4]T) {
	var s0, s1, s2, s3, t0, t1, t2, t3 T
	y = y[:len(x)]
	for q, u := range x {
		v := y[q]
		b := p[4*q : 4*q+4 : 4*q+4]
		s0 += T(u * b[0])
		s1 += T(u * b[1])
		s2 += T(u * b[2])
		s3 += T(u * b[3])
		t0 += T(v * b[0])
		t1 += T(v * b[1])
		t2 += T(v * b[2])
		t3 += T(v * b[3])
	}
	return [4]T{s0, s1, s2, s3}, [4]T{t0, t1, t2, t3}
}

// tileGeneric1 multiplies one row by a panel of four columns.
func tileGeneric1[T Float](x, p []T) [4]T {
	var s0, s1, s2, s3 T
	for q, u := range x {
		b := p[4*q : 4*q+4 : 4*q+4]
		s0 += T(u * b[0])
		s1 += T(u * b[1])
		s2 += T(u * b[2])
		s3 += T(u * b[3])
	}
	return [4]T{s0, s1, s2, s3}
}

func storeGeneric[T Float](c []T, s *[4]T, alpha, beta T) {
	for j := range c {
		if beta == 0 {
			c[j] = alpha * s[j]
		} else {
			c[j] = T(alpha*s[j]) + T(beta*c[j])
		}
	}
}

func dotsGeneric[T Float](_, _, k int, a []T, _ int, b []T, _ int, out *dotTile[T]) {
	out[0] = dotGeneric(a[:k], b[:k])
}

// dotGeneric sums in four lanes.
func dotGeneric[T Float](x, y []T) T {
	var s0, s1, s2, s3 T
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		s0 += T(x[0] * y[0])
		s1 += T(x[1] * y[1])
		s2 += T(x[2] * y[2])
		s3 += T(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 += T(v * y[i])
	}
	return (s0 + s2) + (s1 + s3)
}

func axpyGeneric(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float64(alpha * v)
	}
}

func productGeneric(dst, x, y []float64) {
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func largestGeneric(x, y []float64) {
	for i, v := range x {
		if v > y[i] {
			y[i] = v
		}
	}
}

func gaussGeneric[T Float](c, nb []T, na, gamma T) {
	nb = nb[:len(c)]
	for j, v := range c {
		d := (na + nb[j]) - T(2*v)
		if d < 0 { // false for NaN, which stays
			d = 0
		}
		c[j] = T(math.Exp(float64(-gamma * d)))
	}
}

func expGeneric[T Float](dst, src []T) {
	for i, v := range src {
		dst[i] = T(math.Exp(float64(v)))
	}
}

func sumSquaresGeneric[T Float](x []T) float64 {
	var s float64
	for _, v := range x {
		f := float64(v)
		s += float64(f * f)
	}
	return s
}
