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
	width      int              // number of columns that are summed in T
	group      int              // largest number of vectors in one pass over a block of K
	k          gemm.Matrix[T]   // N×N
	v          gemm.Matrix[T]   // C×N: the vectors of the current product
	blocks     []int            // first columns of the blocks of columns where v is not 0
	tiles      []gemm.Matrix[T] // each goroutine's part of the product
	part       *matrix[T]
}

// newGram evaluates K of n samples and adds the samples to points, which must be empty. It fails
// if the context ends.
func newGram(ctx context.Context, c Config, n int, x []float32, points *kernel.Points) (gram, error) {
	points.Reserve(n)
	samples := gemm.MatrixOf(n, points.Dim(), x)
	if n > c.exactSize {
		m := newMatrix[float32](n, c.Threads)
		m.group = c.group
		return m, m.fill(ctx, func(lo, hi int, dst gemm.Matrix[float32]) {
			points.Block32(c.Kernel, appended(points, samples.Rows(lo, hi)), dst, c.Threads)
		})
	}
	m := newMatrix[float64](n, c.Threads)
	m.group = c.group
	x64 := gemm.NewMatrix[float64](gramRows, points.Dim())
	return m, m.fill(ctx, func(lo, hi int, dst gemm.Matrix[float64]) {
		points.Block64(c.Kernel, widened(x64, appended(points, samples.Rows(lo, hi))), dst, c.Threads)
	})
}

// appended adds the rows of x to points and returns x.
func appended(points *kernel.Points, x gemm.Matrix[float32]) gemm.Matrix[float32] {
	for i := range x.Len() {
		points.Append(x.Row(i))
	}
	return x
}

// widened returns x in float64, in the first rows of x64.
func widened(x64 gemm.Matrix[float64], x gemm.Matrix[float32]) gemm.Matrix[float64] {
	kernel.Widen(x64.Data(), x.Data())
	return x64.Rows(0, x.Len())
}

func newMatrix[T gemm.Float](n, threads int) *matrix[T] {
	return &matrix[T]{
		n: n, threads: threads, width: gramCols, group: gramGroup,
		k: gemm.NewMatrix[T](n, n), tiles: make([]gemm.Matrix[T], threads),
	}
}

func (m *matrix[T]) setThreads(n int) {
	m.threads = n
	for len(m.tiles) < n {
		m.tiles = append(m.tiles, gemm.Matrix[T]{})
	}
}

// fill evaluates K by blocks of rows, each only up to the column of its last row, and fills in
// the rest by symmetry: κ(x, y) has the bits of κ(y, x).
func (m *matrix[T]) fill(ctx context.Context, block func(lo, hi int, dst gemm.Matrix[T])) error {
	for lo := 0; lo < m.n; lo += gramRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+gramRows, m.n)
		rows := m.k.Rows(lo, hi)
		block(lo, hi, rows.Cols(0, hi))
		transpose(rows.Cols(0, lo), m.k.Rows(0, lo).Cols(lo, hi), m.threads)
	}
	return nil
}

// transpose is gemm.Transpose on at most threads goroutines.
func transpose[T gemm.Float](src, dst gemm.Matrix[T], threads int) {
	const strip = 64 // columns of src
	_, cols := src.Dims()
	parallel.Do(threads, (cols+strip-1)/strip, func(_, unit int) {
		lo, hi := unit*strip, min((unit+1)*strip, cols)
		gemm.Transpose(src.Cols(lo, hi), dst.Rows(lo, hi))
	})
}

func (m *matrix[T]) mul(dst, v []float64) {
	outputs := len(v) / m.n
	m.v = m.v.Fresh(outputs, m.n)
	gemm.Convert(m.v.Data(), v)
	m.blocks = m.blocks[:0]
	for lo := 0; lo < m.n; lo += m.width {
		if occupied(m.v.Cols(lo, min(lo+m.width, m.n))) {
			m.blocks = append(m.blocks, lo)
		}
	}
	passes := (outputs + m.group - 1) / m.group
	rows := gramRows
	if passes > 1 {
		rows = passRows
	}
	product := gemm.MatrixOf(outputs, m.n, dst)
	parallel.Do(m.threads, (m.n+rows-1)/rows, func(worker, unit int) {
		lo, hi := unit*rows, min((unit+1)*rows, m.n)
		m.tiles[worker] = m.tiles[worker].Fresh(outputs, hi-lo)
		m.rows(product.Cols(lo, hi), m.tiles[worker], passes, m.k.Rows(lo, hi))
	})
}

// occupied reports whether an element of v is not 0.
func occupied[T gemm.Float](v gemm.Matrix[T]) bool {
	outputs := v.Len()
	for c := range outputs {
		for _, x := range v.Row(c) {
			if x != 0 {
				return true
			}
		}
	}
	return false
}

// rows computes dst, C×rows, the part of the product that belongs to some rows of K.
func (m *matrix[T]) rows(dst gemm.Matrix[float64], tile gemm.Matrix[T], passes int, k gemm.Matrix[T]) {
	outputs := dst.Len()
	dst.Clear()
	for _, lo := range m.blocks {
		hi := min(lo+m.width, m.n)
		v, k := m.v.Cols(lo, hi), k.Cols(lo, hi)
		for p := range passes {
			from, to := p*outputs/passes, (p+1)*outputs/passes
			gemm.MulABT(1, v.Rows(from, to), k, 0, tile.Rows(from, to), 1)
		}
		for c := range outputs {
			row := dst.Row(c)
			for i, s := range tile.Row(c) {
				row[i] += float64(s)
			}
		}
	}
}

// exactMul computes dst ← K·v, both C×N, with kernel values and sums in float64 and
// without storing K, from the blocks on and below its diagonal. It empties
// points and adds the samples again. It fails if the context ends.
func exactMul(ctx context.Context, dst, v gemm.Matrix[float64], k kernel.Kernel, points *kernel.Points, x []float32, threads int) error {
	outputs, n := v.Dims()
	samples, x64 := gemm.MatrixOf(n, points.Dim(), x), gemm.NewMatrix[float64](gramRows, points.Dim())
	allBlock, allTurned := gemm.NewMatrix[float64](min(gramRows, n), n), gemm.NewMatrix[float64](min(gramRows, n), n)
	var tile gemm.Matrix[float64]
	points.Reset()
	for lo := 0; lo < n; lo += gramRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+gramRows, n)
		block, turned := allBlock.Rows(0, hi-lo).Cols(0, hi), allTurned.Fresh(lo, hi-lo)
		points.Block64(k, widened(x64, appended(points, samples.Rows(lo, hi))), block, threads)
		tile = tile.Fresh(outputs, hi-lo)
		gemm.MulABT(1, v.Cols(0, hi), block, 0, tile, threads)
		dst.Cols(lo, hi).Copy(tile)
		// By symmetry, the block's columns before lo, transposed, are part of K's rows before lo.
		transpose(block.Cols(0, lo), turned, threads)
		gemm.MulABT(1, v.Cols(lo, hi), turned, 1, dst.Cols(0, lo), threads)
	}
	return nil
}
