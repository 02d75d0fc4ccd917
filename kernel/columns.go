package kernel

// columns are fixed points with the kernel values between them and a changing
// dictionary, in one precision or the other.
type columns struct {
	n      int
	x      []float32 // n×dim
	single kept[float32]
	double kept[float64]
	scores []float64 // n×C
}

// kept are the n×M kernel values of columns, in the blocks of rows that Scorer
// works in.
type kept[T float32 | float64] struct {
	blocks [][]T
	stride int // of the rows in blocks, at least M

	fresh, tmp []T
}

// spare returns a row stride for order elements with room for a few more.
func spare(order int) int { return (order + order/8 + 16) &^ 15 }

// forget gives the kernel values up.
func (k *columns) forget() { k.single, k.double = kept[float32]{}, kept[float64]{} }

// evaluate brings the kernel values up to date and computes the scores, block
// by block, while the block is in cache.
func (k *kept[T]) evaluate(c *columns, e *Expansion, d *change, scorer *scoring[T], threads int) {
	c.scores = grow(c.scores, c.n*e.Outputs)
	if d.order() == 0 {
		clear(c.scores)
		return
	}
	if k.blocks == nil {
		k.blocks = make([][]T, (c.n+scoreRows-1)/scoreRows)
	}
	stride := k.stride
	if d.order() > stride {
		stride = spare(d.order())
	}
	k.tmp = grow(k.tmp, len(d.moved))
	scorer.transposeWeights(e.W, e.Order(), e.Outputs)
	for b := range k.blocks {
		lo := b * scoreRows
		rows := min(scoreRows, c.n-lo)
		k.update(b, rows, c.x[lo*e.Dict.dim:], stride, e.Kernel, d, threads)
		scorer.multiply(rows, d.order(), e.Outputs, k.blocks[b], stride, c.scores[lo*e.Outputs:], threads)
	}
	k.stride = stride
}

// update brings block b, the kernel values of rows points x, to the dictionary
// that d leads to and to a row stride.
func (k *kept[T]) update(b, rows int, x []float32, stride int, kernel Kernel, d *change, threads int) {
	if stride != k.stride {
		wider := make([]T, rows*stride)
		if !d.whole() {
			for i := range rows {
				copy(wider[i*stride:(i+1)*stride], k.blocks[b][i*k.stride:(i+1)*k.stride])
			}
		}
		k.blocks[b] = wider
	}
	if d.whole() {
		block(d.points, kernel, rows, x, k.blocks[b], stride, threads)
		return
	}
	f := len(d.fresh)
	k.fresh = grow(k.fresh, rows*f)
	block(d.points, kernel, rows, x, k.fresh, f, threads)
	for i := range rows {
		patch(k.blocks[b][i*stride:(i+1)*stride], k.fresh[i*f:(i+1)*f], k.tmp, d)
	}
}
