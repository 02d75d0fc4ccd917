package csvc

import (
	"container/list"

	"polkrepro/kernel"
)

const (
	// rowBatch is the number of rows computed at once: enough for the matrix product to be fast,
	// few enough that most rows are used later. On MNIST, batches of 8, 16, 32 and 64 compute
	// 0.71, 0.81, 1.02 and 1.41 billion kernel values; 8 and 16 take about the same time, 32 and
	// 64 longer.
	rowBatch = 16

	// leastRows is the number of rows that the cache may hold however small its bound: two rows
	// in use, two batches, and one batch that found no room.
	leastRows = 3*rowBatch + 2
)

// rows is the kernel matrix of a pair of classes, by rows: a cache that drops the least recently
// used row.
type rows struct {
	kernel  kernel.Kernel
	sets    [2]*kernel.Points // the points of +1, then those of −1
	threads int
	n       int
	limit   int             // largest number of rows kept
	at      []*list.Element // by point, the element of recent with its *row; nil if not kept
	recent  *list.List      // most recently used first
	arena   *arena
	x       []float32 // points of one batch
	spare   []float32 // kernel values of a batch that found no room
	evals   int64
}

type row struct {
	point  int
	values []float32
}

func newRows(k kernel.Kernel, plus, minus *kernel.Points, bytes int64, threads int, a *arena) *rows {
	n := plus.Len() + minus.Len()
	a.reset()
	return &rows{
		kernel: k, sets: [2]*kernel.Points{plus, minus}, threads: threads,
		n: n, limit: max(leastRows, int(bytes/int64(4*n))),
		at: make([]*list.Element, n), recent: list.New(), arena: a,
		x: make([]float32, rowBatch*plus.Dim()),
	}
}

// point returns the features of point i.
func (r *rows) point(i int) []float32 {
	if plus := r.sets[0].Len(); i >= plus {
		return r.sets[1].At(i - plus)
	}
	return r.sets[0].At(i)
}

// has reports whether row i is kept.
func (r *rows) has(i int) bool { return r.at[i] != nil }

// get returns κ(x_i, x_t) for t = 0 … n−1. The values stay valid during the next two calls. If
// the row is not kept, get computes it together with the rows of the points that likely returns:
// at most rowBatch−1 points, excluding i and points whose rows are kept.
func (r *rows) get(i int, likely func(i int) []int) []float32 {
	if !r.has(i) {
		r.compute(append(likely(i), i))
	}
	r.recent.MoveToFront(r.at[i])
	return r.at[i].Value.(*row).values
}

// compute adds the rows of the given points. They get new memory while there is room for all of
// them, and replace other rows after that.
func (r *rows) compute(points []int) {
	if r.recent.Len()+len(points) <= r.limit {
		k := r.arena.take(len(points) * r.n)
		r.evaluate(points, k)
		for b, i := range points {
			r.at[i] = r.recent.PushFront(&row{i, k[b*r.n : (b+1)*r.n]})
		}
		return
	}
	if r.spare == nil {
		r.spare = make([]float32, rowBatch*r.n)
	}
	r.evaluate(points, r.spare)
	for b, i := range points {
		r.replace(i, r.spare[b*r.n:(b+1)*r.n])
	}
}

// evaluate writes the rows of the given points to k.
func (r *rows) evaluate(points []int, k []float32) {
	dim, plus := r.sets[0].Dim(), r.sets[0].Len()
	for b, i := range points {
		copy(r.x[b*dim:(b+1)*dim], r.point(i))
	}
	x, values := kernel.MatrixOf(len(points), dim, r.x), kernel.MatrixOf(len(points), r.n, k)
	r.sets[0].Block32(r.kernel, x, values.Cols(0, plus), r.threads)
	r.sets[1].Block32(r.kernel, x, values.Cols(plus, r.n), r.threads)
	r.evals += int64(len(points)) * int64(r.n)
}

// replace copies row i to the place of the least recently used one.
func (r *rows) replace(i int, values []float32) {
	e := r.recent.Back()
	old := e.Value.(*row)
	r.at[old.point], r.at[i] = nil, e
	old.point = i
	copy(old.values, values)
	r.recent.MoveToFront(e)
}

// bytes returns the memory of the rows kept. It never shrinks.
func (r *rows) bytes() int64 { return int64(r.recent.Len()) * int64(4*r.n) }
