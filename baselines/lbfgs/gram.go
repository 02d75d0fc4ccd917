package lbfgs

import (
	"context"

	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
	"polkrepro/kernel"
)

const (
	// gramRows is the number of rows of K that a goroutine takes at a time.
	gramRows = 256

	// gramCols is the number of columns over which a product is summed in K's own precision; the
	// partial sums are added up in float64. Products with 20,000 points are fastest with 2,000 to
	// 4,000 columns.
	gramCols = 2048

	// partCols is gramCols for a part of the samples. These are sorted, so that most blocks of
	// few columns have no gradient.
	partCols = 512

	// gramGroup is the largest number of vectors that gemm multiplies with K as stored, at the
	// speed of memory. More vectors take several passes, over passRows rows of a block at a time,
	// so that only the first pass reads memory.
	gramGroup = 12
	passRows  = 64
)

// A gram is the kernel matrix of the training set, N×N. Both triangles are stored. Storing one
// would halve the memory to read, but half of each product would be A·B instead of A·Bᵀ. For at
// most gramGroup vectors, gemm.MulAB first transposes a copy of its part of K.
type gram interface {
	// mul computes dst ← K·v for each of the C vectors of v, both C×N.
	mul(dst, v []float64)
	setThreads(n int)

	// of returns the kernel matrix of some of the samples, at most mostKept. It is
	// valid until the next call.
	of(part []int) gram
}

// matrix is K in float64 or in float32.
type matrix[T gemm.Float] struct {
	n, threads int
	width      int   // number of columns that are summed in T
	group      int   // largest number of vectors in one pass over a block of K
	k          []T   // N×N
	v          []T   // the vectors of the current product
	blocks     []int // first columns of the blocks of columns where v is not 0
	tiles      [][]T // each goroutine's part of the product
	part       *matrix[T]
}

// newGram evaluates K of n samples and adds the samples to points, which must be empty. It fails
// if the context ends.
func newGram(ctx context.Context, c Config, n int, x []float32, points *kernel.Points) (gram, error) {
	dim := points.Dim()
	points.Reserve(n)
	rows := func(lo, rows int) []float32 {
		part := x[lo*dim : (lo+rows)*dim]
		for i := range rows {
			points.Append(part[i*dim : (i+1)*dim])
		}
		return part
	}
	if n > c.exactSize {
		m := newMatrix[float32](n, c.Threads)
		m.group = c.group
		return m, m.fill(ctx, func(lo, count int, dst []float32) {
			points.Block32(c.Kernel, count, rows(lo, count), dst, n, c.Threads)
		})
	}
	m := newMatrix[float64](n, c.Threads)
	m.group = c.group
	wide := make([]float64, gramRows*dim)
	return m, m.fill(ctx, func(lo, count int, dst []float64) {
		kernel.Widen(wide, rows(lo, count))
		points.Block64(c.Kernel, count, wide, dst, n, c.Threads)
	})
}

func newMatrix[T gemm.Float](n, threads int) *matrix[T] {
	return &matrix[T]{n: n, threads: threads, width: gramCols, group: gramGroup, k: make([]T, n*n), tiles: make([][]T, threads)}
}

func (m *matrix[T]) setThreads(n int) {
	m.threads = n
	for len(m.tiles) < n {
		m.tiles = append(m.tiles, nil)
	}
}

// fill evaluates K by blocks of rows, each only up to the column of its last row, and fills in
// the rest by symmetry: κ(x, y) has the bits of κ(y, x).
func (m *matrix[T]) fill(ctx context.Context, block func(lo, rows int, dst []T)) error {
	for lo := 0; lo < m.n; lo += gramRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+gramRows, m.n)
		block(lo, hi-lo, m.k[lo*m.n:])
		transpose(hi-lo, lo, m.k[lo*m.n:], m.n, m.k[lo:], m.n, m.threads)
	}
	return nil
}

