package rows

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Values of Columns.Missing. Each says how a table's row is treated in which a feature is missing.
const (
	MissingRefuse = "refuse" // the default: it is an error
	MissingDrop   = "drop"   // it is left out; also if its label is missing
	MissingMean   = "mean"   // the mean of the column in the training rows takes the place; a category has no level
)

// MissingWords returns all values of Columns.Missing.
func MissingWords() []string { return []string{MissingRefuse, MissingDrop, MissingMean} }

// Columns say how the cells of a table become features. The zero value takes every column but that of
// the label as a number. A [Reader] of training rows fits them, and the result reads other rows alike.
type Columns struct {
	Delimiter string `json:"delimiter,omitempty"`  // character between columns; default a comma, in TSV files a tab
	Decimal   string `json:"decimal,omitempty"`    // decimal sign of numbers, a point (the default) or a comma
	Missing   string `json:"missing,omitempty"`    // one of MissingWords
	ZeroBased bool   `json:"zero_based,omitempty"` // the indices of LIBSVM files start at 0

	Ignore     []Column `json:"-"` // columns left out
	Keep       []Column `json:"-"` // features even if they seem to number the rows
	Categories []Column `json:"-"` // columns of words or codes: each level becomes a feature, 1 in its rows and 0 in others

	Fitted *Fitted `json:"fitted,omitempty"` // nil before training, and if there is nothing to keep
}

// Fitted is what training rows determine of their columns. The lists have an element for each column
// that becomes features, in the order of the features.
type Fitted struct {
	Columns int        `json:"columns"`          // number of columns of the training rows
	Numbers []int      `json:"numbers"`          // of the columns, from 1
	Names   []string   `json:"names,omitempty"`  // in the header; missing without one, or if two are the same
	Levels  [][]string `json:"levels,omitempty"` // of a category, in order; null of a number
	Means   []float64  `json:"means,omitempty"`  // in place of missing values; 0 of a category
}

// MaxLevels is the largest number of levels of a category.
const MaxLevels = 1000

// Stored returns what a model keeps of c, nil if that is nothing.
func (c Columns) Stored() *Columns {
	c.Ignore, c.Keep, c.Categories = nil, nil, nil
	if c.Missing == MissingRefuse {
		c.Missing = ""
	}
	if c.Fitted == nil && c.Delimiter+c.Decimal+c.Missing == "" && !c.ZeroBased {
		return nil
	}
	return &c
}

// For returns how other rows are read for a model that keeps c. They are read as its training rows, except
// where given has a value. A prediction leaves out rows only if given says so.
func (c *Columns) For(given Columns) Columns {
	if c == nil {
		return given
	}
	given.Delimiter, given.Decimal = cmp.Or(given.Delimiter, c.Delimiter), cmp.Or(given.Decimal, c.Decimal)
	if c.Missing != MissingDrop {
		given.Missing = cmp.Or(given.Missing, c.Missing)
	}
	given.ZeroBased, given.Fitted = given.ZeroBased || c.ZeroBased, c.Fitted
	return given
}

// Dim returns the number of features.
func (f *Fitted) Dim() int {
	dim := len(f.Numbers)
	for _, levels := range f.Levels {
		dim += max(0, len(levels)-1)
	}
	return dim
}

// Check returns an error if c is not what a model with dim features can keep.
func (c *Columns) Check(dim int) error {
	if c == nil {
		return nil
	}
	f := c.Fitted
	if err := c.valid(); err != nil || f == nil {
		return err
	}
	list := func(n int) bool { return n == 0 || n == len(f.Numbers) }
	if !list(len(f.Names)) || !list(len(f.Levels)) || !list(len(f.Means)) || f.Dim() != dim {
		return fmt.Errorf("%d columns do not make %d features", len(f.Numbers), dim)
	}
	for q, at := range f.Numbers {
		levels := f.level(q)
		different := slices.Compact(slices.Sorted(slices.Values(levels)))
		if at < 1 || at > f.Columns || levels != nil && len(levels) == 0 || len(levels) > MaxLevels || len(different) < len(levels) {
			return fmt.Errorf("column %d of %d with %d levels", at, f.Columns, len(levels))
		}
	}
	return nil
}

// level returns the levels of a column, nil of a number.
func (f *Fitted) level(q int) []string {
	if f == nil || f.Levels == nil {
		return nil
	}
	return f.Levels[q]
}

