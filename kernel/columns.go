package kernel

import "polkrepro/internal/gemm"

// columns holds fixed points and the float32 kernel values between them and a changing dictionary.
type columns struct {
	points Matrix[float32]   // n×dim
	blocks []Matrix[float32] // the n×M kernel values, in blocks of scoreRows rows, with room for more columns
	scores []float64         // n×C

	fresh Matrix[float32] // the values of new elements
	moved []float32       // those of a row's moved elements
}

// spare returns a row stride for order elements with room for a few more.
func spare(order int) int { return (order + order/8 + 16) &^ 15 }

// evaluate updates the kernel values and computes the scores block by block, while
// each block is in cache.
func (c *columns) evaluate(e *Expansion, d *change, scorer *scoring[float32], threads int) {
	if d.order() == 0 {
		clear(c.scores)
		return
	}
	n := c.points.Len()
	if c.blocks == nil {
		c.blocks = make([]Matrix[float32], (n+scoreRows-1)/scoreRows)
	}
	c.moved = grow(c.moved, len(d.moved))
	scorer.transposeWeights(e)
	for b := range c.blocks {
		lo := b * scoreRows
		x := c.points.Rows(lo, min(lo+scoreRows, n))
		c.update(&c.blocks[b], x, e, d, threads)
		scorer.multiply(c.blocks[b].Cols(0, d.order()), c.scores[lo*e.Outputs:], threads)
	}
}

// update converts a block, the kernel values of x, to the dictionary of e. d is the change that
// led to this dictionary. The block has room for either dictionary.
func (c *columns) update(block *Matrix[float32], x Matrix[float32], e *Expansion, d *change, threads int) {
	rows := x.Len()
	if _, room := block.Dims(); d.order() > room {
		wider := gemm.NewMatrix[float32](rows, spare(d.order()))
		if !d.whole() {
			wider.Copy(*block)
		}
		*block = wider
	}
	if d.whole() {
		d.points.Block32(e.Kernel, x, block.Cols(0, d.order()), threads)
		return
	}
	c.fresh = c.fresh.Fresh(rows, len(d.fresh))
	d.points.Block32(e.Kernel, x, c.fresh, threads)
	for i := range rows {
		row, fresh := block.Row(i), c.fresh.Row(i)
		for q, j := range d.moved {
			c.moved[q] = row[d.from[j]]
		}
		for q, j := range d.moved {
			row[j] = c.moved[q]
		}
		for q, j := range d.fresh {
			row[j] = fresh[q]
		}
	}
}
