package rows

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The formats of files.
const (
	FormatCSV    = "csv"
	FormatTSV    = "tsv"
	FormatLIBSVM = "libsvm"
	FormatIDX    = "idx"
	FormatNPY    = "npy"
	FormatNPZ    = "npz"
)

// Formats returns the formats that are read.
func Formats() []string {
	return []string{FormatCSV, FormatTSV, FormatLIBSVM, FormatIDX, FormatNPY, FormatNPZ}
}

// endings maps endings of file names to the formats that they imply.
var endings = map[string]string{
	".csv": FormatCSV, ".tsv": FormatTSV, ".tab": FormatTSV,
	".npy": FormatNPY, ".npz": FormatNPZ,
	".idx": FormatIDX, "-ubyte": FormatIDX,
}

// IsTable reports whether a format has a label's column and may have a header.
func IsTable(format string) bool { return format == FormatCSV || format == FormatTSV }

// IsArray reports whether a format has its labels in a separate file.
func IsArray(format string) bool {
	return format == FormatIDX || format == FormatNPY || format == FormatNPZ
}

// FormatOf returns the format that a file's name implies. If it implies none, the format
// is LIBSVM, whose files have no standard ending.
func FormatOf(path string) string {
	_, format := CutEnding(path)
	return format
}

// CutEnding returns a file's name, in lower case and without .gz and the ending that
// implies its format, and the format. For an array, the file is its archive.
func CutEnding(path string) (name, format string) {
	path, _ = SplitArray(path)
	name = strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	for ending, format := range endings {
		if before, ok := strings.CutSuffix(name, ending); ok {
			return before, format
		}
	}
	return name, FormatLIBSVM
}

type magic struct{ magic, what, format, advice string }

// magics lists the first bytes of kinds of files, with advice for kinds that can't be
// read.
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
	{"\x1f\x8b", "gzip", "", "gzip is supported only for text, IDX and NPY files, compressed once; decompress it first"},
	{"\x89HDF", "an HDF5 file", "", "save its arrays with numpy.save"},
	{"\x80", "a Python pickle", "", "save its arrays with numpy.save"},
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

// checkMagic returns an error if a file's first bytes are those of another format.
// head is its beginning, decompressed.
func checkMagic(format string, head []byte, o *Options) error {
	as := func(other string) string { return "; use " + o.Say.Setting("format", other) } // advises another format
	for _, m := range magics {
		switch {
		case !bytes.HasPrefix(head, []byte(m.magic)) || m.format == format:
		case m.format == FormatNPZ && bytes.Contains(head, []byte("[Content_Types].xml")):
			return fmt.Errorf("this is an Excel workbook, not %s: save its sheet as CSV", Title(format))
		case m.format == FormatNPZ && !bytes.Contains(head, []byte(".npy")):
			return fmt.Errorf("this is %s, not %s: decompress it first", m.what, Title(format))
		case m.format != "":
			return fmt.Errorf("this is %s, not %s%s", m.what, Title(format), as(m.format))
		default:
			return fmt.Errorf("this is %s, not %s: %s", m.what, Title(format), m.advice)
		}
	}
	text := format == FormatLIBSVM || IsTable(format)
	if cr := bytes.IndexByte(head, '\r'); text && cr >= 0 && cr+1 < len(head) && head[cr+1] != '\n' && !bytes.Contains(head, []byte("\n")) {
		return errors.New("its lines end in a carriage return alone (CR), as on old Macs: convert it, with tr '\\r' '\\n' for instance")
	}
	of := func(m magic) bool { return m.format == format }
	if slices.ContainsFunc(magics, of) && !slices.ContainsFunc(magics, func(m magic) bool { return of(m) && bytes.HasPrefix(head, []byte(m.magic)) }) {
		if looksText(head) {
			return fmt.Errorf("this is text, not %s%s, %s or %s", Title(format), as(FormatCSV), FormatTSV, FormatLIBSVM)
		}
		return fmt.Errorf("this is not %s: it begins with % x", Title(format), head[:min(len(head), 8)])
	}
	line, _, whole := bytes.Cut(head, []byte("\n"))
	if !text || !whole && len(head) < magicBytes { // the rest of a stream's line may follow
		return nil
	}
	return checkLine(format, string(line), as)
}

// checkLine returns an error if the first line looks like that of another format.
func checkLine(format, line string, as func(other string) string) error {
	comma, tab := strings.Contains(line, ","), strings.Contains(line, "\t")
	switch spaces := len(strings.Fields(line)) > 1; {
	case IsTable(format) && looksLIBSVM(line):
		return fmt.Errorf("the first line is a label and index:value pairs, not %s%s", Title(format), as(FormatLIBSVM))
	case format == FormatCSV && tab && !comma:
		return fmt.Errorf("the first line has tabs and no comma%s", as(FormatTSV))
	case format == FormatCSV && strings.Contains(line, ";") && !comma:
		return errors.New("the first line has semicolons and no comma: save it with commas between columns, and points in numbers")
	case format == FormatCSV && spaces && !comma:
		return errors.New("the first line has spaces and no comma: save it with commas between columns")
	case format == FormatTSV && comma && !tab:
		return fmt.Errorf("the first line has commas and no tab%s", as(FormatCSV))
	case format == FormatLIBSVM && comma && !strings.Contains(line, ":"):
		return fmt.Errorf("the first line has commas and no index:value pair%s", as(FormatCSV))
	case format == FormatLIBSVM && tab && !strings.Contains(line, ":"):
		return fmt.Errorf("the first line has tabs and no index:value pair%s", as(FormatTSV))
	case format == FormatLIBSVM && spaces && !strings.ContainsAny(line, ":#"):
		return errors.New("the first line has spaces and no index:value pair: save it with commas between columns, as CSV")
	}
	return nil
}

// looksText reports whether the first bytes of a file are text.
func looksText(head []byte) bool {
	return !bytes.ContainsFunc(head[:min(len(head), 64)], func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == utf8.RuneError })
}

// looksLIBSVM reports whether a line begins with a label and an index:value pair.
func looksLIBSVM(line string) bool {
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.ContainsAny(fields[1], ",\t") {
		return false
	}
	index, value, ok := strings.Cut(fields[1], ":")
	return ok && isDigits(index) && isNumber(value)
}

// Title returns the name of a format for messages.
func Title(format string) string {
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

// Unit returns the name of a format's rows for messages.
func Unit(format string) string {
	if IsArray(format) {
		return "row"
	}
	return "line"
}
