package gemm

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Blocking. A tile reads kc columns of mr rows and of one panel, which stay in
// the first-level cache; a block of rows and a chunk of panels stay in the
// second.
const (
	kcMax      = 384
	rowBlock   = 96
	chunkBytes = 2048 // bytes of a row of C in a chunk

	// Shapes whose dot products are summed in lanes: at most fewRows rows and at
	// least shortCols columns, or at most laneRows and at least laneCols.
	fewRows, shortCols = 4, 32
	laneRows, laneCols = 12, 256

	// sharedPack is the largest B, in bytes, that is packed once, before the
	// work is split.
	sharedPack = 512 << 10

	// minWork is the number of multiply-adds (an element of C counts as 16)
	// that is worth a second goroutine.
	minWork = 1 << 20
)

// kind is how a task is split into units.
type kind int

const (
	kindPanels  kind = iota // B is packed: a unit is a block of C
	kindColumns             // B is not packed: a unit packs some rows of B and computes those columns of C
	kindSwapped             // A is small and packed: a unit is some rows of B, used unpacked
	kindLanes               // A or B has few rows: a unit is some rows of the other
)

// task is the product of one call and its division into units. Any unit may run on any goroutine.
type task[T Float] struct {
	kr      *kernels[T]
	m, n, k int
	alpha   T
	beta    T
	a, b, c Matrix[T]
	across  bool // b is k×n, not n×k (kindColumns)

	packed []T // panels: of B (kindPanels) or of A (kindSwapped)
	cols   int // rows of A in a panel (kindSwapped)

	gaussian bool
	gamma    T
	na, nb   []T // squared norms of A's and B's rows

	kind               kind
	units              int
	colUnits           int // units side by side (kindPanels)
	unitRows, unitCols int // rows and columns of a unit
	rowsOuter          bool

	next    atomic.Int64
	wg      sync.WaitGroup
	workers []*worker[T]
	pack    []T // backs packed for one call
}

// worker holds a goroutine's buffers. Its func is created once, so that starting the
// goroutine allocates nothing.
type worker[T Float] struct {
	start func()
	b     []T
	tile  []T
	out   dotTile[T]
}

func newTask[T Float](kr *kernels[T]) *task[T] {
	t, _ := kr.tasks.Get().(*task[T])
	if t == nil {
		t = &task[T]{kr: kr}
	}
	return t
}

func resize[T Float](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n+n/4)[:n]
	}
	return s[:n]
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// kBlock returns the length of a block of k. It depends on k alone, because it
// determines the order of summation.
func kBlock(k int) int {
	kc := ceilDiv(k, ceilDiv(k, kcMax))
	return min(k, (kc+7)&^7)
}

// sizeOf returns the bytes of an element.
func sizeOf[T Float]() int {
	var z T
	return int(unsafe.Sizeof(z))
}

// InLanes reports whether a product is summed in lanes, whatever the backend.
func InLanes(m, n, k int) bool {
	few := min(m, n)
	return few <= fewRows && k >= shortCols || few <= laneRows && k >= laneCols
}

// plan chooses the path of an unpacked product.
func (t *task[T]) plan(threads int) {
	switch {
	case InLanes(t.m, t.n, t.k):
		t.planLanes()
	case 2*t.m >= 3*t.kr.lanes && t.m <= 2*t.kr.nr && t.m < t.n && t.k >= 8*t.m:
		t.planSwapped()
	case t.n*t.k*sizeOf[T]() <= sharedPack:
		t.pack = resize(t.pack, ceilDiv(t.n, t.kr.nr)*t.kr.nr*t.k)
		t.kr.packRows(t.pack, t.k*t.kr.nr, t.kr.nr, t.b.data, t.b.stride, t.n, t.k)
		t.packed = t.pack
		t.planPanels(threads)
	default:
		t.planColumns(threads)
	}
}

// planAB chooses the path of a product with B stored as k×n: one of the paths of
// plan, with the same order of summation.
func (t *task[T]) planAB(threads int) {
	if InLanes(t.m, t.n, t.k) {
		// A dot product needs its columns side by side.
		t.pack = resize(t.pack, t.n*t.k)
		columns := MatrixOf(t.n, t.k, t.pack)
		Transpose(t.b, columns)
		t.b = columns
		t.planLanes()
		return
	}
	t.across = true
	t.planColumns(threads)
}

// planPanels splits C into blocks.
func (t *task[T]) planPanels(threads int) {
	nr := t.kr.nr
	t.kind = kindPanels
	t.unitRows = rowBlock
	t.unitCols = chunkBytes / sizeOf[T]() / nr * nr
	// With a small k most memory traffic is C: write it in rows.
	t.rowsOuter = t.k <= 32
	if t.rowsOuter {
		t.unitRows, t.unitCols = rowBlock/4, ceilDiv(t.n, nr)*nr
	}
	for threads > 1 && t.unitCols > nr && ceilDiv(t.m, t.unitRows)*ceilDiv(t.n, t.unitCols) < 4*threads {
		t.unitCols = ceilDiv(t.unitCols/nr, 2) * nr
	}
	t.colUnits = ceilDiv(t.n, t.unitCols)
	t.units = ceilDiv(t.m, t.unitRows) * t.colUnits
}

