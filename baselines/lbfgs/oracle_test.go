package lbfgs

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"polkrepro/loss"
)

// basis returns φ_q(x_i), n×n, for an orthonormal basis of the functions on the
// samples: by the eigenvectors of K, which is singular where samples coincide.
func basis(t *rapid.T, gram mat.Symmetric) *mat.Dense {
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		t.Fatal("no eigenvectors")
	}
	var phi mat.Dense
	eigen.VectorsTo(&phi)
	phi.Apply(func(_, q int, v float64) float64 { return v * math.Sqrt(max(0, eigen.Values(nil)[q])) }, &phi)
	return &phi
}

// logisticMinimum minimizes over the coefficients of an orthonormal basis by
// Newton's method with step halving. Where it ends, ‖∇P‖²/(2λ) bounds what is
// left, as P is λ-strongly convex.
func logisticMinimum(t *rapid.T, c Config, n int, x []float32, y []float64) float64 {
	size := n * c.Classes
	phi := basis(t, denseGram(c.Kernel, x, c.Dim))
	beta, step := mat.NewVecDense(size, nil), mat.NewVecDense(size, nil)
	for range 200 {
		value, grad, hessian := logisticModel(c, phi, y, beta)
		if left := mat.Dot(grad, grad) / (2 * c.Regularizer); left < 1e-14 {
			return value
		}
		var chol mat.Cholesky
		if !chol.Factorize(hessian) {
			t.Fatal("the Hessian is not positive definite")
		}
		if err := chol.SolveVecTo(step, grad); err != nil {
			t.Fatal(err)
		}
		var next mat.VecDense
		for size := 1.0; size > 1e-6; size /= 2 {
			next.AddScaledVec(beta, -size, step)
			if lower, _, _ := logisticModel(c, phi, y, &next); lower < value {
				break
			}
		}
		beta.CopyVec(&next)
	}
	t.Fatal("Newton's method does not converge")
	return 0
}

// logisticModel returns P, its gradient and its Hessian in the coefficients
// β_qc of f_c = Σ_q β_qc φ_q, at index qC+c.
func logisticModel(c Config, phi *mat.Dense, y []float64, beta *mat.VecDense) (float64, *mat.VecDense, *mat.SymDense) {
	n, classes := len(y), c.Classes
	var f mat.Dense
	f.Mul(phi, mat.NewDense(n, classes, beta.RawVector().Data))
	value := risk(c.Loss, f.RawMatrix().Data, y) + c.Regularizer/2*mat.Dot(beta, beta)
	grad, hessian := mat.NewVecDense(n*classes, nil), mat.NewSymDense(n*classes, nil)
	grad.ScaleVec(c.Regularizer, beta)
	for a := range n * classes {
		hessian.SetSym(a, a, c.Regularizer)
	}
	p := make([]float64, classes)
	for i, label := range y {
		loss.MultiLogistic{}.Probabilities(p, f.RawRowView(i))
		for a := range n * classes {
			pa, phiA := p[a%classes], phi.At(i, a/classes)/float64(n)
			residual := pa
			if a%classes == int(label) {
				residual--
			}
			grad.SetVec(a, grad.AtVec(a)+residual*phiA)
			for b := range a + 1 {
				curvature := -pa * p[b%classes]
				if a%classes == b%classes {
					curvature += pa
				}
				hessian.SetSym(a, b, hessian.At(a, b)+curvature*phiA*phi.At(i, b/classes))
			}
		}
	}
	return value, grad, hessian
}

// The relative accuracy that hingeMinimum aims at, and the accuracy that it has
// to reach, for P(0) = 1: rounding in the barrier leaves it short of the first
// where values of K differ much.
const oracleAim, oracleGap = 1e-7, 1e-5

// hingeMinimum brackets min P by D(u) and P(f_u), for u from the central path
// of the dual: Newton's method with a logarithmic barrier for p = u + e_y ≥ 0.
func hingeMinimum(t *rapid.T, c Config, n int, x []float32, y []float64) (lower, upper float64) {
	o := newHingeDual(c, n, x, y)
	lower, upper = math.Inf(-1), math.Inf(1)
	for weight := 1.0; weight < 1e12; weight *= 8 {
		for range 100 {
			if o.newton(t, weight) < 1e-9 {
				break
			}
		}
		dual, primal := o.objectives(c, y)
		if lower, upper = max(lower, dual), min(upper, primal); upper-lower <= oracleAim*upper {
			break
		}
	}
	return lower, upper
}

