package rows

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of what is read of an NPY file.
const (
	maxNPYHeader = 1 << 16
	maxNPYText   = 4 * maxLabel // bytes of a text element, in UTF-32
)

var (
	npyDescr   = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([^'"]*)['"]`)
	npyFortran = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([0-9,\s]*)\)`)
	npyType    = regexp.MustCompile(`^([<>|=]?)([a-zA-Z])([0-9]{0,6})$`) // no type has a larger size
)

// An array holds examples or their labels. Its elements are read in sequence.
type array struct {
	dims []int
	n    int // number of elements
	kind element
	r    io.Reader
	done int // elements read so far
	buf  []byte
}

// beginArrays reads the headers of the files of examples and of labels.
func (r *Reader) beginArrays() (err error) {
	if r.examples, err = openArray(r.x, r.o.Format, false); err != nil {
		return err
	}
	x := r.examples
	if len(x.dims) < 2 {
		return fmt.Errorf("examples of shape %v, want rows of features", x.dims)
	}
	if err := r.beginLabels(x.dims[0]); err != nil {
		return err
	}
	if err := r.choose(nil, x.n/x.dims[0], 0); err != nil {
		return err
	}
	if r.layout.Label >= 0 {
		return &OptionError{"label", errors.New("the labels of arrays are in a file of their own")}
	}
	return nil
}

// beginLabels reads the header of the labels, if there are any, and checks that there is one per example.
func (r *Reader) beginLabels(examples int) (err error) {
	if r.y == nil {
		return nil
	}
	defer func() {
		if err != nil {
			err = &OptionError{"labels", err}
		}
	}()
	o := r.o
	if format := FormatOf(r.y.file.Name()); r.o.Format == FormatNPZ && format == FormatNPY {
		o.Format = format
	}
	if err := r.y.begin(&o); err != nil {
		return err
	}
	if r.answers, err = openArray(r.y, o.Format, true); err != nil {
		return err
	}
	switch dims := r.answers.dims; {
	case len(dims) > 2 || len(dims) == 0 || len(dims) == 2 && dims[1] != 1:
		return fmt.Errorf("labels of shape %v, want one a row", dims)
	case dims[0] != examples:
		return fmt.Errorf("%d labels, want %d: one for each example", dims[0], examples)
	}
	return nil
}

// nextElements returns the next row of an array.
func (r *Reader) nextElements() (*Row, error) {
	x := r.examples
	if r.rows == x.dims[0] {
		return nil, cmp.Or(r.endLabels(), x.end(), io.EOF)
	}
	b, err := x.read(r.layout.Columns)
	if err != nil {
		return nil, err
	}
	row := &Row{Line: r.rows + 1, Dim: len(r.layout.Features), Values: make([]float64, len(r.layout.Features))}
	for q, at := range r.layout.Features {
		v := x.kind.number(b[at*x.kind.size : (at+1)*x.kind.size])
		if v-v != 0 {
			return nil, &ParseError{row.Line, "row", fmt.Errorf("column %d: feature %v is not finite", at+1, v)}
		}
		row.Values[q] = v
	}
	return row, r.label(row)
}

// label reads the label of a row, if there are labels.
func (r *Reader) label(row *Row) error {
	if r.answers == nil {
		return nil
	}
	b, err := r.answers.read(1)
	if err == nil {
		row.Label, err = r.parsed(strings.TrimSpace(r.answers.kind.text(b)))
	}
	if err != nil {
		return &OptionError{"labels", fmt.Errorf("row %d: %w", row.Line, err)}
	}
	return nil
}

// endLabels reports bytes after the last label.
func (r *Reader) endLabels() error {
	if r.answers != nil {
		if err := r.answers.end(); err != nil {
			return &OptionError{"labels", err}
		}
	}
	return nil
}

// openArray reads the header of an array.
func openArray(in *input, format string, labels bool) (a *array, err error) {
	if format == FormatIDX {
		return openIDX(in.contents, labels)
	}
	return openNPY(in.contents, labels)
}

// openNPY reads the header of an array in NumPy's format.
func openNPY(r io.Reader, labels bool) (*array, error) {
	header, err := npyHeader(r)
	if err != nil {
		return nil, err
	}
	descr := npyDescr.FindSubmatch(header)
	fortran := npyFortran.FindSubmatch(header)
	shape := npyShape.FindSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return nil, fmt.Errorf("its header lacks the descr, fortran_order or shape of one array of numbers: %.100q", header)
	}
	a := &array{n: 1, r: r}
	if a.kind, err = elementOf(string(descr[1]), labels); err != nil {
		return nil, err
	}
	for word := range strings.SplitSeq(string(shape[1]), ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		d, _ := strconv.ParseUint(word, 10, 64) // the largest number if it is out of range
		if err := a.add(d); err != nil {
			return nil, err
		}
	}
	if string(fortran[1]) == "True" && len(a.dims) > 1 {
		return a, a.transpose()
	}
	return a, nil
}

// add adds a dimension.
func (a *array) add(d uint64) error {
	switch {
	case d == 0:
		return errors.New("a dimension is 0: no data")
	case d > uint64(maxElements/a.n):
		return fmt.Errorf("its header announces more than %d elements", maxElements)
	}
	a.n *= int(d)
	a.dims = append(a.dims, int(d))
	return nil
}

// read returns the bytes of the next n elements, valid until the next call.
func (a *array) read(n int) ([]byte, error) {
	size := a.kind.size
	a.buf = slices.Grow(a.buf[:0], n*size)[:n*size]
	got, err := io.ReadFull(a.r, a.buf)
	a.done += got / size
	if err != nil {
		return nil, fmt.Errorf("its data end after %d of %d elements: %w", a.done, a.n, Truncated(err))
	}
	return a.buf, nil
}

// end reports bytes after the last element.
func (a *array) end() error {
	var more [1]byte
	switch n, err := io.ReadFull(a.r, more[:]); {
	case n > 0:
		return fmt.Errorf("trailing bytes after its %d elements", a.n)
	case err != io.EOF:
		return err
	}
	return nil
}

// transpose reads a table in Fortran order, column by column, and puts its rows in place of
// its data. Memory grows only as bytes arrive: a header may announce too much.
func (a *array) transpose() error {
	if len(a.dims) > 2 {
		return errors.New("it has more than two dimensions in Fortran order: save it with numpy.ascontiguousarray")
	}
	n, size := a.dims[0], a.kind.size
	in, err := io.ReadAll(io.LimitReader(a.r, int64(a.n*size)))
	if err != nil || len(in) < a.n*size {
		a.r = bytes.NewReader(in) // read finds that it is truncated
		return err
	}
	out := make([]byte, 0, len(in))
	for i := range n {
		for c := i * size; c < len(in); c += n * size {
			out = append(out, in[c:c+size]...)
		}
	}
	a.r = io.MultiReader(bytes.NewReader(out), a.r)
	return nil
}

// npyHeader returns the text that describes an array. The caller has checked the magic
// number.
func npyHeader(r io.Reader) ([]byte, error) {
	var start [8]byte
	if err := readFull(r, start[:], "header"); err != nil {
		return nil, err
	}
	var length [4]byte // version 1 has only two bytes
	n := len(length)
	switch start[6] {
	case 1:
		n = 2
	case 2, 3:
	default:
		return nil, fmt.Errorf("version %d of NumPy's format is not supported: 1, 2 and 3 are", start[6])
	}
	if err := readFull(r, length[:n], "header"); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size > maxNPYHeader {
		return nil, fmt.Errorf("a header of %d bytes, more than %d", size, maxNPYHeader)
	}
	header := make([]byte, size)
	return header, readFull(r, header, "header")
}

// An element says how the elements of an array are read.
type element struct {
	size   int
	number func(b []byte) float64
	text   func(b []byte) string
}

// elementOf returns how elements of a NumPy type are read, as numbers or as labels.
func elementOf(descr string, labels bool) (t element, err error) {
	parts := npyType.FindStringSubmatch(descr)
	if parts == nil {
		return t, fmt.Errorf("unknown element type %.40q", descr)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if parts[1] == ">" {
		order = binary.BigEndian
	}
	kind := parts[2]
	size, _ := strconv.Atoi(parts[3]) // 0 without digits
	integer := func(b []byte) uint64 {
		switch len(b) {
		case 1:
			return uint64(b[0])
		case 2:
			return uint64(order.Uint16(b))
		case 4:
			return uint64(order.Uint32(b))
		}
		return order.Uint64(b)
	}
	t.size = size
	switch whole := size == 1 || size == 2 || size == 4 || size == 8; {
	case kind == "b" && size == 1, kind == "u" && whole:
		t.number = func(b []byte) float64 { return float64(integer(b)) }
		t.text = func(b []byte) string { return strconv.FormatUint(integer(b), 10) }
	case kind == "i" && whole:
		signed := func(b []byte) int64 { return int64(integer(b)<<(64-8*size)) >> (64 - 8*size) }
		t.number = func(b []byte) float64 { return float64(signed(b)) }
		t.text = func(b []byte) string { return strconv.FormatInt(signed(b), 10) }
	case kind == "f" && whole && size > 2:
		t.number = func(b []byte) float64 {
			if size == 4 {
				return float64(math.Float32frombits(uint32(integer(b))))
			}
			return math.Float64frombits(integer(b))
		}
		t.text = func(b []byte) string { return strconv.FormatFloat(t.number(b), 'f', -1, 64) } // as in a CSV file: not 1e+06
	case labels && kind == "S" && size > 0 && size <= maxNPYText:
		t.text = func(b []byte) string { return string(bytes.TrimRight(b, "\x00")) }
	case labels && kind == "U" && size > 0 && 4*size <= maxNPYText:
		t.size = 4 * size
		t.text = func(b []byte) string {
			var text []byte
			for i := 0; i < len(b); i += 4 {
				if c := order.Uint32(b[i:]); c != 0 {
					text = utf8.AppendRune(text, rune(c))
				}
			}
			return string(text)
		}
	default:
		return t, fmt.Errorf("element type %.40q is not supported: want booleans, integers, floats of 32 or 64 bits or, for labels, text of at most %d characters", descr, maxLabel)
	}
	return t, nil
}

// SplitArray splits "archive.npz:array" into the file and the array.
func SplitArray(path string) (file, array string) {
	const ending = ".npz:"
	if i := strings.LastIndex(strings.ToLower(path), ending); i >= 0 {
		return path[:i+len(ending)-1], path[i+len(ending):]
	}
	return path, ""
}

// openMember opens an array in an NPZ archive. If the archive has a matrix of scipy.sparse, it opens the
// arrays besides the data, too.
func (in *input) openMember(o *Options) (io.ReadCloser, error) {
	info, err := in.file.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(in.file, info.Size())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, member := range z.File {
		names = append(names, strings.TrimSuffix(member.Name, ".npy"))
	}
	array := in.array
	switch {
	case array == "" && len(names) == 1:
		array = names[0]
	case array == "" && !slices.ContainsFunc(sparseMembers, func(name string) bool { return !slices.Contains(names, name) }):
		array = "data"
		for _, name := range sparseMembers {
			m := &input{file: in.file, array: name}
			if err := m.begin(&Options{Format: FormatNPZ, Sum: o.Sum}); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			in.members, in.closers = append(in.members, m), append(in.closers, m)
		}
	case array == "" && slices.Contains(names, "format") && slices.Contains(names, "shape"):
		return nil, errNotCSR
	}
	at := slices.Index(names, array)
	if at < 0 || slices.Contains(names[at+1:], array) {
		return nil, fmt.Errorf("want one array %.40q in the archive, which holds %s: name one of them after the file, as in NAME.npz:x_train", array, strings.Join(names, ", "))
	}
	return z.File[at].Open()
}

// idxTypes are the element types of IDX files, as NumPy calls them.
var idxTypes = map[byte]string{0x08: "|u1", 0x09: "|i1", 0x0b: ">i2", 0x0c: ">i4", 0x0d: ">f4", 0x0e: ">f8"}

// openIDX reads the header of an IDX file, whose magic number was checked.
func openIDX(r io.Reader, labels bool) (a *array, err error) {
	var magic [4]byte
	if err := readFull(r, magic[:], "IDX magic number"); err != nil {
		return nil, err
	}
	sizes := make([]byte, 4*int(magic[3]))
	if err := readFull(r, sizes, "IDX dimensions"); err != nil {
		return nil, err
	}
	a = &array{n: 1, r: r}
	for i := range int(magic[3]) {
		if err := a.add(uint64(binary.BigEndian.Uint32(sizes[4*i:]))); err != nil {
			return nil, err
		}
	}
	a.kind, err = elementOf(idxTypes[magic[2]], labels)
	return a, err
}

// readFull fills b. Its error says what was cut short.
func readFull(r io.Reader, b []byte, what string) error {
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("%s: %w", what, Truncated(err))
	}
	return nil
}
