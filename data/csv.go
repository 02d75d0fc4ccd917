package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

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
func ReadCSV(r io.Reader, opts ReadOptions) (*Split, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, &ParseError{0, err}
	}
	var (
		t       = newTargets(opts)
		s       = &Split{}
		fields  []string
		columns int
		label   int // the label's column, from 0
	)
	rule := HeaderRule{Is: opts.Header, Numbers: opts.Task == Regression}
	labelOf := func(n int) (int, error) { return labelColumn(opts.LabelColumn, n) }
	err = eachCSVLine(r, rule, opts.Comma, opts.MaxDim, labelOf, func(_ int, text string, header bool) error {
		if manyFields(text, opts.Comma, opts.MaxDim) {
			return fmt.Errorf("the row has more than %d features, the limit that option MaxDim sets", opts.MaxDim)
		}
		var err error
		if fields, err = splitFields(fields[:0], text, opts.Comma); err != nil {
			return err
		}
		if columns == 0 {
			columns = len(fields)
			s.Dim = columns - 1
			label, err = labelOf(columns)
			switch {
			case err != nil:
				return err
			case s.Dim == 0:
				return fmt.Errorf("the first row has one column: no features (is %q the right separator?)", opts.Comma)
			case opts.Dim > 0 && s.Dim != opts.Dim:
				return fmt.Errorf("the first row has %d features, want %d", s.Dim, opts.Dim)
			case s.Dim > opts.MaxDim:
				return fmt.Errorf("the first row has %d features, more than %d, the limit that option MaxDim sets", s.Dim, opts.MaxDim)
			case header:
				return nil
			}
		}
		if len(fields) != columns {
			return fmt.Errorf("the row has %d fields, want %d like the first row", len(fields), columns)
		}
		if int64(len(s.X))+int64(s.Dim) > opts.MaxValues {
			return tooMany(opts.MaxValues)
		}
		if len(t.y) == maxExamples {
			return errManyExamples
		}
		for i, field := range fields {
			if i == label {
				if err := t.add(field); err != nil {
					return fmt.Errorf("column %d: %w", i+1, err)
				}
				continue
			}
			v, err := parseFeature(field, 32)
			if err != nil {
				return fmt.Errorf("column %d: %w", i+1, err)
			}
			s.X = append(s.X, float32(v))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.y) == 0 {
		return nil, &ParseError{0, errEmpty}
	}
	if err := t.finish(s); err != nil {
		return nil, &ParseError{0, err}
	}
	return s, nil
}

// labelColumn returns the index from 0 of a column that is counted from 1, or
// from −1, the last, in a row of n.
func labelColumn(column, n int) (int, error) {
	label := column - 1
	if column < 0 {
		label = n + column
	}
	if label < 0 || label >= n {
		return 0, fmt.Errorf("label column %d: the first row has %d columns", column, n)
	}
	return label, nil
}

// manyFields reports a line with more separators than features and a label
// need, which may hold some itself: even to split it takes many times its memory.
func manyFields(text string, comma rune, dim int) bool {
	return strings.Count(text, string(comma)) > dim+1+maxLabel
}

// splitFields appends the fields of a line, without the blanks around them.
func splitFields(fields []string, text string, comma rune) ([]string, error) {
	if !strings.Contains(text, `"`) {
		for f := range strings.SplitSeq(text, string(comma)) {
			fields = append(fields, strings.TrimSpace(f))
		}
		return fields, nil
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = comma
	r.TrimLeadingSpace = true
	record, err := r.Read()
	if err != nil {
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, err
	}
	for _, f := range record {
		fields = append(fields, strings.TrimSpace(f))
	}
	return fields, nil
}
