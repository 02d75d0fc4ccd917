package data

import (
	"image"
	"runtime"

	"polkrepro/internal/parallel"
)

// The shape of glyphs: MNIST's image size, but fewer images.
const (
	glyphsSide    = 28
	glyphsClasses = 10
	glyphsTrain   = 20000
	glyphsTest    = 5000
)

// glyphsSeed seeds all randomness in glyphs.
const glyphsSeed = 1

// Streams of the glyphs' generator. Example i uses stream streamGlyph + i; test
// examples are numbered after the training examples.
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

// Glyphs generates the glyphs data set: digits from ten faces of the Go fonts,
// each example randomly distorted, as grey levels x/255 of 28×28 pixels (p = 784,
// C = 10, 20000 training and 5000 test examples, all classes equally frequent in
// both). It replaces MNIST where MNIST is not available. Its images have the same
// shape, but it is a different, artificial problem, and no figure of the paper is
// about it. The bytes are the same on every platform; Sums["glyphs"] is their
// [SumSplits].
func Glyphs() *Set {
	s := &Set{Name: "glyphs", Classes: glyphsClasses}
	s.Train, s.Test = glyphSplits(glyphsTrain)
	s.Sums = map[string]string{"glyphs": SumSplits(s.Train, s.Test)}
	return s
}

// glyphSplits generates the first min(n, most) examples of each split of n examples.
func glyphSplits(most int) (train, test *Split) {
	outlines := glyphOutlines()
	return glyphSplit(outlines, 0, glyphsTrain, most), glyphSplit(outlines, glyphsTrain, glyphsTest, most)
}

// glyphSplit generates the first min(n, most) examples of the split of n examples that
// begins at example number from.
func glyphSplit(outlines [][]outline, from, n, most int) *Split {
	labels := newSource(glyphsSeed, streamGlyphLabels-uint64(from)).permutation(n)
	n = min(n, most)
	s := newSplit(n, glyphsSide*glyphsSide)
	for i := range s.Y {
		s.Y[i] = float64(labels[i] % glyphsClasses)
	}
	// Every example has its own stream, so it is the same whichever goroutine draws it.
	parallel.Do(runtime.GOMAXPROCS(0), n, func(_, i int) {
		src := newSource(glyphsSeed, streamGlyph+uint64(from+i))
		drawGlyph(s.Row(i), outlines[int(s.Y[i])], src)
	})
	return s
}

// drawGlyph draws the outline of a random face with a random distortion, and writes the
// grey levels to x, row by row from the top.
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
