package polk

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// An entrance holds what Enter computes for all L points z at once, before they enter one after
// the other.
type entrance struct {
	points  *kernel.Points
	among   []float64 // L×(n+L): κ from the points to the new elements and to each other
	residue []float64 // (M+n)×C: weights of f̃ − f
	gain    []float64 // L×C: (f̃ − f)(z)
	kept    []int     // indices of the points that have entered
	shares  []float64 // kept×C: gain/√d of the kept points
	rows    []float64 // transposed rows of R̂ of the kept points
	schur   []float64 // kept×(n+kept): rows of S of the kept points
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
	k.evaluate(points)
	first, numbers := k.newRows.rows, make([]int, len(points))
	k.widen(k.dict + k.b.n + len(points))
	for i := range points {
		numbers[i] = k.border(i, first)
	}
	k.widen(k.dict + k.b.n + len(k.entrance.kept))
	k.joinWeights(first)
	k.joinBatch(points)
	return numbers
}

// evaluate appends the kernel values between the points and the dictionary to b.toDict, and the
// points' rows of T to k.coeff. It fills in the entrance.
func (k *komp) evaluate(points [][]float32) {
	e, b, m, n, c, dim := &k.entrance, k.b, k.dict, k.b.n, k.f.Outputs, k.f.Dict.Dim()
	l, total := len(points), k.dict+k.b.n
	if e.points == nil {
		e.points = kernel.NewPoints(dim)
	}
	e.points.Reset()
	k.wide = grow(k.wide, l*dim)
	for i, x := range points {
		e.points.Append(x)
		kernel.Widen(k.wide[i*dim:], x)
	}
	b.toDict, k.coeff = extend(b.toDict[:n*m], l*m), extend(k.coeff[:n*m], l*m)
	v := b.toDict[n*m:]
	wide := of(l, dim, k.wide)
	k.f.Dict.Block64(k.f.Kernel, wide, of(l, m, v), k.threads)
	e.among = grow(e.among, l*(n+l))
	among := of(l, n+l, e.among)
	b.points.Block64(k.f.Kernel, wide, among.Cols(0, n), k.threads)
	e.points.Block64(k.f.Kernel, wide, among.Cols(n, n+l), 1)
	k.l.evals += int64(l) * int64(total+l)
	k.coefficients(l, v, k.coeff[n*m:])
	e.residue, e.gain = grow(e.residue, total*c), grow(e.gain, l*c)
	copy(e.residue, k.f.W)
	copy(e.residue[m*c:], b.weights[:n*c])
	for j, on := range k.present {
		if on {
			gemm.Axpy(-1, k.weights[j*c:(j+1)*c], e.residue[j*c:(j+1)*c])
		}
	}
	gemm.MulAB(1, of(l, m, v), of(m, c, e.residue), 0, of(l, c, e.gain), k.threads)
	gemm.MulAB(1, among.Cols(0, n), of(n, c, e.residue[m*c:]), 1, of(l, c, e.gain), k.threads)
	e.kept, e.shares = e.kept[:0], e.shares[:0]
}

// border adds point i of the entrance to R̂ and to everything that is kept per element, except
// the weights. It returns the number of the new element, or −1 if the point is too near to the
// span of the others, or its κ(x, x) is not between 0 and largest. The rows of R̂ from first on
// belong to the points that entered before it.
func (k *komp) border(i, first int) int {
	e, m, n, c := &k.entrance, k.dict, k.b.n, k.f.Outputs
	among := e.among[i*(n+e.points.Len()) : (i+1)*(n+e.points.Len())]
	k.values = grow(k.values, k.newRows.cols)
	v, number := k.values, m+n+len(e.kept)
	copy(v, k.b.toDict[(n+i)*m:(n+i+1)*m])
	copy(v[m:], among[:n])
	clear(v[m+n:])
	for a, q := range e.kept {
		v[m+n+a] = among[n+q]
	}
	gain, x := e.gain[i*c:(i+1)*c], e.points.At(i)
	t := k.timesInverse(v, k.coeff[(n+i)*m:(n+i+1)*m])
	for a := range e.kept {
		gemm.Axpy(-gemm.Dot(k.newRows.row(first+a), v), e.shares[a*c:(a+1)*c], gain)
	}
	self := k.f.Kernel.Self(x)
	d := self + k.ridge - gemm.Dot(t, v)
	if !(d > prune.Distinct*self) || !(self >= 0 && self <= largest) {
		return -1
	}
	k.spent = max(k.spent-sumSquares(gain)/d, 0)
	for _, g := range gain {
		e.shares = append(e.shares, g/math.Sqrt(d))
	}
	e.kept = append(e.kept, i)
	r, root := &k.newRows, math.Sqrt(d)
	for q, w := range t {
		r.data = append(r.data, -w/root)
		k.invDiag[q] += w * w / d
	}
	r.rows++
	r.row(r.rows - 1)[number] = 1 / root
	k.invDiag[number] = 1 / d
	k.present[number] = true
	k.left++
	return number
}

