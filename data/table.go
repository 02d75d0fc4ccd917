package data

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A table is one part of a user's data as its file has it: rows of numbers with a
// label each.
type table struct {
	// Of a training file that is read for the first time source says which column is
	// what; later it is known. A test file has the layout of the training file.
	source *Source
	known  *layout
	train  *table

	regression bool // labels are numbers

	layout layout
	header string // whether a CSV or TSV file has one: HeaderYes or HeaderNo once it was read
	unit   string // what messages call a row
	rows   []Row
	dim    int // features

	labels  map[string]string // the labels found, each once in memory
	running RowNumbers
}

// A layout says which column of a table is what. Columns are counted from 0.
type layout struct {
	columns  int
	names    []string // nil without a header
	label    int      // −1 if the labels are in another file
	ignore   []int    // ascending
	features []int    // the others
}

// column returns how messages name a column.
func (l *layout) column(at int) string {
	if l.names == nil {
		return fmt.Sprintf("column %d", at+1)
	}
	return fmt.Sprintf("column %d (%q)", at+1, l.names[at])
}

// reference returns how a spec names a column.
func (l *layout) reference(at int) string {
	if l.names == nil || l.names[at] == "" {
		return strconv.Itoa(at + 1)
	}
	return strconv.Quote(l.names[at])
}

// find returns the column that is meant.
func (l *layout) find(key string, c Column) (int, error) {
	wrong := func(format string, args ...any) (int, error) {
		return 0, &SourceError{key, fmt.Errorf(format, args...)}
	}
	if c.Name == "" {
		at := c.Number - 1
		if c.Number < 0 {
			at = l.columns + c.Number
		}
		if at < 0 || at >= l.columns {
			return wrong("no column %d: the file has %d columns", c.Number, l.columns)
		}
		return at, nil
	}
	if l.names == nil {
		return wrong("no column %q: the file has no header; give the column's number, 1 for the first or -1 for the last", c.Name)
	}
	at := slices.Index(l.names, c.Name)
	if at < 0 {
		shown := l.names
		if len(shown) > 20 {
			shown = append(slices.Clone(shown[:20]), "…")
		}
		return wrong("no column %q: want one of %s", c.Name, join(shown))
	}
	if slices.Contains(l.names[at+1:], c.Name) {
		return wrong("several columns are named %q: give the column's number, 1 for the first or -1 for the last", c.Name)
	}
	return at, nil
}

// choose decides which of n columns is what. The names are nil without a header.
func (t *table) choose(names []string, n int) error {
	l := layout{columns: n, names: slices.Clone(names), label: -1}
	switch {
	case t.train != nil:
		of := &t.train.layout
		if n != of.columns {
			return fmt.Errorf("%d columns, want %d as in the training file", n, of.columns)
		}
		for i := range names {
			if of.names != nil && names[i] != of.names[i] {
				return fmt.Errorf("column %d is %q, and %q in the training file: want the same columns in the same order", i+1, names[i], of.names[i])
			}
		}
		l.label, l.ignore = of.label, of.ignore
	case t.known != nil:
		l.label, l.ignore = t.known.label, t.known.ignore
		if l.label >= n || len(l.ignore) > 0 && l.ignore[len(l.ignore)-1] >= n {
			return fmt.Errorf("%d columns are fewer than were chosen from", n)
		}
	default:
		if err := l.chosenBy(t.source); err != nil {
			return err
		}
	}
	for i := range n {
		if i != l.label && !slices.Contains(l.ignore, i) {
			l.features = append(l.features, i)
		}
	}
	switch {
	case len(l.features) == 0:
		return errors.New("no column is left that could be a feature")
	case len(l.features) > defaultMaxDim:
		return fmt.Errorf("%d features, more than %d", len(l.features), defaultMaxDim)
	}
	t.layout, t.dim = l, len(l.features)
	return nil
}

// chosenBy finds the columns that a source names, and reports those that number the
// rows.
func (l *layout) chosenBy(s *Source) (err error) {
	if s.Label != (Column{}) {
		if l.label, err = l.find("label", s.Label); err != nil {
			return err
		}
	}
	for _, c := range s.Ignore {
		at, err := l.find("ignore", c)
		switch {
		case err != nil:
			return err
		case at == l.label:
			return &SourceError{"ignore", fmt.Errorf("%s is the label", l.column(at))}
		}
		l.ignore = append(l.ignore, at)
	}
	slices.Sort(l.ignore)
	l.ignore = slices.Compact(l.ignore)
	kept, err := l.kept(s)
	if err != nil {
		return err
	}
	for at, name := range l.names {
		if at != l.label && !slices.Contains(l.ignore, at) && !slices.Contains(kept, at) && isIndexName(name) {
			return l.numbersRows(at, "has the name of a column that numbers the rows")
		}
	}
	return nil
}

