package kernel

import (
	"slices"

	"polkrepro/internal/gemm"
)

// An Expansion is f_c(x) = Σ_j W[j·C+c] κ(d_j, x) for c = 0 … C−1: the functions of one
// model, which share a dictionary (paper eq. kernel_expansion, for several functions).
type Expansion struct {
	Kernel  Kernel    // κ
	Dict    *Points   // M vectors
	Outputs int       // C, the number of functions
	W       []float64 // M×C weights, row-major: row j belongs to dictionary element j
}

// NewExpansion returns the zero functions f_1 = … = f_C = 0 of dim features.
func NewExpansion(k Kernel, dim, outputs int) *Expansion {
	return &Expansion{Kernel: k, Dict: NewPoints(dim), Outputs: outputs}
}

// Order returns the model order M.
func (e *Expansion) Order() int { return e.Dict.Len() }

// Weights returns the C weights of dictionary element j, without copying.
func (e *Expansion) Weights(j int) []float64 { return e.W[j*e.Outputs : (j+1)*e.Outputs] }

// Append adds a dictionary element. It copies x, of length Dim, and its C weights w,
// and panics if a length is wrong.
func (e *Expansion) Append(x []float32, w []float64) {
	if len(w) != e.Outputs {
		panic(badLength)
	}
	e.Dict.Append(x)
	e.W = append(e.W, w...)
}

// Remove deletes dictionary element j; the last one takes its place.
func (e *Expansion) Remove(j int) {
	last := e.Order() - 1
	copy(e.Weights(j), e.Weights(last))
	e.W = e.W[:last*e.Outputs]
	e.Dict.Remove(j)
}

// Clone returns an independent copy.
func (e *Expansion) Clone() *Expansion {
	g := NewExpansion(e.Kernel, e.Dict.Dim(), e.Outputs)
	g.Set(e)
	return g
}

// Set makes e a copy of g, which has the same kernel, features and number of functions. It keeps
// e's memory.
func (e *Expansion) Set(g *Expansion) {
	e.Dict.set(g.Dict)
	e.W = append(e.W[:0], g.W...)
}

// Score returns the C scores f_c(x) of one point, with the same bits and accuracy as
// a [Scorer]. For many points a Scorer is faster, because Score packs the weights at
// every call. Score panics if the length of x is not the dictionary's Dim.
func (e *Expansion) Score(x []float32) []float64 {
	if len(x) != e.Dict.Dim() {
		panic(badLength)
	}
	scores := make([]float64, e.Outputs)
	e.Scores(1, x, scores, 1)
	return scores
}

// Scores computes scores with a new [Scorer]; see [Scorer.Scores].
func (e *Expansion) Scores(n int, x []float32, dst []float64, threads int) {
	new(Scorer).Scores(e, n, x, dst, threads)
}

// scoreRows bounds the rows of one block of Scores so that the kernel block
// stays in cache: 256 rows of 1,000 float32 values are 1 MiB.
const scoreRows = 256

// A Scorer evaluates expansions on many points. The zero value is ready to use. A
// Scorer keeps its buffers between calls and must not be shared by goroutines.
type Scorer struct {
	single scoring[float32]
	double scoring[float64]
}

// Scores writes f_c(x_i) to dst, n×C row-major, for x of n×Dim. At most threads
// goroutines share the work, and the result does not depend on their number. It
// takes n·M·(p + C) multiplications. It panics if x or dst is too short.
//
// With a Gaussian kernel the error of a score is at most
// [ScoreTolerance]·Σ_j |w_j| κ(x, d_j) + 2⁻¹²⁶·(M + Σ_j |w_j|) for all finite
// features and weights; this is the worst case. Scores are computed in float32, except for
// kernel values of vectors so large compared with the bandwidth that float32 products cancel
// ([Points.Block32]). With any other kernel, scores are computed in float64.
//
// If the features are finite, and so are the terms w_j κ(x, d_j), with κ from Eval,
// and their partial sums, no score is NaN or infinite. NaN and infinite features are
// not reported: learners and readers of rows reject them.
func (s *Scorer) Scores(e *Expansion, n int, x []float32, dst []float64, threads int) {
	if float32Suffices(e.Kernel, e.W) {
		s.single.scores(e, n, x, dst, threads)
	} else {
		s.double.scores(e, n, x, dst, threads)
	}
}

