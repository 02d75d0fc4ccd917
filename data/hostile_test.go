package data

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"testing"

	"polkrepro/data/rows"
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

// TestHostileImages: what MNIST's and Brodatz' files may hold in place of what
// they should.
func TestHostileImages(t *testing.T) {
	hostile.AtMost(t, 8<<20, func() {
		if _, err := rows.ReadIDX(bytes.NewReader(bomb(t, "\x00\x00\x08\x01\x00\x00\x00\x08", 1<<22)), 1<<20); err == nil {
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
