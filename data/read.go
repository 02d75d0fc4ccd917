package data

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Task says what the labels in a file are.
type Task int

const (
	Classification Task = iota // integers, mapped to 0 … C−1
	Binary                     // two integers, mapped to −1 and +1
	Regression                 // real numbers, left as they are
)

// ReadOptions say how a LIBSVM or CSV file is read. The zero value reads a
// classification task and works for most files. A line has at most 2²⁵ bytes,
// and a file 2²⁶ examples.
//
// Numbers are decimal, see [ParseNumber]. Labels of a classification are integers,
// each written in one way: 501 and 00501 in one file are an error. Features are
// rounded to float32, which has 24 bits: of a column that goes from 1.7e9 to
// 1.7e9 + 1000, timestamps for instance, only multiples of 128 are left. Subtract an
// offset first, or use [EachRow], which does not round, or package online, which
// scales before it rounds.
type ReadOptions struct {
	Task Task // default Classification

	// Labels are the known labels, ascending, whose indices become the
	// classes: those of the training file when a test file is read. A label
	// that is not among them is an error. Default: those found in the file,
	// of which there must be two or more (for Binary, exactly two).
	Labels []float64

	// Dim is the number of features: that of the training file when a test
	// file is read. Default: the highest index of a LIBSVM file, the number
	// of columns of a CSV file less one.
	Dim int

	// LabelColumn is the label's column in a CSV file: 1 is the first, −1
	// the last. Default: the first.
	LabelColumn int

	// Comma separates the columns of a CSV file. Default ','.
	Comma rune

	// Header says whether a CSV file has one: HeaderYes, HeaderNo, or
	// HeaderAuto, the default, as in [HeaderRule].
	Header string

	MaxDim     int   // most features; default 2²⁰
	MaxValues  int64 // most values, examples × features; default 2²⁸ (1 GiB, three while a LIBSVM file is read)
	MaxClasses int   // most classes; default 1024
}

// Defaults of ReadOptions' limits, and the longest line that is read.
const (
	defaultMaxDim     = 1 << 20
	defaultMaxValues  = 1 << 28
	defaultMaxClasses = 1024
	maxLine           = 1 << 25
	maxExamples       = 1 << 26 // of a file that is read whole: 1 GiB of labels
)

// withDefaults returns the options with zero fields filled in, or what is
// wrong with them.
func (o ReadOptions) withDefaults() (ReadOptions, error) {
	o.MaxDim = cmp.Or(o.MaxDim, defaultMaxDim)
	o.MaxValues = cmp.Or(o.MaxValues, defaultMaxValues)
	o.MaxClasses = cmp.Or(o.MaxClasses, defaultMaxClasses)
	o.LabelColumn = cmp.Or(o.LabelColumn, 1)
	o.Comma = cmp.Or(o.Comma, ',')
	switch {
	case o.Task < Classification || o.Task > Regression:
		return o, fmt.Errorf("unknown task %d", o.Task)
	case o.MaxDim < 0 || o.MaxDim > math.MaxInt32 || o.MaxValues < 0 || o.MaxClasses < 0:
		return o, errors.New("a limit is out of range")
	case o.MaxValues > math.MaxInt/4:
		return o, errors.New("MaxValues is more than memory can hold")
	case o.Comma == '"' || o.Comma == '\r' || o.Comma == '\n' || !utf8.ValidRune(o.Comma) || o.Comma == utf8.RuneError:
		return o, fmt.Errorf("%q can't separate columns", o.Comma)
	case !slices.Contains(HeaderWords(), cmp.Or(o.Header, HeaderAuto)):
		return o, fmt.Errorf("header %.20q: must be one of %s", o.Header, strings.Join(HeaderWords(), ", "))
	case o.Dim < 0 || o.Dim > o.MaxDim:
		return o, fmt.Errorf("%d features: must be from 0 to %d", o.Dim, o.MaxDim)
	case o.Task == Regression && o.Labels != nil:
		return o, errors.New("labels are given, but regression has none")
	case o.Task == Binary && o.Labels != nil && len(o.Labels) != 2:
		return o, fmt.Errorf("%d labels are given, but a binary task has two", len(o.Labels))
	}
	for i, l := range o.Labels {
		if !isLabel(l) || i > 0 && l <= o.Labels[i-1] {
			return o, fmt.Errorf("the labels given are not ascending integers: %v", o.Labels)
		}
	}
	return o, nil
}

