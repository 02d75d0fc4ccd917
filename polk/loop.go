package polk

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/internal/portable"
)

// A loop holds the weights and costs of all M+n elements, by number, and Q = P̂ + R̂ᵀR̂. It is valid
// from startLoop until commit. Only Remove, Drop and Enter change it, each for all elements at once.
type loop struct {
	elements
	squaredError float64 // r², of the removals

	weights matrix    // (M+n)×C: w
	norm2   []float64 // ‖w_j‖²
	self    []float64 // K_jj, which includes the ridge
	invDiag []float64 // Q_jj
	oldDiag []float64 // diagonal of P̂, zeros for the new elements

	newRows   rowFactor // R̂
	takenOld  []int     // removed dictionary elements in the order of removal
	takenCols matrix    // len(takenOld)×M: scaled column x of each

	column []float64 // o of a removal
	shared []float64 // u of a removal
}

// Cost returns ‖w_j‖²/Q_jj, by which the removal of j raises r²: (a).
func (l *loop) Cost(j int) float64 { return l.norm2[j] / l.invDiag[j] }

// Norm2 returns ‖w_j‖².
func (l *loop) Norm2(j int) float64 { return l.norm2[j] }

// Spent returns r².
func (l *loop) Spent() float64 { return l.squaredError }

// Distance returns 1/Q_jj, the squared distance of κ(d_j, ·) to the span of the others.
func (l *loop) Distance(j int) float64 { return 1 / l.invDiag[j] }

// Weights returns w_j.
func (l *loop) Weights(j int) []float64 { return l.weights.Row(j) }

// leastInverse returns 1/κ(x_j, x_j), below which no Q_jj can fall.
func (l *loop) leastInverse(j int) float64 { return 1 / l.self[j] }

// shareWeights applies (b) to the weights and the costs of the elements that are present, for the
// column o of element j.
func (l *loop) shareWeights(j int, column []float64) {
	shared := append(l.shared[:0], l.weights.Row(j)...) // u = w_j/o_j
	l.shared = shared
	scale(1/column[j], shared)
	rest, present := l.weights.Data(), l.present
	for i, o := range column {
		w := rest[:len(shared)]
		rest = rest[len(shared):]
		if o == 0 || !present[i] {
			continue
		}
		norm2 := 0.0
		for q, u := range shared {
			v := w[q] - float64(o*u)
			w[q] = v
			norm2 += float64(v * v)
		}
		l.norm2[i] = norm2
		l.reduce(i, float64(o*o))
	}
}

// reduce reduces Q_jj by lost.
func (l *loop) reduce(j int, lost float64) {
	// A difference that keeps a tenth of Q_jj has lost one digit of it. Below that, Q_jj
	// is summed again from P̂ and R̂, which takes n multiplications and loses no digits.
	const trusted = 0.1
	left := l.invDiag[j] - lost
	if !(left > trusted*l.invDiag[j]) {
		left = l.oldDiag[j] + l.newRows.columnNorm(j)
	}
	// Q_jj is at least 1/κ(x_j, x_j), whatever rounding says.
	if left*l.self[j] < 1 {
		left = l.leastInverse(j)
	}
	l.invDiag[j] = left
}

// takeNew takes new element j out of R̂ and writes o of (b) to out.
func (l *loop) takeNew(out []float64, j int) {
	l.newRows.reflect(j) // gathers column j in the last row
	copy(out, l.newRows.removeLast())
}

