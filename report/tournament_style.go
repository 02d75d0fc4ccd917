package report

import (
	"hash/fnv"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heuristicColors are told apart with the common colour deficiencies by their
// lightness where not by their hue. Blue is the reference's.
var heuristicColors = []color.NRGBA{
	rgb(0xb8, 0x43, 0x00), rgb(0x1b, 0x7a, 0x4b), rgb(0xa6, 0x1e, 0x5c), rgb(0x6a, 0x1b, 0x8a),
	rgb(0xd0, 0x8a, 0x00), rgb(0x1a, 0x1a, 0x1a), rgb(0x5b, 0x8f, 0x2f), rgb(0xc8, 0x5a, 0x8c), rgb(0x7a, 0x5a, 0x3a),
}

// heuristicMarkers are told apart at the size of a letter.
var heuristicMarkers = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
}

// A badge is how a heuristic is drawn in all pictures.
type badge struct {
	color  color.NRGBA
	marker draw.GlyphDrawer
}

// badges gives each heuristic a colour and a marker that no other has. They
// follow from its name, so that one more heuristic rarely changes another's; the
// reference is POLK's blue.
func badges(names []string, reference string) map[string]badge {
	out := map[string]badge{reference: {lookOf("polk", 0).color, draw.CircleGlyph{}}}
	n := len(heuristicColors) * len(heuristicMarkers)
	taken := make([]bool, n)
	for _, name := range slices.Sorted(slices.Values(names)) {
		if name == reference {
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(name))
		i := int(h.Sum32() % uint32(n))
		for tries := 0; taken[i] && tries < n; tries++ {
			i = (i + 1) % n
		}
		taken[i] = true
		out[name] = badge{heuristicColors[i%len(heuristicColors)], heuristicMarkers[i/len(heuristicColors)]}
	}
	return out
}

// draw draws the badge's marker.
func (b badge) draw(c draw.Canvas, at vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: b.color, Radius: 2, Shape: b.marker}, at)
}

// entry is the badge's legend entry.
func (b badge) entry(name string) legendEntry {
	return iconEntry(plainLetters(name), b.draw)
}

// line is the style of the badge's lines.
func (b badge) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: b.color, Width: width}
}
