package polk

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// Values returns κ between x and all elements.
func (s *withInverse) Values(x []float32) []float64 {
	m, n := s.dict, s.b.n
	s.values, s.wide = grow(s.values, m+n), grow(s.wide, len(x))
	kernel.Widen(s.wide, x)
	s.f.Dict.Block64(s.f.Kernel, 1, s.wide, s.values, m+n, 1)
	s.newPoints().Block64(s.f.Kernel, 1, s.wide, s.values[m:], n, 1)
	s.l.evals += int64(m + n)
	return s.values
}

// newPoints returns the points of the new elements, of which those of the mini-batch
// may have been folded into others.
func (s *withInverse) newPoints() *kernel.Points {
	p, dim := s.l.points, s.f.Dict.Dim()
	if p.Len() != s.b.n {
		p.Reset()
		for i := range s.b.n {
			p.Append(s.b.points[i*dim : (i+1)*dim])
		}
	}
	return p
}

// An entrance is what Enter computes of L points z at once, before they enter one after the
// other.
type entrance struct {
	points  *kernel.Points
	among   []float64 // L×(n+L): κ to the new elements and to each other
	residue []float64 // (M+n)×C: weights of f̃ − f
	gain    []float64 // L×C: (f̃ − f)(z)
	target  []float64 // L×C: f̃(z), if illConditioned
	kept    []int     // those of them that have entered
	shares  []float64 // kept×C: their gains by √d
	rows    []float64 // transposed rows of R̂
	schur   []float64 // kept×(n+kept): their rows of S
}

// Enter borders Q = P̂ + R̂ᵀR̂ by elements z, one after the other. With v the kernel values
// of one, t = Q·v and d = κ(z, z) − vᵀt, its squared distance to the span of the elements
// that are left,
//
//	⎡Q 0⎤ + 1/d·⎡−t⎤·[−tᵀ 1]
//	⎣0 0⎦       ⎣ 1⎦
//
// is one row more of R̂, r. As f is the projection of f̃ on the others, f̃ − f is orthogonal
// to them, and with z the projection has in addition (f̃ − f)(z)/d times the part of
// κ(z, ·) that is orthogonal to them: w grows by r·(f̃ − f)(z)/√d. For commit, which goes
// from P to the new inverse, z is one more new element of the step: it has its row of T
// and of S.
//
// The products with P and with all weights are made once, for all points.
func (s *withInverse) Enter(points ...[]float32) []int {
	s.settle()
	s.evaluate(points)
	first, numbers := s.newRows.rows, make([]int, len(points))
	s.widen(s.dict + s.b.n + len(points))
	for i := range points {
		numbers[i] = s.border(i, first)
	}
	s.widen(s.dict + s.b.n + len(s.entrance.kept))
	s.joinWeights(first)
	s.joinBatch(points)
	return numbers
}

// evaluate appends to the batch the points' kernel values to the dictionary and their rows
// of T, and fills in the entrance.
func (s *withInverse) evaluate(points [][]float32) {
	e, b, m, n, c, dim := &s.entrance, s.b, s.dict, s.b.n, s.f.Outputs, s.f.Dict.Dim()
	l, total := len(points), s.dict+s.b.n
	if e.points == nil {
		e.points = kernel.NewPoints(dim)
	}
	e.points.Reset()
	s.wide = grow(s.wide, l*dim)
	for i, x := range points {
		e.points.Append(x)
		kernel.Widen(s.wide[i*dim:], x)
	}
	b.toDict, s.coeff = extend(b.toDict[:n*m], l*m), extend(s.coeff[:n*m], l*m)
	v := b.toDict[n*m:]
	s.f.Dict.Block64(s.f.Kernel, l, s.wide, v, m, s.threads)
	e.among = grow(e.among, l*(n+l))
	s.newPoints().Block64(s.f.Kernel, l, s.wide, e.among, n+l, s.threads)
	e.points.Block64(s.f.Kernel, l, s.wide, e.among[n:], n+l, 1)
	s.l.evals += int64(l) * int64(total+l)
	s.coefficients(l, v, s.coeff[n*m:])
	e.residue, e.gain, e.target = grow(e.residue, total*c), grow(e.gain, l*c), grow(e.target, l*c)
	copy(e.residue, s.f.W)
	copy(e.residue[m*c:], b.weights[:n*c])
	atPoints := func(dst []float64) {
		gemm.MulAB(l, c, m, 1, v, m, e.residue, c, 0, dst, c, s.threads)
		gemm.MulAB(l, c, n, 1, e.among, n+l, e.residue[m*c:], c, 1, dst, c, s.threads)
	}
	if s.illConditioned {
		atPoints(e.target)
	}
	for j, on := range s.present {
		if on {
			axpy(-1, s.weights[j*c:(j+1)*c], e.residue[j*c:(j+1)*c])
		}
	}
	atPoints(e.gain)
	e.kept, e.shares = e.kept[:0], e.shares[:0]
}

