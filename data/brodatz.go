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
const brodatzLeft, brodatzTop, brodatzRight, brodatzBottom = 1, 0, 512, 486

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

// readScan reads a scan, verified, and returns its SHA-256. One that has the manifest's
// sum is 8-bit grey.
func readScan(path string, file manifestFile) (scan *texton.Image, sum string, err error) {
	var buf bytes.Buffer
	if sum, err = hashVerified(path, file, &buf); err != nil {
		return nil, "", err
	}
	decoded, err := tiff.Decode(&buf)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	grey := decoded.(*image.Gray)
	scan = &texton.Image{Width: grey.Rect.Dx(), Height: grey.Rect.Dy()}
	for y := range scan.Height {
		scan.Pix = append(scan.Pix, grey.Pix[y*grey.Stride:y*grey.Stride+scan.Width]...)
	}
	return scan, sum, nil
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