// ReadFile reads a user's file, as CSV if its name ends in .csv or .csv.gz and
// else as LIBSVM, and returns the SHA-256 of the file's bytes too. The error
// names the file, and is or wraps that of [ReadCSV] or [ReadLIBSVM].
func ReadFile(path string, opts ReadOptions) (s *Split, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	h := sha256.New()
	if s, err = readWhole(io.TeeReader(f, h), FormatOf(path), opts); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	if _, err = io.Copy(h, f); err != nil {
		return nil, "", err
	}
	return s, hex.EncodeToString(h.Sum(nil)), nil
}

// ReadCSV reads examples from a table of numbers, plain or gzip: a row an
// example, one column the label (see [ReadOptions]) and the others the
// features. Whether the first row is a header, which is left out, is found out as
// [HeaderRule] has it, or said by the options. Fields may be quoted but hold no
// line breaks.
//
// Errors are of type *[ParseError] and name the line: a row longer or shorter
// than the first, a label or feature that is missing or not a finite number, a
// label that does not fit the task, a line too long, truncated gzip; and an
// empty file. Memory is bounded by the input read and the options' limits.
func ReadCSV(r io.Reader, opts ReadOptions) (*Split, error) { return readWhole(r, FormatCSV, opts) }

// ReadLIBSVM reads examples in the format of LIBSVM and svmlight, plain or
// gzip: a label and index:value pairs a line, indices from 1 and ascending,
// features that are not named being 0; a # begins a comment. The result is
// dense: N×Dim.
//
// Errors are of type *[ParseError] and name the line: a label or feature that
// is not a finite number, a label that does not fit the task, an index that is
// 0, repeated, not ascending or above a limit, query ids (qid:), a line
// too long, truncated gzip; and an empty file. Memory is bounded by the input
// read and the options' limits.
func ReadLIBSVM(r io.Reader, opts ReadOptions) (*Split, error) {
	return readWhole(r, FormatLIBSVM, opts)
}

// readWhole reads all rows of a file.
func readWhole(r io.Reader, format string, opts ReadOptions) (*Split, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, &ParseError{0, err}
	}
	t := &targets{opts: opts, known: make(map[float64]bool)}
	for _, l := range opts.Labels {
		t.known[l] = true
	}
	p := rowParser{
		RowOptions: RowOptions{
			Format: format, LabelColumn: opts.LabelColumn, MaxDim: opts.MaxDim, Dim: opts.Dim,
			Header: HeaderRule{Is: opts.Header, Numbers: opts.Task == Regression},
		},
		comma: opts.Comma, bits: 32, recycles: true,
		readLabel:   func(text string) (string, error) { return "", t.add(text) },
		aboutMaxDim: ", the limit that option MaxDim sets",
		aboutComma:  fmt.Sprintf(" (is %q the right separator?)", opts.Comma),
	}
	var (
		values  []float32
		indices []int32 // of the values, from 0; none of a CSV file
		ends    []int   // where each example's values end
		dim     = opts.Dim
	)
	err = p.each(r, func(row Row) error {
		dim = max(dim, row.Dim)
		if len(ends) == maxExamples {
			return fmt.Errorf("more than %d examples", maxExamples)
		}
		if int64(len(ends)+1)*int64(max(dim, 1)) > opts.MaxValues {
			return fmt.Errorf("more than %d values (examples × features), the limit that option MaxValues sets", opts.MaxValues)
		}
		for _, v := range row.Values {
			values = append(values, float32(v))
		}
		indices = append(indices, row.Indices...)
		ends = append(ends, len(values))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(ends) == 0:
		return nil, &ParseError{0, errors.New("the file has no examples")}
	case dim == 0:
		return nil, &ParseError{0, errors.New("no example has a feature")}
	}
	s := &Split{Dim: dim, X: values}
	if err := t.finish(s); err != nil {
		return nil, &ParseError{0, err}
	}
	if format == FormatCSV {
		return s, nil
	}
	s.X = make([]float32, s.N*s.Dim)
	start := 0
	for i, end := range ends {
		row := s.Row(i)
		for k := start; k < end; k++ {
			row[indices[k]] = values[k]
		}
		start = end
	}
	return s, nil
}

