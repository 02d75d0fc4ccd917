package online

import (
	"math"

	"polkrepro/data/rows"
)

// A drift watches the features of a stream for values that those of its first rows did not prepare
// for: the scaling was fitted to these, and a model knows nothing of rows far from its elements.
type drift struct {
	low, high []float64 // of each feature: range of the first rows, and as much again on either side
	outside   []int     // of each feature: rows outside in the last driftRows
	warned    []bool
	rows      int // rows since outside was cleared
	row       []float64
	name      func(feature int) string
}

const (
	driftRows  = 32 // rows that are looked at together, a default mini-batch
	driftShare = 2  // a feature has drifted if more than one row in driftShare is outside
)

// newDrift returns a drift that has seen the first rows of a stream.
func newDrift(head []rows.Row, dim int, name func(int) string) *drift {
	d := &drift{low: make([]float64, dim), high: make([]float64, dim), outside: make([]int, dim), warned: make([]bool, dim), row: make([]float64, dim), name: name}
	for q := range dim {
		d.low[q], d.high[q] = math.Inf(1), math.Inf(-1)
	}
	for i := range head {
		head[i].Dense(d.row)
		for q, v := range d.row {
			d.low[q], d.high[q] = min(d.low[q], v), max(d.high[q], v)
		}
	}
	for q := range dim {
		wide := d.high[q] - d.low[q]
		d.low[q], d.high[q] = d.low[q]-wide, d.high[q]+wide
	}
	return d
}

// add takes the next row, and warns once of each feature that has drifted.
func (d *drift) add(row *rows.Row, note func(string, ...any)) {
	row.Dense(d.row)
	for q, v := range d.row {
		if v < d.low[q] || v > d.high[q] {
			d.outside[q]++
		}
	}
	if d.rows++; d.rows < driftRows {
		return
	}
	for q, n := range d.outside {
		if n*driftShare > driftRows && !d.warned[q] {
			d.warned[q] = true
			note("warning: line %d: %s is far outside its range in the first rows in %d of the last %d rows: the scaling does not fit any more; train a new model on rows from here on", row.Line, d.name(q), n, driftRows)
		}
	}
	clear(d.outside)
	d.rows = 0
}
