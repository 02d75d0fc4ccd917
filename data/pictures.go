package data

import (
	"bytes"
	"fmt"
	"image"
	"path/filepath"
)

// picturedDigits is how many examples of a data set of digits [Pictures]
// returns.
const picturedDigits = 36

// picturedTexture is the scan that [Pictures] returns: herringbone weave (D16).
const picturedTexture = 3

// Pictures returns examples of a data set of images as they are to be seen: of
// mnist and glyphs the first 36 training images, ink dark on white; of brodatz
// one scan, cut square; of weaves all thirteen textures of draw 1. Errors are those of
// [Load]; ErrUnknown for a data set that has no images.
func Pictures(name string, finder Finder) ([]*image.Gray, error) {
	m, err := lookup(name)
	if err != nil {
		return nil, err
	}
	switch name {
	case "mnist":
		set, err := loadMNIST(m, finder, true)
		if err != nil {
			return nil, err
		}
		return digitPictures(set.Train, mnistSide), nil
	case "glyphs":
		train, _ := glyphSplits(picturedDigits)
		return digitPictures(train, glyphsSide), nil
	case "brodatz":
		return scanPicture(m, finder)
	case "weaves":
		var out []*image.Gray
		for _, t := range weaveImages(1) {
			out = append(out, &image.Gray{Pix: t.Pix, Stride: t.Width, Rect: image.Rect(0, 0, t.Width, t.Height)})
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s: not a data set of images: %w", name, ErrUnknown)
}

// digitPictures are the first examples of a split of ink on side×side pixels.
func digitPictures(s *Split, side int) []*image.Gray {
	var out []*image.Gray
	for i := range min(s.N, picturedDigits) {
		m := image.NewGray(image.Rect(0, 0, side, side))
		for k, v := range s.Row(i) {
			m.Pix[k] = 255 - uint8(255*v+0.5)
		}
		out = append(out, m)
	}
	return out
}

// scanPicture is one of the scans of brodatz, cut square.
func scanPicture(m *manifestSet, finder Finder) ([]*image.Gray, error) {
	loc, err := finder.locate(m)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(loc.dir, loc.files[picturedTexture])
	var buf bytes.Buffer
	if _, err := hashVerified(path, m.Files[picturedTexture], &buf); err != nil {
		return nil, err
	}
	scan, err := readGreyTIFF(buf.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w; %s", path, ErrCorrupt, err, replaceIt)
	}
	t := scan.Crop(brodatzLeft, brodatzTop, brodatzLeft+brodatzBottom-brodatzTop, brodatzBottom)
	return []*image.Gray{{Pix: t.Pix, Stride: t.Width, Rect: image.Rect(0, 0, t.Width, t.Height)}}, nil
}
