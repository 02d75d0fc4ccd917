package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"

	"polkrepro/baselines/lbfgs"
	"polkrepro/convergence"
	"polkrepro/data"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// gapTolerance is the duality gap of f*, relative to R(f*), that is asked for:
// with it ‖f − f*‖ is known to 1e-5 on multidist.
const gapTolerance = 1e-12

// A problem is the risk R on N training points with its minimizer.
type problem struct {
	kernel  kernel.Kernel
	loss    loss.Loss
	lambda  float64
	classes int
	split   *data.Split
	x       []float64 // N×dim, the features in float64
	gram    []float64 // N×N, K of the training points
	best    []float64 // N×C, the weights of f*
	about   convergence.Problem
	sums    map[string]string
}

// newProblem computes f* for the training points of a set.
func newProblem(ctx context.Context, run convergence.Run, set *data.Set, threads int) (*problem, error) {
	p := &problem{
		kernel: run.Kernel(), loss: loss.MultiLogistic{}, lambda: run.Regularizer,
		classes: set.Classes, split: set.Train, sums: set.Sums,
	}
	s := p.split
	result, err := lbfgs.Train(ctx, lbfgs.Config{
		Kernel: p.kernel, Loss: p.loss, Classes: p.classes, Dim: s.Dim,
		Regularizer: p.lambda, Tolerance: gapTolerance, Threads: threads,
	}, s.N, s.X, s.Y, nil)
	if err != nil {
		return nil, fmt.Errorf("experiment: f*: %w", err)
	}
	if result.Expansion.Order() != s.N {
		return nil, fmt.Errorf("experiment: f* has weights on %d of %d points, all are expected of the logistic loss", result.Expansion.Order(), s.N)
	}
	p.best = result.Expansion.W
	p.x = make([]float64, len(s.X))
	kernel.Widen(p.x, s.X)
	p.gram = make([]float64, s.N*s.N)
	result.Expansion.Dict.Block64(p.kernel, s.N, p.x, p.gram, s.N, threads)
	p.about = convergence.Problem{
		Points: s.N, Objective: result.Objective, Gap: result.Gap,
		Norm: math.Sqrt(result.Expansion.NormSq(threads)), Start: math.Log(float64(p.classes)),
	}
	p.about.Width, p.about.Height = extent(s, 0), extent(s, 1)
	return p, nil
}

// extent is the length of the interval that holds feature q of all points.
func extent(s *data.Split, q int) float64 {
	var v []float64
	for i := range s.N {
		v = append(v, float64(s.Row(i)[q]))
	}
	return slices.Max(v) - slices.Min(v)
}

// measure fills in what follows from the values of f at the training points,
// N×C, and ‖f‖².
func (p *problem) measure(values []float64, normSq float64) convergence.Point {
	c := p.classes
	grad := make([]float64, c)
	var cross, risk, square float64
	for i, y := range p.split.Y {
		f := values[i*c : (i+1)*c]
		risk += p.loss.Gradient(grad, f, y)
		self := p.kernel.Self(p.split.Row(i))
		for q, g := range grad {
			cross += p.best[i*c+q] * f[q]
			square += g*g*self + 2*p.lambda*g*f[q]
		}
	}
	n := float64(p.split.N)
	return convergence.Point{
		Distance: math.Sqrt(max(0, normSq-2*cross+p.about.Norm*p.about.Norm)),
		Excess:   risk/n + p.lambda/2*normSq - p.about.Objective,
		Norm:     math.Sqrt(normSq),
		Gradient: square/n + p.lambda*p.lambda*normSq,
	}
}

// values returns f at the training points, N×C.
func (p *problem) values(f *kernel.Expansion) []float64 {
	n, m, c := p.split.N, f.Order(), f.Outputs
	out := make([]float64, n*c)
	if m == 0 {
		return out
	}
	k := make([]float64, n*m)
	f.Dict.Block64(f.Kernel, n, p.x, k, m, 1)
	gemm.MulABT(n, c, m, 1, k, m, transposed(f.W, m, c), m, 0, out, c, 1)
	return out
}

// transposed returns the c×m transpose of the m×c matrix w.
func transposed(w []float64, m, c int) []float64 {
	t := make([]float64, m*c)
	for j := range m {
		for q := range c {
			t[q*m+j] = w[j*c+q]
		}
	}
	return t
}
