package kernel

// columns holds fixed points and the float32 kernel values between them and a changing dictionary.
type columns struct {
	n      int
	x      []float32   // n×dim
	blocks [][]float32 // the n×M kernel values, in blocks of scoreRows rows
	stride int         // row stride of blocks, at least M
	scores []float64   // n×C

	fresh, tmp []float32
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
	if c.blocks == nil {
		c.blocks = make([][]float32, (c.n+scoreRows-1)/scoreRows)
	}
	stride := c.stride
	if d.order() > stride {
		stride = spare(d.order())
	}
	c.tmp = grow(c.tmp, len(d.moved))
	scorer.transposeWeights(e.W, e.Order(), e.Outputs)
	for b := range c.blocks {
		rows := min(scoreRows, c.n-b*scoreRows)
		c.update(b, rows, stride, e, d, threads)
		scorer.multiply(rows, d.order(), e.Outputs, c.blocks[b], stride, c.scores[b*scoreRows*e.Outputs:], threads)
	}
	c.stride = stride
}

// update converts block b, the kernel values of rows points, to the dictionary of e
// and to the given row stride. d is the change that led to the dictionary of e.
func (c *columns) update(b, rows, stride int, e *Expansion, d *change, threads int) {
	x := c.x[b*scoreRows*e.Dict.dim:]
	if stride != c.stride {
		wider := make([]float32, rows*stride)
		if !d.whole() {
			for i := range rows {
				copy(wider[i*stride:(i+1)*stride], c.blocks[b][i*c.stride:(i+1)*c.stride])
			}
		}
		c.blocks[b] = wider
	}
	if d.whole() {
		d.points.Block32(e.Kernel, rows, x, c.blocks[b], stride, threads)
		return
	}
	f := len(d.fresh)
	c.fresh = grow(c.fresh, rows*f)
	d.points.Block32(e.Kernel, rows, x, c.fresh, f, threads)
	for i := range rows {
		row := c.blocks[b][i*stride : (i+1)*stride] // with room for either dictionary
		for q, j := range d.moved {
			c.tmp[q] = row[d.from[j]]
		}
		for q, j := range d.moved {
			row[j] = c.tmp[q]
		}
		for q, j := range d.fresh {
			row[j] = c.fresh[i*f+q]
		}
	}
}