// kept returns the columns that a source wants as features.
func (l *layout) kept(s *Source) ([]int, error) {
	var kept []int
	for _, c := range s.Keep {
		at, err := l.find("keep", c)
		switch {
		case err != nil:
			return nil, err
		case at == l.label || slices.Contains(l.ignore, at):
			return nil, &SourceError{"keep", fmt.Errorf("%s is not a feature: it is the label or left out", l.column(at))}
		}
		kept = append(kept, at)
	}
	return kept, nil
}

// numbersRows is the error of a column that would be learned although it says nothing
// of the examples.
func (l *layout) numbersRows(at int, why string) error {
	ref := l.reference(at)
	return &SourceError{"ignore", fmt.Errorf("%s %s: leave it out with ignore: [%s], or use it as a feature with keep: [%s]", l.column(at), why, ref, ref)}
}

// checkRunning reports a feature that numbers the rows.
func (t *table) checkRunning() error {
	if t.source == nil {
		return nil
	}
	kept, err := t.layout.kept(t.source)
	if err != nil {
		return err
	}
	for _, q := range t.running.Features() {
		if at := t.layout.features[q]; !slices.Contains(kept, at) {
			return t.layout.numbersRows(at, fmt.Sprintf("numbers the rows, up to %v", t.running.last[q]))
		}
	}
	return nil
}

// maxSourceValues bounds the values of a file, rows × features: 2 GiB while it is
// read, and 1 GiB then. A row counts as rowOverhead more.
const (
	maxSourceValues = 1 << 28
	rowOverhead     = 16
)

// room reports rows that are too many.
func (t *table) room(rows int64, dim int) error {
	if rows > maxSourceValues/int64(dim+rowOverhead) {
		return fmt.Errorf("more than %d rows of %d features", maxSourceValues/(dim+rowOverhead), dim)
	}
	return nil
}

// add appends a row.
func (t *table) add(row Row) error {
	if err := t.room(int64(len(t.rows)+1), max(t.dim, row.Dim)); err != nil {
		return err
	}
	t.rows = append(t.rows, row)
	return nil
}

// label returns the label that a text stands for.
func (t *table) label(text string) (string, error) {
	text = strings.TrimSpace(text)
	if t.regression {
		if _, err := ParseNumber(text); err != nil {
			return "", fmt.Errorf("label %.40q is %w: regression needs a decimal number", text, err)
		}
		return strings.Clone(text), nil
	}
	label, err := CanonicalLabel(text)
	if err != nil {
		return "", err
	}
	if same, ok := t.labels[label]; ok {
		return same, nil
	}
	if t.labels == nil {
		t.labels = make(map[string]string)
	}
	if len(t.labels) == defaultMaxClasses {
		return "", fmt.Errorf("label %.40q: more than %d classes; is it the right column? Numbers to predict are a regression", label, defaultMaxClasses)
	}
	t.labels[label] = label
	return label, nil
}

// readText reads a CSV, TSV or LIBSVM file.
func (t *table) readText(r io.Reader, format string) error {
	t.unit = "line"
	if format == FormatLIBSVM {
		return t.readLIBSVM(r)
	}
	comma := ','
	if format == FormatTSV {
		comma = '\t'
	}
	var first FirstRow
	p := rowParser{
		RowOptions: RowOptions{Format: FormatCSV, LabelColumn: 1, MaxDim: defaultMaxDim, Header: HeaderRule{Is: t.header, Numbers: t.regression}},
		comma:      comma,
	}
	switch {
	case t.train != nil:
		p.LabelColumn = t.train.layout.label + 1
	case t.known != nil:
		p.LabelColumn = t.known.label + 1
	case t.source.Label.Name == "":
		p.LabelColumn = t.source.Label.Number
	}
	p.Header.Decided = func(f FirstRow) { first = f }
	read := false
	err := p.eachCSVLine(r, func(line int, text string, header bool) error {
		fields, err := p.split(p.fields[:0], text)
		if p.fields = fields; err != nil {
			return err
		}
		if !read {
			read = true
			again := t.train != nil && slices.Equal(fields, t.train.layout.names) // as in the training file
			header = header || again && p.Header.Is != HeaderNo
			if p.Header.Is != HeaderNo && !header && first.Why != "" {
				return &SourceError{"header", fmt.Errorf("the first row may be a header (%s): say header: yes or header: no", first.Why)}
			}
			var names []string
			if t.header = HeaderNo; header {
				t.header, names = HeaderYes, fields
			}
			if err := t.choose(names, len(fields)); err != nil {
				return err
			}
		}
		if header {
			return nil
		}
		return t.addFields(line, fields)
	})
	return err
}

