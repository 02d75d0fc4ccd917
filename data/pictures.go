package data

import (
	"fmt"
	"image"

	"polkrepro/data/texton"
)

// picturedDigits is how many examples of a data set of digits [Pictures]
// returns.
const picturedDigits = 36

// Pictures returns examples of a data set of images, for display: the first 36 training
// images of mnist and glyphs, dark ink on white; one scan of brodatz, cropped to a
// square; all thirteen textures of draw 1 of weaves. Errors are those of [Load], or wrap
// ErrUnknown for a data set without images.
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

// digitPictures returns the first examples of a split of side×side images, as dark ink on
// white.
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

// greyPicture returns a texture as an image that shares its pixels.
func greyPicture(m *texton.Image) *image.Gray {
	return &image.Gray{Pix: m.Pix, Stride: m.Width, Rect: image.Rect(0, 0, m.Width, m.Height)}
}
