package polk

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// bordering holds the values that Enter computes for all L points z at once, before they enter one
// after the other.
type bordering struct {
	points  *kernel.Points
	values  matrix // L×M: κ from the points to the dictionary
	others  matrix // L×(n+L): κ from the points to the new elements and to each other
	coeff   matrix // L×M: P·κ, their rows of T
	residue matrix // (M+n)×C: weights of f̃ − f
	gain    matrix // L×C: (f̃ − f)(z)
	entered []int  // indices of the points that have entered
	shares  matrix // len(entered)×C: gain/√d of these points

	columns matrix    // transposed rows of R̂ of these points
	schur   matrix    // len(entered)×(n+len(entered)): rows of S of these points
	v       []float64 // M+n+L: κ from a point to the elements
	product []float64 // M+n+L: Q·v
}

// Enter borders Q = P̂ + R̂ᵀR̂ by elements z, one after the other. Let v be the kernel values of
// z to the elements that are left, t = Q·v, and d = κ(z, z) − vᵀt the squared distance of
// κ(z, ·) to their span. The bordered inverse is
//
//	⎡Q 0⎤ + 1/d·⎡−t⎤·[−tᵀ 1],
//	⎣0 0⎦       ⎣ 1⎦
//
// so R̂ gains one row, r = [−tᵀ 1]/√d. Since f is the projection of f̃ on that span, f̃ − f is
// orthogonal to it. With z, the projection gains (f̃ − f)(z)/d times the part of κ(z, ·) that is
// orthogonal to the span: w grows by r·(f̃ − f)(z)/√d.
//
// commit, which computes the new inverse from P, treats z as one more new element of the step,
// with its row of T and of S.
//
// The products with P and with all weights are computed once, for all points.
func (k *komp) Enter(points ...[]float32) []int {
	e := &k.border
	k.evaluate(points)
	first, numbers := k.newRows.Len(), make([]int, len(points))
	k.resize(k.order + k.in.n + len(points))
	for i := range points {
		numbers[i] = k.enter(i, first)
	}
	k.resize(k.order + k.in.n + len(e.entered))
	if len(e.entered) > 0 {
		k.addShares(first)
	}
	k.joinNew(points)
	return numbers
}

// evaluate fills in k.border.
func (k *komp) evaluate(points [][]float32) {
	e, in, m, n, f := &k.border, &k.in, k.order, k.in.n, k.dict.f
	l := len(points)
	if e.points == nil {
		e.points = kernel.NewPoints(f.Dict.Dim())
	}
	e.points.Reset()
	for _, x := range points {
		e.points.Append(x)
	}
	x64 := e.points.Rows64(0, l)
	e.values, e.others, e.coeff = e.values.Fresh(l, m), e.others.Fresh(l, n+l), e.coeff.Fresh(l, m)
	f.Dict.Block64(f.Kernel, x64, e.values, k.dict.threads)
	in.points.Block64(f.Kernel, x64, e.others.Cols(0, n), k.dict.threads)
	e.points.Block64(f.Kernel, x64, e.others.Cols(n, n+l), 1)
	k.learner.evals += int64(l) * int64(m+n+l)
	k.dict.coefficients(e.values, e.coeff)
	e.residue, e.gain = e.residue.Fresh(m+n, f.Outputs), e.gain.Fresh(l, f.Outputs)
	e.residue.Rows(0, m).Copy(k.dict.weights())
	e.residue.Rows(m, m+n).Copy(in.weights)
	for j, on := range k.present {
		if on {
			gemm.Axpy(-1, k.weights.Row(j), e.residue.Row(j))
		}
	}
	gemm.MulAB(1, e.values, e.residue.Rows(0, m), 0, e.gain, k.dict.threads)
	gemm.MulAB(1, e.others.Cols(0, n), e.residue.Rows(m, m+n), 1, e.gain, k.dict.threads)
	e.entered, e.shares = e.entered[:0], e.shares.Fresh(0, f.Outputs)
}