// valid returns an error about a value that suits no file.
func (c *Columns) valid() error {
	sign, size := utf8.DecodeRuneInString(c.Delimiter)
	point := cmp.Or(c.Decimal, ".")
	switch {
	case c.Delimiter != "" && (size < len(c.Delimiter) || sign != '\t' && !unicode.IsPrint(sign) || unicode.IsLetter(sign) || unicode.IsDigit(sign) || strings.ContainsRune(`"+-.`, sign)):
		return wrongOption("delimiter", "delimiter %.20q: want one character that is no part of a number or word, such as ';' or '|'", c.Delimiter)
	case point != "." && point != ",":
		return wrongOption("decimal", "decimal %.20q: want . or ,", c.Decimal)
	case c.Missing != "" && !slices.Contains(MissingWords(), c.Missing):
		return wrongOption("missing", "missing %.20q: want one of %s", c.Missing, strings.Join(MissingWords(), ", "))
	}
	return nil
}

// Suits returns an error if c is invalid or not for files of a format.
func (c *Columns) Suits(format string) error {
	switch table := IsTable(format); {
	case !table && len(c.Categories) > 0:
		return wrongOption("categories", "--categories: categories are columns of CSV and TSV files, not of %s", Title(format))
	case !table && c.Delimiter != "":
		return wrongOption("delimiter", "--delimiter is for CSV and TSV files, not for %s", Title(format))
	case !table && c.Decimal != "":
		return wrongOption("decimal", "--decimal is for CSV and TSV files, not for %s", Title(format))
	case !table && c.Missing != "" && c.Missing != MissingRefuse:
		return wrongOption("missing", "--missing: values are left out or filled in only in CSV and TSV files, not in %s", Title(format))
	case format == FormatLIBSVM && len(c.Ignore)+len(c.Keep) > 0:
		return wrongOption("ignore", "LIBSVM files have no columns to ignore or keep")
	case format != FormatLIBSVM && c.ZeroBased:
		return wrongOption("zero_based", "--zero-based is for LIBSVM files")
	}
	return c.valid()
}

func wrongOption(key, format string, args ...any) error {
	return &OptionError{key, fmt.Errorf(format, args...)}
}

// named reports whether a column is given by its name.
func (c *Columns) named() bool {
	return slices.ContainsFunc(slices.Concat(c.Ignore, c.Keep, c.Categories), func(c Column) bool { return c.Name != "" })
}

// mostFitted is the largest number of rows of a stream that levels and means are taken from.
const mostFitted = 1000

// A feature is a column that becomes features.
type feature struct {
	at       int              // the column, from 0
	category bool             // whether each level becomes a feature
	levels   map[string]int32 // of a category, each with its feature
	unseen   map[string]int   // of a category: rows by a level that the training rows did not have
	values   int              // of a number: how many values the training rows have, and their mean
	mean     float64
}

// fit fits the columns to training rows, whose roles the layout has: it finds the levels of categories,
// and the means of numbers if they take the place of missing values.
func (r *Reader) fit() error {
	l, f, unique := &r.layout, &Fitted{Columns: r.layout.Columns}, make(map[string]bool)
	for _, at := range l.Features {
		f.Numbers = append(f.Numbers, at+1)
		if l.Names != nil {
			f.Names, unique[l.Names[at]] = append(f.Names, l.Names[at]), true
		}
	}
	if len(unique) < len(f.Numbers) {
		f.Names = nil
	}
	if r.o.Missing == MissingMean || l.Categories != nil {
		if err := cmp.Or(r.fitRows(), r.finish(f)); err != nil {
			return err
		}
	}
	if f.Names != nil || f.Levels != nil || f.Means != nil || l.Ignore != nil {
		r.o.Fitted = f
	}
	return nil
}

// fitRows adds all rows of a file, or the first rows of a stream, which are held to be read again. Rows
// that can't be read are for Next to report.
func (r *Reader) fitRows() error {
	from := r
	if r.x.regular {
		in, err := openInput(r.x.file.Name())
		if err != nil {
			return err
		}
		defer in.Close()
		from = &Reader{o: r.o, x: in}
		from.o.Sum = false
		if err := in.begin(&from.o); err != nil {
			return err
		}
		from.beginText(nil)
	}
	var held []textLine
	for size := 0; r.x.regular || len(held) < mostFitted && size < maxLine; {
		line, err := from.nextLine()
		if err != nil {
			from.heldErr = err
			break
		}
		if r.layout.Names != nil && line.number <= r.layout.Line {
			continue
		}
		if size += len(line.text); from == r {
			held = append(held, line)
		}
		fields, err := from.split(line.text)
		if err != nil || len(fields) != r.layout.Columns || r.o.Missing == MissingDrop && r.gaps(fields) > 0 {
			continue
		}
		if err := r.fitRow(fields); err != nil {
			return err
		}
	}
	if from == r {
		r.held = held
	}
	return nil
}