// A ParseError says which line of a file can't be read, and why.
type ParseError struct {
	Line int // from 1; 0 if it is about the file as a whole
	Err  error
}

// Error returns what is wrong, after the number of the line if it is about one.
func (e *ParseError) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap returns what is wrong with the line.
func (e *ParseError) Unwrap() error { return e.Err }

// eachLine calls do with every line of a text, plain or gzip, that is not
// blank. Errors are ParseErrors.
func eachLine(r io.Reader, do func(line int, text string) error) error {
	r, err := decompressed(r)
	if err != nil {
		return &ParseError{0, err}
	}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	line := 0
	for sc.Scan() {
		line++
		b := sc.Bytes()
		if line == 1 {
			b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
		}
		if b = bytes.TrimSpace(b); len(b) == 0 {
			continue
		}
		if err = do(line, string(b)); err != nil {
			break
		}
	}
	// A read error outranks what is wrong with the line it cut short.
	switch readErr := sc.Err(); {
	case errors.Is(readErr, bufio.ErrTooLong):
		return &ParseError{line + 1, fmt.Errorf("the line is longer than %d bytes", maxLine)}
	case readErr != nil:
		return &ParseError{max(line, 1), readErr}
	case err != nil:
		var pe *ParseError
		if errors.As(err, &pe) { // about an earlier line
			return pe
		}
		return &ParseError{line, err}
	}
	return nil
}

// parseFeature reads a finite number with the precision of bits.
func parseFeature(text string, bits int) (float64, error) {
	v, err := parseNumber(text, bits)
	if err != nil {
		return 0, fmt.Errorf("feature %.40q is %w", text, err)
	}
	return v, nil
}

// isLabel reports whether v is an integer that a float64 holds exactly.
func isLabel(v float64) bool { return v == math.Trunc(v) && math.Abs(v) <= 1<<53 }

// targets collects the labels of a file.
type targets struct {
	opts  ReadOptions
	y     []float64
	known map[float64]bool // the labels of a classification task

	spelled LabelSet // as the file has them
}

// add reads the label of the next example.
func (t *targets) add(text string) error {
	v, err := parseNumber(text, 64)
	if err != nil {
		return fmt.Errorf("label %.40q is %w", text, err)
	}
	v += 0 // −0 becomes 0
	t.y = append(t.y, v)
	if t.opts.Task == Regression {
		return nil
	}
	if !isLabel(v) {
		return fmt.Errorf("label %.40q is not an integer, as classification needs", text)
	}
	label, err := CanonicalLabel(text)
	if err == nil {
		err = t.spelled.Add(label)
	}
	if err != nil {
		return err
	}
	if t.known[v] {
		return nil
	}
	if t.opts.Labels != nil {
		return fmt.Errorf("label %.40q is not one of the %d known labels", text, len(t.opts.Labels))
	}
	most := t.opts.MaxClasses
	if t.opts.Task == Binary {
		most = 2
	}
	if len(t.known) == most {
		return fmt.Errorf("label %.40q: more than %d classes", text, most)
	}
	t.known[v] = true
	return nil
}

// finish maps the labels and puts them into the split.
func (t *targets) finish(s *Split) error {
	s.N, s.Y = len(t.y), t.y
	if t.opts.Task == Regression {
		return nil
	}
	if len(t.known) < 2 {
		return fmt.Errorf("every label is %v: classification needs at least two classes", t.y[0])
	}
	s.Labels = make([]float64, 0, len(t.known))
	for l := range t.known {
		s.Labels = append(s.Labels, l)
	}
	slices.Sort(s.Labels)
	for i, v := range s.Y {
		class, _ := slices.BinarySearch(s.Labels, v)
		s.Y[i] = float64(class)
		if t.opts.Task == Binary {
			s.Y[i] = float64(2*class - 1)
		}
	}
	return nil
}
