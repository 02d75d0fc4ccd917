package nogd

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

const eta = 0.5

func config(l loss.Loss, landmarks, rank int) Config {
	return Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: l, Classes: 3, Dim: 2, Landmarks: landmarks, Rank: rank,
		LearningRate: polk.Constant(eta),
	}
}

// An oracle runs the paper's algorithm with matrices: kernel weights α, C×B, until there are B
// landmarks; then w = α(D_k^{−1/2}V_kᵀ)⁺, the pseudo-inverse by its definition, and the features
// z = D_k^{−1/2}V_kᵀk.
type oracle struct {
	c         Config
	landmarks learnertest.Terms
	m, w      *mat.Dense // D_k^{−1/2}V_kᵀ and w, once the landmarks are found
}

func (o *oracle) row(x []float32) *mat.VecDense {
	k := mat.NewVecDense(len(o.landmarks), nil)
	for j, e := range o.landmarks {
		k.SetVec(j, o.c.Kernel.Eval(e.X, x))
	}
	return k
}

// score returns f(x) and, once the landmarks are found, z(x).
func (o *oracle) score(x []float32) ([]float64, *mat.VecDense) {
	if o.m == nil {
		return o.landmarks.Score(o.c.Kernel, x, o.c.Classes), nil
	}
	var z, f mat.VecDense
	z.MulVec(o.m, o.row(x))
	f.MulVec(o.w, &z)
	return f.RawVector().Data, &z
}

func (o *oracle) step(x []float32, y float64) {
	f, z := o.score(x)
	g := make([]float64, len(f))
	o.c.Loss.Gradient(g, f, y)
	if o.m != nil {
		o.w.Scale(1-eta*o.c.Regularizer, o.w)
		o.w.RankOne(o.w, -eta, mat.NewVecDense(len(g), g), z)
		return
	}
	o.landmarks.Scale(1 - eta*o.c.Regularizer)
	zero := true
	for q := range g {
		g[q] *= -eta
		zero = zero && g[q] == 0
	}
	if zero && !o.c.Every {
		return
	}
	o.landmarks = append(o.landmarks, learnertest.Term{X: x, W: g})
	if len(o.landmarks) == o.c.Landmarks {
		o.embed()
	}
}

func (o *oracle) embed() {
	b := len(o.landmarks)
	k := o.c.Rank
	if k == 0 {
		k = b
	}
	gram := mat.NewSymDense(b, nil)
	for j, e := range o.landmarks {
		column := o.row(e.X)
		for i := range j + 1 {
			gram.SetSym(i, j, column.AtVec(i))
		}
	}
	var svd mat.SVD // of a positive semidefinite matrix, with the largest value first
	svd.Factorize(gram, mat.SVDThin)
	var v mat.Dense
	svd.UTo(&v)
	o.m = mat.NewDense(k, b, nil)
	for i, value := range svd.Values(nil)[:k] {
		for j := range b {
			o.m.Set(i, j, v.At(j, i)/math.Sqrt(value))
		}
	}
	alpha := mat.NewDense(o.c.Classes, b, nil)
	for j, e := range o.landmarks {
		alpha.SetCol(j, e.W)
	}
	// M⁺ = Mᵀ(MMᵀ)⁻¹ for a matrix of full row rank.
	var mmt, inverse, pseudo mat.Dense
	mmt.Mul(o.m, o.m.T())
	if err := inverse.Inverse(&mmt); err != nil {
		panic(err)
	}
	pseudo.Mul(o.m.T(), &inverse)
	o.w = new(mat.Dense)
	o.w.Mul(alpha, &pseudo)
}

// TestEqualsThePaper: the scores of every sample, before the learner learns from it, equal the
// oracle's. Eigenvectors of a multiple eigenvalue are not unique, but scores are.
func TestEqualsThePaper(t *testing.T) {
	for name, c := range map[string]Config{
		"hinge":              config(loss.MultiHinge{}, 12, 4),
		"logistic":           config(loss.MultiLogistic{}, 15, 5),
		"all directions":     config(loss.MultiHinge{}, 8, 0),
		"every, regularized": {},
	} {
		if c.Landmarks == 0 {
			c = config(loss.MultiHinge{}, 10, 6)
			c.Every, c.Regularizer = true, 0.01
		}
		t.Run(name, func(t *testing.T) {
			const n = 250
			x, y := learnertest.Blobs(1, n, c.Dim, c.Classes)
			l, o := learnertest.New(t, New, c), &oracle{c: c}
			for i := range n {
				x := x[i*c.Dim : (i+1)*c.Dim]
				want, _ := o.score(x)
				got := l.Expansion().Score(x)
				for q, v := range want {
					if !(math.Abs(got[q]-v) <= 1e-4*(1+math.Abs(v))) { // scores are float32
						t.Fatalf("step %d: scores %v, want %v", i, got, want)
					}
				}
				learnertest.Step(t, l, x, y[i:i+1])
				o.step(x, y[i])
			}
			if o.m == nil || l.Expansion().Order() != c.Landmarks {
				t.Errorf("%d of %d landmarks", l.Expansion().Order(), c.Landmarks)
			}
			if rank := l.Health()["rank"]; c.Rank > 0 && rank != float64(c.Rank) || rank == 0 {
				t.Errorf("rank %v", rank)
			}
			// ‖f‖ equals ‖W‖, also for the expansion.
			var w float64
			for _, v := range l.linear.W {
				w += v * v
			}
			if norm := l.Expansion().NormSq(1); !(math.Abs(norm-w) <= 1e-6*(1+w)) {
				t.Errorf("‖f‖² = %v, ‖W‖² = %v", norm, w)
			}
		})
	}
}

// TestDependentLandmarks: duplicate landmarks leave fewer directions.
func TestDependentLandmarks(t *testing.T) {
	c := config(loss.MultiLogistic{}, 12, 0)
	l := learnertest.New(t, New, c)
	x, y := learnertest.Blobs(6, 4, c.Dim, c.Classes)
	for range 5 {
		learnertest.Step(t, l, x, y)
	}
	if rank := l.Health()["rank"]; rank != 4 {
		t.Errorf("rank %v of 4 different landmarks", rank)
	}
}

func TestLandmarkOfNormZero(t *testing.T) {
	l := learnertest.New(t, New, config(loss.MultiLogistic{}, 1, 0))
	l.m.F.Kernel = kernel.Polynomial{Offset: 0, Degree: 1}
	if _, err := l.Step(t.Context(), 1, []float32{0, 0}, []float64{0}); err == nil || !strings.Contains(err.Error(), "no eigenvalue above 0") {
		t.Error(err)
	}
}
