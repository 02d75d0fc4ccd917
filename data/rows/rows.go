// Package rows reads users' files row by row: CSV, TSV, LIBSVM, NumPy arrays and IDX. One
// policy covers headers, labels, missing values, columns that number the rows, and files
// whose format is not the declared one. Specs, bench, compare, train, predict and evaluate
// all read through it.
//
// Numbers are finite and decimal, see [ParseNumber]; labels are text, see
// [CanonicalLabel]. Text, IDX and NPY files may be compressed by gzip. Blank lines are
// skipped, unless one between rows may be a row itself: in a table of one column, or of zeros
// in a LIBSVM file without labels. Memory is bounded by one line or row. An array in Fortran
// order is read whole.
package rows

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A Row is one example as read from a file.
type Row struct {
	Line   int    // line of the file, or row of the array, from 1
	Label  string // as CanonicalLabel returns it; empty if there is none
	Values []float64

	Indices []int32 // of the Values, from 0, ascending; nil if Values has all features
	Dim     int     // number of features; LIBSVM: highest index, from 1

	Weight float64 // of the row, if Options name its column; 0 if not, and the row then weighs 1
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

// Limits of what is read.
const (
	MaxDim      = 1 << 20 // default of Options.MaxDim
	MaxClasses  = 1024
	maxElements = 1 << 28 // of an array
	maxLine     = 1 << 25
)

// Options say how a file is read.
type Options struct {
	Format string // one of Formats

	Label   Column // of a CSV or TSV file; not used if its rows have no label
	Weight  Column // of the rows' weights in a CSV or TSV file, see ParseWeight; rows that weigh 0 are left out. It is no feature
	Columns        // how the columns become features

	Header string // HeaderYes, HeaderNo, or HeaderAuto, the default, see isHeader

	Regression bool // labels are numbers
	NoLabels   bool // labels are not read, even if rows have them
	MaxDim     int  // maximum number of features; default MaxDim

	// Strict makes columns that seem to number the rows an error unless Keep names them.
	Strict bool

	// Properties of the training data. Dim, if not 0, is the number of features of every
	// row. Rows may then lack a label: the rows of a CSV file if it has Dim columns, a row
	// of a LIBSVM file if it begins with a feature. Weights are not read.
	Dim     int
	Classes []string // the labels
	Names   Names    // names in the header; a header without these names is an error

	Sum bool // compute the SHA-256 that Sums returns
}

// trained reports whether a model was trained on other rows.
func (o *Options) trained() bool { return o.Dim > 0 || o.Fitted != nil }

// width returns the number of columns that become the features of a model; 0 before training.
func (o *Options) width() int {
	if o.Fitted != nil {
		return len(o.Fitted.Numbers)
	}
	return o.Dim
}

// A ParseError says which line of a file can't be read, and why.
type ParseError struct {
	Line int
	Unit string // what Line counts: "row" of an array; default "line"
	Err  error
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s %d: %v", cmp.Or(e.Unit, "line"), e.Line, e.Err)
}

func (e *ParseError) Unwrap() error { return e.Err }

// An OptionError reports an option that is wrong or does not suit the file. Key is the
// option's key in a spec: label, weight, ignore, keep or header; or labels, if the file of the
// labels is wrong. For a data set's source, it may be any key.
type OptionError struct {
	Key string
	Err error
}

// maxMessage bounds a message, in bytes: names of columns may be long.
const maxMessage = 2000

func (e *OptionError) Error() string {
	text := e.Err.Error()
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

func (e *OptionError) Unwrap() error { return e.Err }

// A Reader reads the rows of a file. The file may be a pipe that stays silent for long:
// only Next waits for data.
type Reader struct {
	o      Options
	x, y   *input // y has the labels of arrays; nil if there are none
	next   func() (*Row, error)
	err    error // the error that ended reading
	layout Layout
	rows   int // number of rows read

	first   string // label of the first row, if it may be a name in a header; see checkFirst
	numbers RowNumbers
	labels  map[string]string // labels found so far, each once in memory

	// State of text formats.
	lines  *bufio.Scanner
	parse  func(line string) (*Row, error) // returns nil for a comment
	line   int                             // number of the last line read
	blank  int                             // number of the last blank line after the last row or header; 0 if there is none
	mac    bool                            // lines end with CR alone
	at     int                             // number of the line that is parsed
	fields []string

	held    []textLine // rows to be read again: the first one, if it is data, or those of a fit
	heldErr error      // the error of the line after these, if the fit has met one

	// State of tables.
	dim      int // number of features
	features []feature
	filled   []int // see Filled
	gap      gap
	said     []string

	// State of array formats.
	examples, answers *array
	sparse            *sparse // a matrix of scipy.sparse, in place of examples; else nil
}

// Open opens a file, or "archive.npz:array", and the separate file of its labels. labels is
// empty without a separate file. The caller must close the Reader.
func Open(path, labels string, o Options) (*Reader, error) {
	x, err := openInput(path)
	if err != nil {
		return nil, err
	}
	r, err := New(nil, labels, o)
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	r.x = x
	return r, nil
}

// New returns a Reader of a stream, such as standard input.
func New(in io.Reader, labels string, o Options) (*Reader, error) {
	o.MaxDim = cmp.Or(o.MaxDim, MaxDim)
	o.Header = cmp.Or(o.Header, HeaderAuto)
	r := &Reader{o: o, x: &input{raw: in}}
	if labels == "" || o.NoLabels {
		return r, nil
	}
	var err error
	if r.y, err = openInput(labels); err != nil {
		return nil, &OptionError{"labels", err}
	}
	return r, nil
}

// Next returns the next row, which the caller may keep, or io.EOF after the last row.
func (r *Reader) Next() (row *Row, err error) {
	if r.err == nil && r.next == nil {
		r.err = r.begin()
	}
	if r.err == nil {
		r.filled = nil
		row, r.err = r.next()
	}
	switch r.err {
	case nil:
		r.rows++
		if r.o.Strict && r.layout.Columns > 0 { // LIBSVM has no columns
			r.numbers.Add(row.Values)
		}
		r.err = r.checkFirst(row)
	case io.EOF:
		r.sayTotals()
		r.err = cmp.Or(r.checkFirst(nil), r.checkNumbers(), io.EOF)
	}
	return row, r.err
}

// begin checks the format by the first bytes and reads the headers.
func (r *Reader) begin() error {
	if !slices.Contains(Formats(), r.o.Format) {
		return fmt.Errorf("unknown format %.40q", r.o.Format)
	}
	if err := r.o.valid(); err != nil {
		return err
	}
	if !IsTable(r.o.Format) {
		if r.o.Categories, r.o.Missing = nil, ""; r.o.Fitted != nil && r.o.Fitted.Levels != nil {
			return fmt.Errorf("the model has categories, which are columns of CSV and TSV files, not of %s", Title(r.o.Format))
		}
	}
	given := r.o.Delimiter
	if err := r.x.begin(&r.o); err != nil {
		return err
	}
	switch r.o.Format {
	case FormatCSV, FormatTSV:
		r.beginText(r.parseCSV)
		if point := r.o.Decimal; point == string(r.comma()) {
			return wrongOption("decimal", "the decimal sign and the delimiter are both %q: numbers with decimal commas need another delimiter, such as --delimiter ';'", point)
		}
		if r.o.Delimiter == ";" && given == "" {
			sign := "point"
			if r.o.Decimal == "," {
				sign = "comma"
			}
			r.say("the columns lie between semicolons, and numbers have a decimal %s (--delimiter ';' --decimal %s)", sign, r.o.Decimal)
		}
		return r.readFirst()
	case FormatLIBSVM:
		r.beginText(r.parseLIBSVM)
		return nil
	}
	if r.x.members != nil {
		r.next = r.nextSparse
		return r.beginSparse()
	}
	r.next = r.nextElements
	return r.beginArrays()
}

// Layout returns the roles of the columns. It is valid once Next has returned. LIBSVM
// files have no layout.
func (r *Reader) Layout() *Layout { return &r.layout }

// Filled returns the positions in the last row's Values where means stand in place of missing values.
func (r *Reader) Filled() []int { return r.filled }

// Sums returns the SHA-256 of the contents, decompressed, of the file and of the file of
// labels; for an NPZ archive, of the array; for a sparse matrix, of the sums of its arrays. It needs Options.Sum.
func (r *Reader) Sums() (x, y string, err error) {
	if x, err = r.x.sum(); err == nil && r.y != nil {
		if y, err = r.y.sum(); err != nil {
			err = &OptionError{"labels", err}
		}
	}
	return x, y, err
}

// Close closes the files.
func (r *Reader) Close() error {
	if r.y != nil {
		return errors.Join(r.x.Close(), r.y.Close())
	}
	return r.x.Close()
}

// parsed returns the label that a text stands for.
func (r *Reader) parsed(text string) (string, error) {
	if r.o.Decimal == "," && isNumber(pointed(text)) {
		text = pointed(text)
	}
	if r.o.Regression {
		if _, err := ParseNumber(text); err != nil {
			return "", fmt.Errorf("label %.40q is %w: regression needs a decimal number", text, err)
		}
		return CanonicalLabel(text)
	}
	label, err := CanonicalLabel(text)
	if err != nil {
		return "", err
	}
	if same, ok := r.labels[label]; ok {
		return same, nil
	}
	if len(r.labels) == MaxClasses {
		return "", fmt.Errorf("label %.40q: more than %d classes; check the label column, or use a regression for numbers", label, MaxClasses)
	}
	if r.labels == nil {
		r.labels = make(map[string]string)
	}
	r.labels[label] = label
	return label, nil
}

// An input is an open file or a stream.
type input struct {
	raw      io.Reader
	file     *os.File // nil for a stream
	regular  bool     // the file can be read again
	array    string   // name of an array in an archive
	members  []*input // of a matrix of scipy.sparse, the arrays besides data; else nil
	contents io.Reader
	hash     hash.Hash // nil unless Options.Sum is set
	closers  []io.Closer
}

func openInput(path string) (*input, error) {
	path, array := SplitArray(path)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return &input{raw: f, file: f, regular: err == nil && info.Mode().IsRegular(), array: array, closers: []io.Closer{f}}, nil
}

// Close closes the file.
func (in *input) Close() (err error) {
	for _, c := range in.closers {
		err = errors.Join(c.Close(), err)
	}
	return err
}

// magicBytes is the number of bytes from which a file's format is recognized.
const magicBytes = 512

// headBytes is the number of a file's first bytes whose lines show the separator of columns.
const headBytes = 1 << 16

// begin checks that the file's first bytes are those of its format.
func (in *input) begin(o *Options) (err error) {
	raw, format := in.raw, o.Format
	switch {
	case format != FormatNPZ:
		if raw, err = Decompressed(raw); err != nil {
			return withoutPath(err)
		}
	case in.file == nil:
		return errors.New("an NPZ archive is not read from a stream: name its file")
	default:
		member, err := in.openMember(o)
		if err != nil {
			return err
		}
		raw, format = member, FormatNPY
		in.closers = append(in.closers, member)
	}
	return in.check(raw, format, o)
}

// check checks the first magicBytes bytes against the format. Of a text it checks only the
// bytes that are already available, as more of a stream may take long to arrive.
func (in *input) check(raw io.Reader, format string, o *Options) error {
	b := bufio.NewReaderSize(raw, headBytes)
	want := magicBytes
	if !IsArray(format) {
		b.Peek(1)
		want = min(b.Buffered(), want)
	}
	head, err := b.Peek(want)
	if err != nil && err != io.EOF && len(head) == 0 {
		return withoutPath(err)
	}
	if format == FormatCSV && in.regular {
		more, err := b.Peek(headBytes)
		if o.Delimiter+o.Decimal == "" {
			o.Delimiter, o.Decimal = detect(bytes.TrimPrefix(more, []byte(bom)), err != nil)
		}
	}
	if err := checkMagic(format, o.Delimiter, bytes.TrimPrefix(head, []byte(bom))); err != nil {
		return err
	}
	in.contents = b
	if o.Sum {
		in.hash = sha256.New()
		in.contents = io.TeeReader(b, in.hash)
	}
	return nil
}

// sum reads the rest, which is little or nothing, and returns the SHA-256; of a sparse matrix, that of
// the sums of its arrays.
func (in *input) sum() (string, error) {
	if _, err := io.Copy(io.Discard, in.contents); err != nil {
		return "", withoutPath(err)
	}
	sum := in.hash.Sum(nil)
	for _, m := range in.members {
		if _, err := m.sum(); err != nil {
			return "", err
		}
		sum = m.hash.Sum(sum)
	}
	if in.members != nil {
		all := sha256.Sum256(sum)
		sum = all[:]
	}
	return hex.EncodeToString(sum), nil
}

// bom is the byte order mark that a text may begin with.
const bom = "\xef\xbb\xbf"

// withoutPath removes the file's path from an error whose caller names the file.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// Decompressed returns a reader of r that decompresses its bytes if they begin with gzip's
// magic number.
func Decompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if head, err := b.Peek(2); err != nil || head[0] != 0x1f || head[1] != 0x8b {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", Truncated(err))
	}
	return z, nil
}

// Truncated turns an unexpected end of file into io.ErrUnexpectedEOF.
func Truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
