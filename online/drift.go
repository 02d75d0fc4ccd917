package online

import (
	"fmt"
	"math"
	"slices"

	"polkrepro/data/rows"
)

// A drift watches the features of a stream for values that those of its first rows did not prepare
// for: the scaling was fitted to these, and a model knows nothing of rows far from its elements. It
// belongs to the model, with which low and high are saved.
type drift struct {
	low, high []float64 // of each feature: range of the first rows
	outside   []int     // of each feature: rows outside the range, and as much again on either side, in the last driftRows
	warned    []bool
	rows      int // rows since outside was cleared
	row       []float64
}

const (
	driftRows  = 32 // rows that are looked at together, a default mini-batch
	driftShare = 2  // a feature has drifted if more than one row in driftShare is outside
)

// newDrift returns a drift that has seen no row of dim features.
func newDrift(dim int) *drift {
	return watch(slices.Repeat([]float64{math.Inf(1)}, dim), slices.Repeat([]float64{math.Inf(-1)}, dim))
}

// watch returns a drift with the given ranges.
func watch(low, high []float64) *drift {
	dim := len(low)
	return &drift{low: low, high: high, outside: make([]int, dim), warned: make([]bool, dim), row: make([]float64, dim)}
}

// add takes a row, the model's nth. One of the first headSize rows extends the ranges. From then on add calls
// warn once with each feature that has drifted, and what to say of it.
func (d *drift) add(row *rows.Row, n int64, warn func(feature int, what string)) {
	row.Dense(d.row)
	first := n <= int64(headSize(len(d.row)))
	for q, v := range d.row {
		wide := d.high[q] - d.low[q]
		switch {
		case first:
			d.low[q], d.high[q] = min(d.low[q], v), max(d.high[q], v)
		case v < d.low[q]-wide || v > d.high[q]+wide:
			d.outside[q]++
		}
	}
	if d.rows++; d.rows < driftRows {
		return
	}
	for q, n := range d.outside {
		if n*driftShare > driftRows && !d.warned[q] {
			d.warned[q] = true
			warn(q, fmt.Sprintf("is far outside its range in the first rows in %d of the last %d rows: the scaling does not fit any more", n, driftRows))
		}
	}
	clear(d.outside)
	d.rows = 0
}
