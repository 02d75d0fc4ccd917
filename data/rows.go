package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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

	NoLabels bool // labels are not read: rows have none, whatever stands in their place

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
	checked, err := ReadOptions{LabelColumn: opts.LabelColumn, MaxDim: opts.MaxDim, Dim: opts.Dim, Header: opts.Header.Is}.withDefaults()
	if err != nil {
		return &ParseError{0, err}
	}
	if opts.Format == FormatLIBSVM && opts.Header.Is == HeaderYes {
		return &ParseError{0, errors.New("a LIBSVM file has no header")}
	}
	opts.LabelColumn, opts.MaxDim = checked.LabelColumn, checked.MaxDim
	p := rowParser{
		RowOptions: opts, comma: checked.Comma, bits: 64, unlabelled: opts.Dim > 0, readLabel: CanonicalLabel,
		aboutComma: " (are columns separated by commas?)",
	}
	if r, err = decompressed(r); err != nil {
		return &ParseError{0, err}
	}
	br := bufio.NewReader(r)
	if err := checkRows(opts, br); err != nil {
		return &ParseError{0, err}
	}
	return p.each(br, do)
}

// checkRows reports a file that begins as one of a format that EachRow does not read,
// or as the other one. It looks at what the first read returns: no more may come soon.
func checkRows(opts RowOptions, r *bufio.Reader) error {
	if _, err := r.Peek(1); err != nil {
		return nil // for the parser to report
	}
	head, _ := r.Peek(min(r.Buffered(), magicBytes))
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if err := checkKind(opts.Format, head, func(string) string { return ": only CSV and LIBSVM are read as a stream of rows" }); err != nil {
		return err
	}
	line, _, whole := bytes.Cut(head, []byte("\n"))
	switch text := string(line); {
	case !whole:
		return nil
	case opts.Format == FormatLIBSVM && strings.Contains(text, ",") && !strings.Contains(text, ":"):
		return errors.New("the first line has commas and no index:value pair, as CSV: use --format csv, the default for files named .csv")
	case opts.Format == FormatCSV && looksLIBSVM(text):
		return errors.New("the first line is a label and index:value pairs: use --format libsvm, the default for files not named .csv")
	case !strings.Contains(text, ",") && strings.ContainsAny(text, "\t;") && !looksLIBSVM(text) && opts.Dim != 1:
		return errors.New("the first line has tabs or semicolons and no comma: save it with commas between columns, and points in numbers")
	}
	return nil
}

// A rowParser makes rows of lines.
type rowParser struct {
	RowOptions
	comma      rune // between the columns of a CSV file
	bits       int  // precision of the features
	unlabelled bool // rows may lack the label
	recycles   bool // each row's numbers are overwritten by those of the next
	readLabel  func(text string) (label string, err error)

	// What errors say, to a caller who can change them, of the options MaxDim
	// and Comma.
	aboutMaxDim, aboutComma string

	fields  []string
	values  []float64 // of the last row, if it recycles
	indices []int32
	columns int // of a CSV file
	label   int // the label's column, from 0; −1 if there is none
}

// each calls do with every row of a file.
func (p *rowParser) each(r io.Reader, do func(Row) error) error {
	switch p.Format {
	case FormatCSV:
		return p.eachCSVLine(r, func(line int, text string, header bool) error {
			row, err := p.csv(text, header)
			if err != nil || header {
				return err
			}
			row.Line = line
			return do(row)
		})
	case FormatLIBSVM:
		return eachLine(r, func(line int, text string) error {
			text, _, _ = strings.Cut(text, "#")
			if text = strings.TrimSpace(text); text == "" {
				return nil
			}
			row, err := p.libsvm(text)
			if err != nil {
				return err
			}
			row.Line = line
			return do(row)
		})
	}
	return &ParseError{0, fmt.Errorf("unknown format %q", p.Format)}
}

// labelOf returns the label's column, from 0, in a CSV file of n columns: −1 if
// there is none, and an error if there can't be such a file.
func (p *rowParser) labelOf(n int) (int, error) {
	if p.unlabelled && n == p.Dim {
		return -1, nil
	}
	label := p.LabelColumn - 1
	if p.LabelColumn < 0 {
		label = n + p.LabelColumn
	}
	switch {
	case label < 0 || label >= n:
		return 0, fmt.Errorf("label column %d: the first row has %d columns", p.LabelColumn, n)
	case n == 1:
		return 0, fmt.Errorf("the first row has one column: no features%s", p.aboutComma)
	case p.unlabelled && n-1 != p.Dim:
		return 0, fmt.Errorf("the first row has %d columns: want %d features, with or without a label", n, p.Dim)
	case p.Dim > 0 && n-1 != p.Dim:
		return 0, fmt.Errorf("the first row has %d features, want %d", n-1, p.Dim)
	case n-1 > p.MaxDim:
		return 0, fmt.Errorf("the first row has %d features, more than %d%s", n-1, p.MaxDim, p.aboutMaxDim)
	}
	return label, nil
}

