package data

import (
	"fmt"
	"image"

	"polkrepro/data/texton"
)

// picturedDigits is how many examples of a data set of digits [Pictures]
// returns.
const picturedDigits = 36

// Pictures returns examples of a data set of images as shown: of
// mnist and glyphs the first 36 training images, ink dark on white; of brodatz
// one scan, cut square; of weaves all thirteen textures of draw 1. Errors are those of
// [Load]; ErrUnknown for a data set that has no images.
func Pictures(name string, finder Finder) ([]*image.Gray, error) {
	m, err := lookup(name)
	if err != nil {
		return nil, err
	}
	if m.pictures == nil {
		return nil, fmt.Errorf("%s: not a data set of images: %w", name, ErrUnknown)
	}
	return m.pictures(m, finder)
}

// digitPictures are the first examples of a split of ink on side×side pixels.
func digitPictures(s *Split, side int) []*image.Gray {
	var out []*image.Gray
	for i := range min(s.N, picturedDigits) {
		m := image.NewGray(image.Rect(0, 0, side, side))
		for k, v := range s.Row(i) {
			m.Pix[k] = 255 - uint8(float32(255*v)+0.5)
		}
		out = append(out, m)
	}
	return out
}

// greyPicture is a texture.
func greyPicture(m *texton.Image) *image.Gray {
	return &image.Gray{Pix: m.Pix, Stride: m.Width, Rect: image.Rect(0, 0, m.Width, m.Height)}
}
