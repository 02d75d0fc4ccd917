package data

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

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
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, &ParseError{0, err}
	}
	var (
		t       = newTargets(opts)
		indices []int32 // from 0
		values  []float32
		ends    []int // where each example's values end
		highest int   // index, from 1
	)
	err = eachLine(r, func(_ int, text string) error {
		text, _, _ = strings.Cut(text, "#")
		last := 0
		first := true
		for field := range strings.FieldsSeq(text) {
			if first {
				first = false
				if strings.Contains(field, ":") {
					return fmt.Errorf("want a label, got %.40q", field)
				}
				if err := t.add(field); err != nil {
					return err
				}
				continue
			}
			n, v, err := pair(field, last, opts.Dim, opts.MaxDim, 32)
			if err != nil {
				return err
			}
			last = n
			indices = append(indices, int32(n-1))
			values = append(values, float32(v))
		}
		if first {
			return nil // nothing but a comment
		}
		ends = append(ends, len(values))
		highest = max(highest, last)
		if len(ends) > maxExamples {
			return errManyExamples
		}
		if int64(len(ends))*int64(max(highest, opts.Dim, 1)) > opts.MaxValues {
			return tooMany(opts.MaxValues)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(ends) == 0 {
		return nil, &ParseError{0, errEmpty}
	}
	s := &Split{Dim: highest}
	if opts.Dim > 0 {
		s.Dim = opts.Dim
	}
	if s.Dim == 0 {
		return nil, &ParseError{0, errors.New("no example has a feature")}
	}
	if err := t.finish(s); err != nil {
		return nil, &ParseError{0, err}
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

// pair parses index:value, where the index before it was last, with the
// precision of bits. Indices go up to dim, or to maxDim if dim is 0.
func pair(field string, last, dim, maxDim, bits int) (index int, value float64, err error) {
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
	case dim > 0 && (err != nil || n > uint64(dim)):
		return 0, 0, fmt.Errorf("feature index %.40s is above the number of features, %d", name, dim)
	case err != nil || n > uint64(maxDim):
		return 0, 0, fmt.Errorf("feature index %.40s is above %d, the limit that option MaxDim sets", name, maxDim)
	case n == 0:
		return 0, 0, errors.New("feature index 0: indices start at 1")
	case int(n) == last:
		return 0, 0, fmt.Errorf("duplicate feature index %d", n)
	case int(n) < last:
		return 0, 0, fmt.Errorf("feature index %d comes after %d: indices must ascend", n, last)
	}
	if value, err = parseFeature(text, bits); err != nil {
		return 0, 0, fmt.Errorf("index %d: %w", n, err)
	}
	return int(n), value, nil
}
