package ivm

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"polkrepro/baselines/learnertest"
	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// problem is a training set for tests.
type problem struct {
	Config
	n int
	x []float32
	y []float64
}

func (p *problem) at(i int) []float32 { return p.x[i*p.Dim : (i+1)*p.Dim] }

// blobs draws n points whose classes overlap.
func blobs(seed uint64, n, dim, classes int) *problem {
	x, y := learnertest.Blobs(seed, n, dim, classes)
	return &problem{Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: classes, Dim: dim, Regularizer: 1e-3}, n, x, y}
}

// mnist returns the first n images of MNIST and the published run's configuration, limited to 40
// points.
func mnist(t testing.TB, n int) *problem {
	t.Helper()
	set, err := data.Load(data.Ref{Name: "mnist"}, data.Finder{})
	testutil.Need(t, err)
	return &problem{Config{Kernel: kernel.Gaussian{Bandwidth: 4}, Classes: set.Classes, Dim: set.Train.Dim, Regularizer: 1e-6,
		Candidates: 59, MaxPoints: 40, Seed: 1}, n, set.Train.X[:n*set.Train.Dim], set.Train.Y[:n]}
}

func (p *problem) train(t rapid.TB) *Result {
	t.Helper()
	r, err := Train(context.Background(), p.Config, p.n, p.x, p.y)
	testutil.NoError(t, err)
	return r
}

// literal is the import vector machine as its authors print it, extended to C classes. It has
// coefficients of kernel functions instead of an orthonormal basis, and all C functions, and it
// solves a new linear system for every candidate.
type literal struct {
	*problem
	index []int
	a     []float64 // q×C
}

// objective returns H of the model with the coefficients a on the points s.
func (l *literal) objective(s []int, a []float64) float64 {
	var sum float64
	f := make([]float64, l.Classes)
	for i, y := range l.y {
		l.scores(f, s, a, i)
		sum += loss.MultiLogistic{}.Value(f, y)
	}
	var normSq float64
	for u, i := range s {
		l.scores(f, s, a, i)
		for c, v := range f {
			normSq += a[u*l.Classes+c] * v
		}
	}
	return sum/float64(l.n) + l.Regularizer/2*normSq
}

// scores sets f to the model's values at training point i.
func (l *literal) scores(f []float64, s []int, a []float64, i int) {
	clear(f)
	for u, j := range s {
		k := l.Kernel.Eval(l.at(i), l.at(j))
		for c := range f {
			f[c] += k * a[u*l.Classes+c]
		}
	}
}

// gradient returns the derivatives of H with respect to a.
func (l *literal) gradient(s []int, a []float64) []float64 {
	c := l.Classes
	g := make([]float64, len(a))
	f, d := make([]float64, c), make([]float64, c)
	for i, y := range l.y {
		l.scores(f, s, a, i)
		loss.MultiLogistic{}.Gradient(d, f, y)
		for u, j := range s {
			for q, v := range d {
				g[u*c+q] += v * l.Kernel.Eval(l.at(i), l.at(j)) / float64(l.n)
			}
		}
	}
	for u, i := range s {
		l.scores(f, s, a, i)
		for q, v := range f {
			g[u*c+q] += l.Regularizer * v
		}
	}
	return g
}

// newton returns the Newton step at a.
func (l *literal) newton(s []int, a []float64) []float64 {
	c := l.Classes
	h := mat.NewSymDense(len(a), nil)
	f, p := make([]float64, c), make([]float64, c)
	add := func(u, q, v, r int, value float64) {
		if u*c+q <= v*c+r {
			h.SetSym(u*c+q, v*c+r, h.At(u*c+q, v*c+r)+value)
		}
	}
	for i := range l.n {
		l.scores(f, s, a, i)
		loss.MultiLogistic{}.Probabilities(p, f)
		for u, j := range s {
			for v, k := range s {
				kk := l.Kernel.Eval(l.at(i), l.at(j)) * l.Kernel.Eval(l.at(i), l.at(k)) / float64(l.n)
				for q := range c {
					for r := range c {
						add(u, q, v, r, -kk*p[q]*p[r])
					}
					add(u, q, v, q, kk*p[q])
				}
			}
		}
	}
	for u, j := range s {
		for v, k := range s {
			for q := range c {
				add(u, q, v, q, l.Regularizer*l.Kernel.Eval(l.at(j), l.at(k)))
			}
		}
	}
	step := mat.NewVecDense(len(a), nil)
	if err := step.SolveVec(h, mat.NewVecDense(len(a), l.gradient(s, a))); err != nil {
		panic(err)
	}
	step.ScaleVec(-1, step)
	return step.RawVector().Data
}

// fit takes Newton steps from a as long as they lower H, and returns H.
func (l *literal) fit(s []int, a []float64) float64 {
	for {
		next, h := l.step(s, a)
		if have := l.objective(s, a); !(h < have-1e-12*have) {
			return have
		}
		a = next
	}
}

// step takes a Newton step from a.
func (l *literal) step(s []int, a []float64) ([]float64, float64) {
	next := slices.Clone(a)
	for i, d := range l.newton(s, a) {
		next[i] += d
	}
	return next, l.objective(s, next)
}

// grow imports the best of all points, after a Newton step for each, and returns H.
func (l *literal) grow() float64 {
	best, least := -1, 0.0
	var coef []float64
	for i := range l.n {
		if slices.Contains(l.index, i) {
			continue
		}
		s := append(slices.Clone(l.index), i)
		a, h := l.step(s, append(slices.Clone(l.a), make([]float64, l.Classes)...))
		if best < 0 || h < least {
			best, least, coef = i, h, a
		}
	}
	l.index, l.a = append(l.index, best), coef
	return least
}