// addFields adds a row of a CSV or TSV file.
func (t *table) addFields(line int, fields []string) error {
	l := &t.layout
	if len(fields) != l.columns {
		return fmt.Errorf("the row has %d fields, want %d like the first row", len(fields), l.columns)
	}
	row := Row{Line: line, Dim: t.dim, Values: make([]float64, t.dim)}
	var err error
	if row.Label, err = t.label(fields[l.label]); err != nil {
		return fmt.Errorf("%s: %w", l.column(l.label), err)
	}
	for q, at := range l.features {
		switch v, err := parseFeature(fields[at], 64); {
		case fields[at] == "":
			return fmt.Errorf("%s: the value is missing", l.column(at))
		case err != nil:
			return fmt.Errorf("%s: %w: encode it as numbers, or leave the column out with ignore: [%s]", l.column(at), err, l.reference(at))
		default:
			row.Values[q] = v
		}
	}
	t.running.Add(row.Values)
	return t.add(row)
}

// readLIBSVM reads a LIBSVM file. Its indices are named, so no column is taken for a
// number of the rows.
func (t *table) readLIBSVM(r io.Reader) error {
	opts := RowOptions{Format: FormatLIBSVM}
	if t.train != nil {
		opts.Dim = t.train.dim
		t.dim = opts.Dim
	}
	return EachRow(r, opts, func(row Row) (err error) {
		if row.Label, err = t.label(row.Label); err != nil {
			return err
		}
		t.dim = max(t.dim, row.Dim)
		return t.add(row)
	})
}

// An elements is an array of examples or of their labels, in the order of rows.
type elements struct {
	dims    []int
	numbers []float64 // of examples
	texts   []string  // of labels
}

// readArrays reads examples from one file and their labels from another.
func (t *table) readArrays(x, y func(labels bool) (*elements, error)) error {
	t.unit = "row"
	labels, err := y(true)
	if err != nil {
		return &labelsError{err}
	}
	if len(labels.dims) > 2 || len(labels.dims) == 0 || len(labels.dims) == 2 && labels.dims[1] != 1 {
		return &labelsError{fmt.Errorf("labels of shape %v, want one a row", labels.dims)}
	}
	all, err := x(false)
	if err != nil {
		return err
	}
	if len(all.dims) < 2 {
		return fmt.Errorf("examples of shape %v, want rows of features", all.dims)
	}
	n := all.dims[0]
	if n != labels.dims[0] {
		return &labelsError{fmt.Errorf("%d labels, want %d as there are examples", labels.dims[0], n)}
	}
	columns := len(all.numbers) / n
	if err := t.choose(nil, columns); err != nil {
		return err
	}
	for i := range n {
		row := Row{Line: i + 1, Dim: t.dim, Values: all.numbers[i*columns : (i+1)*columns : (i+1)*columns]}
		if t.dim < columns {
			values := make([]float64, t.dim)
			for q, at := range t.layout.features {
				values[q] = row.Values[at]
			}
			row.Values = values
		}
		if row.Label, err = t.label(labels.texts[i]); err != nil {
			return &labelsError{fmt.Errorf("row %d: %w", i+1, err)}
		}
		for q, v := range row.Values {
			if _, err := finiteFeature(v); err != nil {
				return fmt.Errorf("row %d: column %d: %w", i+1, t.layout.features[q]+1, err)
			}
		}
		t.running.Add(row.Values)
		if err := t.add(row); err != nil {
			return err
		}
	}
	return nil
}

// A labelsError is wrong with the file of the labels.
type labelsError struct{ err error }

func (e *labelsError) Error() string { return e.err.Error() }
func (e *labelsError) Unwrap() error { return e.err }

// finiteFeature reports a feature that is not finite.
func finiteFeature(v float64) (float64, error) {
	if v-v != 0 {
		return 0, fmt.Errorf("feature %v is not finite", v)
	}
	return v, nil
}

// An openFile is one of a user's, with the SHA-256 of what was read of it.
type openFile struct {
	file   *os.File
	hashed io.Reader // without gzip
	hash   hash.Hash
	close  func() error
}

