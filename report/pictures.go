package report

import (
	"errors"

	"polkrepro/data"
)

// pictured are the data sets of images that figures show, with the number of
// images in a row and what they are.
var pictured = []struct {
	name    string
	columns int
	caption string
}{
	{"brodatz", 1, "brodatz, herringbone weave (plate D16)"},
	{"mnist", 6, "mnist, the first 36 training images"},
	{"glyphs", 9, "glyphs, the first 36 training images"},
	{"weaves", 5, "weaves, the thirteen textures"},
}

// Pictures returns the examples that figures show of data sets of images. One
// that can't be had is shown as missing: nothing is trained on pictures.
func Pictures(finder data.Finder) map[string]DataPicture {
	out := make(map[string]DataPicture)
	for _, p := range pictured {
		images, err := data.Pictures(p.name, finder)
		pic := DataPicture{Images: images, Columns: p.columns, Caption: p.caption}
		if err != nil && !errors.Is(err, data.ErrNotAvailable) {
			pic.Missing = err.Error()
		}
		out[p.name] = pic
	}
	return out
}
