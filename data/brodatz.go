package data

import (
	"bytes"
	"fmt"
	"image"

	"golang.org/x/image/tiff"

	"polkrepro/data/texton"
)

// The part of a scan that is used. The last rows are black, and in some scans column 0 is
// brighter than its neighbours; both would become separate textons.
const brodatzLeft, brodatzTop, brodatzRight, brodatzBottom = 1, 0, 512, 486

// brodatzSamples is the number of pixels sampled from each scan for k-means:
// 130,000 of 3.2 million in all.
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
	set := textureSet(m, images, ref, brodatzSamples)
	set.Sums = sums
	return set, nil
}

// readBrodatz reads the scans, cropped, and returns their SHA-256 by name.
func readBrodatz(m *manifestSet, finder Finder) (images []*texton.Image, sums map[string]string, err error) {
	contents, sums, err := finder.read(m)
	if err != nil {
		return nil, nil, err
	}
	for _, b := range contents {
		decoded, err := tiff.Decode(bytes.NewReader(b))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		grey := decoded.(*image.Gray) // 8 bits and no padding: the checksums match the manifest's
		scan := &texton.Image{Width: grey.Rect.Dx(), Height: grey.Rect.Dy(), Pix: grey.Pix}
		images = append(images, scan.Crop(brodatzLeft, brodatzTop, brodatzRight, brodatzBottom))
	}
	return images, sums, nil
}

// picturedTexture is the scan that [Pictures] returns: herringbone weave (D16).
const picturedTexture = 3

// scanPicture returns one scan of brodatz, cropped to a square.
func scanPicture(m *manifestSet, finder Finder) ([]*image.Gray, error) {
	images, _, err := readBrodatz(m, finder)
	if err != nil {
		return nil, err
	}
	scan := images[picturedTexture]
	return []*image.Gray{greyPicture(scan.Crop(0, 0, scan.Height, scan.Height))}, nil
}
