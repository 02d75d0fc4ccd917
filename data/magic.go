package data

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Formats of a user's files beside those of [EachRow].
const (
	FormatTSV = "tsv"
	FormatIDX = "idx"
	FormatNPY = "npy"
	FormatNPZ = "npz"
)

// Formats returns the formats that a [Source] can have.
func Formats() []string {
	return []string{FormatCSV, FormatTSV, FormatLIBSVM, FormatIDX, FormatNPY, FormatNPZ}
}

// endings are those of names that stand for a format.
var endings = map[string]string{
	".csv": FormatCSV, ".tsv": FormatTSV, ".tab": FormatTSV,
	".npy": FormatNPY, ".npz": FormatNPZ,
	".idx": FormatIDX, "-ubyte": FormatIDX,
}

// sourceFormat returns the format that a file's name stands for: LIBSVM, whose
// files are named anyhow, if no other.
func sourceFormat(path string) string {
	path, array := splitArray(path)
	if array != "" {
		return FormatNPZ
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	for ending, format := range endings {
		if strings.HasSuffix(name, ending) {
			return format
		}
	}
	return FormatLIBSVM
}

type magic struct{ magic, what, format, advice string }

// magics are what files of other kinds begin with, and what to do with those that
// are not read.
var magics = []magic{
	{"\x93NUMPY", "a NumPy file", FormatNPY, ""},
	{"PAR1", "a Parquet file", "", "save it as CSV, or its columns with numpy.save"},
	{"\x00\x00\x08", "an IDX file", FormatIDX, ""},
	{"\x00\x00\x09", "an IDX file", FormatIDX, ""},
	{"\x00\x00\x0b", "an IDX file", FormatIDX, ""},
	{"\x00\x00\x0c", "an IDX file", FormatIDX, ""},
	{"\x00\x00\x0d", "an IDX file", FormatIDX, ""},
	{"\x00\x00\x0e", "an IDX file", FormatIDX, ""},
	{"PK\x03\x04", "a zip archive", FormatNPZ, ""},
	{"PK\x05\x06", "an empty zip archive", "", "it holds no array"},
	{"\x1f\x8b", "gzip", "", "gzip is read of text, IDX and NPY files, once compressed; decompress it first"},
	{"\x89HDF", "an HDF5 file", "", "save its arrays with numpy.save"},
	{"\x80\x02", "a Python pickle", "", "save its arrays with numpy.save"},
	{"\x80\x03", "a Python pickle", "", "save its arrays with numpy.save"},
	{"\x80\x04", "a Python pickle", "", "save its arrays with numpy.save"},
	{"\x80\x05", "a Python pickle", "", "save its arrays with numpy.save"},
	{"ARROW1", "an Arrow file", "", "save it as CSV"},
	{"FEA1", "a Feather file", "", "save it as CSV"},
	{"SQLite format 3", "an SQLite database", "", "save its table as CSV"},
	{"\xd0\xcf\x11\xe0", "an old Excel workbook", "", "save its sheet as CSV"},
	{"\xff\xfe", "UTF-16 text", "", "save it as UTF-8"},
	{"\xfe\xff", "UTF-16 text", "", "save it as UTF-8"},
	{"BZh", "compressed by bzip2", "", "decompress it first"},
	{"\xfd7zXZ", "compressed by xz", "", "decompress it first"},
	{"\x28\xb5\x2f\xfd", "compressed by Zstandard", "", "decompress it first"},
}

// magicBytes are enough to tell what a file is.
const magicBytes = 512

// checkMagic reports a file that begins as one of another format than is read.
// head is its beginning, without gzip.
func checkMagic(format string, head []byte) error {
	if err := checkKind(format, head, func(other string) string { return "; format: " + other }); err != nil {
		return err
	}
	of := func(m magic) bool { return m.format == format }
	if slices.ContainsFunc(magics, of) && !slices.ContainsFunc(magics, func(m magic) bool { return of(m) && bytes.HasPrefix(head, []byte(m.magic)) }) {
		if looksText(head) {
			return fmt.Errorf("this is text, not %s; format: %s, %s or %s", title(format), FormatCSV, FormatTSV, FormatLIBSVM)
		}
		return fmt.Errorf("this is not %s: it begins with % x", title(format), head[:min(len(head), 8)])
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch text := string(line); {
	case (format == FormatCSV || format == FormatTSV) && looksLIBSVM(text):
		return fmt.Errorf("the first line is a label and index:value pairs, not %s; format: %s", title(format), FormatLIBSVM)
	case format == FormatCSV && strings.Contains(text, "\t") && !strings.Contains(text, ","):
		return fmt.Errorf("the first line has tabs and no comma; format: %s", FormatTSV)
	case format == FormatCSV && strings.Contains(text, ";") && !strings.Contains(text, ","):
		return errors.New("the first line has semicolons and no comma: save it with commas between columns, and points in numbers")
	case format == FormatCSV && len(strings.Fields(text)) > 1 && !strings.Contains(text, ","):
		return errors.New("the first line has spaces and no comma: save it with commas between columns")
	case format == FormatTSV && strings.Contains(text, ",") && !strings.Contains(text, "\t"):
		return fmt.Errorf("the first line has commas and no tab; format: %s", FormatCSV)
	case format == FormatLIBSVM && strings.Contains(text, ",") && !strings.Contains(text, ":"):
		return fmt.Errorf("the first line has commas and no index:value pair; format: %s", FormatCSV)
	case format == FormatLIBSVM && strings.Contains(text, "\t") && !strings.Contains(text, ":"):
		return fmt.Errorf("the first line has tabs and no index:value pair; format: %s", FormatTSV)
	case format == FormatLIBSVM && len(strings.Fields(text)) > 1 && !strings.ContainsAny(text, ":#"):
		return errors.New("the first line has spaces and no index:value pair: save it with commas between columns, as CSV")
	}
	return nil
}

// checkKind reports a file whose first bytes are those of another kind than text or the
// format. advice is what to do with one that is of a format of [Formats].
func checkKind(format string, head []byte, advice func(other string) string) error {
	for _, m := range magics {
		switch {
		case !bytes.HasPrefix(head, []byte(m.magic)) || m.format == format:
		case m.format == FormatNPZ && bytes.Contains(head, []byte("[Content_Types].xml")):
			return fmt.Errorf("this is an Excel workbook, not %s: save its sheet as CSV", title(format))
		case m.format == FormatNPZ && !bytes.Contains(head, []byte(".npy")):
			return fmt.Errorf("this is %s, not %s: decompress it first", m.what, title(format))
		case m.format != "":
			return fmt.Errorf("this is %s, not %s%s", m.what, title(format), advice(m.format))
		default:
			return fmt.Errorf("this is %s, not %s: %s", m.what, title(format), m.advice)
		}
	}
	text := format == FormatCSV || format == FormatTSV || format == FormatLIBSVM
	if cr := bytes.IndexByte(head, '\r'); text && cr >= 0 && cr+1 < len(head) && head[cr+1] != '\n' && !bytes.Contains(head, []byte("\n")) {
		return errors.New("its lines end in a carriage return alone (CR), as on old Macs: convert it, with tr '\\r' '\\n' for instance")
	}
	return nil
}

// looksText reports whether a file begins as text.
func looksText(head []byte) bool {
	return !bytes.ContainsFunc(head[:min(len(head), 64)], func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == utf8.RuneError })
}

// looksLIBSVM reports whether a line is a label and an index:value pair, at least.
func looksLIBSVM(line string) bool {
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.ContainsAny(fields[1], ",\t") {
		return false
	}
	index, value, ok := strings.Cut(fields[1], ":")
	return ok && isDigits(index) && isNumber(value)
}

// title is what messages call a format.
func title(format string) string {
	switch format {
	case FormatNPY:
		return "a NumPy file"
	case FormatNPZ:
		return "a NumPy archive"
	case FormatIDX:
		return "an IDX file"
	}
	return strings.ToUpper(format)
}
