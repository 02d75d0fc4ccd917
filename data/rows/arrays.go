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
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of what is read of an NPY file.
const (
	maxNPYHeader = 1 << 16
	maxNPYDims   = 8
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

	all []byte // all elements in row order, if the file is in Fortran order; else nil
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
	if r.y != nil {
		if err := r.beginLabels(x.dims[0]); err != nil {
			return &OptionError{"labels", err}
		}
	}
	if err := r.choose(nil, x.n/x.dims[0]); err != nil {
		return err
	}
	if r.layout.Label >= 0 {
		return &OptionError{"label", errors.New("the labels of arrays are in a file of their own")}
	}
	return nil
}

// beginLabels reads the header of the labels and checks that there is one per example.
func (r *Reader) beginLabels(examples int) (err error) {
	if err := r.y.begin(&r.o); err != nil {
		return err
	}
	if r.answers, err = openArray(r.y, r.o.Format, true); err != nil {
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
	if r.row == x.dims[0] {
		if r.answers != nil {
			if err := r.answers.end(); err != nil {
				return nil, &OptionError{"labels", err}
			}
		}
		return nil, cmp.Or(x.end(), io.EOF)
	}
	b, err := x.read(r.layout.Columns)
	if err != nil {
		return nil, err
	}
	r.row++
	row := &Row{Line: r.row, Dim: len(r.layout.Features), Values: make([]float64, len(r.layout.Features))}
	for q, at := range r.layout.Features {
		v := x.kind.number(b[at*x.kind.size : (at+1)*x.kind.size])
		if v-v != 0 {
			return nil, &ParseError{row.Line, "row", fmt.Errorf("column %d: feature %v is not finite", at+1, v)}
		}
		row.Values[q] = v
	}
	if r.answers != nil {
		if row.Label, err = r.nextLabel(); err != nil {
			return nil, &OptionError{"labels", err}
		}
	}
	return row, nil
}

func (r *Reader) nextLabel() (string, error) {
	b, err := r.answers.read(1)
	if err != nil {
		return "", err
	}
	text, err := r.answers.kind.text(b)
	if err != nil {
		return "", fmt.Errorf("element %d: %w", r.row, err)
	}
	label, err := r.parsed(strings.TrimSpace(text))
	if err != nil {
		return "", fmt.Errorf("row %d: %w", r.row, err)
	}
	return label, nil
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
	switch {
	case descr == nil && bytes.Contains(header, []byte("descr")):
		return nil, errors.New("it is a structured array: save one array of numbers")
	case descr == nil || fortran == nil || shape == nil:
		return nil, fmt.Errorf("its header lacks descr, fortran_order or shape: %.100q", header)
	}
	a := &array{n: 1, r: r}
	if a.kind, err = elementOf(string(descr[1]), labels); err != nil {
		return nil, err
	}
	for word := range strings.SplitSeq(string(shape[1]), ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		d, err := strconv.Atoi(word)
		switch {
		case len(a.dims) == maxNPYDims:
			return nil, fmt.Errorf("it has more than %d dimensions", maxNPYDims)
		case err == nil && d == 0:
			return nil, fmt.Errorf("its shape is (%s): no data", shape[1])
		case err != nil || d > MaxElements/a.n:
			return nil, fmt.Errorf("its shape is (%.100s): more than %d elements", shape[1], MaxElements)
		}
		a.n *= d
		a.dims = append(a.dims, d)
	}
	if string(fortran[1]) == "True" && len(a.dims) > 1 {
		return a, a.readFortran()
	}
	return a, nil
}

// read returns the bytes of the next n elements, valid until the next call. Its buffer
// grows only as bytes arrive, so a header that announces too much costs little memory.
func (a *array) read(n int) ([]byte, error) {
	if a.all != nil {
		b := a.all[a.done*a.kind.size : (a.done+n)*a.kind.size]
		a.done += n
		return b, nil
	}
	a.buf = a.buf[:0]
	for want := n * a.kind.size; len(a.buf) < want; {
		have := len(a.buf)
		a.buf = slices.Grow(a.buf, min(want-have, 1<<16))
		a.buf = a.buf[:min(want, cap(a.buf))]
		got, err := io.ReadFull(a.r, a.buf[have:])
		if err != nil {
			return nil, fmt.Errorf("its data end after %d of %d elements: %w", a.done+(have+got)/a.kind.size, a.n, Truncated(err))
		}
	}
	a.done += n
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

// readFortran reads all elements and reorders them from Fortran order, in which the first
// index varies fastest, to row-major order.
func (a *array) readFortran() error {
	in, err := a.read(a.n)
	if err != nil {
		return err
	}
	size := a.kind.size
	out, index := make([]byte, 0, len(in)), make([]int, len(a.dims))
	for range a.n {
		at, stride := 0, size
		for i, d := range a.dims {
			at += index[i] * stride
			stride *= d
		}
		out = append(out, in[at:at+size]...)
		for i := len(a.dims) - 1; i >= 0; i-- {
			if index[i]++; index[i] < a.dims[i] {
				break
			}
			index[i] = 0
		}
	}
	a.all, a.buf, a.done = out, nil, 0
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
	text   func(b []byte) (string, error)
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
	case kind == "O":
		return t, errors.New("its elements are pickled Python objects, which are not read: save an array of numbers")
	case kind == "b" && size == 1, kind == "u" && whole:
		t.number = func(b []byte) float64 { return float64(integer(b)) }
		t.text = func(b []byte) (string, error) { return strconv.FormatUint(integer(b), 10), nil }
	case kind == "i" && whole:
		signed := func(b []byte) int64 { return int64(integer(b)<<(64-8*size)) >> (64 - 8*size) }
		t.number = func(b []byte) float64 { return float64(signed(b)) }
		t.text = func(b []byte) (string, error) { return strconv.FormatInt(signed(b), 10), nil }
	case kind == "f" && whole && size > 1:
		t.number = func(b []byte) float64 {
			switch size {
			case 2:
				return half(uint16(integer(b)))
			case 4:
				return float64(math.Float32frombits(uint32(integer(b))))
			}
			return math.Float64frombits(integer(b))
		}
		t.text = func(b []byte) (string, error) {
			v := t.number(b)
			if a := math.Abs(v); a >= 1e-4 && a < 1e21 { // as in a CSV file: not 1e+06
				return strconv.FormatFloat(v, 'f', -1, 64), nil
			}
			return strconv.FormatFloat(v, 'g', -1, 64), nil
		}
	case labels && kind == "S" && size > 0 && size <= maxNPYText:
		t.text = func(b []byte) (string, error) { return utf8Label(bytes.TrimRight(b, "\x00")) }
	case labels && kind == "U" && size > 0 && 4*size <= maxNPYText:
		t.size = 4 * size
		t.text = func(b []byte) (string, error) {
			var text []byte
			for i := 0; i < len(b); i += 4 {
				if c := order.Uint32(b[i:]); c != 0 {
					text = utf8.AppendRune(text, rune(c))
				}
			}
			return utf8Label(text)
		}
	case kind == "S" || kind == "U":
		return t, fmt.Errorf("its elements are text (%s), want numbers, or labels of at most %d characters", descr, maxLabel)
	default:
		return t, fmt.Errorf("element type %.40q is not supported: want booleans, integers, floats or, for labels, text", descr)
	}
	return t, nil
}

// utf8Label returns a label's text, or an error if it is not UTF-8.
func utf8Label(b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", fmt.Errorf("label %.40q is not UTF-8", b)
	}
	return string(b), nil
}