// fitRow adds a row.
func (r *Reader) fitRow(fields []string) error {
	for q := range r.features {
		c := &r.features[q]
		text := fields[c.at]
		if !c.category {
			if v, err := r.number(text); err == nil {
				c.values++
				c.mean += (v - c.mean) / float64(c.values)
			}
		} else if text != "" {
			if c.levels[canonicalOr(text)] = 0; len(c.levels) > MaxLevels {
				return wrongOption("categories", "%s has more than %d levels: leave it out (--ignore-columns; in a spec, ignore), or put its levels into groups", r.layout.Column(c.at), MaxLevels)
			}
		}
	}
	return nil
}

// finish completes the fit.
func (r *Reader) finish(f *Fitted) error {
	means := r.o.Missing == MissingMean
	for _, c := range r.features {
		if err := r.layout.checkMean(c.at, len(c.levels)+c.values, c.mean); err != nil && (means || c.category) {
			return err
		}
		if means {
			f.Means = append(f.Means, c.mean)
		}
		var all Labels
		for level := range c.levels {
			if all.Add(level) != nil { // codes that are the same number are different levels
				all.counts[level] = 1
			}
		}
		if r.layout.Categories != nil {
			f.Levels = append(f.Levels, all.Sorted())
		}
	}
	return nil
}

// checkMean returns an error if the n values or levels of a column have no mean.
func (l *Layout) checkMean(at, n int, mean float64) error {
	switch {
	case n == 0:
		return wrongOption("ignore", "%s has no value in any row: leave it out (--ignore-columns; in a spec, ignore)", l.Column(at))
	case math.IsInf(mean, 0) || math.IsNaN(mean):
		return fmt.Errorf("%s: the mean of its values is not finite", l.Column(at))
	}
	return nil
}

// Means returns Fitted.Means of the rows at the given indices alone. filled has [Reader.Filled] by row.
func (l *Layout) Means(rows []Row, filled map[int][]int, of []int) ([]float64, error) {
	means := make([]float64, len(l.Features))
	for q, at := range l.Features {
		if slices.Contains(l.Categories, at) {
			continue
		}
		n := 0
		for _, i := range of {
			if !slices.Contains(filled[i], q) {
				n++
				means[q] += (rows[i].Values[q] - means[q]) / float64(n)
			}
		}
		if err := l.checkMean(at, n, means[q]); err != nil {
			return nil, err
		}
	}
	return means, nil
}

// compile prepares the reading of rows by the layout and the fit.
func (r *Reader) compile() error {
	l, f := &r.layout, r.o.Fitted
	r.dim = len(l.Features)
	if f != nil && f.Levels != nil {
		r.dim, l.first = 0, make([]int32, len(f.Levels))
		for q, levels := range f.Levels {
			c := &r.features[q]
			c.category, c.levels, l.first[q] = levels != nil, make(map[string]int32), int32(r.dim)
			for k, level := range levels {
				c.levels[level] = int32(r.dim + k)
			}
			r.dim += max(1, len(levels))
		}
	}
	l.Read = r.o.Columns
	switch {
	case r.o.Missing == MissingMean && (f == nil || f.Means == nil):
		return wrongOption("missing", "the model has no means: train it with --missing mean, or leave such rows out (--missing drop)")
	case r.dim > r.o.MaxDim:
		return fmt.Errorf("the first row has %d features, more than %d", r.dim, r.o.MaxDim)
	}
	return nil
}

// number parses a feature.
func (r *Reader) number(text string) (float64, error) {
	if r.o.Decimal == "," {
		text = pointed(text)
	}
	return ParseNumber(text)
}

// pointed writes a number that has a decimal comma with a point. A number with a point becomes none.
func pointed(text string) string {
	if strings.Contains(text, ".") {
		return text + ","
	}
	return strings.Replace(text, ",", ".", 1)
}

// gaps counts the features that are missing in a row: of a category, only an empty cell.
func (r *Reader) gaps(fields []string) (n int) {
	for _, c := range r.features {
		if text := fields[c.at]; text == "" || isMissing(text) && !c.category {
			n++
		}
	}
	return n
}

