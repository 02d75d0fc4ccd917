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

// Enter borders Q = P̂ + R̂ᵀR̂ by an element z. With v its kernel values, t = Q·v and
// d = κ(z, z) − vᵀt, its squared distance to the span of the elements that are left,
//
//	⎡Q 0⎤ + 1/d·⎡−t⎤·[−tᵀ 1]
//	⎣0 0⎦       ⎣ 1⎦
//
// is one row more of R̂. As f is the projection of f̃ on the others, f̃ − f is orthogonal
// to them, and with z the projection has in addition (f̃ − f)(z)/d times the part of
// κ(z, ·) that is orthogonal to them, κ(z, ·) − Σ_j t_j κ(x_j, ·). For commit, which goes
// from P to the new inverse, z is one more new element of the step: it has its row of T
// and of S.
func (s *withInverse) Enter(x []float32) int {
	m, n, b, c := s.dict, s.b.n, s.b, s.f.Outputs
	self := s.f.Kernel.Self(x)
	v := s.Values(x)
	s.projectEntering(v[:m])
	t := s.timesInverse(v)
	d := self + s.ridge - dot(t, v)
	if !(d > prune.Distinct*self) || !(self <= largest) {
		return -1
	}
	s.enterSchur(v, self+s.ridge)
	s.enterWeights(v, t, d)
	s.enterLoop(t, d, self+s.ridge)
	b.gram = bordered(b.gram, n, v[m:], self+s.ridge)
	b.toDict = append(b.toDict[:n*m], v[:m]...)
	b.points = append(b.points[:n*len(x)], x...)
	b.weights = append(b.weights[:n*c], make([]float64, c)...)
	b.samples = append(b.samples[:n], -1)
	s.l.points.Append(x)
	b.n++
	return m + n
}

// projectEntering appends to T the coefficients P·v of an element with values v at the
// dictionary, refined if P is (see solve).
func (s *withInverse) projectEntering(v []float64) {
	m, n := s.dict, s.b.n
	s.coeff = extend(s.coeff[:n*m], m)
	t := s.coeff[n*m:]
	s.inverse.mul(1, v, 0, t, s.threads)
	if !(s.residual > refineAbove) {
		return
	}
	for range 2 {
		s.inverse.mul(1, s.residualOf(t, v), 1, t, s.threads)
	}
}

// residualOf returns v − K·t.
func (s *withInverse) residualOf(t, v []float64) []float64 {
	s.scratch = grow(s.scratch, len(v))
	for i := range v {
		s.scratch[i] = v[i] - gemm.Dot(s.inverse.gramRow(i), t)
	}
	return s.scratch
}

// timesInverse returns Q·v, of which P·v is the last row of T.
func (s *withInverse) timesInverse(v []float64) []float64 {
	m := s.dict
	s.product = grow(s.product, len(v))
	t := s.product
	clear(t[m:])
	copy(t, s.coeff[s.b.n*m:])
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

// enterSchur appends a row and column to S = K_XX − K_XD·T, for kernel values v.
func (s *withInverse) enterSchur(v []float64, self float64) {
	m, n := s.dict, s.b.n
	t := s.coeff[n*m:]
	row := s.schurRow[:0]
	for i := range n {
		row = append(row, v[m+i]-gemm.Dot(t, s.b.toDict[i*m:(i+1)*m]))
	}
	last := self - gemm.Dot(t, v[:m])
	if s.illConditioned { // as in formSchur
		res := s.residualOf(t, v[:m])
		for i := range n {
			row[i] -= gemm.Dot(res, s.coeff[i*m:(i+1)*m])
		}
		last -= gemm.Dot(res, t)
	}
	s.schurRow, s.schur = row, bordered(s.schur, n, row, last)
}

// enterLoop makes the element part of the loop: R̂ and all that is kept by element.
func (s *withInverse) enterLoop(t []float64, d, self float64) {
	root := math.Sqrt(d)
	r := &s.newRows
	r.data = widened(r.data, r.rows, r.cols)
	r.rows, r.cols = r.rows+1, r.cols+1
	for j, v := range t {
		r.data = append(r.data, -v/root)
		s.invDiag[j] += v * v / d
	}
	r.data = append(r.data, 1/root)
	s.invDiag = append(s.invDiag[:len(t)], 1/d)
	s.invDiagFloor = append(s.invDiagFloor[:len(t)], 1/self)
	s.oldDiag = append(s.oldDiag[:len(t)], 0)
	s.present = append(s.present[:len(t)], true)
	s.price, s.spread = append(s.price[:len(t)], 0), append(s.spread[:len(t)], 0) // not used: a pruner asks for Cost
	s.applied = append(s.applied[:len(t)], 0)
	s.left++
}

// enterWeights refits all weights with the element.
func (s *withInverse) enterWeights(v, t []float64, d float64) {
	c := s.f.Outputs
	s.gain = grow(s.gain, c)
	clear(s.gain)
	if s.illConditioned {
		s.target = append(s.target[:len(v)*c], s.gain...)
	}
	for j, k := range v {
		axpy(k, s.startWeights(j), s.gain)
	}
	if s.illConditioned {
		copy(s.target[len(v)*c:], s.gain)
	}
	for j, k := range v {
		if s.present[j] {
			axpy(-k, s.Weights(j), s.gain)
		}
	}
	s.spent = max(s.spent-sumSquares(s.gain)/d, 0)
	scale(1/d, s.gain)
	for j, on := range s.present {
		if on {
			axpy(-t[j], s.gain, s.Weights(j))
			s.norm2[j] = sumSquares(s.Weights(j))
		}
	}
	s.weights = append(s.weights[:len(v)*c], s.gain...)
	s.norm2 = append(s.norm2[:len(v)], sumSquares(s.gain))
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

// bordered returns the n×n matrix a with one row and column more.
func bordered(a []float64, n int, row []float64, last float64) []float64 {
	a = widened(a, n, n)
	for i, v := range row[:n] {
		a[i*(n+1)+n] = v
	}
	return append(append(a, row[:n]...), last)
}

// widened returns the rows×cols matrix a with a column of zeros more.
func widened(a []float64, rows, cols int) []float64 {
	a = extend(a[:rows*cols], rows)
	for i := rows - 1; i >= 0; i-- {
		copy(a[i*(cols+1):], a[i*cols:(i+1)*cols])
		a[i*(cols+1)+cols] = 0
	}
	return a
}