// border makes point i of the entrance part of the loop, R̂ and all that is kept by element
// but the weights, and returns its number, −1 if it is too near to the others. The rows of
// R̂ from first on are those of the points before it.
func (s *withInverse) border(i, first int) int {
	e, m, n, c := &s.entrance, s.dict, s.b.n, s.f.Outputs
	among := e.among[i*(n+e.points.Len()) : (i+1)*(n+e.points.Len())]
	s.values = grow(s.values, s.newRows.cols)
	v, number := s.values, m+n+len(e.kept)
	copy(v, s.b.toDict[(n+i)*m:(n+i+1)*m])
	copy(v[m:], among[:n])
	clear(v[m+n:])
	for a, q := range e.kept {
		v[m+n+a] = among[n+q]
	}
	gain, x := e.gain[i*c:(i+1)*c], e.points.At(i)
	t := s.timesInverse(v, s.coeff[(n+i)*m:(n+i+1)*m])
	for a := range e.kept {
		axpy(-dot(s.newRows.row(first+a), v), e.shares[a*c:(a+1)*c], gain)
	}
	self := s.f.Kernel.Self(x)
	d := self + s.ridge - dot(t, v)
	if !(d > prune.Distinct*self) || !(self <= largest) {
		return -1
	}
	s.spent = max(s.spent-sumSquares(gain)/d, 0)
	for _, g := range gain {
		e.shares = append(e.shares, g/math.Sqrt(d))
	}
	e.kept = append(e.kept, i)
	s.enterLoop(number, t, d, self+s.ridge)
	return number
}

// timesInverse returns Q·v, for P·v over the dictionary.
func (s *withInverse) timesInverse(v, pv []float64) []float64 {
	m := s.dict
	s.product = grow(s.product, len(v))
	t := s.product
	clear(t[m:])
	copy(t, pv)
	for i := range s.goneOld {
		past := s.goneCols[i*m : (i+1)*m]
		gemm.Axpy(-dot(past, v[:m]), past, t[:m])
	}
	for i := range s.newRows.rows {
		row := s.newRows.row(i)
		axpy(dot(row, v), row, t)
	}
	for j, on := range s.present {
		if !on {
			t[j] = 0
		}
	}
	return t
}

// widen makes R̂ and all that is kept by element, but the weights, total elements long.
// Those that it adds are not present.
func (s *withInverse) widen(total int) {
	was := s.newRows.cols
	s.newRows.widen(total)
	for _, a := range []*[]float64{&s.invDiag, &s.invDiagFloor, &s.oldDiag, &s.norm2, &s.price, &s.spread} {
		*a = append((*a)[:min(was, total)], make([]float64, max(total-was, 0))...)
	}
	s.present = append(s.present[:min(was, total)], make([]bool, max(total-was, 0))...)
	s.applied = append(s.applied[:min(was, total)], make([]int, max(total-was, 0))...)
	for j := was; j < total; j++ {
		s.price[j] = math.Inf(1)
	}
}

