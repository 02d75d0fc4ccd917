package data

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// minRunning is the number of rows from which a column that ascends by one is taken
// for their number.
const minRunning = 8

// indexNames are names of columns that number or name the rows, in lower case.
// Programs that write a data frame with its index call it so, or not at all.
var indexNames = []string{"", "id", "index", "idx", "row", "rowid", "row_id", "row.names", "rownames", "__index_level_0__"}

// isIndexName reports whether a column is called as one that numbers the rows.
func isIndexName(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return slices.Contains(indexNames, name) || strings.HasPrefix(name, "unnamed: ")
}

// RowNumbers finds the features of a table that ascend by one from row to row. The zero
// value has seen no row.
type RowNumbers struct {
	rows    int
	running []bool    // by feature: it has ascended so far
	last    []float64 // of the row before
}

// Add takes the next row.
func (n *RowNumbers) Add(row []float64) {
	n.rows++
	if n.running == nil {
		n.running, n.last = slices.Repeat([]bool{true}, len(row)), slices.Clone(row)
		for q, v := range row {
			n.running[q] = v == math.Trunc(v)
		}
		return
	}
	for q, v := range row {
		n.running[q] = n.running[q] && v == n.last[q]+1
	}
	copy(n.last, row)
}

// Features returns the features that number the rows, from 0; none before there are rows
// enough to tell.
func (n *RowNumbers) Features() []int {
	var out []int
	for q, runs := range n.running {
		if runs && n.rows >= minRunning {
			out = append(out, q)
		}
	}
	return out
}

// Numbering returns what messages call the columns that seem to number the rows of a CSV
// file, by their names in its header or by its rows.
func (f *FirstRow) Numbering(rows *RowNumbers) []string {
	var out []string
	for q := range rows.running {
		at := q
		if f.Label >= 0 && q >= f.Label {
			at++
		}
		name := ""
		if f.Header {
			name = fmt.Sprintf(" (%q)", f.Columns[at])
		}
		if f.Header && isIndexName(f.Columns[at]) || slices.Contains(rows.Features(), q) {
			out = append(out, fmt.Sprintf("column %d%s", at+1, name))
		}
	}
	return out
}