// timesInverse returns Q·v, given pv = P·v over the dictionary.
func (k *komp) timesInverse(v, pv []float64) []float64 {
	m := k.dict
	k.product = grow(k.product, len(v))
	t := k.product
	clear(t[m:])
	copy(t, pv)
	for i := range k.goneOld {
		past := k.goneCol(i)
		gemm.Axpy(-gemm.Dot(past, v[:m]), past, t[:m])
	}
	for i := range k.newRows.rows {
		row := k.newRows.row(i)
		gemm.Axpy(gemm.Dot(row, v), row, t)
	}
	for j, on := range k.present {
		if !on {
			t[j] = 0
		}
	}
	return t
}

// widen resizes R̂ and everything that is kept per element, except the weights, to total
// elements. The elements that it adds are not present.
func (k *komp) widen(total int) {
	was := k.newRows.cols
	k.newRows.widen(total)
	for _, a := range []*[]float64{&k.invDiag, &k.oldDiag, &k.norm2} {
		*a = append((*a)[:min(was, total)], make([]float64, max(total-was, 0))...)
	}
	k.present = append(k.present[:min(was, total)], make([]bool, max(total-was, 0))...)
}

// joinWeights updates the weights of all elements for the elements that have entered, whose rows
// of R̂ begin at first.
func (k *komp) joinWeights(first int) {
	e, c, l, total := &k.entrance, k.f.Outputs, len(k.entrance.kept), k.newRows.cols
	if l == 0 {
		return
	}
	k.weights = extend(k.weights[:(total-l)*c], l*c)
	clear(k.weights[(total-l)*c:])
	e.rows = grow(e.rows, l*total)
	gemm.Transpose(of(l, total, k.newRows.data[first*total:]), of(total, l, e.rows))
	gemm.MulAB(1, of(total, l, e.rows), of(l, c, e.shares), 1, of(total, c, k.weights), k.threads)
	for j, on := range k.present {
		if on {
			k.norm2[j] = sumSquares(k.weights[j*c : (j+1)*c])
		}
	}
}

// joinBatch makes the points that have entered new elements of the step, with their rows of S.
func (k *komp) joinBatch(points [][]float32) {
	e, b, m, n, c := &k.entrance, k.b, k.dict, k.b.n, k.f.Outputs
	l := len(e.kept)
	for a, i := range e.kept {
		copy(b.toDict[(n+a)*m:(n+a+1)*m], b.toDict[(n+i)*m:])
		copy(k.coeff[(n+a)*m:(n+a+1)*m], k.coeff[(n+i)*m:])
		b.points.Append(points[i])
		b.samples = append(b.samples[:n+a], -1)
	}
	b.toDict, k.coeff = b.toDict[:(n+l)*m], k.coeff[:(n+l)*m]
	b.weights = extend(b.weights[:n*c], l*c)
	clear(b.weights[n*c:])
	e.schur = e.schur[:0]
	for a, i := range e.kept {
		among := e.among[i*(n+len(points)) : (i+1)*(n+len(points))]
		e.schur = append(e.schur, among[:n]...)
		for _, q := range e.kept {
			e.schur = append(e.schur, among[n+q])
		}
		e.schur[a*(n+l)+n+a] = k.f.Kernel.Self(points[i]) + k.ridge
	}
	b.gram = bordered(b.gram, n, l, e.schur)
	coeff := k.coeff[n*m:]
	gemm.MulABT(-1, of(l, m, coeff), of(n+l, m, b.toDict), 1, of(l, n+l, e.schur), k.threads)
	if k.illConditioned { // as in formSchur
		gemm.MulABT(-1, of(l, m, k.residualOf(l, b.toDict[n*m:], coeff)), of(n+l, m, k.coeff), 1, of(l, n+l, e.schur), k.threads)
	}
	k.schur = bordered(k.schur, n, l, e.schur)
	b.n += l
}

// bordered returns the symmetric n×n matrix a extended by l rows and columns; rows, l×(n+l),
// holds the new rows.
func bordered(a []float64, n, l int, rows []float64) []float64 {
	w := n + l
	a = restrideInPlace(a, n, n, n, w, w)
	copy(a[n*w:], rows)
	for i := range n {
		for q := range l {
			a[i*w+n+q] = rows[q*w+i]
		}
	}
	return a
}
