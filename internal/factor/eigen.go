package factor

import (
	"math"

	"polkrepro/internal/gemm"
)

// maxSweeps bounds the QL iterations for one eigenvalue; two are usual.
const maxSweeps = 60

// Eigen computes the eigenvalues of the symmetric matrix A in descending order, and orthonormal
// eigenvectors: row i of the matrix vectors belongs to values[i]. It destroys A, whose two triangles must agree. It returns false
// if the iteration does not converge, for instance because an element is not finite.
//
// The error of a value, and the residual of a pair, are a few n·ε times the largest
// absolute value.
//
// Householder reflections reduce A to a tridiagonal matrix, and implicit QL steps with
// Wilkinson's shift diagonalize that (G. Golub, C. Van Loan, "Matrix Computations", 8.3).
func Eigen(a matrix) (values []float64, vectors matrix, ok bool) {
	n := a.Len()
	scale := powerOfTwo(a)
	for i := range n {
		row := a.Row(i)
		for j := range row {
			row[j] /= scale // exact; squares below neither overflow nor vanish
		}
	}
	d, e, vectors := tridiagonal(a)
	if !diagonalize(d, e, vectors) {
		return nil, vectors, false
	}
	for i := range d {
		d[i] *= scale
	}
	sortPairs(d, vectors)
	return d, vectors, true
}

// powerOfTwo returns a power of two near the largest absolute value of A, or 1 if
// that value is 0 or not finite.
func powerOfTwo(a matrix) float64 {
	var most float64
	for i := range a.Len() {
		for _, v := range a.Row(i) {
			most = max(most, math.Abs(v))
		}
	}
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return 1
	}
	_, exponent := math.Frexp(most)
	return math.Ldexp(1, max(exponent-1, -1022))
}

// tridiagonal reduces A to QᵀAQ = T with the diagonal d and the off-diagonal
// e[0] … e[n−2]. It returns Qᵀ, and leaves the reflections in A.
func tridiagonal(a matrix) (d, e []float64, qt matrix) {
	n := a.Len()
	d, e, qt = make([]float64, n), make([]float64, n), gemm.NewMatrix[float64](n, n)
	p := make([]float64, n)
	// Invariant: rows and columns before i are tridiagonal; the rest, from i on, is
	// symmetric and full. The reflection H = I − v·vᵀ, ‖v‖² = 2, turns row i, from i+1 on,
	// into a multiple of its first unit vector, and the remaining matrix B into H·B·H.
	for i := range n {
		d[i] = a.At(i, i)
		if i+1 == n {
			break
		}
		v := a.Row(i)[i+1:]
		e[i] = reflection(v)
		w := p[i+1:]
		for r := range w {
			w[r] = gemm.Dot(a.Row(i + 1 + r)[i+1:], v)
		}
		// H·B·H = B − v·wᵀ − w·vᵀ with w = Bv − ½(vᵀBv)·v, as ‖v‖² = 2 or v = 0.
		gemm.Axpy(-0.5*gemm.Dot(w, v), v, w)
		for r := range w {
			row := a.Row(i + 1 + r)[i+1:]
			// One expression symmetric in v and w, so that both triangles keep the same bits.
			vr, wr := v[r], w[r]
			for c := range row {
				row[c] -= float64(vr*w[c]) + float64(wr*v[c])
			}
		}
	}
	// Qᵀ = … H_2·H_1·H_0, from the left: H_i multiplies a matrix that is the identity
	// except in rows and columns from i+2 on.
	for i := range n {
		qt.Set(i, i, 1)
	}
	for i := n - 2; i >= 0; i-- {
		v := a.Row(i)[i+1:]
		for r := i + 1; r < n; r++ {
			row := qt.Row(r)[i+1:]
			gemm.Axpy(-gemm.Dot(row, v), v, row)
		}
	}
	return d, e, qt
}

// smallest is the sum of squares below which elements count as zero, in a matrix
// whose largest element is about 1. Larger sums of squares have full precision.
const smallest = 0x1p-900

// reflection replaces x by the vector v, of ‖v‖² = 2 or 0, for which all elements of
// (I − v·vᵀ)x but the first are 0, and returns the first.
func reflection(x []float64) float64 {
	if gemm.Dot(x[1:], x[1:]) < smallest {
		first := x[0]
		clear(x)
		return first
	}
	norm := math.Sqrt(gemm.Dot(x, x))
	if x[0] > 0 {
		norm = -norm // no cancellation in the next line
	}
	// v ∝ x − norm·e_1, whose square is 2·norm·(norm − x_0).
	x[0] -= norm
	scale := math.Sqrt(-norm * x[0])
	for i := range x {
		x[i] /= scale
	}
	return norm
}

// diagonalize replaces d by the eigenvalues of the tridiagonal matrix with diagonal d
// and off-diagonal e, and rotates the rows of vectors accordingly. It destroys e.
func diagonalize(d, e []float64, vectors matrix) bool {
	n := len(d)
	var norm float64
	for i := range n {
		norm = max(norm, math.Abs(d[i])+math.Abs(e[i]))
	}
	negligible := 0x1p-53 * norm
	for l := range n {
		for sweep := 0; ; sweep++ {
			m := l
			for m < n-1 && !(math.Abs(e[m]) <= negligible) {
				m++
			}
			if m == l {
				break
			}
			if sweep == maxSweeps {
				return false
			}
			sweepQL(d, e, vectors, l, m)
		}
	}
	return !math.IsNaN(norm) && !math.IsInf(norm, 0)
}

// sweepQL takes one implicit QL step on rows l … m of the tridiagonal matrix.
func sweepQL(d, e []float64, vectors matrix, l, m int) {
	// Wilkinson's shift: the eigenvalue of the leading 2×2 block that is nearer to d_l.
	g := (d[l+1] - d[l]) / (2 * e[l])
	r := math.Sqrt(float64(g*g) + 1)
	if g < 0 {
		r = -r
	}
	g = d[m] - d[l] + e[l]/(g+r)
	s, c, p := 1.0, 1.0, 0.0
	// Rotations chase the element that the shift introduces at the end up to l.
	for i := m - 1; i >= l; i-- {
		f, b := float64(s*e[i]), float64(c*e[i])
		r = math.Sqrt(float64(f*f) + float64(g*g))
		e[i+1] = r
		if r == 0 { // the matrix splits in two here
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = float64((d[i]-g)*s) + float64(float64(2*c)*b)
		p = float64(s * r)
		d[i+1] = g + p
		g = float64(c*r) - b
		rotate(vectors.Row(i), vectors.Row(i+1), c, s)
	}
	d[l] -= p
	e[l], e[m] = g, 0
}

// rotate replaces x and y by c·x − s·y and s·x + c·y.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		x[i] = float64(c*v) - float64(s*w)
		y[i] = float64(s*v) + float64(c*w)
	}
}

// sortPairs sorts values in descending order, and the rows of vectors with them.
func sortPairs(values []float64, vectors matrix) {
	for i := range values {
		k := i
		for j := i + 1; j < len(values); j++ {
			if values[j] > values[k] {
				k = j
			}
		}
		if k == i {
			continue
		}
		values[i], values[k] = values[k], values[i]
		x, y := vectors.Row(i), vectors.Row(k)
		for j := range x {
			x[j], y[j] = y[j], x[j]
		}
	}
}
