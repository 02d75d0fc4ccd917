package data

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// The formats of EachRow.
const (
	FormatCSV    = "csv"
	FormatLIBSVM = "libsvm"
)

// FormatOf returns the format that a file's name stands for, as in [ReadFile]:
// CSV if it ends in .csv or .csv.gz, else LIBSVM.
func FormatOf(path string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	if filepath.Ext(name) == ".csv" {
		return FormatCSV
	}
	return FormatLIBSVM
}

// RowOptions say how EachRow reads.
type RowOptions struct {
	Format      string // FormatCSV or FormatLIBSVM
	LabelColumn int    // of a CSV file: 1 is the first, −1 the last; default the first
	MaxDim      int    // most features; default 2²⁰

	// Dim, if not 0, is the number of features of every row. Rows without a
	// label are then read too: those of a CSV file with Dim columns, and
	// those of a LIBSVM file that begin with a feature.
	Dim int
}

// A Row is one example as it stands in a file.
type Row struct {
	Line   int    // in the file, from 1
	Label  string // a finite number as short as can be, or a word; empty if there is none
	Values []float32

	Indices []int32 // of the Values, from 0 and ascending; nil where Values has all features
	Dim     int     // CSV: number of features; LIBSVM: highest index, from 1
}

// Dense writes the features to x, whose length is at least r.Dim.
func (r *Row) Dense(x []float32) {
	if r.Indices == nil {
		copy(x, r.Values)
		return
	}
	clear(x)
	for i, q := range r.Indices {
		x[q] = r.Values[i]
	}
}

// EachRow calls do with every example of a LIBSVM or CSV file, plain or gzip,
// as it is read: memory is bounded by one line, of at most 2²⁵ bytes and MaxDim
// features. The formats are those of
// [ReadLIBSVM] and [ReadCSV], but a label may be any word. A row is do's to
// keep. Errors, those of do included, are of type *[ParseError] and name the
// line.
func EachRow(r io.Reader, opts RowOptions, do func(Row) error) error {
	limits, err := ReadOptions{LabelColumn: opts.LabelColumn, MaxDim: opts.MaxDim, Dim: opts.Dim}.withDefaults()
	if err != nil {
		return &ParseError{0, err}
	}
	opts.LabelColumn, opts.MaxDim = limits.LabelColumn, limits.MaxDim
	p := rowParser{opts: opts}
	parse := p.libsvm
	switch opts.Format {
	case FormatCSV:
		parse = p.csv
	case FormatLIBSVM:
	default:
		return &ParseError{0, fmt.Errorf("no format %q", opts.Format)}
	}
	return eachLine(r, func(line int, text string) error {
		row, ok, err := parse(text)
		if err != nil || !ok {
			return err
		}
		row.Line = line
		return do(row)
	})
}

// A rowParser makes rows of lines.
type rowParser struct {
	opts    RowOptions
	fields  []string
	columns int // of a CSV file
	label   int // the label's column, from 0; −1 if there is none
}

// csv parses a line of a CSV file; ok is false for the header.
func (p *rowParser) csv(text string) (row Row, ok bool, err error) {
	if manyFields(text, ',', p.opts.MaxDim) {
		return row, false, fmt.Errorf("the row has more than %d features", p.opts.MaxDim)
	}
	if p.fields, err = splitFields(p.fields[:0], text, ','); err != nil {
		return row, false, err
	}
	if p.columns == 0 {
		if err := p.begin(); err != nil || isHeader(p.fields) {
			return row, false, err
		}
	}
	if len(p.fields) != p.columns {
		return row, false, fmt.Errorf("the row has %d fields, the first row %d", len(p.fields), p.columns)
	}
	row.Values = make([]float32, 0, p.columns)
	for i, field := range p.fields {
		if i == p.label {
			row.Label, err = canonicalLabel(field)
		} else {
			var v float32
			v, err = parseFeature(field)
			row.Values = append(row.Values, v)
		}
		if err != nil {
			return row, false, fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	row.Dim = len(row.Values)
	return row, true, nil
}

// begin learns from the first row of a CSV file how many columns there are,
// and which one is the label.
func (p *rowParser) begin() error {
	n, o := len(p.fields), &p.opts
	if o.Dim > 0 && n == o.Dim {
		p.columns, p.label = n, -1
		return nil
	}
	label := o.LabelColumn - 1
	if o.LabelColumn < 0 {
		label = n + o.LabelColumn
	}
	switch {
	case label < 0 || label >= n:
		return fmt.Errorf("the label's column is %d, but the first row has %d", o.LabelColumn, n)
	case n == 1:
		return errors.New("the first row has one column: there are no features")
	case o.Dim > 0 && n-1 != o.Dim:
		return fmt.Errorf("the first row has %d columns: neither %d features nor these and a label", n, o.Dim)
	case n-1 > o.MaxDim:
		return fmt.Errorf("the first row has %d features, more than %d", n-1, o.MaxDim)
	}
	p.columns, p.label = n, label
	return nil
}

// libsvm parses a line of a LIBSVM file; ok is false for a comment.
func (p *rowParser) libsvm(text string) (row Row, ok bool, err error) {
	text, _, _ = strings.Cut(text, "#")
	p.fields = p.fields[:0]
	for field := range strings.FieldsSeq(text) {
		if len(p.fields) > p.opts.MaxDim {
			return row, false, fmt.Errorf("the row has more than %d features", p.opts.MaxDim)
		}
		p.fields = append(p.fields, field)
	}
	fields := p.fields
	if len(fields) == 0 {
		return row, false, nil
	}
	if strings.Contains(fields[0], ":") {
		if p.opts.Dim == 0 {
			return row, false, fmt.Errorf("%.40q stands where the label should", fields[0])
		}
	} else {
		if row.Label, err = canonicalLabel(fields[0]); err != nil {
			return row, false, err
		}
		fields = fields[1:]
	}
	row.Values, row.Indices = make([]float32, len(fields)), make([]int32, len(fields))
	for i, field := range fields {
		n, v, err := pair(field, row.Dim, p.opts.Dim, p.opts.MaxDim)
		if err != nil {
			return row, false, err
		}
		row.Indices[i], row.Values[i], row.Dim = int32(n-1), v, n
	}
	return row, true, nil
}

// maxLabel bounds the words that are labels.
const maxLabel = 256

// canonicalLabel returns a label such that +1, 1 and 1.0 are one. It is a string
// of its own: a part of the line would keep all of the line in memory.
func canonicalLabel(text string) (string, error) {
	switch {
	case text == "":
		return "", errors.New("the label is missing")
	case len(text) > maxLabel:
		return "", fmt.Errorf("label %.40q is longer than %d bytes", text, maxLabel)
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return strings.Clone(text), nil
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return "", fmt.Errorf("label %.40q is not finite", text)
	}
	return strconv.FormatFloat(v+0, 'g', -1, 64), nil
}