// Scores64 is Scores computed in float64, for weights so large that float32 products of them
// cancel. It is several times slower.
func (s *Scorer) Scores64(e *Expansion, n int, x []float32, dst []float64, threads int) {
	s.double.scores(e, n, x, dst, threads)
}

// float32Suffices reports whether scores may be computed in float32: kernel values
// are in [0, 1] and the weights are far from the limits of float32.
func float32Suffices(k Kernel, w []float64) bool {
	if _, ok := k.(Gaussian); !ok {
		return false
	}
	sum := gemm.Dot(w, w) // at least as large as any weight's square
	if sum == 0 {         // all weights are zero, or their squares underflow
		return !slices.ContainsFunc(w, func(v float64) bool { return v != 0 })
	}
	return sum >= 0x1p-200 && sum <= 0x1p200
}

// scoring computes scores in one precision.
type scoring[T gemm.Float] struct {
	k       Matrix[T] // kernel values of a block of rows
	weights Matrix[T] // C×M, transposed
	out     Matrix[T] // scores of a block of rows
}

func (s *scoring[T]) scores(e *Expansion, n int, x []float32, dst []float64, threads int) {
	m, c, dim := e.Order(), e.Outputs, e.Dict.Dim()
	clear(dst[:n*c])
	if m == 0 {
		return
	}
	s.transposeWeights(e)
	for lo := 0; lo < n; lo += scoreRows {
		rows := min(scoreRows, n-lo)
		s.k = s.k.Fresh(rows, m)
		block(e.Dict, e.Kernel, MatrixOf(rows, dim, x[lo*dim:]), s.k, threads)
		s.multiply(s.k, dst[lo*c:], threads)
	}
}

// transposeWeights stores the weights of e transposed, as the matrix B of the product A·Bᵀ.
func (s *scoring[T]) transposeWeights(e *Expansion) {
	s.weights = s.weights.Fresh(e.Outputs, e.Order())
	for j := range e.Order() {
		for q, w := range e.Weights(j) {
			s.weights.Set(q, j, T(w))
		}
	}
}

// multiply computes scores, rows×C, from kernel values k, rows×M, and the weights that
// transposeWeights stored.
func (s *scoring[T]) multiply(k Matrix[T], dst []float64, threads int) {
	s.out = s.out.Fresh(k.Len(), s.weights.Len())
	gemm.MulABT(1, k, s.weights, 0, s.out, threads)
	gemm.Convert(dst, s.out.Data())
}

// NormSq returns Σ_c ‖f_c‖² = Σ_c w_cᵀ K_DD w_c, with K_DD in float64.
func (e *Expansion) NormSq(threads int) float64 {
	m := e.Order()
	var sum float64
	k := gemm.NewMatrix[float64](min(m, scoreRows), m)
	for lo := 0; lo < m; lo += scoreRows {
		hi := min(lo+scoreRows, m)
		e.Dict.Block64(e.Kernel, e.Dict.Rows64(lo, hi), k.Rows(0, hi-lo), threads)
		for i := lo; i < hi; i++ {
			sum += e.quadraticRow(e.Weights(i), k.Row(i-lo))
		}
	}
	return sum
}

// quadraticRow returns Σ_c w_ic Σ_j k_ij w_jc.
func (e *Expansion) quadraticRow(wi, ki []float64) float64 {
	var sum float64
	for j, k := range ki {
		var dot float64
		for q, w := range e.Weights(j) {
			dot += float64(wi[q] * w)
		}
		sum += float64(k * dot)
	}
	return sum
}

// Widen converts float32 features to float64, which Block64 takes.
func Widen(dst []float64, src []float32) { gemm.Convert(dst, src) }

// widened returns x, which has no gaps, in float64.
func widened(x Matrix[float32]) Matrix[float64] {
	rows, cols := x.Dims()
	x64 := gemm.NewMatrix[float64](rows, cols)
	Widen(x64.Data(), x.Data())
	return x64
}

func grow[T any](b []T, n int) []T { return slices.Grow(b[:0], n)[:n] }