// planColumns splits C into groups of columns.
func (t *task[T]) planColumns(threads int) {
	nr := t.kr.nr
	t.kind = kindColumns
	t.rowsOuter = false
	t.unitCols = chunkBytes / sizeOf[T]() / nr * nr
	for threads > 1 && t.unitCols > nr && ceilDiv(t.n, t.unitCols) < 4*threads {
		t.unitCols = ceilDiv(t.unitCols/nr, 2) * nr
	}
	t.units = ceilDiv(t.n, t.unitCols)
}

// planSwapped packs A in panels of equal width, as far as whole vectors allow.
func (t *task[T]) planSwapped() {
	nr, lanes := t.kr.nr, t.kr.lanes
	panels := ceilDiv(t.m, nr)
	t.kind = kindSwapped
	t.cols = ceilDiv(ceilDiv(t.m, panels), lanes) * lanes
	t.pack = resize(t.pack, panels*nr*t.k)
	t.kr.packRows(t.pack, t.k*nr, t.cols, t.a.data, t.a.stride, t.m, t.k)
	t.packed = t.pack
	t.unitCols = 8 * t.kr.mr
	t.units = ceilDiv(t.n, t.unitCols)
}

func (t *task[T]) planLanes() {
	t.kind = kindLanes
	t.unitCols = 64
	t.units = ceilDiv(max(t.m, t.n), t.unitCols)
}

// run executes all units on at most threads goroutines, this one included. It returns the
// task, without the caller's slices, to the pool.
func (t *task[T]) run(threads int) {
	if t.m*t.n*(t.k+16) < minWork {
		threads = 1
	}
	threads = max(1, min(threads, t.units))
	for len(t.workers) < threads {
		w := &worker[T]{}
		w.start = func() {
			t.drain(w)
			t.wg.Done()
		}
		t.workers = append(t.workers, w)
	}
	t.next.Store(0)
	t.wg.Add(threads - 1)
	for _, w := range t.workers[1:threads] {
		go w.start()
	}
	t.drain(t.workers[0])
	t.wg.Wait()
	t.a, t.b, t.c = Matrix[T]{}, Matrix[T]{}, Matrix[T]{}
	t.packed, t.nb = nil, nil
	t.gaussian, t.across = false, false
	t.kr.tasks.Put(t)
}

// drain runs units until none is left.
func (t *task[T]) drain(w *worker[T]) {
	for {
		u := int(t.next.Add(1)) - 1
		if u >= t.units {
			return
		}
		switch t.kind {
		case kindPanels:
			t.panelsUnit(u)
		case kindColumns:
			t.columnsUnit(w, u)
		case kindSwapped:
			t.swappedUnit(w, u)
		case kindLanes:
			t.lanesUnit(w, u)
		}
	}
}

// panelsUnit computes a block of C from packed panels, epilogue included.
func (t *task[T]) panelsUnit(u int) {
	i0, j0 := u/t.colUnits*t.unitRows, u%t.colUnits*t.unitCols
	i1, j1 := min(i0+t.unitRows, t.m), min(j0+t.unitCols, t.n)
	if t.k == 0 {
		t.c.Rows(i0, i1).Cols(j0, j1).Clear()
	}
	nr, kc, beta := t.kr.nr, kBlock(max(t.k, 1)), t.beta
	// The blocks of k are processed in order by the goroutine that computes this
	// block of C, so the order of summation is the same for any number of goroutines.
	for k0 := 0; k0 < t.k; k0 += kc {
		k1 := min(k0+kc, t.k)
		t.block(i0, i1, j0, j1, k0, k1, t.packed[j0*t.k+k0*nr:], t.k*nr, beta)
		beta = 1
	}
	if t.gaussian {
		for i := i0; i < i1; i++ {
			t.kr.gauss(t.c.Row(i)[j0:j1], t.nb[j0:j1], t.na[i], t.gamma)
		}
	}
}

