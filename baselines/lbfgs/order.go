package lbfgs

import (
	"cmp"
	"context"
	"slices"

	"polkrepro/kernel"
	"polkrepro/loss"
)

// pilotIterations on part of the samples order all of them.
const pilotIterations = 100

// hardestFirst returns an order of the samples, those that will be support
// vectors first, as far as a model of some of the samples can tell. A product
// with K then reads the columns of few blocks: the gradient of the hinge is
// exactly 0 at all others.
func hardestFirst(ctx context.Context, c Config, n int, x []float32, y []float64) ([]int, error) {
	part := c.exactSize
	c.MaxIterations = pilotIterations
	s, err := newSolver(ctx, c, part, x[:part*c.Dim], y[:part])
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx, nil); err != nil {
		return nil, err
	}
	margins, err := marginsOf(ctx, s.expansion(), n, x, y, c.Threads)
	if err != nil {
		return nil, err
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(margins[i], margins[j]) })
	return order, nil
}

// marginsOf returns f_y − max_{c≠y} f_c for every sample.
func marginsOf(ctx context.Context, e *kernel.Expansion, n int, x []float32, y []float64, threads int) ([]float64, error) {
	margins := make([]float64, n)
	dim, outputs := e.Dict.Dim(), e.Outputs
	f := make([]float64, gramRows*outputs)
	var scorer kernel.Scorer
	for lo := 0; lo < n; lo += gramRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := min(gramRows, n-lo)
		scorer.Scores(e, rows, x[lo*dim:(lo+rows)*dim], f, threads)
		for i := range rows {
			fi, yi := f[i*outputs:(i+1)*outputs], int(y[lo+i])
			margins[lo+i] = fi[yi] - fi[loss.Rival(fi, yi)]
		}
	}
	return margins, nil
}

// permute returns the samples in the order given.
func permute(order []int, dim int, x []float32, y []float64) ([]float32, []float64) {
	px, py := make([]float32, len(x)), make([]float64, len(y))
	for to, from := range order {
		copy(px[to*dim:(to+1)*dim], x[from*dim:(from+1)*dim])
		py[to] = y[from]
	}
	return px, py
}
