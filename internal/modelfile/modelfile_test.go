package modelfile

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

var format = Format{Magic: [8]byte{'P', 'O', 'L', 'K', 'T', 'S', 'T', 2}, Err: errors.New("bad file")}

// file returns a file with three numbers after its header.
func file(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	err := format.Write(&b, []int{7}, func(w io.Writer) {
		binary.Write(w, binary.LittleEndian, []float32{1, -2})
		binary.Write(w, binary.LittleEndian, uint64(5))
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read reads all of a file that file wrote.
func read(r io.Reader) (header []int, x []float32, n uint64, err error) {
	d, err := format.Open(r, &header)
	if err != nil {
		return
	}
	if x, err = Floats[float32](d, 2); err != nil {
		return
	}
	whole, err := Floats[uint64](d, 1)
	if err != nil {
		return
	}
	return header, x, whole[0], d.Close()
}

// The bytes are those that the package comment describes. The sum was computed by sha256sum.
func TestBytes(t *testing.T) {
	const want = "504f4c4b54535402" + "03000000" + "5b375d" + "0000803f" + "000000c0" + "0500000000000000" +
		"7eaf145df13667506e4c95265f6cb13f7b29e473abb4fb1558b343c23b6fc598"
	if got := hex.EncodeToString(file(t)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRead(t *testing.T) {
	header, x, n, err := read(bytes.NewReader(file(t)))
	if err != nil || !slices.Equal(header, []int{7}) || !slices.Equal(x, []float32{1, -2}) || n != 5 {
		t.Errorf("%v, %v, %v, %v", header, x, n, err)
	}
}

// Every file that is truncated or has a flipped bit, an extra byte or another version is
// refused.
func TestRefused(t *testing.T) {
	good := file(t)
	refuse := func(what string, b []byte, want string) {
		t.Helper()
		if _, _, _, err := read(bytes.NewReader(b)); !errors.Is(err, format.Err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for n := range good {
		refuse(fmt.Sprint("bytes before ", n), good[:n], "truncated")
	}
	for i := range 8 * len(good) {
		bad := slices.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		refuse(fmt.Sprintf("bit %d flipped", i), bad, "")
	}
	refuse("a byte too many", append(slices.Clone(good), 0), "")
	newer := slices.Clone(good)
	newer[7] = 3
	refuse("a newer file", newer, "version 3, and this program reads version 2")
}

// An error of the reader or writer itself is not an error of the data, and a file that could
// not be read again is not written.
func TestOtherErrors(t *testing.T) {
	broken := errors.New("broken")
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if err := format.Write(w, nil, func(io.Writer) {}); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
	r, w = io.Pipe()
	w.CloseWithError(broken)
	if _, _, _, err := read(r); !errors.Is(err, broken) || errors.Is(err, format.Err) {
		t.Errorf("reading: %v", err)
	}
	if err := format.Write(io.Discard, strings.Repeat("x", maxHeader), func(io.Writer) {}); err == nil {
		t.Error("a header that is too long is written")
	}
}
