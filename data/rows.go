package data

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
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

	Header HeaderRule // of a CSV file; the zero value finds out by itself
}

// A Row is one example as it stands in a file.
type Row struct {
	Line   int    // in the file, from 1
	Label  string // as CanonicalLabel returns it; empty if there is none
	Values []float64

	Indices []int32 // of the Values, from 0 and ascending; nil where Values has all features
	Dim     int     // CSV: number of features; LIBSVM: highest index, from 1
}

// Dense writes the features to x, whose length is at least r.Dim.
func (r *Row) Dense(x []float64) {
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
// features, and by 4 MiB of lines and one more until it is known whether the first
// is a header. The formats are those of [ReadLIBSVM] and [ReadCSV], but a label may be
// any word, see [CanonicalLabel], and features are not rounded to float32. A row
// is do's to keep. Errors, those of do included, are of type *[ParseError] and
// name the line.
func EachRow(r io.Reader, opts RowOptions, do func(Row) error) error {
	limits, err := ReadOptions{LabelColumn: opts.LabelColumn, MaxDim: opts.MaxDim, Dim: opts.Dim, Header: opts.Header.Is}.withDefaults()
	if err != nil {
		return &ParseError{0, err}
	}
	opts.LabelColumn, opts.MaxDim = limits.LabelColumn, limits.MaxDim
	p := rowParser{opts: opts}
	found := func(line int, row Row, ok bool, err error) error {
		if err != nil || !ok {
			return err
		}
		row.Line = line
		return do(row)
	}
	switch opts.Format {
	case FormatCSV:
		return eachCSVLine(r, opts.Header, ',', opts.MaxDim, p.labelOf, func(line int, text string, header bool) error {
			row, ok, err := p.csv(text, header)
			return found(line, row, ok, err)
		})
	case FormatLIBSVM:
		if opts.Header.Is == HeaderYes {
			return &ParseError{0, errors.New("a LIBSVM file has no header")}
		}
		return eachLine(r, func(line int, text string) error {
			row, ok, err := p.libsvm(text)
			return found(line, row, ok, err)
		})
	}
	return &ParseError{0, fmt.Errorf("unknown format %q", opts.Format)}
}

// A rowParser makes rows of lines.
type rowParser struct {
	opts    RowOptions
	fields  []string
	columns int // of a CSV file
	label   int // the label's column, from 0; −1 if there is none
}

// labelOf returns the label's column, from 0, in a CSV file of n columns: −1 if
// there is none, and an error if there can't be such a file.
func (p *rowParser) labelOf(n int) (int, error) {
	if p.opts.Dim > 0 && n == p.opts.Dim {
		return -1, nil
	}
	label, err := labelColumn(p.opts.LabelColumn, n)
	switch {
	case err != nil:
		return 0, err
	case n == 1:
		return 0, errors.New("the first row has one column: no features")
	case p.opts.Dim > 0 && n-1 != p.opts.Dim:
		return 0, fmt.Errorf("the first row has %d columns: want %d features, with or without a label", n, p.opts.Dim)
	case n-1 > p.opts.MaxDim:
		return 0, fmt.Errorf("the first row has %d features, more than %d", n-1, p.opts.MaxDim)
	}
	return label, nil
}

// csv parses a line of a CSV file; ok is false for the header.
func (p *rowParser) csv(text string, header bool) (row Row, ok bool, err error) {
	if manyFields(text, ',', p.opts.MaxDim) {
		return row, false, fmt.Errorf("the row has more than %d features", p.opts.MaxDim)
	}
	if p.fields, err = splitFields(p.fields[:0], text, ','); err != nil {
		return row, false, err
	}
	if p.columns == 0 {
		p.columns = len(p.fields)
		if p.label, err = p.labelOf(p.columns); err != nil || header {
			return row, false, err
		}
	}
	if len(p.fields) != p.columns {
		return row, false, fmt.Errorf("the row has %d fields, want %d like the first row", len(p.fields), p.columns)
	}
	row.Values = make([]float64, 0, p.columns)
	for i, field := range p.fields {
		if i == p.label {
			row.Label, err = CanonicalLabel(field)
		} else {
			var v float64
			v, err = parseFeature(field, 64)
			row.Values = append(row.Values, v)
		}
		if err != nil {
			return row, false, fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	row.Dim = len(row.Values)
	return row, true, nil
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
			return row, false, fmt.Errorf("want a label, got %.40q", fields[0])
		}
	} else {
		if row.Label, err = CanonicalLabel(fields[0]); err != nil {
			return row, false, err
		}
		fields = fields[1:]
	}
	row.Values, row.Indices = make([]float64, len(fields)), make([]int32, len(fields))
	for i, field := range fields {
		n, v, err := pair(field, row.Dim, p.opts.Dim, p.opts.MaxDim, 64)
		if err != nil {
			return row, false, err
		}
		row.Indices[i], row.Values[i], row.Dim = int32(n-1), v, n
	}
	return row, true, nil
}
