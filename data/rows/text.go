package rows

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A textLine is a line of a text and its number.
type textLine struct {
	number int
	text   string
}

func (r *Reader) beginText(parse func(line string) (*Row, error)) {
	r.lines = bufio.NewScanner(r.x.contents)
	r.lines.Buffer(nil, maxLine)
	r.lines.Split(r.splitLine)
	r.parse, r.next = parse, r.nextText
}

// splitLine is a bufio.SplitFunc. Lines end with LF or CR LF; but with CR, as on an old Mac, if the
// first one does.
func (r *Reader) splitLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if r.line == 0 && !r.mac {
		lf, cr := bytes.IndexByte(data, '\n'), bytes.IndexByte(data, '\r')
		if lf < 0 && cr >= 0 && cr+1 == len(data) && !atEOF {
			return 0, nil, nil // LF may follow
		}
		r.mac = cr >= 0 && cr+1 < len(data) && data[cr+1] != '\n' && (lf < 0 || cr < lf)
	}
	if r.mac {
		if end := bytes.IndexByte(data, '\r'); end >= 0 {
			return end + 1, data[:end], nil
		}
	}
	return bufio.ScanLines(data, atEOF)
}

// nextLine returns the next line that is not blank. In a TSV file tabs separate cells, even
// empty ones: they are not blanks.
func (r *Reader) nextLine() (l textLine, err error) {
	if len(r.held) > 0 {
		l, r.held = r.held[0], r.held[1:]
		return l, nil
	}
	if r.heldErr != nil {
		return l, r.heldErr
	}
	for r.lines.Scan() {
		r.line++
		b := r.lines.Bytes()
		if r.line == 1 {
			b = bytes.TrimPrefix(b, []byte(bom))
		}
		text := bytes.TrimSpace(b)
		if r.o.Format == FormatTSV {
			text = bytes.TrimFunc(b, func(c rune) bool { return c != '\t' && unicode.IsSpace(c) })
		}
		switch {
		case len(text) == 0:
			r.blank = r.line
			continue
		case r.line == 1 && r.o.Format == FormatCSV && len(text) == len("sep=,") && bytes.HasPrefix(text, []byte("sep=")): // Excel's
			r.o.Delimiter = cmp.Or(r.o.Delimiter, string(text[4:]))
			if err := r.o.valid(); err != nil {
				return l, err
			}
			continue
		}
		l = textLine{r.line, string(text)}
		if !utf8.Valid(text) {
			return l, r.wrong(l, errors.New("the line is not UTF-8: convert the file, from Latin-1 by iconv -f latin1 -t utf-8"))
		}
		if bytes.IndexByte(text, '\r') >= 0 || r.mac && bytes.IndexByte(text, '\n') >= 0 {
			return l, r.wrong(l, errors.New("a carriage return inside the line: lines must all end with LF, CR LF or CR; convert the file"))
		}
		return l, nil
	}
	if err = r.readError(); err == nil {
		err = io.EOF
	}
	return l, err
}

// readError returns the error that stopped reading, or nil at the end of the file.
func (r *Reader) readError() error {
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return &ParseError{Line: r.line + 1, Err: fmt.Errorf("the line is longer than %d bytes", maxLine)}
	case err != nil:
		return &ParseError{Line: max(r.line, 1), Err: err}
	}
	return nil
}

// wrong returns the error of a line. A read error takes precedence, because it may have cut
// the line short.
func (r *Reader) wrong(l textLine, err error) error {
	if readErr := r.readError(); readErr != nil {
		return readErr
	}
	if _, ok := errors.AsType[*OptionError](err); ok {
		return err
	}
	return &ParseError{Line: l.number, Err: err}
}

// mayBeRow returns an error if blank lines before a row that would be blank without its values
// may be rows, too.
func (r *Reader) mayBeRow() error {
	if r.blank == 0 {
		return nil
	}
	return fmt.Errorf("the empty line %d before may be a row: fill in its value (1:0 for a LIBSVM row of zeros), or delete the line", r.blank)
}

// quotedTab stands for a tab where csv.Reader trims blanks, which tabs are to it. It is a
// character that no text may have.
const quotedTab = '\U0010ffff'

