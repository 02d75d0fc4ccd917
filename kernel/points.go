package kernel

import (
	"slices"
	"sync/atomic"

	"polkrepro/internal/gemm"
)

// lastID is the number of vectors that were ever added to any set. All sets share this
// counter, so that a set and its clones never give different vectors the same ID, and a vector
// added later has a larger ID. Computed results depend on no other property of the IDs.
var lastID atomic.Uint64

// Points is an ordered set of feature vectors that kernel blocks are evaluated
// against, such as a dictionary or a test set. The vectors are kept packed for the
// matrix product, in float32 and in float64.
type Points struct {
	dim int
	raw []float32 // Len×dim, row-major
	ids []uint64
	p32 *gemm.Panels[float32]
	p64 *gemm.Panels[float64]
	buf []float64 // one row in float64
}

// NewPoints returns an empty set of vectors of length dim that supports both
// Block32 and Block64.
func NewPoints(dim int) *Points {
	return &Points{dim: dim, p32: gemm.NewPanels[float32](dim), p64: gemm.NewPanels[float64](dim)}
}

// Len returns the number of vectors.
func (p *Points) Len() int { return p.p32.Len() }

// Dim returns the length of a vector.
func (p *Points) Dim() int { return p.dim }

// At returns vector i, without copying; it is valid until the set changes.
func (p *Points) At(i int) []float32 { return p.raw[i*p.dim : (i+1)*p.dim : (i+1)*p.dim] }

// Rows64 returns the vectors lo … hi−1 in float64, which [Points.Block64] takes.
func (p *Points) Rows64(lo, hi int) Matrix[float64] {
	return widened(MatrixOf(p.Len(), p.dim, p.raw).Rows(lo, hi))
}

// ID returns a number that identifies vector i, wherever Remove moves it and in every
// clone. It is unique in the process: every vector added to any set gets its own ID,
// even if it equals another vector.
func (p *Points) ID(i int) uint64 { return p.ids[i] }

// Append adds a copy of x at the end, under a new ID.
func (p *Points) Append(x []float32) {
	if len(x) != p.dim {
		panic(badLength)
	}
	p.raw = append(p.raw, x...)
	p.ids = append(p.ids, lastID.Add(1))
	p.p32.Append(x)
	p.buf = grow(p.buf, p.dim)
	Widen(p.buf, x)
	p.p64.Append(p.buf)
}

// Reserve makes room for n more vectors. Appending them one by one without it takes
// up to twice the memory and copies the vectors several times.
func (p *Points) Reserve(n int) {
	p.raw = slices.Grow(p.raw, n*p.dim)
	p.ids = slices.Grow(p.ids, n)
	p.p32.Reserve(n)
	p.p64.Reserve(n)
}

// Remove deletes vector i; the last one takes its place.
func (p *Points) Remove(i int) {
	last := p.Len() - 1
	copy(p.At(i), p.At(last))
	p.raw = p.raw[:last*p.dim]
	p.ids[i] = p.ids[last]
	p.ids = p.ids[:last]
	p.p32.Remove(i)
	p.p64.Remove(i)
}

// Reset removes all vectors and keeps the memory.
func (p *Points) Reset() {
	p.raw = p.raw[:0]
	p.ids = p.ids[:0]
	p.p32.Reset()
	p.p64.Reset()
}

// Clone returns an independent copy whose vectors have the same IDs.
func (p *Points) Clone() *Points {
	q := NewPoints(p.dim)
	q.set(p)
	return q
}

// set makes p a copy of q, which has vectors of the same length, and keeps its memory.
func (p *Points) set(q *Points) {
	p.raw, p.ids = append(p.raw[:0], q.raw...), append(p.ids[:0], q.ids...)
	p.p32.Set(q.p32)
	p.p64.Set(q.p64)
}