// hingeDual is min −D: ½(p − e)ᵀQ(p − e) + eᵀp/N, where e_iy = 1, with the
// entries of a sample's p, nonnegative, adding up to 1.
type hingeDual struct {
	n, classes int
	lambda     float64
	q          *mat.SymDense
	e, p       *mat.VecDense
}

func newHingeDual(c Config, n int, x []float32, y []float64) *hingeDual {
	d, gram := n*c.Classes, denseGram(c.Kernel, x, c.Dim)
	o := &hingeDual{n, c.Classes, c.Regularizer, mat.NewSymDense(d, nil), mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)}
	for a := range d {
		o.p.SetVec(a, 1/float64(c.Classes))
		for b := a % c.Classes; b <= a; b += c.Classes {
			o.q.SetSym(a, b, gram.At(a/c.Classes, b/c.Classes)/(c.Regularizer*float64(n*n)))
		}
	}
	for i, label := range y {
		o.e.SetVec(i*c.Classes+int(label), 1)
	}
	return o
}

// value returns −D(p), and its gradient.
func (o *hingeDual) value(p *mat.VecDense) (float64, *mat.VecDense) {
	var u, qu, grad mat.VecDense
	u.SubVec(p, o.e)
	qu.MulVec(o.q, &u)
	grad.AddScaledVec(&qu, 1/float64(o.n), o.e)
	return mat.Dot(&u, &qu)/2 + (mat.Dot(o.e, p)-float64(o.n))/float64(o.n), &grad
}

// merit is weight·(−D) with the barrier.
func (o *hingeDual) merit(p *mat.VecDense, weight float64) float64 {
	sum, _ := o.value(p)
	sum *= weight
	for _, v := range p.RawVector().Data {
		if !(v > 0) {
			return math.Inf(1)
		}
		sum -= math.Log(v)
	}
	return sum
}

// newton takes a step and returns by how much it lowered the merit.
func (o *hingeDual) newton(t *rapid.T, weight float64) float64 {
	d := o.p.Len()
	kkt, right := mat.NewDense(d+o.n, d+o.n, nil), mat.NewVecDense(d+o.n, nil)
	_, grad := o.value(o.p)
	for a := range d {
		p := o.p.AtVec(a)
		for b := range d {
			kkt.Set(a, b, weight*o.q.At(a, b))
		}
		kkt.Set(a, a, kkt.At(a, a)+1/(p*p))
		kkt.Set(a, d+a/o.classes, 1)
		kkt.Set(d+a/o.classes, a, 1)
		right.SetVec(a, 1/p-weight*grad.AtVec(a))
	}
	var solution, next mat.VecDense
	if err := solution.SolveVec(kkt, right); err != nil {
		if _, ok := err.(mat.Condition); !ok {
			t.Fatal(err)
		}
	}
	before := o.merit(o.p, weight)
	for size := 1.0; size > 1e-10; size /= 2 {
		next.AddScaledVec(o.p, size, solution.SliceVec(0, d))
		if after := o.merit(&next, weight); after < before {
			o.p.CopyVec(&next)
			o.normalize()
			return before - after
		}
	}
	return 0
}

// normalize takes the rounding of the steps out of the sums.
func (o *hingeDual) normalize() {
	for i := range o.n {
		row := o.p.SliceVec(i*o.classes, (i+1)*o.classes).(*mat.VecDense)
		row.ScaleVec(1/mat.Sum(row), row)
	}
}

// objectives returns D(u) and P(f_u).
func (o *hingeDual) objectives(c Config, y []float64) (dual, primal float64) {
	value, _ := o.value(o.p)
	var u, f mat.VecDense
	u.SubVec(o.p, o.e)
	f.MulVec(o.q, &u)
	norm := mat.Dot(&u, &f) / 2
	f.ScaleVec(-float64(o.n), &f)
	return -value, risk(c.Loss, f.RawVector().Data, y) + norm
}