// half returns the value of a float16.
func half(b uint16) float64 {
	sign, exp, frac := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

// SplitArray splits "archive.npz:array" into the file and the array.
func SplitArray(path string) (file, array string) {
	const ending = ".npz:"
	if i := strings.LastIndex(strings.ToLower(path), ending); i >= 0 {
		return path[:i+len(ending)-1], path[i+len(ending):]
	}
	return path, ""
}

// openMember opens an array in an NPZ archive.
func openMember(f *os.File, array string) (io.ReadCloser, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, err
	}
	var names []string
	members := make(map[string]*zip.File)
	for _, member := range z.File {
		name, ok := strings.CutSuffix(member.Name, ".npy")
		if ok && members[name] != nil {
			return nil, fmt.Errorf("duplicate array %.40q in the archive", name)
		}
		if ok {
			names, members[name] = append(names, name), member
		}
	}
	if member := members[array]; member != nil {
		return member.Open()
	}
	if len(names) > 20 {
		names = append(names[:20], "…")
	}
	slices.Sort(names)
	if array == "" {
		return nil, fmt.Errorf("the archive holds the arrays %s: name one of them after the file, as in NAME.npz:x_train", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("the archive holds no array %.40q: want one of %s", array, strings.Join(names, ", "))
}

// maxIDXDims bounds the number of dimensions of an IDX file.
const maxIDXDims = 4

// idxTypes are the element types of IDX files, as NumPy calls them.
var idxTypes = map[byte]string{0x08: "|u1", 0x09: "|i1", 0x0b: ">i2", 0x0c: ">i4", 0x0d: ">f4", 0x0e: ">f8"}

// openIDX reads the header of an IDX file, whose magic number was checked.
func openIDX(r io.Reader, labels bool) (a *array, err error) {
	var magic [4]byte
	if err := readFull(r, magic[:], "IDX magic number"); err != nil {
		return nil, err
	}
	if magic[3] < 1 || magic[3] > maxIDXDims {
		return nil, fmt.Errorf("IDX file of %d dimensions: between 1 and %d are supported", magic[3], maxIDXDims)
	}
	sizes := make([]byte, 4*magic[3])
	if err := readFull(r, sizes, "IDX dimensions"); err != nil {
		return nil, err
	}
	a = &array{n: 1, r: r}
	for i := range int(magic[3]) {
		n := int64(binary.BigEndian.Uint32(sizes[4*i:]))
		if n == 0 {
			return nil, fmt.Errorf("IDX dimension %d is 0: no data", i+1)
		}
		if n > int64(MaxElements/a.n) {
			return nil, fmt.Errorf("IDX header announces more than %d elements", MaxElements)
		}
		a.n *= int(n)
		a.dims = append(a.dims, int(n))
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