// open opens a file, or an array of an archive, that must be of a format. What can't
// be opened because it is missing wraps ErrNotAvailable.
func open(path, format string) (*openFile, error) {
	path, array := splitArray(path)
	info, err := os.Stat(path)
	switch {
	case absent(err):
		return nil, fmt.Errorf("%w: missing file", ErrNotAvailable)
	case err != nil:
		return nil, withoutPath(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() == 0:
		return nil, errors.New("the file is empty")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	out := &openFile{file: f, hash: sha256.New(), close: f.Close}
	if err := out.begin(format, array); err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

// withoutPath returns what is wrong with a file that the caller names.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// begin looks at the file's first bytes.
func (f *openFile) begin(format, array string) error {
	var r io.Reader
	var err error
	switch format {
	case FormatNPZ:
		head := make([]byte, magicBytes)
		n, err := f.file.ReadAt(head, 0)
		if err != nil && err != io.EOF {
			return withoutPath(err)
		}
		if err := checkMagic(FormatNPZ, head[:n]); err != nil {
			return err
		}
		member, err := openArray(f.file, array)
		if err != nil {
			return err
		}
		r, f.close = member, func() error { return errors.Join(member.Close(), f.file.Close()) }
		format = FormatNPY
	default:
		if r, err = decompressed(f.file); err != nil {
			return withoutPath(err)
		}
	}
	br := bufio.NewReaderSize(r, 1<<16)
	head, err := br.Peek(magicBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return withoutPath(err)
	}
	if err := checkMagic(format, bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))); err != nil {
		return err
	}
	f.hashed = io.TeeReader(br, f.hash)
	return nil
}

// sum reads the rest, which is little or nothing, and returns the SHA-256.
func (f *openFile) sum() (string, error) {
	if _, err := io.Copy(io.Discard, f.hashed); err != nil {
		return "", withoutPath(err)
	}
	return hex.EncodeToString(f.hash.Sum(nil)), nil
}

// read reads a part of a user's data from its files and returns their SHA-256. The key
// in a SourceError is that of the file unless it is another field's.
func (t *table) read(format, x, y, keyX, keyY string) (sumX, sumY string, err error) {
	in := func(key, path string, err error) error {
		if err == nil {
			return nil
		}
		if se, ok := errors.AsType[*SourceError](err); ok {
			key, err = se.Key, se.Err
		}
		return &SourceError{key, fmt.Errorf("%s: %w", path, err)}
	}
	fx, err := open(x, format)
	if err != nil {
		return "", "", in(keyX, x, err)
	}
	defer fx.close()
	fy := fx
	if y != "" {
		if fy, err = open(y, format); err != nil {
			return "", "", in(keyY, y, err)
		}
		defer fy.close()
	}
	array := func(f *openFile) func(bool) (*elements, error) {
		return func(labels bool) (*elements, error) {
			if format == FormatIDX {
				return readIDXElements(f.hashed, labels)
			}
			return readNPY(f.hashed, maxSourceValues, labels)
		}
	}
	switch format {
	case FormatIDX, FormatNPY, FormatNPZ:
		err = t.readArrays(array(fx), array(fy))
	default:
		err = t.readText(fx.hashed, format)
	}
	if err == nil && len(t.rows) == 0 {
		err = errors.New("the file has no rows")
	}
	if err == nil && t.dim == 0 {
		err = errors.New("no row has a feature")
	}
	if err == nil {
		err = t.checkRunning()
	}
	if le, ok := errors.AsType[*labelsError](err); ok {
		return "", "", in(keyY, y, le.err)
	}
	if err != nil {
		return "", "", in(keyX, x, err)
	}
	if sumX, err = fx.sum(); err != nil {
		return "", "", in(keyX, x, err)
	}
	if y != "" {
		if sumY, err = fy.sum(); err != nil {
			return "", "", in(keyY, y, err)
		}
	}
	return sumX, sumY, nil
}

// numbersOf lists columns, counted from 1, as Files do.
func numbersOf(columns []int) string {
	words := make([]string, len(columns))
	for i, at := range columns {
		words[i] = strconv.Itoa(at + 1)
	}
	return strings.Join(words, ",")
}

// columnsOf is the inverse of numbersOf.
func columnsOf(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var columns []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || len(columns) > 0 && n-1 <= columns[len(columns)-1] {
			return nil, fmt.Errorf("%.40q are not columns in ascending order", text)
		}
		columns = append(columns, n-1)
	}
	return columns, nil
}

// at returns where a row is, for a message.
func (t *table) at(row *Row) string { return fmt.Sprintf("%s %d", cmp.Or(t.unit, "row"), row.Line) }
