package data

import (
	"math"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// glyphFaces are the faces that digits are drawn from: all of the Go fonts except
// the small capitals, whose digits duplicate those of other faces.
var glyphFaces = [][]byte{
	goregular.TTF, gomedium.TTF, gobold.TTF,
	goitalic.TTF, gomediumitalic.TTF, gobolditalic.TTF,
	gomono.TTF, gomonobold.TTF, gomonoitalic.TTF, gomonobolditalic.TTF,
}

// A point is a place in the plane, y downwards.
type point struct{ x, y float64 }

// A contour is a closed polygon.
type contour []point

// An outline is a digit's contours: centred on the origin, of height 1.
type outline []contour

const (
	// curvePieces is how many straight pieces replace a quadratic curve.
	curvePieces = 6
	// longestPiece bounds a straight piece's extent, in heights of a digit,
	// so that a distortion can bend it.
	longestPiece = 0.06
)

// glyphOutlines returns the outlines of the digits, by class and face. The
// fonts' coordinates are integers, and every operation on them in this file is
// exact or rounded as IEEE 754 prescribes.
func glyphOutlines() [][]outline {
	digits := make([][]outline, glyphsClasses)
	for _, ttf := range glyphFaces {
		face := must(sfnt.Parse(ttf))
		for c := range digits {
			digits[c] = append(digits[c], loadOutline(face, '0'+rune(c)))
		}
	}
	return digits
}

// loadOutline returns the outline of a character that the face must have.
func loadOutline(face *sfnt.Font, r rune) outline {
	var buf sfnt.Buffer
	glyph := must(face.GlyphIndex(&buf, r))
	var o outline
	for _, s := range must(face.LoadGlyph(&buf, glyph, fixed.I(int(face.UnitsPerEm())), nil)) {
		to := toPoint(s.Args[0])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			o = append(o, contour{to})
			continue
		case sfnt.SegmentOpLineTo:
			o[len(o)-1] = append(o[len(o)-1], to)
		case sfnt.SegmentOpQuadTo:
			o[len(o)-1].curveTo(to, toPoint(s.Args[1]))
		default: // TrueType has no cubic curves
			panic("data: embedded font: segment of an unknown kind")
		}
	}
	o.normalize()
	return o
}

// must returns v and panics on an error. It is for calls that can't fail: on an embedded
// font or a test's fixture.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func toPoint(p fixed.Point26_6) point { return point{float64(p.X), float64(p.Y)} }

// curveTo appends points of the quadratic Bézier curve from the contour's last point to
// the point to.
func (c *contour) curveTo(control, to point) {
	from := (*c)[len(*c)-1]
	for k := 1; k <= curvePieces; k++ {
		t := float64(k) / curvePieces
		a, b := between(from, control, t), between(control, to, t)
		*c = append(*c, between(a, b, t))
	}
}

// between returns the point at t on the line from a (t = 0) to b (t = 1).
func between(a, b point, t float64) point {
	return point{a.x + float64(t*(b.x-a.x)), a.y + float64(t*(b.y-a.y))}
}

// normalize moves the outline's centre to the origin, makes its height 1, and
// splits long lines.
func (o outline) normalize() {
	low, high := o[0][0], o[0][0]
	for _, c := range o {
		for _, p := range c {
			low = point{min(low.x, p.x), min(low.y, p.y)}
			high = point{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	height, centre := high.y-low.y, between(low, high, 0.5)
	for i, c := range o {
		for j, p := range c {
			c[j] = point{(p.x - centre.x) / height, (p.y - centre.y) / height}
		}
		o[i] = c.split()
	}
}

// split returns the contour without a repeated first point and with points added on
// long lines.
func (c contour) split() contour {
	if c[len(c)-1] == c[0] {
		c = c[:len(c)-1]
	}
	var out contour
	for i, p := range c {
		next := c[(i+1)%len(c)]
		extent := max(math.Abs(next.x-p.x), math.Abs(next.y-p.y))
		pieces := int(extent/longestPiece) + 1
		for k := range pieces {
			out = append(out, between(p, next, float64(k)/float64(pieces)))
		}
	}
	return out
}

// thickened returns point i moved by d along the outward normal, estimated
// from its neighbours. TrueType's outer contours run clockwise and its inner
// ones the other way, so that ink is on the same side of both.
func (c contour) thickened(i int, d float64) point {
	p, before, after := c[i], c[(i+len(c)-1)%len(c)], c[(i+1)%len(c)]
	dx, dy := after.x-before.x, after.y-before.y
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if length == 0 {
		return p
	}
	return point{p.x + float64(d*dy)/length, p.y - float64(d*dx)/length}
}