// split returns the fields of a line, without surrounding blanks. They are valid until the
// next call. A line with more separators than the features and the label need is an error,
// because splitting it takes many times its memory. The label may itself hold separators.
func (r *Reader) split(text string) ([]string, error) {
	comma := r.comma()
	if strings.Count(text, string(comma)) > r.o.MaxDim+1+maxLabel {
		return nil, r.tooMany()
	}
	parts := strings.SplitSeq(text, string(comma))
	switch {
	case comma == ' ':
		parts = strings.FieldsSeq(text)
	case strings.Contains(text, `"`):
		if comma == '\t' {
			text, comma = strings.ReplaceAll(text, "\t", string(quotedTab)), quotedTab
		}
		c := csv.NewReader(strings.NewReader(text))
		c.Comma, c.TrimLeadingSpace = comma, true
		record, err := c.Read()
		if pe, ok := errors.AsType[*csv.ParseError](err); ok {
			err = pe.Err
		}
		if err != nil && strings.Count(text, `"`)%2 == 1 {
			err = errors.New("a quoted field is not closed on its line: write fields without line breaks")
		}
		if err != nil {
			return nil, err
		}
		for i := range record {
			if comma == quotedTab {
				record[i] = strings.ReplaceAll(record[i], string(quotedTab), "\t")
			}
		}
		parts = slices.Values(record)
	}
	r.fields = r.fields[:0]
	for field := range parts {
		r.fields = append(r.fields, strings.TrimSpace(field))
	}
	return r.fields, nil
}

// comma returns the character between columns.
func (r *Reader) comma() rune {
	switch {
	case r.o.Delimiter != "":
		comma, _ := utf8.DecodeRuneInString(r.o.Delimiter)
		return comma
	case r.o.Format == FormatTSV:
		return '\t'
	}
	return ','
}

