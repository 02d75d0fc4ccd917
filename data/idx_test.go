package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/hostile"
)

// idxBytes returns an IDX file of unsigned bytes.
func idxBytes(data []byte, dims ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, data...)
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := zw.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestReadIDX(t *testing.T) {
	want := []byte{1, 2, 3, 4, 5, 6}
	plain := idxBytes(want, 2, 3)
	for name, b := range map[string][]byte{"plain": plain, "gzip": gzipped(t, plain)} {
		idx, err := ReadIDX(bytes.NewReader(b), 100)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(idx.Dims, []int{2, 3}) || !bytes.Equal(idx.Data, want) {
			t.Errorf("%s: %v %v", name, idx.Dims, idx.Data)
		}
	}
}

func TestReadIDXErrors(t *testing.T) {
	good := idxBytes([]byte{1, 2, 3}, 3)
	zipped := gzipped(t, good)
	badSum := slices.Clone(zipped)
	badSum[len(badSum)-5] ^= 1
	tests := []struct {
		name, want string
		b          []byte
	}{
		{"empty", "unexpected EOF", nil},
		{"one byte", "unexpected EOF", []byte{0}},
		{"other file", "not an IDX file", []byte("PNG....")},
		{"floats", "type 0x0d", []byte{0, 0, 0x0d, 1, 0, 0, 0, 1, 0, 0, 0, 0}},
		{"no dimensions", "0 dimensions", []byte{0, 0, 8, 0}},
		{"too many dimensions", "255 dimensions", []byte{0, 0, 8, 255}},
		{"cut in the dimensions", "unexpected EOF", good[:6]},
		{"dimension 0", "dimension 2 is 0", idxBytes(nil, 3, 0)},
		{"cut in the data", "after 2 of 3 bytes", good[:len(good)-1]},
		{"trailing byte", "trailing bytes", append(slices.Clone(good), 0)},
		{"huge header", "more than 1000 elements", idxBytes(nil, 1<<31, 1<<31, 1<<31, 1<<31)},
		{"just above the limit", "more than 1000 elements", idxBytes(nil, 7, 11, 13)},
		{"gzip header cut", "unexpected EOF", zipped[:5]},
		{"gzip cut", "unexpected EOF", zipped[:len(zipped)-9]},
		{"gzip check sum cut", "unexpected EOF", zipped[:len(zipped)-2]},
		{"gzip check sum wrong", "checksum", badSum},
		{"gzip then garbage", "invalid header", append(slices.Clone(zipped), "garbage, no member"...)},
		{"gzip of trailing byte", "trailing bytes", gzipped(t, append(slices.Clone(good), 0))},
	}
	for _, tt := range tests {
		idx, err := ReadIDX(bytes.NewReader(tt.b), 1000)
		if err == nil {
			t.Errorf("%s: no error, read %v", tt.name, idx.Dims)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %q does not say %q", tt.name, err, tt.want)
		}
	}
	want := errors.New("disk on fire")
	if _, err := ReadIDX(io.MultiReader(bytes.NewReader(good[:9]), failingReader{want}), 1000); !errors.Is(err, want) {
		t.Errorf("failing reader: %v", err)
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestReadIDXAllocation: a header that announces a gigabyte which is not there
// costs little memory.
func TestReadIDXAllocation(t *testing.T) {
	b := idxBytes(make([]byte, 10), 1<<30)
	hostile.AtMost(t, 1<<20, func() {
		if _, err := ReadIDX(bytes.NewReader(b), 1<<31); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v", err)
		}
	})
}

func FuzzReadIDX(f *testing.F) {
	f.Add(idxBytes([]byte{1, 2, 3, 4, 5, 6}, 2, 3))
	f.Add(idxBytes([]byte{9}, 1))
	f.Add(idxBytes(nil, 1<<31, 1<<31, 1<<31))
	f.Add(gzipped(f, idxBytes([]byte{1, 2, 3, 4}, 2, 2, 1)))
	f.Add(gzipped(f, idxBytes([]byte{1, 2, 3, 4}, 4))[:20])
	f.Add([]byte{0, 0, 8, 3, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 16
		var idx *IDX
		var err error
		hostile.AtMost(t, 8*limit+1<<20, func() { idx, err = ReadIDX(bytes.NewReader(b), limit) })
		if err != nil {
			return
		}
		if s, err := mnistSplit(idx, idx); err == nil {
			t.Fatalf("images that are labels too: %+v", s)
		}
		size := 1
		dims := make([]uint32, len(idx.Dims))
		for i, d := range idx.Dims {
			size *= d
			dims[i] = uint32(d)
		}
		if size != len(idx.Data) || size == 0 || size > limit {
			t.Fatalf("dimensions %v with %d bytes", idx.Dims, len(idx.Data))
		}
		again, err := ReadIDX(bytes.NewReader(idxBytes(idx.Data, dims...)), limit)
		if err != nil || !bytes.Equal(again.Data, idx.Data) {
			t.Fatalf("written and read again: %v", err)
		}
	})
}