// csv parses a line of a CSV file. The header has no row.
func (p *rowParser) csv(text string, header bool) (row Row, err error) {
	if p.fields, err = p.split(p.fields[:0], text); err != nil {
		return row, err
	}
	if p.columns == 0 {
		p.columns = len(p.fields)
		if p.label, err = p.labelOf(p.columns); err != nil || header {
			return row, err
		}
	}
	if len(p.fields) != p.columns {
		return row, fmt.Errorf("the row has %d fields, want %d like the first row", len(p.fields), p.columns)
	}
	row.Values = slices.Grow(p.values[:0], p.columns)
	if p.recycles {
		p.values = row.Values
	}
	for i, field := range p.fields {
		switch {
		case i != p.label:
			var v float64
			v, err = parseFeature(field, p.bits)
			row.Values = append(row.Values, v)
		case !p.NoLabels:
			row.Label, err = p.readLabel(field)
		}
		if err != nil {
			return row, fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	row.Dim = len(row.Values)
	return row, nil
}

// split appends the fields of a line of a CSV file, without the blanks around
// them. A line with more separators than features and a label need, which may
// hold some itself, is an error: even to split it takes many times its memory.
func (p *rowParser) split(fields []string, text string) ([]string, error) {
	comma := string(p.comma)
	if strings.Count(text, comma) > p.MaxDim+1+maxLabel {
		return fields, p.tooManyFeatures()
	}
	parts := strings.SplitSeq(text, comma)
	if strings.Contains(text, `"`) {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.TrimLeadingSpace = p.comma, true
		record, err := r.Read()
		if pe, ok := errors.AsType[*csv.ParseError](err); ok {
			err = pe.Err
		}
		if err != nil {
			return fields, err
		}
		parts = slices.Values(record)
	}
	for field := range parts {
		fields = append(fields, strings.TrimSpace(field))
	}
	return fields, nil
}

// libsvm parses a line of a LIBSVM file that is not empty.
func (p *rowParser) libsvm(text string) (row Row, err error) {
	p.fields = p.fields[:0]
	for field := range strings.FieldsSeq(text) {
		if len(p.fields) > p.MaxDim {
			return row, p.tooManyFeatures()
		}
		p.fields = append(p.fields, field)
	}
	fields := p.fields
	switch hasLabel := !strings.Contains(fields[0], ":"); {
	case hasLabel && p.NoLabels:
		fields = fields[1:]
	case hasLabel:
		if row.Label, err = p.readLabel(fields[0]); err != nil {
			return row, err
		}
		fields = fields[1:]
	case !p.unlabelled:
		return row, fmt.Errorf("want a label, got %.40q", fields[0])
	}
	row.Values, row.Indices = slices.Grow(p.values[:0], len(fields))[:len(fields)], slices.Grow(p.indices[:0], len(fields))[:len(fields)]
	if row.Indices == nil { // a row of zeros has no pair, but is not dense
		row.Indices = []int32{}
	}
	if p.recycles {
		p.values, p.indices = row.Values, row.Indices
	}
	for i, field := range fields {
		n, v, err := p.pair(field, row.Dim)
		if err != nil {
			return row, err
		}
		row.Indices[i], row.Values[i], row.Dim = int32(n-1), v, n
	}
	return row, nil
}

// tooManyFeatures is the error of a row that is not even looked at.
func (p *rowParser) tooManyFeatures() error {
	return fmt.Errorf("the row has more than %d features%s", p.MaxDim, p.aboutMaxDim)
}

// pair parses index:value, where the index before it was last. Indices go up to
// Dim, or to MaxDim if Dim is 0.
func (p *rowParser) pair(field string, last int) (index int, value float64, err error) {
	name, text, ok := strings.Cut(field, ":")
	if !ok {
		return 0, 0, fmt.Errorf("%.40q is not an index:value pair", field)
	}
	if name == "qid" {
		return 0, 0, errors.New("query ids (qid:) are not supported")
	}
	n, err := strconv.ParseUint(name, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, 0, fmt.Errorf("feature index %.40q is not a whole number", name)
	case p.Dim > 0 && (err != nil || n > uint64(p.Dim)):
		return 0, 0, fmt.Errorf("feature index %.40s is above the number of features, %d", name, p.Dim)
	case err != nil || n > uint64(p.MaxDim):
		return 0, 0, fmt.Errorf("feature index %.40s is above %d, the limit that option MaxDim sets", name, p.MaxDim)
	case n == 0:
		return 0, 0, errors.New("feature index 0: indices start at 1")
	case int(n) == last:
		return 0, 0, fmt.Errorf("duplicate feature index %d", n)
	case int(n) < last:
		return 0, 0, fmt.Errorf("feature index %d comes after %d: indices must ascend", n, last)
	}
	if value, err = parseFeature(text, p.bits); err != nil {
		return 0, 0, fmt.Errorf("index %d: %w", n, err)
	}
	return int(n), value, nil
}
