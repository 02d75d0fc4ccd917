package rows

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Column identifies a column of a table by its Name in the header or, if Name is empty,
// by its Number: 1 is the first column, −1 the last.
type Column struct {
	Name   string `json:"name,omitempty"`
	Number int    `json:"number,omitempty"`
}

// A Layout holds the roles of a table's columns. Columns are counted from 0.
type Layout struct {
	Columns  int
	Names    []string // nil without a header
	Label    int      // −1 if there is none
	Weight   int      // −1 if there is none
	Ignore   []int    // ascending, with that of the weights
	Features []int    // all other columns
	kept     []int    // features that Options.Keep names

	Line int // line of the first row
}

// Header returns HeaderYes or HeaderNo.
func (l *Layout) Header() string {
	if l.Names != nil {
		return HeaderYes
	}
	return HeaderNo
}

// Sum returns the names in the header.
func (l *Layout) Sum() Names { return namesOf(l.Names, l.Label, l.Weight) }

// Column returns how messages name a column, counted from 0.
func (l *Layout) Column(at int) string {
	if l.Names == nil {
		return fmt.Sprintf("column %d", at+1)
	}
	return fmt.Sprintf("column %d (%q)", at+1, l.Names[at])
}

// find returns the index of the column that an option names.
func (l *Layout) find(key string, c Column) (int, error) {
	wrong := func(format string, args ...any) (int, error) {
		return 0, &OptionError{key, fmt.Errorf(format, args...)}
	}
	if c.Name == "" {
		at := c.Number - 1
		if c.Number < 0 {
			at = l.Columns + c.Number
		}
		if at < 0 || at >= l.Columns {
			return wrong("no column %d: the file has %d columns", c.Number, l.Columns)
		}
		return at, nil
	}
	at := slices.Index(l.Names, c.Name)
	switch {
	case l.Names == nil:
		return wrong("no column %q: the file has no header; give the column's number, 1 for the first or -1 for the last", c.Name)
	case at < 0:
		return wrong("no column %q: want one of %s", c.Name, strings.Join(l.Names, ", "))
	case slices.Contains(l.Names[at+1:], c.Name):
		return wrong("several columns are named %q: give the column's number, 1 for the first or -1 for the last", c.Name)
	}
	return at, nil
}

// choose sets the roles of n columns. names is nil without a header.
func (r *Reader) choose(names []string, n int) (err error) {
	o, l := &r.o, Layout{Columns: n, Names: names, Label: -1, Weight: -1}
	if o.Dim == 0 || n != o.Dim || len(o.Ignore) > 0 { // else the rows have no label
		if err := l.chosenBy(o); err != nil {
			return err
		}
	}
	p := n - len(l.Ignore)
	if l.Label >= 0 {
		p--
	}
	switch {
	case p == 0:
		return errors.New("no column is left that could be a feature")
	case o.Dim > 0 && p != o.Dim:
		return fmt.Errorf("the first row has %d columns: want %d features, with or without a label", n, o.Dim)
	case p > o.MaxDim:
		return fmt.Errorf("the first row has %d features, more than %d", p, o.MaxDim)
	}
	for at := range n {
		if at != l.Label && !slices.Contains(l.Ignore, at) {
			l.Features = append(l.Features, at)
		}
	}
	r.layout = l
	return nil
}

// chosenBy finds the columns that options name.
func (l *Layout) chosenBy(o *Options) (err error) {
	if o.Label != (Column{}) {
		if l.Label, err = l.find("label", o.Label); err != nil {
			return err
		}
	}
	if l.Ignore, err = l.findAll("ignore", o.Ignore, "is the label"); err != nil {
		return err
	}
	if o.Weight != (Column{}) {
		if l.Weight, err = l.find("weight", o.Weight); o.Dim > 0 {
			l.Weight, err = o.weightIn(l.Names, l.Columns), nil
		}
		switch {
		case err != nil:
			return err
		case l.Weight >= 0 && l.Weight == l.Label:
			return &OptionError{"weight", fmt.Errorf("%s is the label", l.Column(l.Label))}
		case l.Weight >= 0:
			l.Ignore = append(l.Ignore, l.Weight)
		}
	}
	slices.Sort(l.Ignore)
	l.Ignore = slices.Compact(l.Ignore)
	l.kept, err = l.findAll("keep", o.Keep, "is not a feature: it is the label or left out")
	return err
}

// weightIn returns the column of the weights among n columns, from 0, or −1 if there is none. Rows for a
// model have all features; a column that is given by its number is there if the label is there too.
func (o *Options) weightIn(names []string, n int) int {
	at := o.Weight.Number - 1
	switch {
	case o.Weight.Name != "":
		return slices.Index(names, o.Weight.Name)
	case o.Weight.Number < 0:
		at = n + o.Weight.Number
	}
	if o.Weight.Number == 0 || at >= n || o.Dim > 0 && n < o.Dim+2 {
		return -1
	}
	return max(at, -1)
}

// findAll returns the columns that an option names. None may be the label or ignored.
func (l *Layout) findAll(key string, columns []Column, why string) (all []int, err error) {
	for _, c := range columns {
		at, err := l.find(key, c)
		if err != nil {
			return nil, err
		}
		if at == l.Label || slices.Contains(l.Ignore, at) {
			return nil, &OptionError{key, fmt.Errorf("%s %s", l.Column(at), why)}
		}
		all = append(all, at)
	}
	return all, nil
}

// checkNumbers returns an error if features seem to number the rows, and so say nothing
// about the examples.
func (r *Reader) checkNumbers() error {
	columns := r.layout.Numbering(&r.numbers)
	if !r.o.Strict || columns == nil {
		return nil
	}
	return &OptionError{"ignore", fmt.Errorf("seems to number the rows: %s; leave it out (ignore), or use it as a feature (keep)", strings.Join(columns, ", "))}
}

// Numbering returns, as messages name them, the features that seem to number the rows,
// judged by their names or by the rows. It leaves out those that Options.Keep names.
func (l *Layout) Numbering(rows *RowNumbers) (columns []string) {
	for q, at := range l.Features {
		if !slices.Contains(l.kept, at) && (l.Names != nil && isIndexName(l.Names[at]) || rows.rows >= minRunning && rows.running[q]) {
			columns = append(columns, l.Column(at))
		}
	}
	return columns
}

// minRunning is the number of rows from which on a column that increases by one per row is
// taken to number the rows.
const minRunning = 8

// indexNames are names of columns that number or name the rows, in lower case.
// Programs that write a data frame with its index use these names, or leave it unnamed.
var indexNames = []string{"", "id", "index", "idx", "row", "rowid", "row_id", "row.names", "rownames", "__index_level_0__"}

// isIndexName reports whether a name is that of a column that numbers the rows.
func isIndexName(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return slices.Contains(indexNames, name) || strings.HasPrefix(name, "unnamed: ")
}

// RowNumbers finds the features of a table that increase by one from row to row. The zero
// value has seen no row.
type RowNumbers struct {
	rows    int
	running []bool    // by feature: it has increased by one so far
	last    []float64 // values of the row before
}

// Add takes the next row.
func (n *RowNumbers) Add(row []float64) {
	if n.rows == 0 {
		n.running = make([]bool, len(row))
	}
	for q, v := range row {
		n.running[q] = n.rows == 0 && v == math.Trunc(v) || n.running[q] && v == n.last[q]+1
	}
	n.last = append(n.last[:0], row...)
	n.rows++
}
