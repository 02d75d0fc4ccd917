package rows

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// A corpusFile is a small file of a user. Some are hostile.
type corpusFile struct {
	name   string
	text   string
	labels string // for arrays: the contents of the labels' file, or the labels' name in an archive
	label  int    // the label's column; 0 for the last
	format string // if the name does not imply it
	number bool   // the labels are targets of a regression
}

// corpus returns the test files for the readers. testdata/corpus.txt has the result of each
// file.
func corpus() []corpusFile {
	// body returns 24 rows of two features and a label.
	body := func(label func(i int) string) string {
		var b strings.Builder
		for i := range 24 {
			fmt.Fprintf(&b, "%d.5,%d,%s\n", i*i%7, i%5, label(i))
		}
		return b.String()
	}
	word := func(i int) string { return []string{"elm", "oak"}[i*i%3%2] }
	number := func(i int) string { return []string{"1", "2"}[i*i%3%2] }
	words, numbers := body(word), body(number)
	whole := strings.ReplaceAll(words, ".5,", ",")
	svm := func(first string) string {
		return first + strings.Repeat("1 1:0.5 3:2\n-1 2:1 # a comment\n+1 1:3\n\n# all of a line\n-1\n", 5)
	}
	id := func(first string) string {
		for i, line := range strings.Split(strings.TrimSpace(words), "\n") {
			first += fmt.Sprintf("%d,%s\n", i, line)
		}
		return first
	}
	x8 := []float64{1.5, 2, -3, 4, 5, 6.25, 7, 8, 1, 1, 2, 3, 4, 4, 5, 1e-3}
	x := npy("<f8", false, []int{8, 2}, x8)
	y := npy("|u1", false, []int{8}, []byte{0, 1, 0, 1, 0, 1, 0, 1})
	wordy := npy("<U3", false, []int{8}, textOf("elmoakelmoakelmoak"), textOf("a\u00a0 "), textOf("a  "))
	return []corpusFile{
		// Plain files.
		{name: "words.csv", text: words},
		{name: "numbers.csv", text: numbers},
		{name: "whole.csv", text: whole},
		{name: "first.csv", label: 1, text: "elm,1.5,2\noak,2,3\nelm,3,5\noak,4,4\n"},
		{name: "targets.csv", number: true, text: "1.5,2,3.25\n2,3,-0\n4,1,1e3\n3,3,+7.0\n"},
		{name: "tabs.tsv", text: strings.ReplaceAll(words, ",", "\t")},
		{name: "quoted-tabs.tsv", text: "\"1\"\t2\t\"elm\tred\"\n1\t3\toak\n \"2\"\t \t \"elm\"\n"},
		{name: "rows.libsvm", text: svm("")},
		{name: "unnamed", text: svm("")},
		{name: "gzip.csv.gz", text: string(zipped(words))},
		{name: "gzip.svm.gz", text: string(zipped(svm("")))},
		{name: "array.npy", text: string(x), labels: string(y)},
		{name: "fortran.npy", text: string(npy(">f4", true, []int{8, 2}, []float32{1, 2, 3, 4, 5, 6, 7, 7, 2, 2, 1, 1, 3, 3, 1, 2})), labels: string(y)},
		{name: "words.npy", text: string(x), labels: string(wordy)},
		{name: "1e6.npy", text: string(x), labels: string(npy("<f8", false, []int{8}, []float64{1e6, 2.5e6, 1e6, 2.5e6, 1e6, 1e-7, 1e-7, 1e22}))},
		{name: "targets.npy", text: string(x), labels: string(npy("<f4", false, []int{8, 1}, []float32{1, 2, 3, 4, 5, 6, 7, 0.1})), number: true},
		{name: "gzip.npy.gz", text: string(zipped(string(x))), labels: string(y)},
		{name: "archive.npz:x", text: string(npz("x", string(x), "y", string(y))), labels: "y"},
		{name: "images.idx", text: string(idx(0x08, 8, 2, 1) + "abcdefghabcdefgh"), labels: string(idx(0x08, 8) + "\x00\x01\x00\x01\x00\x01\x00\x01")},
		{name: "train-ubyte", text: string(idx(0x08, 8, 2) + "bacdefghibcdefgh"), labels: string(idx(0x08, 8) + "\x00\x01\x00\x01\x00\x01\x00\x01")},
		{name: "double.idx", text: idx(0x0e, 8, 2) + doubles(x8), labels: idx(0x0c, 8) + strings.Repeat("\x00\x00\x00\x07\xff\xff\xff\xff", 4)},

		// Headers.
		{name: "header.csv", text: "x,y,kind\n" + words},
		{name: "quoted-header.csv", text: "\"x, in m\",\"y\"\"\",kind\n" + words},
		{name: "pandas-index.csv", text: id(",x,y,kind\n")},
		{name: "pandas-index.tsv", text: strings.ReplaceAll(id(",x,y,kind\n"), ",", "\t")},
		{name: "header-numbers.csv", text: "0,1,kind\n" + numbers},
		{name: "header-years.csv", text: "2019,2020,kind\n" + numbers},
		{name: "header-half.csv", text: "2019,y,kind\n" + numbers},
		{name: "header-words.csv", text: "0,1,kind\n" + words},
		{name: "header-words-years.csv", text: "2019,2020,kind\n" + words},
		{name: "header-words-half.csv", text: "2019,y,kind\n" + words},
		{name: "header-target.csv", number: true, text: "1,2,price\n" + numbers},
		{name: "positions.csv", text: "0,1,2\n" + numbers},
		{name: "positions-whole.csv", text: "1,2,3\n" + strings.ReplaceAll(numbers, ".5,", ",")},
		{name: "rare.csv", text: "3,4,yew\n" + words},
		{name: "duplicates.csv", text: "x,x,kind\n" + words},
		{name: "header-gap.csv", text: "x,,kind\n" + words},
		{name: "sodium.csv", text: "RI,Na,type\n" + words},
		{name: "header-alone.csv", text: "x,y,kind\n"},

		// Columns that number the rows.
		{name: "id.csv", text: id("id,x,y,kind\n")},
		{name: "running.csv", text: id("t,x,y,kind\n")},
		{name: "running-bare.csv", text: id("")},

		// Missing and odd values.
		{name: "missing.csv", text: words + ",2,elm\n"},
		{name: "missing.tsv", text: strings.ReplaceAll(words+",2,elm\n", ",", "\t")},
		{name: "missing-all.tsv", text: strings.ReplaceAll(words, ",", "\t") + "\t\t\n"},
		{name: "missing-first.csv", text: "1.5,,elm\n" + words},
		{name: "missing-label.csv", text: words + "1,2,\n"},
		{name: "na.csv", text: "NA,NA,elm\n" + words},
		{name: "question.csv", text: words + "?,2,elm\n"},
		{name: "nan.csv", text: words + "nan,2,elm\n"},
		{name: "nan-label.csv", text: words + "1,2,NaN\n"},
		{name: "inf.csv", text: words + "1,-Infinity,elm\n"},
		{name: "huge.csv", text: words + "1e999,2,elm\n"},
		{name: "large.csv", text: words + "1e300,2,elm\n"},
		{name: "tiny.csv", text: words + "1e-320,2,elm\n"},
		{name: "underscore.csv", text: words + "1_0,2,elm\n"},
		{name: "hexadecimal.csv", text: words + "0x1p3,2,elm\n"},
		{name: "hexadecimal-target.csv", number: true, text: numbers + "1,2,0x1p3\n"},
		{name: "nan-target.csv", number: true, text: numbers + "1,2,nan\n"},
		{name: "word-target.csv", number: true, text: words},
		{name: "ragged.csv", text: words + "1,2\n"},
		{name: "long-row.csv", text: words + "1,2,3,elm\n"},
		{name: "one-column.csv", text: "1\n2\n"},
		{name: "blank-lines.csv", text: "\n\n" + strings.ReplaceAll(words, "\n", "\n \t\n")},
		{name: "decimal-comma.csv", text: "1;0,74\n2;1,5\n1;0,25\n"},
		{name: "decimal-commas.csv", text: "0;0,53;0,33\n1;0,91;0,12\n"},
		{name: "semicolons.csv", text: "1;0.74;2\n2;1.5;3\n"},
		{name: "semicolon-label.csv", text: strings.ReplaceAll(words, "elm", "elm;low")},
		{name: "savetxt.csv", text: body(func(i int) string { return number(i) + ".000000000000000000e+00" })},
		{name: "several-labels.svm", text: "1,3 1:0.1\n0,4 1:0.2\n"},
		{name: "empty.csv", text: ""},
		{name: "blank.csv", text: "\n \n"},

		// Bytes.
		{name: "bom.csv", text: "\xef\xbb\xbf" + words},
		{name: "bom-header.csv", text: "\xef\xbb\xbfx,y,kind\n" + words},
		{name: "crlf.csv", text: strings.ReplaceAll(words, "\n", "\r\n")},
		{name: "cr.csv", text: strings.ReplaceAll(words, "\n", "\r")},
		{name: "utf16.csv", text: "\xff\xfe1\x00,\x002\x00,\x00a\x00\n\x00"},
		{name: "quotes.csv", text: "\"1\",\"2\",\"elm, red\"\n1,3,\"elm \"\"red\"\"\"\n2,2,\"elm, red\"\n 3 , 3 ,\"elm \"\"red\"\"\"\n"},
		{name: "bad-quote.csv", text: words + "1,\"2,elm\n"},
		{name: "bare-quote.csv", text: words + "1,2\"3,elm\n"},
		{name: "no-break.csv", text: "1,3,a\n2,3,\"a \"\n3,3, a\u00a0\n4,4,b\n5,1,b\n"},
		{name: "nfc-nfd.csv", text: "1,3,caf\u00e9\n2,3,caf\u00e9\n3,3,cafe\u0301\n4,4,cafe\u0301\n"},
		{name: "invisible.csv", text: "1,3,a\u200b\n2,3,a\u200b\n3,3,b\n4,4,b\n"},
		{name: "formula.csv", text: "1,3,=a\n2,3,=a\n3,3,b\n4,4,b\n"},
		{name: "long-label.csv", text: words + "1,2," + strings.Repeat("w", 257) + "\n"},
		{name: "canonical.csv", text: "1,3,+1\n2,3,1.0\n3,3,1\n4,4,-0\n5,5,0\n"},
		{name: "two-spellings.csv", text: "1,3,1\n2,3,01\n3,3,1\n4,4,01\n"},
		{name: "many-classes.csv", text: body(func(i int) string { return fmt.Sprintf("k%d", i) })},
		{name: "one-class.csv", text: body(func(int) string { return "elm" })},
		{name: "nul.csv", text: words + "1,2,e\x00m\n"},

		// Formats that differ from the name's.
		{name: "spaces.csv", text: strings.ReplaceAll(words, ",", " ")},
		{name: "semicolons.csv", text: strings.ReplaceAll(words, ",", ";")},
		{name: "tabs.csv", text: strings.ReplaceAll(words, ",", "\t")},
		{name: "commas.tsv", text: words},
		{name: "svm.csv", text: svm("")},
		{name: "commas.libsvm", text: words},
		{name: "spaces.libsvm", text: strings.ReplaceAll(words, ",", " ")},
		{name: "forged-npy.csv", text: "\x93NUMPY,1,2\n" + words},
		{name: "forged-gzip.csv", text: "\x1f\x8bnot gzip,1\n" + words},
		{name: "forged-zip.csv", text: "PK\x03\x04,1,elm\n" + words},
		{name: "PAR1.csv", text: "PAR1,PAR2,kind\n" + words},
		{name: "excel.csv", text: "PK\x03\x04....[Content_Types].xml"},
		{name: "pickle.npy", text: "\x80\x04\x95....", labels: string(y)},
		{name: "text.npy", text: words, labels: string(y)},
		{name: "gzip-twice.csv.gz", text: string(zipped(string(zipped(words))))},
		{name: "truncated.csv.gz", text: string(zipped(words)[:60])},
		{name: "said.dat", text: words, format: FormatCSV},

		// LIBSVM.
		{name: "index-0.libsvm", text: svm("1 0:1 1:1\n")},
		{name: "descending.libsvm", text: svm("1 3:1 2:1\n")},
		{name: "repeated.libsvm", text: svm("1 3:1 3:1\n")},
		{name: "qid.libsvm", text: svm("1 qid:3 1:1\n")},
		{name: "huge-index.libsvm", text: svm("1 18446744073709551616:1\n")},
		{name: "large-index.libsvm", text: svm("1 2097152:1\n")},
		{name: "no-label.libsvm", text: svm("") + "1:1 2:2\n"},
		{name: "no-pair.libsvm", text: svm("") + "1 2\n"},
		{name: "bad-value.libsvm", text: svm("") + "1 2:x\n"},
		{name: "labels-alone.libsvm", text: "1\n2\n1\n2\n"},
		{name: "bom.libsvm", text: svm("\xef\xbb\xbf")},

		// Arrays.
		{name: "truncated.npy", text: string(x[:len(x)-3]), labels: string(y)},
		{name: "trailing.npy", text: string(x) + "x", labels: string(y)},
		{name: "other-length.npy", text: string(npy("<f8", false, []int{2, 2}, x8[:4])), labels: string(y)},
		{name: "flat.npy", text: string(npy("<f8", false, []int{4}, x8[:4])), labels: string(y)},
		{name: "nan.npy", text: string(npy("<f8", false, []int{8, 2}, append([]float64{1, math.NaN()}, x8[:14]...))), labels: string(y)},
		{name: "objects.npy", text: string(npy("|O", false, []int{8, 2})), labels: string(y)},
		{name: "long.npy", text: string(npy("<f16", false, []int{8, 2})), labels: string(y)},
		{name: "duplicates.npz:x", text: strings.ReplaceAll(string(npz("x", string(x), "z", string(x), "y", string(y))), "z.npy", "x.npy"), labels: "y"},
		{name: "no-member.npz:q", text: string(npz("x", string(x), "y", string(y))), labels: "y"},
		{name: "type-0f.idx", text: idx(0x0f, 8, 2) + "abcdefghabcdefgh", labels: idx(0x08, 8) + "\x00\x01\x00\x01\x00\x01\x00\x01"},
		{name: "truncated.idx", text: idx(0x08, 8, 2) + "abcdefghabcdefg", labels: idx(0x08, 8) + "\x00\x01\x00\x01\x00\x01\x00\x01"},
		{name: "promise.idx", text: idx(0x08, 1<<31, 1<<31) + "abc", labels: idx(0x08, 8) + "\x00\x01\x00\x01\x00\x01\x00\x01"},
		{name: "no-labels.npy", text: string(x)},
	}
}

