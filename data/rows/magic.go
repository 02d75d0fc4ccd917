package rows

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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
	{"\x00\x00", "an IDX file", FormatIDX, ""},
	{"PK\x03\x04", "a zip archive", FormatNPZ, ""},
	{"\x1f\x8b", "gzip", "", "gzip is supported only for text, IDX and NPY files, compressed once; decompress it first"},
	{"\x89HDF", "an HDF5 file", "", "save its arrays with numpy.save"},
	{"\x80", "a Python pickle", "", "save its arrays with numpy.save"},
	{"\xff\xfe", "UTF-16 text", "", "save it as UTF-8"},
	{"BZh", "compressed by bzip2", "", "decompress it first"},
	{"\xfd7zXZ", "compressed by xz", "", "decompress it first"},
}

// checkMagic returns an error if a file's first bytes are those of another format.
// delimiter is that of Columns, and head the file's beginning, decompressed.
func checkMagic(format, delimiter string, head []byte) error {
	known, right := false, false
	for _, m := range magics {
		begins := bytes.HasPrefix(head, []byte(m.magic))
		known, right = known || m.format == format, right || begins && m.format == format
		switch {
		case !begins || m.format == format:
		case m.format == FormatNPZ && !bytes.Contains(head, []byte(".npy")):
			return fmt.Errorf("this is %s, not %s: decompress it first, or save the sheet of an Excel workbook as CSV", m.what, Title(format))
		case m.format != "":
			return fmt.Errorf("this is %s, not %s: set format to %s", m.what, Title(format), m.format)
		default:
			return fmt.Errorf("this is %s, not %s: %s", m.what, Title(format), m.advice)
		}
	}
	if known && !right {
		return fmt.Errorf("this is not %s: it begins with %.8q; set format to csv, tsv or libsvm if it is text", Title(format), head)
	}
	end := bytes.IndexAny(head, "\r\n")
	if known || end < 0 && len(head) < magicBytes { // the rest of a stream's line may follow
		return nil
	}
	if end >= 0 {
		head = head[:end]
	}
	return checkLine(format, delimiter, string(head))
}

// checkLine returns an error if the first line looks like that of another format.
func checkLine(format, delimiter, line string) error {
	comma, tab, separated := strings.Contains(line, ","), strings.Contains(line, "\t"), strings.ContainsAny(strings.TrimSpace(line), ",;\t ")
	switch {
	case IsTable(format) && looksLIBSVM(line):
		return fmt.Errorf("the first line is a label and index:value pairs, not %s: set format to libsvm", Title(format))
	case delimiter != "" || strings.HasPrefix(line, "sep="):
	case format == FormatCSV && separated && !comma:
		return errors.New("the first line has tabs, semicolons or spaces, and no comma: name the character between the columns (--delimiter), or set format to tsv if it is a tab")
	case format == FormatTSV && comma && !tab:
		return errors.New("the first line has commas and no tab: set format to csv")
	case format == FormatLIBSVM && separated && !strings.ContainsAny(line, ":#"):
		return errors.New("the first line has no index:value pair: set format to csv or tsv, or save it with commas between columns")
	}
	return nil
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
	titles := map[string]string{FormatNPY: "a NumPy file", FormatNPZ: "a NumPy archive", FormatIDX: "an IDX file"}
	return cmp.Or(titles[format], strings.ToUpper(format))
}

// Unit returns the name of a format's rows for messages.
func Unit(format string) string {
	if IsArray(format) {
		return "row"
	}
	return "line"
}
