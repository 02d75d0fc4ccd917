package rff

import (
	"math"
	"math/rand/v2"

	"polkrepro/baselines/internal/parallel"
	"polkrepro/internal/gemm"
	"polkrepro/internal/portable"
	"polkrepro/kernel"
)

// features is the map to D cosines and D sines.
type features struct {
	kernel kernel.Gaussian
	dim    int
	panels *gemm.Panels[float32] // the frequencies, D×p
}

// newFeatures draws the frequencies.
func newFeatures(c Config) *features {
	f := &features{kernel: c.Kernel, dim: c.Dim, panels: gemm.NewPanels[float32](c.Dim)}
	g := gaussians{pcg: rand.NewPCG(c.Seed, 0)}
	row := make([]float32, c.Dim)
	for range c.Frequencies {
		for q := range row {
			row[q] = float32(g.next() / c.Kernel.Bandwidth)
		}
		f.panels.Append(row)
	}
	return f
}

// A gaussians source draws standard normal numbers by Marsaglia's polar method.
// (The stream of rand's NormFloat64 differs between machines.)
type gaussians struct {
	pcg   *rand.PCG
	spare float64
	have  bool
}

func (g *gaussians) next() float64 {
	if g.have {
		g.have = false
		return g.spare
	}
	for {
		u, v := g.symmetric(), g.symmetric()
		r := float64(u*u) + float64(v*v)
		if r >= 1 || r == 0 {
			continue
		}
		f := math.Sqrt(-2 * portable.Log(r) / r)
		g.spare, g.have = float64(v*f), true
		return float64(u * f)
	}
}

// symmetric returns a number uniform in [−1, 1).
func (g *gaussians) symmetric() float64 {
	return float64(int64(g.pcg.Uint64())>>11) * 0x1p-52
}

// of writes the features of n points to phi, n×2D.
func (f *features) of(n int, x, phi []float32, threads int) {
	d := f.panels.Len()
	f.panels.MulABT(n, x, f.dim, phi, 2*d, threads)
	scale := 1 / math.Sqrt(float64(d))
	if n == 1 { // a step of a stream, which allocates nothing
		wave(phi[:2*d], scale)
		return
	}
	parallel.Do(threads, n, func(_, i int) { wave(phi[i*2*d:(i+1)*2*d], scale) })
}

// wave replaces D phases in the first half of row by their cosines and fills
// the second half with their sines, both times scale.
func wave(row []float32, scale float64) {
	d := len(row) / 2
	for j, phase := range row[:d] {
		sin, cos := portable.Sincos(float64(phase))
		row[j], row[d+j] = float32(scale*cos), float32(scale*sin)
	}
}