// textOf returns characters as NumPy stores them.
func textOf(text string) []uint32 {
	var out []uint32
	for _, c := range text {
		out = append(out, uint32(c))
	}
	return out
}

// doubles returns big-endian numbers.
func doubles(values []float64) string {
	b, err := binary.Append(nil, binary.BigEndian, values)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// zipped compresses a text with gzip.
func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

// npy returns an array in version 1 of NumPy's format, as published, with the header padded
// to a multiple of 64 bytes.
func npy(descr string, fortran bool, shape []int, values ...any) []byte {
	var dims strings.Builder
	for _, d := range shape {
		fmt.Fprintf(&dims, "%d, ", d)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, map[bool]string{true: "True", false: "False"}[fortran], strings.TrimSuffix(dims.String(), " "))
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	b = append(b, header...)
	var order binary.AppendByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	for _, v := range values {
		var err error
		if b, err = binary.Append(b, order.(binary.ByteOrder), v); err != nil {
			panic(err)
		}
	}
	return b
}

// npz returns an archive of arrays, given as alternating names and contents.
func npz(arrays ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(arrays); i += 2 {
		w, err := z.Create(arrays[i] + ".npy")
		if err == nil {
			_, err = w.Write([]byte(arrays[i+1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// idx returns the header of an IDX file.
func idx(kind byte, dims ...uint32) string {
	b := []byte{0, 0, kind, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return string(b)
}
