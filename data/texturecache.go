package data

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"polkrepro/data/texton"
	"polkrepro/internal/files"
)

// textonMaps returns the images' texton maps, from the cache if they are there
// and whole. A cache that can't be read or written only costs the time to
// compute them.
func textonMaps(images []*texton.Image, opt texton.Options, draw uint64) ([]*texton.Image, error) {
	path := mapsPath(images, opt, draw)
	if maps := readMaps(path, images); maps != nil {
		return maps, nil
	}
	maps, err := texton.Maps(images, opt, newSource(draw, streamTextons).pcg)
	if err != nil {
		return nil, err
	}
	_ = writeMaps(path, maps) // without a cache, they are computed again
	return maps, nil
}

// mapsPath returns the cache file of the maps of images: its name is the hash
// of all that determines them.
func mapsPath(images []*texton.Image, opt texton.Options, draw uint64) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %d %d %d %d\n", texton.Version, opt.Preprocessing, opt.Textons, opt.Samples, opt.Iterations, draw)
	for _, m := range images {
		fmt.Fprintf(h, "%d×%d\n", m.Width, m.Height)
		h.Write(m.Pix)
	}
	return filepath.Join(filepath.FromSlash(CacheDir), "textons", hex.EncodeToString(h.Sum(nil))+".maps")
}

// readMaps reads the maps of images, or returns nil if they are not there and
// whole. A file holds the SHA-256 of the rest, then the maps' bytes.
func readMaps(path string, images []*texton.Image) []*texton.Image {
	size := sha256.Size
	for _, m := range images {
		size += len(m.Pix)
	}
	b, err := files.Read(path, int64(size))
	if err != nil || len(b) < sha256.Size {
		return nil
	}
	sum, pix := b[:sha256.Size], b[sha256.Size:]
	if want := sha256.Sum256(pix); !bytes.Equal(sum, want[:]) {
		return nil
	}
	var maps []*texton.Image
	for _, m := range images {
		if len(pix) < len(m.Pix) {
			return nil
		}
		maps = append(maps, &texton.Image{Width: m.Width, Height: m.Height, Pix: pix[:len(m.Pix)]})
		pix = pix[len(m.Pix):]
	}
	if len(pix) > 0 {
		return nil
	}
	return maps
}

// writeMaps writes a file that appears under its name only when it is whole.
func writeMaps(path string, maps []*texton.Image) error {
	var pix []byte
	for _, m := range maps {
		pix = append(pix, m.Pix...)
	}
	sum := sha256.Sum256(pix)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(sum[:], pix...))
		return err
	})
}