// enterLoop makes element j, with t = Q·v and the distance d, part of R̂ and of all that is
// kept by element but the weights.
func (s *withInverse) enterLoop(j int, t []float64, d, self float64) {
	r, root := &s.newRows, math.Sqrt(d)
	for i, v := range t {
		r.data = append(r.data, -v/root)
		s.invDiag[i] += v * v / d
	}
	r.rows++
	r.row(r.rows - 1)[j] = 1 / root
	s.invDiag[j], s.invDiagFloor[j] = 1/d, 1/self
	s.present[j] = true
	s.left++
}

// joinWeights gives all elements the weights with those that have entered, whose rows of
// R̂ begin at first.
func (s *withInverse) joinWeights(first int) {
	e, c, l, total := &s.entrance, s.f.Outputs, len(s.entrance.kept), s.newRows.cols
	if l == 0 {
		return
	}
	s.weights = extend(s.weights[:(total-l)*c], l*c)
	clear(s.weights[(total-l)*c:])
	e.rows = grow(e.rows, l*total)
	gemm.Transpose(l, total, s.newRows.data[first*total:], total, e.rows, l)
	gemm.MulAB(total, c, l, 1, e.rows, l, e.shares, c, 1, s.weights, c, s.threads)
	for j, on := range s.present {
		if on {
			s.norm2[j] = sumSquares(s.weights[j*c : (j+1)*c])
			s.reprice(j)
		}
	}
}

// joinBatch makes those that have entered new elements of the step, with their rows of S.
func (s *withInverse) joinBatch(points [][]float32) {
	e, b, m, n, c := &s.entrance, s.b, s.dict, s.b.n, s.f.Outputs
	l := len(e.kept)
	for a, i := range e.kept {
		copy(b.toDict[(n+a)*m:(n+a+1)*m], b.toDict[(n+i)*m:])
		copy(s.coeff[(n+a)*m:(n+a+1)*m], s.coeff[(n+i)*m:])
		b.points = append(b.points[:(n+a)*len(points[i])], points[i]...)
		s.l.points.Append(points[i])
		b.samples = append(b.samples[:n+a], -1)
		if s.illConditioned {
			s.target = append(s.target[:(m+n+a)*c], e.target[i*c:(i+1)*c]...)
		}
	}
	b.toDict, s.coeff = b.toDict[:(n+l)*m], s.coeff[:(n+l)*m]
	b.weights = extend(b.weights[:n*c], l*c)
	clear(b.weights[n*c:])
	e.schur = e.schur[:0]
	for a, i := range e.kept {
		among := e.among[i*(n+len(points)) : (i+1)*(n+len(points))]
		e.schur = append(e.schur, among[:n]...)
		for _, q := range e.kept {
			e.schur = append(e.schur, among[n+q])
		}
		e.schur[a*(n+l)+n+a] = s.f.Kernel.Self(points[i]) + s.ridge
	}
	b.gram = bordered(b.gram, n, l, e.schur)
	coeff := s.coeff[n*m:]
	gemm.MulABT(l, n+l, m, -1, coeff, m, b.toDict, m, 1, e.schur, n+l, s.threads)
	if s.illConditioned { // as in formSchur
		gemm.MulABT(l, n+l, m, -1, s.residualOf(l, b.toDict[n*m:], coeff), m, s.coeff, m, 1, e.schur, n+l, s.threads)
	}
	s.schur = bordered(s.schur, n, l, e.schur)
	b.n += l
}

// startWeights returns the weights of j in f̃, less what Drop took of them. Until commit
// they are where they were before the loop.
func (s *withInverse) startWeights(j int) []float64 {
	if j < s.dict {
		return s.f.Weights(j)
	}
	c := s.f.Outputs
	return s.b.weights[(j-s.dict)*c : (j-s.dict+1)*c]
}

// bordered returns the symmetric n×n matrix a with l rows and columns more, of which rows
// is l×(n+l).
func bordered(a []float64, n, l int, rows []float64) []float64 {
	w := n + l
	a = extend(a[:n*n], w*w-n*n)
	for i := n - 1; i >= 0; i-- {
		copy(a[i*w:i*w+n], a[i*n:(i+1)*n])
		for q := range l {
			a[i*w+n+q] = rows[q*w+i]
		}
	}
	copy(a[n*w:], rows)
	return a
}
