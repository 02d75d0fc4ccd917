package kernel

// columns keeps the n×M kernel values between fixed points and a changing
// dictionary, in float32, in the blocks of rows that Scorer works in.
type columns struct {
	n      int
	x      []float32 // n×dim
	blocks [][]float32
	stride int       // of the rows in blocks, at least M
	scores []float64 // n×C

	fresh, tmp []float32
}

// spare returns a row stride for order elements with room for a few more.
func spare(order int) int { return (order + order/8 + 16) &^ 15 }

// evaluate brings the kernel values up to date and computes the scores, block
// by block, while the block is in cache.
func (k *columns) evaluate(s *Snapshot, d *change, scorer *Scorer, threads int) {
	k.scores = grow(k.scores, k.n*s.outputs)
	if d.order() == 0 {
		clear(k.scores)
		return
	}
	if k.blocks == nil {
		k.blocks = make([][]float32, (k.n+scoreRows-1)/scoreRows)
	}
	stride := k.stride
	if d.order() > stride {
		stride = spare(d.order())
	}
	k.tmp = grow(k.tmp, len(d.moved))
	for b := range k.blocks {
		lo := b * scoreRows
		rows := min(scoreRows, k.n-lo)
		k.update(b, rows, k.x[lo*s.dim:], stride, s.kernel, d, threads)
		scorer.multiply(rows, d.order(), s.outputs, k.blocks[b], stride, k.scores[lo*s.outputs:], threads)
	}
	k.stride = stride
}

// update brings block b, the kernel values of rows points x, to the dictionary
// that d leads to and to a row stride.
func (k *columns) update(b, rows int, x []float32, stride int, kernel Kernel, d *change, threads int) {
	if stride != k.stride {
		wider := make([]float32, rows*stride)
		if !d.whole() {
			for i := range rows {
				copy(wider[i*stride:(i+1)*stride], k.blocks[b][i*k.stride:(i+1)*k.stride])
			}
		}
		k.blocks[b] = wider
	}
	if d.whole() {
		d.points.Block32(kernel, rows, x, k.blocks[b], stride, threads)
		return
	}
	f := len(d.fresh)
	k.fresh = grow(k.fresh, rows*f)
	d.points.Block32(kernel, rows, x, k.fresh, f, threads)
	for i := range rows {
		patch(k.blocks[b][i*stride:(i+1)*stride], k.fresh[i*f:(i+1)*f], k.tmp, d)
	}
}