// columnsUnit packs rows of B, or columns, block by block and computes the columns of
// C that belong to them.
func (t *task[T]) columnsUnit(w *worker[T], u int) {
	j0 := u * t.unitCols
	j1 := min(j0+t.unitCols, t.n)
	nr, kc, beta := t.kr.nr, kBlock(t.k), t.beta
	w.b = resize(w.b, ceilDiv(j1-j0, nr)*nr*kc)
	for k0 := 0; k0 < t.k; k0 += kc {
		k1 := min(k0+kc, t.k)
		if t.across {
			t.kr.packColumns(w.b, t.b.from(k0, j0), t.b.stride, j1-j0, k1-k0)
		} else {
			t.kr.packRows(w.b, (k1-k0)*nr, nr, t.b.from(j0, k0), t.b.stride, j1-j0, k1-k0)
		}
		for i0 := 0; i0 < t.m; i0 += rowBlock {
			i1 := min(i0+rowBlock, t.m)
			t.block(i0, i1, j0, j1, k0, k1, w.b, (k1-k0)*nr, beta)
		}
		beta = 1
	}
}

// block adds columns k0 to k1 of the product to C[i0:i1, j0:j1] scaled by beta. b holds
// the panels from j0 on. Each panel starts at k0, and panels are panel elements apart.
func (t *task[T]) block(i0, i1, j0, j1, k0, k1 int, b []T, panel int, beta T) {
	if t.rowsOuter {
		for i := i0; i < i1; i += t.kr.mr {
			for j := j0; j < j1; j += t.kr.nr {
				t.tile(i, i1, j, j1, k0, k1, b[(j-j0)/t.kr.nr*panel:], beta)
			}
		}
		return
	}
	for j := j0; j < j1; j += t.kr.nr {
		for i := i0; i < i1; i += t.kr.mr {
			t.tile(i, i1, j, j1, k0, k1, b[(j-j0)/t.kr.nr*panel:], beta)
		}
	}
}

// tile runs the micro-kernel on the tile at i, j of a block that ends at i1, j1.
func (t *task[T]) tile(i, i1, j, j1, k0, k1 int, b []T, beta T) {
	t.kr.tile(min(t.kr.mr, i1-i), min(t.kr.nr, j1-j), k1-k0,
		t.a.from(i, k0), t.a.stride, b, t.alpha, beta, t.c.from(i, j), t.c.stride)
}

// swappedUnit computes some columns of C, as rows of Cᵀ = B·Aᵀ.
func (t *task[T]) swappedUnit(w *worker[T], u int) {
	w.tile = resize(w.tile, t.kr.mr*t.kr.nr)
	j1 := min((u+1)*t.unitCols, t.n)
	for j := u * t.unitCols; j < j1; j += t.kr.mr {
		rows := min(t.kr.mr, j1-j)
		for i := 0; i < t.m; i += t.cols {
			t.swappedTile(w.tile, j, rows, i, min(t.cols, t.m-i))
		}
	}
}

// swappedTile computes C[i:i+cols, j:j+rows] by way of its transpose.
func (t *task[T]) swappedTile(tile []T, j, rows, i, cols int) {
	nr, kc, beta := t.kr.nr, kBlock(t.k), t.beta
	if beta != 0 {
		for p := range cols {
			for q, v := range t.c.from(i+p, j)[:rows] {
				tile[q*nr+p] = v
			}
		}
	}
	panel := t.packed[i/t.cols*t.k*nr:]
	for k0 := 0; k0 < t.k; k0 += kc {
		t.kr.tile(rows, cols, min(kc, t.k-k0), t.b.from(j, k0), t.b.stride, panel[k0*nr:], t.alpha, beta, tile, nr)
		beta = 1
	}
	for p := range cols {
		row := t.c.from(i+p, j)[:rows]
		for q := range row {
			row[q] = tile[q*nr+p]
		}
	}
}

// lanesUnit computes some rows or columns of C, whichever are more, as dot
// products.
func (t *task[T]) lanesUnit(w *worker[T], u int) {
	kr := t.kr
	x, sx := t.a, t.c.stride // the few rows, and their stride in C
	y, sy := t.b, 1          // the many rows
	if t.m > t.n {
		x, sx, y, sy = y, sy, x, sx
	}
	end := min((u+1)*t.unitCols, y.rows)
	for j, rb := u*t.unitCols, 0; j < end; j += rb {
		rb = kr.dotB
		if j+rb > end {
			rb = 1
		}
		for i, ra := 0, 0; i < x.rows; i += ra {
			ra = ceilDiv(x.rows-i, ceilDiv(x.rows-i, kr.dotA)) // evenly: a single row costs as much as several
			kr.dots(ra, rb, t.k, x.from(i, 0), x.stride, y.from(j, 0), y.stride, &w.out)
			for p := range ra {
				for q := range rb {
					t.put(&t.c.data[(i+p)*sx+(j+q)*sy], w.out[4*p+q])
				}
			}
		}
	}
}

// put stores an element of C whose dot product is s.
func (t *task[T]) put(c *T, s T) {
	if t.beta == 0 {
		*c = t.alpha * s
		return
	}
	*c = T(t.alpha*s) + T(t.beta**c) // the conversions keep compilers from fusing
}
