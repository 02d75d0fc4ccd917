package data

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
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

// TestHostileFile: a file that is larger than the manifest says costs no memory.
func TestHostileFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bomb.gz")
	writeFile(t, path, bomb(t, "x", 1<<25))
	sum := sha256.Sum256([]byte("x"))
	hostile.AtMost(t, 1<<20, func() {
		if _, err := hashVerified(path, manifestFile{Size: 1, SHA256: hex.EncodeToString(sum[:]), Gzip: true}); err == nil {
			t.Error("more data than the manifest says: verified")
		}
	})
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