// takeOld takes dictionary element j out of P̂ + R̂ᵀR̂ and writes o of (b) to out. x, the column of j
// in P, is a new row of takenCols. takeOld turns it into the scaled column of P̂, for which
// P̂ − x·xᵀ is P̂ without j, reflects R̂ and rotates the last row of R̂ with x.
func (l *loop) takeOld(out []float64, j int, x []float64) {
	l.oldColumn(x, j)
	l.takenOld = append(l.takenOld, j)
	// P̂_jj is at least 1/κ(x_j, x_j). Far below, it has lost its digits since P was last measured,
	// and o_j, by which shareWeights and schurKept divide, must not be 0.
	if least := l.leastInverse(j); !(x[j] > least/2) {
		x[j] = least
	}
	scale(1/math.Sqrt(max(x[j], l.leastInverse(j))), x)
	for i, v := range x {
		l.oldDiag[i] -= float64(v * v)
	}
	clear(out)
	copy(out, x)
	if l.newRows.Len() == 0 {
		return
	}
	l.newRows.reflect(j)
	y := l.newRows.Row(l.newRows.Len() - 1)
	// xxᵀ + yyᵀ stays the same under a rotation of (x, y). This rotation gathers column j in
	// out, and out·outᵀ leaves Q. y, now with a zero at j, stays as the last row of R̂.
	h := portable.Hypot(x[j], y[j])
	cos, sin := x[j]/h, y[j]/h
	for i, v := range y {
		out[i], y[i] = float64(cos*out[i])+float64(sin*v), float64(cos*v)-float64(sin*out[i])
	}
}

// oldColumn turns x, column j of P, into that of P̂. It is left-looking: it subtracts the
// contribution of each removed element.
func (l *loop) oldColumn(x []float64, j int) {
	for i := range l.takenOld {
		taken := l.takenCols.Row(i)
		gemm.Axpy(-taken[j], taken, x)
	}
}

// updateNorms computes all ‖w_j‖² of present elements.
func (l *loop) updateNorms() {
	for j, on := range l.present {
		if on {
			l.norm2[j] = sumSquares(l.weights.Row(j))
		}
	}
}

// resize changes the number of elements to total in R̂ and everything that is kept per element,
// except the weights. The elements that it adds are not present.
func (l *loop) resize(total int) {
	l.newRows.Matrix = l.newRows.Reshaped(l.newRows.Len(), total)
	l.invDiag, l.oldDiag = resized(l.invDiag, total), resized(l.oldDiag, total)
	l.norm2, l.self = resized(l.norm2, total), resized(l.self, total)
	l.present = resized(l.present, total)
}

// A rowFactor is a matrix R that stands for RᵀR, so orthogonal transformations of its rows
// change nothing. Each removal of a new element takes one of its rows.
type rowFactor struct {
	gemm.Matrix[float64]
	mirror   []float64 // u of a reflection
	mirrored []float64 // Rᵀu
}

// removeLast deletes the last row and returns it.
func (r *rowFactor) removeLast() []float64 {
	last := r.Len() - 1
	row := r.Row(last)
	r.Matrix = r.Rows(0, last)
	return row
}

// columnNorm returns the squared norm of column j, (RᵀR)_jj.
func (r *rowFactor) columnNorm(j int) float64 {
	var s float64
	for i := range r.Len() {
		v := r.At(i, j)
		s += float64(v * v)
	}
	return s
}

// reflect applies to the rows the Householder reflection 1 − β·u·uᵀ, β = 2/‖u‖², that makes
// column j zero except in the last row.
func (r *rowFactor) reflect(j int) {
	rows, cols := r.Dims()
	last := rows - 1
	r.mirror = grow(r.mirror, rows)
	u := r.mirror
	for i := range u {
		u[i] = r.At(i, j)
	}
	rest := sumSquares(u[:last])
	if rest == 0 {
		return
	}
	// u = column + norm·e_last. norm has the sign of the column's last element, so that the sum
	// does not cancel.
	norm := math.Copysign(math.Sqrt(rest+float64(u[last]*u[last])), u[last])
	u[last] += norm
	beta := 2 / (rest + float64(u[last]*u[last]))
	r.mirrored = grow(r.mirrored, cols)
	clear(r.mirrored)
	for i, v := range u {
		if v != 0 {
			gemm.Axpy(v, r.Row(i), r.mirrored)
		}
	}
	for i, v := range u {
		if v != 0 {
			gemm.Axpy(-beta*v, r.mirrored, r.Row(i))
		}
	}
	r.Set(last, j, -norm)
}
