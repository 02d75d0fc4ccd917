package rows

import (
	"cmp"
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
	Name   string `json:"name,omitempty"`
	Number int    `json:"number,omitempty"`
}

// A Layout holds the roles of a table's columns. Columns are counted from 0.
type Layout struct {
	Columns  int
	Names    []string // nil without a header
	Label    int      // −1 if there is none
	Weight   int      // −1 if there is none, or if weights are not read
	Ignore   []int    // ascending
	Features []int    // columns that become features, in the order of the features; the values of a row are theirs
	Line     int      // line of the first row
	Read     Columns  // how the columns are read, with what the file shows and what is fitted to it

	Categories []int   // features that Columns.Categories names
	kept       []int   // features that Columns.Keep names
	first      []int32 // first feature of each column; nil without categories
}

// First returns the first feature of a column that has value q of the rows.
func (l *Layout) First(q int) int {
	if l.first == nil {
		return q
	}
	return int(l.first[q])
}

// Feature returns how messages name a feature, counted from 0.
func (l *Layout) Feature(feature int) string {
	level := ""
	if l.first != nil {
		q, exact := slices.BinarySearch(l.first, int32(feature))
		if !exact {
			q--
		}
		if levels := l.Read.Fitted.level(q); levels != nil {
			level = "=" + levels[feature-int(l.first[q])]
		}
		feature = q
	}
	if l.Names == nil {
		return fmt.Sprintf("column %d%s", l.Features[feature]+1, level)
	}
	return strconv.Quote(l.Names[l.Features[feature]] + level)
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

// Column returns how messages name a column, counted from 0.
func (l *Layout) Column(at int) string {
	if l.Names == nil {
		return fmt.Sprintf("column %d", at+1)
	}
	return fmt.Sprintf("column %d (%q)", at+1, l.Names[at])
}

// role returns the index of the column that an option gives, −1 if it is not given.
func (l *Layout) role(key string, c Column) (int, error) {
	if c == (Column{}) {
		return -1, nil
	}
	return l.find(key, c)
}

// find returns the index of the column that an option names.
func (l *Layout) find(key string, c Column) (int, error) {
	if c.Name == "" {
		at := c.Number - 1
		if c.Number < 0 {
			at = l.Columns + c.Number
		}
		if at < 0 || at >= l.Columns {
			return 0, wrongOption(key, "no column %d: the file has %d columns", c.Number, l.Columns)
		}
		return at, nil
	}
	at := slices.Index(l.Names, c.Name)
	switch {
	case l.Names == nil:
		return 0, wrongOption(key, "no column %q: the file has no header; give the column's number, 1 for the first or -1 for the last", c.Name)
	case at < 0:
		return 0, wrongOption(key, "no column %q: want one of %s", c.Name, near(c.Name, l.Names))
	case slices.Contains(l.Names[at+1:], c.Name):
		return 0, wrongOption(key, "several columns are named %q: give the column's number, 1 for the first or -1 for the last", c.Name)
	}
	return at, nil
}

// mostNames is the largest number of names that a message lists.
const mostNames = 8

// near lists names for a message: of many, those that are most like a name.
func near(name string, names []string) string {
	if len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(edits(name, a), edits(name, b)) })
	return strings.Join(names[:mostNames], ", ") + ", …"
}

