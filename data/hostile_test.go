package data

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"polkrepro/data/texton"
	"polkrepro/internal/hostile"
)

// bomb returns gzip of n repetitions of a text.
func bomb(t *testing.T, text string, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte(text), 1+(1<<16)/len(text))
	for left := n * len(text); left > 0; left -= len(chunk) {
		if _, err := w.Write(chunk[:min(left, len(chunk))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostileRows: lines that are long, have many fields, or are many cost no
// more memory than a line may.
func TestHostileRows(t *testing.T) {
	const many = 1 << 19
	for _, c := range []struct {
		name, format string
		file         []byte
		want         string
	}{
		{"a line without end", FormatCSV, bomb(t, "1", maxLine+1), "longer than 33554432 bytes"},
		{"a million columns", FormatCSV, []byte(strings.Repeat("1,", 1<<20) + "1\n"), "more than 65536 features"},
		{"millions of columns", FormatCSV, bomb(t, ",", many), "more than 65536 features"},
		{"millions of quotes", FormatCSV, bomb(t, `"",`, many), "more than 65536 features"},
		{"millions of fields", FormatLIBSVM, bomb(t, "1 ", many), "more than 65536 features"},
		{"millions of indices", FormatLIBSVM, append([]byte("1"), bytes.Repeat([]byte(" 1:1"), 1<<20)...), "more than 65536 features"},
		{"the index 2³¹ − 1", FormatLIBSVM, []byte("1 2147483647:1\n"), "above 65536"},
		{"the index 2⁶⁴ − 1", FormatLIBSVM, []byte("1 18446744073709551615:1\n"), "above 65536"},
		{"a long label", FormatLIBSVM, []byte(strings.Repeat("l", 1<<20) + " 1:1\n"), "longer than 256"},
		{"many blank lines", FormatCSV, append(bomb(t, " \n", 1<<17), "x"...), "unexpected EOF"},
		{"many rows", FormatLIBSVM, bomb(t, "a 1:1\n", 1<<15), "enough"},
	} {
		rows, most := 0, 32<<20
		if c.name == "a line without end" {
			most = 3 * maxLine // what a buffer takes that doubles to maxLine
		}
		var err error
		hostile.AtMost(t, most, func() {
			err = EachRow(bytes.NewReader(c.file), RowOptions{Format: c.format, MaxDim: 1 << 16}, func(Row) error {
				if rows++; rows == 1<<15 {
					return fmt.Errorf("enough")
				}
				return nil
			})
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%s: after %d rows error %.300v, want %q", c.name, rows, err, c.want)
		}
	}
}

// TestRowsKeepNoLine: what is kept of a row does not keep its line, most of
// which may be a comment.
func TestRowsKeepNoLine(t *testing.T) {
	const lines, length = 32, 1 << 20
	line := "word 1:1 # " + strings.Repeat("x", length) + "\n"
	var kept []Row
	before := heap()
	err := EachRow(strings.NewReader(strings.Repeat(line, lines)), RowOptions{Format: FormatLIBSVM}, func(r Row) error {
		kept = append(kept, r)
		return nil
	})
	if grown := int64(heap()) - int64(before); err != nil || len(kept) != lines || grown > lines*length/4 {
		t.Errorf("%d rows keep %d bytes, error %v", len(kept), grown, err)
	}
	runtime.KeepAlive(kept)
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestHostileTables: files that are read whole.
func TestHostileTables(t *testing.T) {
	opts := ReadOptions{MaxDim: 1000, MaxValues: 1 << 17}
	for _, c := range []struct {
		name string
		read func(io.Reader, ReadOptions) (*Split, error)
		file []byte
		want string
	}{
		{"millions of columns", ReadCSV, bomb(t, ",", 1<<20), "more than 1000 features"},
		{"too many values", ReadCSV, bomb(t, "1,2\n", 1<<18), "MaxValues"},
		{"too many examples", ReadLIBSVM, bomb(t, "1\n", 1<<18), "MaxValues"},
		{"an index of many examples", ReadLIBSVM, append(bytes.Repeat([]byte("1 1:1\n"), 1<<12), "1 1000:1"...), "MaxValues"},
		{"the index 2³¹ − 1", ReadLIBSVM, []byte("1 2147483647:1\n"), "above 1000"},
		{"too many classes", ReadCSV, []byte(ownLabels(2000)), "1024 classes"},
	} {
		hostile.AtMost(t, 24<<20, func() {
			if _, err := c.read(bytes.NewReader(c.file), opts); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
		})
	}
}

// ownLabels returns a table of n rows with labels of their own.
func ownLabels(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,1\n", i)
	}
	return b.String()
}

// TestHostileImages: what MNIST's and Brodatz' files may hold in place of what
// they should.
func TestHostileImages(t *testing.T) {
	hostile.AtMost(t, 8<<20, func() {
		if _, err := ReadIDX(bytes.NewReader(bomb(t, "\x00\x00\x08\x01\x00\x00\x00\x08", 1<<22)), 1<<20); err == nil {
			t.Error("more data than the header says: read")
		}
	})
	path := filepath.Join(t.TempDir(), "bomb.gz")
	writeFile(t, path, bomb(t, "x", 1<<25))
	sum := sha256.Sum256([]byte("x"))
	hostile.AtMost(t, 1<<20, func() {
		if _, err := hashVerified(path, manifestFile{Size: 1, SHA256: hex.EncodeToString(sum[:]), Gzip: true}); err == nil {
			t.Error("more data than the manifest says: verified")
		}
	})
	for name, b := range map[string][]byte{
		"2³² − 1 pixels a side": append([]byte("II*\x00\x08\x00\x00\x00\x02\x00"),
			"\x00\x01\x04\x00\x01\x00\x00\x00\xff\xff\xff\xff\x01\x01\x04\x00\x01\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00"...),
		"a directory of 65535 entries": append([]byte("II*\x00\x08\x00\x00\x00\xff\xff"), make([]byte, 4096)...),
		"an entry of 2³² − 1 values":   append([]byte("II*\x00\x08\x00\x00\x00\x01\x00"), "\x11\x01\x04\x00\xff\xff\xff\xff\x08\x00\x00\x00\x00\x00\x00\x00"...),
	} {
		hostile.AtMost(t, 8<<20, func() {
			if _, err := readGreyTIFF(b); err == nil {
				t.Errorf("%s: read", name)
			}
		})
	}
}

// FuzzReadMaps: no cache file makes the reader panic, and none is taken that
// was not written of these images' sizes.
func FuzzReadMaps(f *testing.F) {
	images := []*texton.Image{{Width: 2, Height: 3, Pix: []uint8{1, 2, 3, 4, 5, 6}}, {Width: 1, Height: 1, Pix: []uint8{9}}}
	path := filepath.Join(f.TempDir(), "maps")
	if err := writeMaps(path, images); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{1, 2, 3, 4, 5, 6, 9})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, pix []byte) {
		path := filepath.Join(t.TempDir(), "maps")
		sum := sha256.Sum256(pix)
		writeFile(t, path, append(sum[:], pix...))
		maps := readMaps(path, images)
		if (maps != nil) != (len(pix) == 7) {
			t.Fatalf("%d bytes are read as %v", len(pix), maps)
		}
		for i, m := range maps {
			if m.Width != images[i].Width || len(m.Pix) != m.Width*m.Height {
				t.Errorf("map %d: %+v", i, m)
			}
		}
	})
}