// thousands matches a number whose commas may separate thousands.
var thousands = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(,\d{3})+$`)

// detect returns the delimiter and the decimal sign of a head of a CSV file if they are not a comma and
// a point, and all of its lines agree: the same number of columns lie between semicolons, and each comma
// is in a number, where it can't be a separator of thousands only. whole tells that the last line is complete.
func detect(head []byte, whole bool) (delimiter, decimal string) {
	r := Reader{o: Options{Format: FormatCSV, MaxDim: MaxDim, Columns: Columns{Delimiter: ";"}}}
	columns, commas, sure, decimal := 0, 0, false, "."
	lines := bytes.FieldsFunc(head, func(c rune) bool { return c == '\n' || c == '\r' })
	if !whole && len(lines) > 0 {
		lines = lines[:len(lines)-1]
	}
	for _, line := range lines {
		if bytes.HasPrefix(line, []byte("sep=")) || len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		fields, err := r.split(string(bytes.TrimSpace(line)))
		if columns = cmp.Or(columns, len(fields)); err != nil || len(fields) != columns {
			return "", ""
		}
		for _, field := range fields {
			if !strings.Contains(field, ",") {
				continue
			}
			if decimal = ","; !isNumber(pointed(field)) {
				return "", ""
			}
			sure = sure || !thousands.MatchString(field)
			commas++
		}
	}
	if columns < 2 || commas > 0 && !sure {
		return "", ""
	}
	return ";", decimal
}

// semicolons returns an error if a line has columns between semicolons and numbers with a decimal
// comma.
func semicolons(text string) error {
	fields := strings.Split(text, ";")
	numbers, commas := 0, 0
	for _, f := range fields {
		if isNumber(strings.Replace(strings.TrimSpace(f), ",", ".", 1)) {
			numbers++
			commas += strings.Count(f, ",")
		}
	}
	if len(fields) < 2 || commas == 0 || numbers < len(fields)-1 {
		return nil
	}
	return fmt.Errorf("the columns of %.40q seem to lie between semicolons, with decimal commas: if they do, say so (--delimiter ';' --decimal ,)", text)
}

// tooMany returns the error for a row with too many features, which is not parsed.
func (r *Reader) tooMany() error {
	return fmt.Errorf("the row has more than %d features", r.o.MaxDim)
}

// nextText returns the next row of a text.
func (r *Reader) nextText() (*Row, error) {
	for {
		l, err := r.nextLine()
		if err != nil {
			return nil, err
		}
		r.at = l.number
		row, err := r.parse(l.text)
		if err != nil {
			return nil, r.wrong(l, err)
		}
		if row != nil {
			row.Line, r.blank = l.number, 0
			return row, nil
		}
	}
}

func (r *Reader) parseCSV(text string) (*Row, error) {
	fields, err := r.split(text)
	if err != nil {
		return nil, err
	}
	l := &r.layout
	if len(fields) != l.Columns {
		return nil, fmt.Errorf("the row has %d fields, want %d like the first row", len(fields), l.Columns)
	}
	if l.Columns == 1 {
		if err := r.mayBeRow(); err != nil {
			return nil, err
		}
	}
	row := &Row{Dim: r.dim, Values: make([]float64, len(l.Features))}
	if l.Weight >= 0 {
		if row.Weight, err = ParseWeight(fields[l.Weight]); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Column(l.Weight), err)
		}
		if row.Weight == 0 {
			return nil, nil
		}
	}
	if l.Label >= 0 && !r.o.NoLabels {
		if row.Label, err = r.parsed(fields[l.Label]); err != nil {
			return nil, r.badLabel(fields, err)
		}
	}
	row.Indices = slices.Clone(l.first)
	for q := range r.features {
		if c := &r.features[q]; c.category {
			if r.code(row, q, fields[c.at]) {
				continue
			}
		} else if row.Values[q], err = r.number(fields[c.at]); err == nil {
			continue
		}
		if out, err := r.fill(row, q, fields, err); out || err != nil {
			return nil, err
		}
	}
	return row, nil
}

// badLabel returns the error of a row's label, or nil if the label is missing and such rows are left out.
func (r *Reader) badLabel(fields []string, err error) error {
	l := &r.layout
	text := fields[l.Label]
	if r.o.Missing == MissingDrop && (text == "" || notFinite(text)) {
		r.gap.add(r.at, 1+r.gaps(fields), l.Column(l.Label))
		return nil
	}
	if text == "" && l.Label == l.Columns-1 {
		err = errEndsWithComma
	}
	return fmt.Errorf("%s: %w", l.Column(l.Label), err)
}

// several matches the labels of a row of a multilabel file.
var several = regexp.MustCompile(`^\d+(,\d+)+$`)

// parseLIBSVM parses a line of a LIBSVM file: a label and index:value pairs with ascending
// indices from 1. Features without a pair are 0. A # begins a comment; a line that is only
// a comment has no row.
func (r *Reader) parseLIBSVM(text string) (*Row, error) {
	text, _, _ = strings.Cut(text, "#")
	fields := r.fields[:0]
	for field := range strings.FieldsSeq(text) {
		if len(fields) > r.o.MaxDim {
			return nil, r.tooMany()
		}
		fields = append(fields, field)
	}
	if r.fields = fields; len(fields) == 0 {
		return nil, nil
	}
	row := &Row{}
	switch labelled := !strings.Contains(fields[0], ":"); {
	case labelled:
		if !r.o.NoLabels {
			var err error
			if several.MatchString(fields[0]) {
				return nil, fmt.Errorf("%.40q are several labels of one row: want one label a row", fields[0])
			}
			if row.Label, err = r.parsed(fields[0]); err != nil {
				return nil, err
			}
		}
		fields = fields[1:]
	case r.o.Dim == 0:
		return nil, fmt.Errorf("want a label, got %.40q", fields[0])
	default:
		if err := r.mayBeRow(); err != nil {
			return nil, err
		}
	}
	// A row of zeros has no pair, but is not dense: its Indices are empty, not nil.
	row.Values, row.Indices = make([]float64, len(fields)), make([]int32, len(fields))
	for i, field := range fields {
		n, v, err := r.pair(field, row.Dim)
		if err != nil {
			return nil, err
		}
		row.Indices[i], row.Values[i], row.Dim = int32(n-1), v, n
	}
	return row, nil
}

// pair parses index:value. last is the index of the pair before it, or 0.
func (r *Reader) pair(field string, last int) (index int, value float64, err error) {
	name, text, ok := strings.Cut(field, ":")
	if !ok {
		return 0, 0, fmt.Errorf("%.40q is not an index:value pair", field)
	}
	if name == "qid" {
		return 0, 0, errors.New("query ids (qid:) are not supported")
	}
	n, err := strconv.ParseUint(name, 10, 64)
	base := 0 // of the indices, less 1
	if r.o.ZeroBased && n <= MaxDim {
		n, base = n+1, 1
	}
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, 0, fmt.Errorf("feature index %.40q is not a whole number", name)
	case r.o.Dim > 0 && (err != nil || n > uint64(r.o.Dim)):
		return 0, 0, fmt.Errorf("feature index %.40s is above the number of features, %d", name, r.o.Dim)
	case err != nil || n > uint64(r.o.MaxDim):
		return 0, 0, fmt.Errorf("feature index %.40s is above the limit, %d", name, r.o.MaxDim)
	case n == 0:
		return 0, 0, errors.New("feature index 0: indices start at 1, unless --zero-based is given (in a spec, zero_based: true)")
	case int(n) == last:
		return 0, 0, fmt.Errorf("duplicate feature index %s", name)
	case int(n) < last:
		return 0, 0, fmt.Errorf("feature index %s comes after %d: indices must ascend", name, last-base)
	}
	if value, err = ParseNumber(text); err != nil {
		return 0, 0, fmt.Errorf("index %s: feature %.40q is %w", name, text, err)
	}
	return int(n), value, nil
}
