package data

import (
	"image"
	"runtime"

	"polkrepro/internal/parallel"
)

// The shape of glyphs: that of MNIST's images, with fewer of them.
const (
	glyphsSide    = 28
	glyphsClasses = 10
	glyphsTrain   = 20000
	glyphsTest    = 5000
)

// glyphsSeed is the seed of everything that is random in glyphs.
const glyphsSeed = 1

// Streams of the glyphs' generator. Example i, test examples after those for
// training, draws from stream streamGlyph + i.
const (
	streamGlyphLabels uint64 = 0x676c79706873 << 16
	streamGlyph              = streamGlyphLabels + 1
)

func init() {
	register("glyphs", code{
		load: func(*manifestSet, Ref, Finder) (*Set, error) { return Glyphs(), nil },
		sum:  func(d manifestDraw) string { return SumSplits(glyphSplits(d.First)) },
		pictures: func(*manifestSet, Finder) ([]*image.Gray, error) {
			train, _ := glyphSplits(picturedDigits)
			return digitPictures(train, glyphsSide), nil
		},
	})
}

// Glyphs generates the glyphs data set: digits of ten of the Go fonts' faces,
// each distorted in its own way, as grey levels x/255 of 28×28 pixels (p = 784,
// C = 10, 20000 training and 5000 test examples, the classes equally often in
// each). It stands in for MNIST where that can't be had, with images of the
// same shape, but is another, made-up problem; no figure of the paper
// is about it. The bytes are the same on every platform: Sums["glyphs"] is
// [SumSplits] of what was generated.
func Glyphs() *Set {
	s := &Set{Name: "glyphs", Classes: glyphsClasses}
	s.Train, s.Test = glyphSplits(glyphsTrain)
	s.Sums = map[string]string{"glyphs": SumSplits(s.Train, s.Test)}
	return s
}

// glyphSplits generates the first examples of each split, at most so many.
func glyphSplits(most int) (train, test *Split) {
	outlines := glyphOutlines()
	return glyphSplit(outlines, 0, glyphsTrain, most), glyphSplit(outlines, glyphsTrain, glyphsTest, most)
}

// glyphSplit generates the first of the n examples from number from on, at
// most so many.
func glyphSplit(outlines [][]outline, from, n, most int) *Split {
	labels := newSource(glyphsSeed, streamGlyphLabels-uint64(from)).permutation(n)
	n = min(n, most)
	s := newSplit(n, glyphsSide*glyphsSide)
	for i := range s.Y {
		s.Y[i] = float64(labels[i] % glyphsClasses)
	}
	// Every example has a stream of its own, so that it is the same whoever
	// draws it.
	parallel.Do(runtime.GOMAXPROCS(0), n, func(_, i int) {
		src := newSource(glyphsSeed, streamGlyph+uint64(from+i))
		drawGlyph(s.Row(i), outlines[int(s.Y[i])], src)
	})
	return s
}

// drawGlyph writes the grey levels of one of the faces' outlines, distorted at
// random, to x, row by row from the top.
func drawGlyph(x []float32, faces []outline, src source) {
	d := newDistortion(src)
	var r raster
	for _, contour := range faces[src.intn(len(faces))] {
		polygon := make([]point, len(contour))
		for i := range contour {
			polygon[i] = d.apply(contour.thickened(i, d.thickness))
		}
		r.add(polygon)
	}
	r.write(x, d.blur, d.ink)
}
