package data

import (
	"bytes"
	"fmt"
	"image"
	"path/filepath"

	"golang.org/x/image/tiff"

	"polkrepro/data/texton"
)

// What is used of a scan: its last rows are black, and column 0 is brighter
// than its neighbours in some, which would become textons of their own.
const (
	brodatzSide                                          = 512
	brodatzLeft, brodatzTop, brodatzRight, brodatzBottom = 1, 0, 512, 486
)

// brodatzSamples is the number of pixels of each scan that k-means runs on:
// 130,000 of 3.2 million.
const brodatzSamples = 10000

func init() {
	register("brodatz", code{variants: textureVariants(), draw: firstDraw, load: loadBrodatz, pictures: scanPicture})
}

// loadBrodatz reads the 13 scans and makes the texton histograms of ref's
// variant and draw.
func loadBrodatz(m *manifestSet, ref Ref, finder Finder) (*Set, error) {
	images, sums, err := readBrodatz(m, finder)
	if err != nil {
		return nil, err
	}
	set, err := textureSet(m, images, ref, brodatzSamples)
	if err != nil {
		return nil, err
	}
	set.Sums = sums
	return set, nil
}

// readBrodatz reads the scans, verified and cropped, and returns their SHA-256
// by name.
func readBrodatz(m *manifestSet, finder Finder) (images []*texton.Image, sums map[string]string, err error) {
	loc, err := finder.locate(m)
	if err != nil {
		return nil, nil, err
	}
	sums = make(map[string]string)
	for i, file := range m.Files {
		scan, sum, err := readScan(filepath.Join(loc.dir, loc.files[i]), file)
		if err != nil {
			return nil, nil, err
		}
		sums[file.Name] = sum
		images = append(images, scan.Crop(brodatzLeft, brodatzTop, brodatzRight, brodatzBottom))
	}
	return images, sums, nil
}

// readScan reads a scan, verified, and returns its SHA-256.
func readScan(path string, file manifestFile) (scan *texton.Image, sum string, err error) {
	var buf bytes.Buffer
	if sum, err = hashVerified(path, file, &buf); err != nil {
		return nil, "", err
	}
	scan, err = readGreyTIFF(buf.Bytes())
	if err == nil && (scan.Width != brodatzSide || scan.Height != brodatzSide) {
		err = fmt.Errorf("%d×%d pixels, not %d×%d", scan.Width, scan.Height, brodatzSide, brodatzSide)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w: %w; %s", path, ErrCorrupt, err, replaceIt)
	}
	return scan, sum, nil
}

// maxTIFFSide bounds the sides of an image before memory is set aside for it.
const maxTIFFSide = 4096

// readGreyTIFF decodes a TIFF image of one 8-bit grey channel.
func readGreyTIFF(b []byte) (*texton.Image, error) {
	cfg, err := tiff.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if cfg.Width < 1 || cfg.Height < 1 || cfg.Width > maxTIFFSide || cfg.Height > maxTIFFSide {
		return nil, fmt.Errorf("tiff: %d×%d pixels, want sides of 1 … %d", cfg.Width, cfg.Height, maxTIFFSide)
	}
	decoded, err := tiff.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	grey, ok := decoded.(*image.Gray)
	if !ok {
		return nil, fmt.Errorf("tiff: not 8-bit grey pixels but %T", decoded)
	}
	out := &texton.Image{Width: cfg.Width, Height: cfg.Height}
	for y := range cfg.Height {
		out.Pix = append(out.Pix, grey.Pix[y*grey.Stride:y*grey.Stride+cfg.Width]...)
	}
	return out, nil
}

// picturedTexture is the scan that [Pictures] returns: herringbone weave (D16).
const picturedTexture = 3

// scanPicture is one of the scans of brodatz, cut square.
func scanPicture(m *manifestSet, finder Finder) ([]*image.Gray, error) {
	loc, err := finder.locate(m)
	if err != nil {
		return nil, err
	}
	scan, _, err := readScan(filepath.Join(loc.dir, loc.files[picturedTexture]), m.Files[picturedTexture])
	if err != nil {
		return nil, err
	}
	square := scan.Crop(brodatzLeft, brodatzTop, brodatzLeft+brodatzBottom-brodatzTop, brodatzBottom)
	return []*image.Gray{greyPicture(square)}, nil
}