// edits returns the least number of characters to insert, delete or replace to turn a into b, whatever
// their case. Of long names it compares the first 64 characters.
func edits(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	x, y = x[:min(len(x), 64)], y[:min(len(y), 64)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range x {
		// row[:j+1] is of x up to c, the rest of x before c, as is the value of before, for y[:j].
		before := row[0]
		row[0] = i + 1
		for j, d := range y {
			if c != d {
				before = min(before, row[j], row[j+1]) + 1
			}
			before, row[j+1] = row[j+1], before
		}
	}
	return row[len(y)]
}

// choose sets the roles of n columns, and prepares the reading of rows. names is nil without a header,
// and line that of the first row.
func (r *Reader) choose(names []string, n, line int) (err error) {
	o, l := &r.o, &r.layout
	defer func() {
		if err != nil {
			*l = Layout{}
		}
	}()
	*l = Layout{Columns: n, Names: names, Label: -1, Weight: -1, Line: line}
	if n-1-len(o.Ignore) > o.MaxDim {
		return fmt.Errorf("the first row has %d features, more than %d", n, o.MaxDim)
	}
	if l.Ignore, err = l.findAll("ignore", o.Ignore); err == nil {
		if slices.Sort(l.Ignore); o.trained() {
			err = r.trained()
		} else {
			err = l.chosenBy(o)
		}
	}
	if err == nil {
		err = l.checkRoles(o)
	}
	switch {
	case err != nil:
		return err
	case len(l.Features) == 0:
		return errors.New("no column is left that could be a feature")
	}
	for _, at := range l.Features {
		c := feature{at: at, category: slices.Contains(l.Categories, at)}
		if c.category {
			c.levels = make(map[string]int32)
		}
		r.features = append(r.features, c)
	}
	if !o.trained() {
		err = r.fit()
	}
	return cmp.Or(err, r.compile())
}

// chosenBy finds the columns of training rows: all but the label and those that are ignored are features.
func (l *Layout) chosenBy(o *Options) (err error) {
	if l.Label, err = l.role("label", o.Label); err != nil {
		return err
	}
	if l.Weight, err = l.role("weight", o.Weight); err != nil {
		return err
	}
	if l.Weight >= 0 && !slices.Contains(l.Ignore, l.Weight) {
		l.Ignore = append(l.Ignore, l.Weight)
		slices.Sort(l.Ignore)
	}
	l.Features = l.others(l.Label)
	return nil
}

// others returns the columns that are neither ignored nor the given one.
func (l *Layout) others(label int) (columns []int) {
	for at := range l.Columns {
		if at != label && !slices.Contains(l.Ignore, at) {
			columns = append(columns, at)
		}
	}
	return columns
}

// checkRoles finds the columns that options name as features, and the weights that a model is trained
// further with. Columns in two roles are an error.
func (l *Layout) checkRoles(o *Options) (err error) {
	if o.Dim == 0 && l.Weight < 0 {
		if l.Weight, err = l.role("weight", o.Weight); err != nil {
			return err
		}
	}
	key := "weight"
	for _, at := range append([]int{l.Weight}, l.Ignore...) {
		switch {
		case at >= 0 && at == l.Label:
			return wrongOption(key, "%s is the label", l.Column(at))
		case slices.Contains(l.Features, at):
			return wrongOption(key, "%s is a feature of the model", l.Column(at))
		}
		key = "ignore"
	}
	if l.kept, err = l.findAll("keep", o.Keep); err != nil {
		return err
	}
	if l.Categories, err = l.findAll("categories", o.Categories); err != nil {
		return err
	}
	slices.Sort(l.Categories)
	for i, at := range slices.Concat(l.kept, l.Categories) {
		key := "keep"
		if i >= len(l.kept) {
			key = "categories"
		}
		switch q := slices.Index(l.Features, at); {
		case q < 0:
			return wrongOption(key, "%s is not a feature: it is the label or left out", l.Column(at))
		case key == "categories" && o.trained() && o.Fitted.level(q) == nil:
			return wrongOption(key, "%s is not a category of the model, whose columns are those of its training", l.Column(at))
		}
	}
	return nil
}

// findAll returns the columns that an option names.
func (l *Layout) findAll(key string, columns []Column) (all []int, err error) {
	for _, c := range columns {
		at, err := l.find(key, c)
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, at) {
			return nil, wrongOption(key, "%s is named twice", l.Column(at))
		}
		all = append(all, at)
	}
	return all, nil
}

// trained finds the columns that a model was trained on: by name, if its training data had a header and
// so have these rows, else by position.
func (r *Reader) trained() (err error) {
	o, l, f := &r.o, &r.layout, r.o.Fitted
	if f != nil && f.Names != nil && l.Names != nil {
		return r.byName()
	}
	features, columns := o.width(), 0
	if f != nil {
		columns = f.Columns
	}
	l.Features = l.others(-1)
	left := len(l.Features)
	switch {
	case left == features: // no label
		return nil
	case len(o.Ignore) == 0 && columns > features+1 && l.Columns != columns:
		return fmt.Errorf("the first row has %d columns: want %d as in training, or %d features alone", l.Columns, columns, features)
	}
	if l.Label, err = l.role("label", o.Label); err != nil {
		return err
	}
	if all := l.Features; left == columns {
		l.Features = nil
		for _, at := range f.Numbers {
			l.Features = append(l.Features, all[at-1])
		}
	}
	if left != columns || slices.Contains(l.Features, l.Label) {
		l.Features = l.others(l.Label)
	}
	if len(l.Features) != features {
		return fmt.Errorf("the first row has %d columns: want %d features, with or without a label", l.Columns, features)
	}
	return nil
}

// byName finds the columns of a model by their names.
func (r *Reader) byName() (err error) {
	o, l := &r.o, &r.layout
	for _, name := range o.Fitted.Names {
		at := slices.Index(l.Names, name)
		switch {
		case at < 0:
			return fmt.Errorf("no column %q, which the model was trained on: the header has %s (if it is none: --header no)", name, near(name, l.Names))
		case slices.Contains(l.Names[at+1:], name):
			return fmt.Errorf("several columns are named %q, which the model was trained on", name)
		}
		l.Features = append(l.Features, at)
	}
	switch l.Label = r.trainedLabel(l.Names); {
	case o.NoLabels:
		l.Label = -1
	case l.Label < 0 && o.Label.Name == "" && o.Names.Label != "":
		return fmt.Errorf("no column %q, which has the label in the training data: name the column of the label (--label)", o.Names.Label)
	case l.Label < 0:
		l.Label, err = l.find("label", o.Label)
	}
	if slices.Contains(l.Features, l.Label) {
		return wrongOption("label", "%s is a feature of the model", l.Column(l.Label))
	}
	return err
}

// checkNumbers returns an error if features seem to number the rows, and so say nothing
// about the examples.
func (r *Reader) checkNumbers() error {
	columns := r.layout.Numbering(&r.numbers)
	if !r.o.Strict || columns == nil {
		return nil
	}
	return wrongOption("ignore", "seems to number the rows: %s; leave it out (--ignore-columns; in a spec, ignore), or use it as a feature (--keep-columns; in a spec, keep)", strings.Join(columns, ", "))
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
