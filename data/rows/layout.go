package rows

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Column identifies a column of a table by its Name in the header or, if Name is empty,
// by its Number: 1 is the first column, −1 the last.
type Column struct {
	Name   string
	Number int
}

// A Layout holds the roles of a table's columns. Columns are counted from 0.
type Layout struct {
	Columns  int
	Names    []string // nil without a header
	Label    int      // −1 if there is none
	Ignore   []int    // ascending
	Features []int    // all other columns
	kept     []int    // features that Options.Keep names

	Line int    // line of the first row
	Why  string // why the first row is a header; empty if it is data
}

// Header returns HeaderYes or HeaderNo.
func (l *Layout) Header() string {
	if l.Names != nil {
		return HeaderYes
	}
	return HeaderNo
}

// Sum returns the names in the header.
func (l *Layout) Sum() Names { return namesOf(l.Names, l.Label) }

// column returns how messages name a column.
func (l *Layout) column(at int) string {
	if l.Names == nil {
		return fmt.Sprintf("column %d", at+1)
	}
	return fmt.Sprintf("column %d (%q)", at+1, l.Names[at])
}

// reference returns how a spec names a column.
func (l *Layout) reference(at int) string {
	if l.Names == nil || l.Names[at] == "" {
		return strconv.Itoa(at + 1)
	}
	return strconv.Quote(l.Names[at])
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
	if l.Names == nil {
		return wrong("no column %q: the file has no header; give the column's number, 1 for the first or -1 for the last", c.Name)
	}
	at := slices.Index(l.Names, c.Name)
	if at < 0 {
		shown := l.Names
		if len(shown) > 20 {
			shown = append(slices.Clone(shown[:20]), "…")
		}
		return wrong("no column %q: want one of %s", c.Name, strings.Join(shown, ", "))
	}
	if slices.Contains(l.Names[at+1:], c.Name) {
		return wrong("several columns are named %q: give the column's number, 1 for the first or -1 for the last", c.Name)
	}
	return at, nil
}

// choose sets the roles of n columns. names is nil without a header.
func (r *Reader) choose(names []string, n int) (err error) {
	o, l := &r.o, Layout{Columns: n, Names: names, Label: -1}
	switch {
	case o.Like != nil:
		err = l.like(o.Like)
	case o.Dim == 0 || n != o.Dim: // else the rows have no label
		err = l.chosenBy(o)
	}
	if err != nil {
		return err
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

// like takes the roles of a training file's columns, which must be the same.
func (l *Layout) like(of *Layout) error {
	if l.Columns != of.Columns {
		return fmt.Errorf("%d columns, want %d as in the training file", l.Columns, of.Columns)
	}
	for i := range l.Names {
		if of.Names != nil && l.Names[i] != of.Names[i] {
			return fmt.Errorf("column %d is %q, and %q in the training file: want the same columns in the same order", i+1, l.Names[i], of.Names[i])
		}
	}
	l.Label, l.Ignore = of.Label, of.Ignore
	return nil
}

// chosenBy finds the columns that options name. With Options.Strict it returns an error if
// a feature has the name of a column that numbers the rows.
func (l *Layout) chosenBy(o *Options) (err error) {
	if o.Label != (Column{}) {
		if l.Label, err = l.find("label", o.Label); err != nil {
			return err
		}
	}
	if l.Ignore, err = l.findAll("ignore", o.Ignore, "is the label"); err != nil {
		return err
	}
	slices.Sort(l.Ignore)
	l.Ignore = slices.Compact(l.Ignore)
	l.kept, err = l.findAll("keep", o.Keep, "is not a feature: it is the label or left out")
	if err != nil || !o.Strict {
		return err
	}
	for at, name := range l.Names {
		if at != l.Label && !slices.Contains(l.Ignore, at) && !slices.Contains(l.kept, at) && isIndexName(name) {
			return l.numbersRows(at, "has the name of a column that numbers the rows", o.Say)
		}
	}
	return nil
}

// findAll returns the columns that an option names. None may be the label or ignored.
func (l *Layout) findAll(key string, columns []Column, why string) (all []int, err error) {
	for _, c := range columns {
		at, err := l.find(key, c)
		if err != nil {
			return nil, err
		}
		if at == l.Label || slices.Contains(l.Ignore, at) {
			return nil, &OptionError{key, fmt.Errorf("%s %s", l.column(at), why)}
		}
		all = append(all, at)
	}
	return all, nil
}

// numbersRows returns the error for a feature that numbers the rows and so says nothing
// about the examples.
func (l *Layout) numbersRows(at int, why string, say Say) error {
	ref := l.reference(at)
	return &OptionError{"ignore", fmt.Errorf("%s %s: leave it out with %s, or use it as a feature with %s", l.column(at), why, say.Setting("ignore", ref), say.Setting("keep", ref))}
}

// checkNumbers returns an error if a feature numbers the rows. Without Options.Strict no
// rows have been counted, and there is no error.
func (r *Reader) checkNumbers() error {
	for _, q := range r.numbers.Features() {
		if at := r.layout.Features[q]; !slices.Contains(r.layout.kept, at) {
			return r.layout.numbersRows(at, fmt.Sprintf("numbers the rows, up to %v", r.numbers.last[q]), r.o.Say)
		}
	}
	return nil
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

// Features returns the indices, from 0, of the features that number the rows. It returns
// none before there are enough rows to tell.
func (n *RowNumbers) Features() []int {
	var out []int
	for q, runs := range n.running {
		if runs && n.rows >= minRunning {
			out = append(out, q)
		}
	}
	return out
}

// Numbering returns, as messages name them, the features that seem to number the rows,
// judged by their names or by the rows.
func (l *Layout) Numbering(rows *RowNumbers) []string {
	var out []string
	for q, at := range l.Features {
		if l.Names != nil && isIndexName(l.Names[at]) || slices.Contains(rows.Features(), q) {
			out = append(out, l.column(at))
		}
	}
	return out
}