// transpose is gemm.Transpose on at most threads goroutines.
func transpose[T gemm.Float](rows, cols int, src []T, lds int, dst []T, ldd, threads int) {
	const strip = 64 // columns of src
	parallel.Do(threads, (cols+strip-1)/strip, func(_, unit int) {
		j := unit * strip
		gemm.Transpose(rows, min(strip, cols-j), src[j:], lds, dst[j*ldd:], ldd)
	})
}

func (m *matrix[T]) mul(dst, v []float64) {
	if len(m.v) < len(v) {
		m.v = make([]T, len(v))
	}
	gemm.Convert(m.v, v)
	outputs := len(v) / m.n
	m.blocks = m.blocks[:0]
	for lo := 0; lo < m.n; lo += m.width {
		if m.occupied(outputs, lo) {
			m.blocks = append(m.blocks, lo)
		}
	}
	passes := (outputs + m.group - 1) / m.group
	rows := gramRows
	if passes > 1 {
		rows = passRows
	}
	parallel.Do(m.threads, (m.n+rows-1)/rows, func(worker, unit int) {
		if len(m.tiles[worker]) < outputs*rows {
			m.tiles[worker] = make([]T, outputs*rows)
		}
		m.rows(dst, m.tiles[worker], outputs, passes, unit*rows, min((unit+1)*rows, m.n))
	})
}

// occupied reports whether v has an entry other than 0 in the block of columns
// from lo on.
func (m *matrix[T]) occupied(outputs, lo int) bool {
	for c := range outputs {
		for _, v := range m.v[c*m.n+lo : c*m.n+min(lo+m.width, m.n)] {
			if v != 0 {
				return true
			}
		}
	}
	return false
}

// rows computes the rows lo … hi−1 of the product.
func (m *matrix[T]) rows(dst []float64, tile []T, outputs, passes, lo, hi int) {
	n, rows := m.n, hi-lo
	for c := range outputs {
		clear(dst[c*n+lo : c*n+lo+rows])
	}
	for _, q := range m.blocks {
		cols := min(m.width, n-q)
		for p := range passes {
			from, to := p*outputs/passes, (p+1)*outputs/passes
			gemm.MulABT(to-from, rows, cols, 1, m.v[from*n+q:], n, m.k[lo*n+q:], n, 0, tile[from*rows:], rows, 1)
		}
		for c := range outputs {
			for i, s := range tile[c*rows : (c+1)*rows] {
				dst[c*n+lo+i] += float64(s)
			}
		}
	}
}

// exactMul computes dst ← K·v, both C×N, with kernel values and sums in float64 and
// without storing K, from the blocks on and below its diagonal. It empties
// points and adds the samples again. It fails if the context ends.
func exactMul(ctx context.Context, dst, v []float64, k kernel.Kernel, points *kernel.Points, x []float32, threads int) error {
	n, dim := points.Len(), points.Dim()
	outputs := len(v) / n
	wide, tile := make([]float64, gramRows*dim), make([]float64, outputs*gramRows)
	block, turned := make([]float64, min(gramRows, n)*n), make([]float64, min(gramRows, n)*n)
	points.Reset()
	for lo := 0; lo < n; lo += gramRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+gramRows, n)
		rows := hi - lo
		for i := lo; i < hi; i++ {
			points.Append(x[i*dim : (i+1)*dim])
		}
		kernel.Widen(wide, x[lo*dim:hi*dim])
		points.Block64(k, rows, wide, block, n, threads)
		gemm.MulABT(outputs, rows, hi, 1, v, n, block, n, 0, tile, rows, threads)
		for c := range outputs {
			copy(dst[c*n+lo:c*n+hi], tile[c*rows:(c+1)*rows])
		}
		// By symmetry, the block's columns before lo, transposed, are part of K's rows before lo.
		transpose(rows, lo, block, n, turned, rows, threads)
		gemm.MulABT(outputs, lo, rows, 1, v[lo:], n, turned, rows, 1, dst, n, threads)
	}
	return nil
}