// enter adds point i to R̂ and to everything that is kept per element, except the weights. It returns
// the number of the new element, or −1 if the point is too near to the span of the others, or its
// κ(x, x) is not between 0 and largest. The rows of R̂ from first on belong to the points that
// entered before it.
func (k *komp) enter(i, first int) int {
	e, m, n := &k.border, k.order, k.in.n
	e.v = grow(e.v, len(k.present))
	v, number := e.v, m+n+len(e.entered)
	others := e.others.Row(i)
	copy(v, e.values.Row(i))
	copy(v[m:], others[:n])
	clear(v[m+n:])
	for a, q := range e.entered {
		v[m+n+a] = others[n+q]
	}
	gain, x := e.gain.Row(i), e.points.At(i)
	t := k.timesInverse(v, e.coeff.Row(i))
	for a := range e.entered {
		gemm.Axpy(-gemm.Dot(k.newRows.Row(first+a), v), e.shares.Row(a), gain)
	}
	self := k.dict.f.Kernel.Self(x)
	d := self + k.dict.ridge - gemm.Dot(t, v)
	if !(d > prune.Distinct*self) || !(self >= 0 && self <= largest) {
		return -1
	}
	k.squaredError = max(k.squaredError-sumSquares(gain)/d, 0)
	root := math.Sqrt(d)
	e.shares = e.shares.Reshaped(len(e.entered)+1, len(gain))
	for q, g := range gain {
		e.shares.Set(len(e.entered), q, g/root)
	}
	e.entered = append(e.entered, i)
	rows := k.newRows.Len()
	k.newRows.Matrix = k.newRows.Reshaped(rows+1, len(k.present))
	row := k.newRows.Row(rows)
	for q, w := range t {
		row[q] = -w / root
		k.invDiag[q] += w * w / d
	}
	row[number] = 1 / root
	k.invDiag[number], k.self[number] = 1/d, self+k.dict.ridge
	k.present[number] = true
	k.left++
	return number
}

// timesInverse returns Q·v, given pv = P·v over the dictionary.
func (k *komp) timesInverse(v, pv []float64) []float64 {
	m := k.order
	k.border.product = grow(k.border.product, len(v))
	t := k.border.product
	clear(t[m:])
	copy(t, pv)
	for i := range k.takenOld {
		taken := k.takenCols.Row(i)
		gemm.Axpy(-gemm.Dot(taken, v[:m]), taken, t[:m])
	}
	for i := range k.newRows.Len() {
		row := k.newRows.Row(i)
		gemm.Axpy(gemm.Dot(row, v), row, t)
	}
	k.clearAbsent(t)
	return t
}

// addShares updates the weights of all elements for the elements that have entered, whose rows
// of R̂ begin at first.
func (k *komp) addShares(first int) {
	e, total := &k.border, len(k.present)
	k.weights = k.weights.Reshaped(total, k.dict.f.Outputs)
	e.columns = e.columns.Fresh(total, len(e.entered))
	gemm.Transpose(k.newRows.Rows(first, k.newRows.Len()), e.columns)
	gemm.MulAB(1, e.columns, e.shares, 1, k.weights, k.dict.threads)
	k.updateNorms()
}

// joinNew makes the points that have entered new elements of the step, with their rows of S.
func (k *komp) joinNew(points [][]float32) {
	e, in, m, n, c := &k.border, &k.in, k.order, k.in.n, k.dict.f.Outputs
	l := len(e.entered)
	in.toDict, in.coeff, in.weights = in.toDict.Reshaped(n+l, m), in.coeff.Reshaped(n+l, m), in.weights.Reshaped(n+l, c)
	e.schur = e.schur.Fresh(l, n+l)
	for a, i := range e.entered {
		copy(in.toDict.Row(n+a), e.values.Row(i))
		copy(in.coeff.Row(n+a), e.coeff.Row(i))
		in.points.Append(points[i])
		in.samples = append(in.samples[:n+a], -1)
		row, others := e.schur.Row(a), e.others.Row(i)
		copy(row, others[:n])
		for b, q := range e.entered {
			row[n+b] = others[n+q]
		}
		row[n+a] = k.self[m+n+a]
	}
	in.gram = in.gram.Bordered(e.schur)
	coeff := in.coeff.Rows(n, n+l)
	gemm.MulABT(-1, coeff, in.toDict, 1, e.schur, k.dict.threads)
	if k.illConditioned { // as in formSchur
		gemm.MulABT(-1, k.dict.residualOf(in.toDict.Rows(n, n+l), coeff), in.coeff, 1, e.schur, k.dict.threads)
	}
	in.schur = in.schur.Bordered(e.schur)
	in.n += l
}
