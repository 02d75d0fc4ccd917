package fogd

import (
	"math"
	"math/rand/v2"

	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
	"polkrepro/internal/portable"
	"polkrepro/kernel"
)

// A Model is C linear functions of 2D features. Its methods do not change it, so goroutines may
// share it.
type Model struct {
	Classes int       // C
	W       []float64 // C×2D: weights of the cosines, then of the sines

	kernel kernel.Gaussian
	dim    int
	panels *gemm.Panels[float32] // the frequencies, D×p
}

// newModel draws the frequencies and returns the model with W = 0.
func newModel(c Config) *Model {
	m := &Model{
		Classes: c.Classes, W: make([]float64, c.Classes*2*c.Frequencies),
		kernel: c.Kernel, dim: c.Dim, panels: gemm.NewPanels[float32](c.Dim),
	}
	g := gaussians(c.Frequencies*c.Dim, c.Seed)
	row := make([]float32, c.Dim)
	for j := range c.Frequencies {
		for q := range row {
			row[q] = float32(g[j*c.Dim+q] / c.Kernel.Bandwidth)
		}
		m.panels.Append(row)
	}
	return m
}

// Order returns D.
func (m *Model) Order() int { return m.panels.Len() }

// NormSq returns Σ_c ‖f_c‖² in the space of the features.
func (m *Model) NormSq(int) float64 { return gemm.Dot(m.W, m.W) }

// mapRows is the number of samples that Scores maps at a time.
const mapRows = 512

// Scores writes f_c(x_i) to dst, n×C row-major, for x of n×Dim, computed in
// float32. The result does not depend on threads. It panics if x or dst is too
// short.
func (m *Model) Scores(n int, x []float32, dst []float64, threads int) {
	p := 2 * m.Order()
	if len(x) < n*m.dim || len(dst) < n*m.Classes {
		panic("fogd: x or dst is too short")
	}
	w := make([]float32, len(m.W))
	gemm.Convert(w, m.W)
	phi := make([]float32, min(n, mapRows)*p)
	out := make([]float32, min(n, mapRows)*m.Classes)
	for lo := 0; lo < n; lo += mapRows {
		rows := min(mapRows, n-lo)
		m.features(rows, x[lo*m.dim:], phi, threads)
		gemm.MulABT(1, gemm.MatrixOf(rows, p, phi), gemm.MatrixOf(m.Classes, p, w), 0, gemm.MatrixOf(rows, m.Classes, out), threads)
		gemm.Convert(dst[lo*m.Classes:], out[:rows*m.Classes])
	}
}

// features writes the features of n points to phi, n×2D: the cosines, then the sines. They are
// NaN if x is too large for float32.
func (m *Model) features(n int, x, phi []float32, threads int) {
	d := m.Order()
	m.panels.MulABT(gemm.MatrixOf(n, m.dim, x), gemm.Strided(n, d, 2*d, phi), threads)
	scale := 1 / math.Sqrt(float64(d))
	if n == 1 { // a step of a stream, which must not allocate
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

// gaussians draws at least n standard normal numbers by Marsaglia's polar method.
// (The stream of rand's NormFloat64 differs between machines.)
func gaussians(n int, seed uint64) []float64 {
	pcg := rand.NewPCG(seed, 0)
	symmetric := func() float64 { return float64(int64(pcg.Uint64())>>11) * 0x1p-52 } // uniform in [−1, 1)
	out := make([]float64, 0, n+1)
	for len(out) < n {
		u, v := symmetric(), symmetric()
		r := float64(u*u) + float64(v*v)
		if r >= 1 || r == 0 {
			continue
		}
		f := math.Sqrt(-2 * portable.Log(r) / r)
		out = append(out, float64(u*f), float64(v*f))
	}
	return out
}
