package data

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
	maxNPYText   = 4 * maxLabel // bytes of an element that is text: UTF-32
)

var (
	npyDescr   = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([^'"]*)['"]`)
	npyFortran = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([0-9,\s]*)\)`)
	npyType    = regexp.MustCompile(`^([<>|=]?)([a-zA-Z])([0-9]*)$`)
)

// readNPY reads an array in NumPy's format, of at most limit elements, and texts
// of all its elements if they are to be labels. It returns an error
// if the file is truncated, or of no numbers; no more is allocated than was really
// read.
func readNPY(r io.Reader, limit int, labels bool) (*elements, error) {
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
	t, err := npyTypeOf(string(descr[1]), labels)
	if err != nil {
		return nil, err
	}
	a := &elements{}
	n := 1
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
		case err != nil || d > limit/n:
			return nil, fmt.Errorf("its shape is (%.100s): more than %d elements", shape[1], limit)
		}
		n *= d
		a.dims = append(a.dims, d)
	}
	if err := a.read(r, t, n, labels); err != nil {
		return nil, err
	}
	if string(fortran[1]) == "True" && len(a.dims) > 1 {
		a.numbers, a.texts = byRows(a.dims, a.numbers), byRows(a.dims, a.texts)
	}
	return a, nil
}

// npyHeader returns the text that describes an array.
func npyHeader(r io.Reader) ([]byte, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return nil, fmt.Errorf("header: %w", truncated(err))
	}
	if string(start[:6]) != "\x93NUMPY" {
		return nil, fmt.Errorf("not a NumPy array: it starts with % x", start[:6])
	}
	var size uint32
	switch start[6] {
	case 1:
		var n uint16
		if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
			return nil, fmt.Errorf("header: %w", truncated(err))
		}
		size = uint32(n)
	case 2, 3:
		if err := binary.Read(r, binary.LittleEndian, &size); err != nil {
			return nil, fmt.Errorf("header: %w", truncated(err))
		}
	default:
		return nil, fmt.Errorf("version %d of NumPy's format is not supported: 1, 2 and 3 are", start[6])
	}
	if size > maxNPYHeader {
		return nil, fmt.Errorf("a header of %d bytes, more than %d", size, maxNPYHeader)
	}
	header := make([]byte, size)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, fmt.Errorf("header: %w", truncated(err))
	}
	return header, nil
}

// An npyElement says how the elements of an array are read.
type npyElement struct {
	size   int
	number func(b []byte) float64
	text   func(b []byte) (string, error)
}

// npyTypeOf returns how elements of a NumPy type are read, as numbers or as labels.
func npyTypeOf(descr string, labels bool) (t npyElement, err error) {
	parts := npyType.FindStringSubmatch(descr)
	if parts == nil {
		return t, fmt.Errorf("unknown element type %.40q", descr)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if parts[1] == ">" {
		order = binary.BigEndian
	}
	kind := parts[2]
	size, err := strconv.Atoi(cmp.Or(parts[3], "0"))
	if err != nil || size > 1<<20 {
		return t, fmt.Errorf("unknown element type %.40q", descr)
	}
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
			if a := math.Abs(v); a >= 1e-4 && a < 1e21 { // as a CSV file has it: not 1e+06
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
		return t, fmt.Errorf("element type %.40q is not supported: truth values, integers, floats and, of labels, text are", descr)
	}
	return t, nil
}

// utf8Label returns a label's text if it is one.
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

// read reads n elements and then the end of the file.
func (a *elements) read(r io.Reader, t npyElement, n int, labels bool) error {
	buf := make([]byte, max(1, 1<<16/t.size)*t.size)
	for done := 0; done < n; {
		part := buf[:min(len(buf), (n-done)*t.size)]
		got, err := io.ReadFull(r, part)
		if err != nil {
			return fmt.Errorf("its data end after %d of %d elements: %w", done+got/t.size, n, truncated(err))
		}
		for b := range slices.Chunk(part, t.size) {
			if labels {
				text, err := t.text(b)
				if err != nil {
					return fmt.Errorf("element %d: %w", len(a.texts)+1, err)
				}
				a.texts = append(a.texts, text)
			} else {
				a.numbers = append(a.numbers, t.number(b))
			}
		}
		done += len(part) / t.size
	}
	switch more, err := io.ReadFull(r, buf[:1]); {
	case more > 0:
		return fmt.Errorf("trailing bytes after its %d elements", n)
	case err != io.EOF:
		return err
	}
	return nil
}

// byRows brings elements from Fortran's order, in which the first index moves
// fastest, to that of rows.
func byRows[T any](dims []int, in []T) []T {
	out := make([]T, 0, len(in))
	index := make([]int, len(dims))
	for range in {
		at, stride := 0, 1
		for i, d := range dims {
			at += index[i] * stride
			stride *= d
		}
		out = append(out, in[at])
		for i := len(dims) - 1; i >= 0; i-- {
			if index[i]++; index[i] < dims[i] {
				break
			}
			index[i] = 0
		}
	}
	return out
}

// splitArray splits "archive.npz:array" into the file and the array.
func splitArray(path string) (file, array string) {
	const ending = ".npz:"
	if i := strings.LastIndex(strings.ToLower(path), ending); i >= 0 {
		return path[:i+len(ending)-1], path[i+len(ending):]
	}
	return path, ""
}

// openArray opens an array in an NPZ archive.
func openArray(f *os.File, array string) (io.ReadCloser, error) {
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
		return nil, fmt.Errorf("the archive holds the arrays %s: name one of them after the file, as in NAME.npz:x_train", join(names))
	}
	return nil, fmt.Errorf("the archive holds no array %.40q: want one of %s", array, join(names))
}
