package report

import (
	"hash/fnv"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/experiments"
	"polkrepro/report/plot"
)

// grey is the look of a method that has none of its own.
var grey = []experiments.Line{{Color: 0x333333, Width: 1.2}, {Color: 0x888888, Dash: []float64{4, 2}, Width: 1.2}}

// lookOf returns the look of a method's series of the given rank, 0 being the
// one with the largest model order.
func lookOf(method string, rank int) plot.Look {
	lines := grey
	if m := experiments.Method(method); m != nil && len(m.Lines) > 0 {
		lines = m.Lines
	}
	line := lines[rank%len(lines)]
	l := plot.Look{Color: plot.RGB(uint8(line.Color>>16), uint8(line.Color>>8), uint8(line.Color)), Width: vg.Length(line.Width)}
	for _, d := range line.Dash {
		l.Dash = append(l.Dash, vg.Length(d))
	}
	return l
}

// look is how the series is drawn in every picture.
func (s *Series) look() plot.Look {
	if s.own != nil {
		return *s.own
	}
	return lookOf(s.Run.Method, s.Rank)
}

// heuristicColors are told apart with the common colour deficiencies by their
// lightness where not by their hue. Blue is the reference's.
var heuristicColors = []color.NRGBA{
	plot.RGB(0xb8, 0x43, 0x00), plot.RGB(0x1b, 0x7a, 0x4b), plot.RGB(0xa6, 0x1e, 0x5c), plot.RGB(0x6a, 0x1b, 0x8a),
	plot.RGB(0xd0, 0x8a, 0x00), plot.RGB(0x1a, 0x1a, 0x1a), plot.RGB(0x5b, 0x8f, 0x2f), plot.RGB(0xc8, 0x5a, 0x8c), plot.RGB(0x7a, 0x5a, 0x3a),
}

// heuristicMarkers are told apart at the size of a letter.
var heuristicMarkers = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
}

// badges gives each heuristic a colour and a marker that no other has. They
// follow from its name, so that one more heuristic rarely changes another's; the
// reference is POLK's blue.
func badges(names []string, reference string) map[string]plot.Look {
	out := map[string]plot.Look{reference: {Color: lookOf("polk", 0).Color, Marker: draw.CircleGlyph{}}}
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
		out[name] = plot.Look{Color: heuristicColors[i%len(heuristicColors)], Marker: heuristicMarkers[i/len(heuristicColors)]}
	}
	return out
}

// table1Looks are how the series of Table 1's figures look: a diminishing
// learning rate, then constant ones from the largest on.
var table1Looks = []plot.Look{
	{Color: plot.RGB(0x1b, 0x7a, 0x4b), Width: 1.3},
	{Color: plot.RGB(0x08, 0x30, 0x6b), Width: 1.2},
	{Color: plot.RGB(0x34, 0x90, 0xd6), Dash: []vg.Length{6, 2}, Width: 1.2},
	{Color: plot.RGB(0xb8, 0x43, 0x00), Dash: []vg.Length{3, 1.2}, Width: 1.2},
}

// unprojected is the look of the same series without projection.
func unprojected(l plot.Look) plot.Look {
	return plot.Look{Color: l.Color, Dash: []vg.Length{0.8, 1.2}, Width: 0.9}
}
