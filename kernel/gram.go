package kernel

// gram keeps the kernel matrix K_DD of a changing dictionary in float64. Its
// rows are slices of their own, which move with their elements at no cost.
type gram struct {
	rows [][]float64 // M of at least M values each, with room for more
	old  [][]float64 // the rows before a change

	x, fresh, tmp []float64
}

// update brings the matrix up to date. The new columns are computed; the new
// rows are their mirror image, as κ(x, y) has the bits of κ(y, x).
func (g *gram) update(e *Expansion, d *change, threads int) {
	g.arrange(d)
	m, f, dim := d.order(), len(d.fresh), e.Dict.dim
	g.x = grow(g.x, min(m, scoreRows)*dim)
	g.fresh = grow(g.fresh, min(m, scoreRows)*f)
	g.tmp = grow(g.tmp, len(d.moved))
	for lo := 0; lo < m; lo += scoreRows {
		rows := min(scoreRows, m-lo)
		Widen(g.x, e.Dict.raw[lo*dim:(lo+rows)*dim])
		d.points.Block64(e.Kernel, rows, g.x, g.fresh, f, threads)
		for i := range rows {
			g.fill(lo+i, g.fresh[i*f:(i+1)*f], d)
		}
	}
}

// arrange gives every element the row it had before, or one whose element
// left, or a new one, with room for all elements.
func (g *gram) arrange(d *change) {
	g.rows, g.old = append(g.old[:0], make([][]float64, d.order())...), g.rows
	for j, from := range d.from {
		if from >= 0 {
			g.rows[j], g.old[from] = g.old[from], nil
		}
	}
	left := g.old
	for j, row := range g.rows {
		for row == nil && len(left) > 0 {
			row, left = left[0], left[1:]
		}
		if len(row) < d.order() {
			wider := make([]float64, spare(d.order()))
			copy(wider, row)
			row = wider
		}
		g.rows[j] = row
	}
	clear(g.old)
}

// fill sets row i, and column i of the new rows, to the values of element i
// with the new ones.
func (g *gram) fill(i int, fresh []float64, d *change) {
	if d.whole() {
		copy(g.rows[i], fresh)
		return
	}
	if d.from[i] >= 0 {
		patch(g.rows[i], fresh, g.tmp, d)
	}
	for q, j := range d.fresh {
		g.rows[j][i] = fresh[q]
	}
}

// normSq returns Σ_c w_cᵀ K_DD w_c, in the order of NormSq.
func (g *gram) normSq(w []float64, c int) float64 {
	var sum float64
	for i, row := range g.rows {
		sum += quadraticRow(w, w[i*c:(i+1)*c], row[:len(g.rows)], c)
	}
	return sum
}