// code sets value q of a row to the level that a text stands for. It reports whether there is one.
func (r *Reader) code(row *Row, q int, text string) bool {
	levels := r.features[q].levels
	at, known := levels[text]
	if !known {
		at, known = levels[canonicalOr(text)]
	}
	if known {
		row.Indices[q], row.Values[q] = at, 1
	}
	return known
}

// fill sets value q of a row if it is missing or a level that the training rows did not have. Else, wrong
// is why it is no number. The row is left out if out is true.
func (r *Reader) fill(row *Row, q int, fields []string, wrong error) (out bool, err error) {
	c := &r.features[q]
	text, column := fields[c.at], r.layout.Column(c.at)
	switch {
	case !c.category && !isMissing(text):
		advice := "name it as a category (--categories), or leave it out (--ignore-columns; in a spec, ignore)"
		if r.o.Decimal != "," && strings.Contains(text, ",") && isNumber(pointed(text)) {
			advice = "name the decimal sign (--decimal ,)"
		}
		return false, fmt.Errorf("%s: feature %.40q is %w; %s", column, text, wrong, advice)
	case c.category && text != "":
		r.miss(c, text)
		return false, nil
	case r.o.Missing == MissingDrop:
		r.gap.add(r.at, r.gaps(fields), column)
		return true, nil
	case r.o.Missing != MissingMean:
		return false, r.refuse(text, column, fields)
	case !c.category:
		row.Values[q], r.filled = r.o.Fitted.Means[q], append(r.filled, q)
	}
	r.gap.add(r.at, 1, column)
	return false, nil
}

// A gap counts missing values.
type gap struct {
	values, rows int
	line, last   int    // lines of the first and of the last row with one
	column       string // of the first one
}

func (g *gap) add(line, values int, column string) {
	if g.rows == 0 {
		g.line, g.column = line, column
	}
	if g.values += values; line != g.last {
		g.rows++
	}
	g.last = line
}

// refuse returns the error of the first missing value. In a file it counts them all.
func (r *Reader) refuse(text, column string, fields []string) error {
	var g gap
	g.add(r.at, r.gaps(fields), column)
	for r.x.regular {
		line, err := r.nextLine()
		if err != nil {
			break
		}
		if fields, err = r.split(line.text); err == nil && len(fields) == r.layout.Columns {
			if n := r.gaps(fields); n > 0 {
				g.add(line.number, n, "")
			}
		}
	}
	many := ""
	if g.values > 1 {
		many = fmt.Sprintf(", the first of %d missing values (rows with one: %d)", g.values, g.rows)
	}
	return fmt.Errorf("%s: feature %.40q is missing%s: leave such rows out (--missing drop), or fill in the means of the columns (--missing mean)", column, text, many)
}

// miss counts a level of a category that the training rows did not have.
func (r *Reader) miss(c *feature, text string) {
	if c.unseen == nil {
		c.unseen = make(map[string]int)
		if !r.x.regular {
			r.say("warning: line %d: %s has the level %.40q, which the training rows did not have: it counts as none", r.at, r.layout.Column(c.at), text)
		}
	}
	if len(c.unseen) == MaxLevels {
		text = "others"
	}
	c.unseen[text]++
}

// say keeps a line for Said.
func (r *Reader) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// Said returns what the user should know of the rows so far, each line once: how a file was found to
// be written and, at its end, the numbers of missing values and of levels that the training rows did
// not have.
func (r *Reader) Said() (said []string) {
	said, r.said = r.said, nil
	return said
}

// sayTotals says how many values were missing, and how many levels unknown.
func (r *Reader) sayTotals() {
	if g := &r.gap; g.rows > 0 {
		rows, done := r.rows, "filled in with the means of their columns"
		if r.o.Missing == MissingDrop {
			rows, done = r.rows+g.rows, "these rows are left out"
		}
		r.say("missing values: %d in %d of %d rows, the first in line %d, %s; %s", g.values, g.rows, rows, g.line, g.column, done)
	}
	for _, c := range r.features {
		if c.unseen == nil {
			continue
		}
		var shown []string
		rows := 0
		for _, level := range slices.Sorted(maps.Keys(c.unseen)) {
			if rows += c.unseen[level]; len(shown) < 5 {
				shown = append(shown, fmt.Sprintf("%.40q %d", level, c.unseen[level]))
			}
		}
		r.say("warning: %s has levels that the training rows did not have, in %d rows (%s): they count as none", r.layout.Column(c.at), rows, strings.Join(shown, ", "))
	}
}
