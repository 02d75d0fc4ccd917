package data

// The amounts of distortion, tuned so that a Gaussian-kernel SVM has an error rate of a
// few per cent on a held-out part of the training set.
const (
	glyphHeight    = 19.0 // pixels, before scaling
	glyphScale     = 0.12 // each axis is scaled by 1 ± this
	glyphTurn      = 0.12 // tangent of half the largest angle turned
	glyphShear     = 0.25 // largest shift of the top against the centre, in half heights
	glyphShift     = 1.5  // largest shift of the centre, pixels
	glyphElastic   = 0.20 // largest displacement of a control point, heights
	glyphThickness = 0.03 // largest displacement of an outline along its normal, heights
	glyphFaintest  = 170  // least grey level of full ink
)

// The control points of the elastic distortion: elasticCells² cells of side
// elasticSide cover [−0.8, 0.8]², which holds every outline.
const (
	elasticCells  = 4
	elasticPoints = elasticCells + 3
	elasticSide   = 0.4
	elasticLow    = -0.8
)

// A distortion is a random way to draw a glyph: a smooth displacement of the
// outline, an affine map to pixels, the thickness of strokes, the blur and the
// grey level of the ink.
type distortion struct {
	elastic        [elasticPoints][elasticPoints]point
	xx, xy, yx, yy float64 // the affine map's matrix, pixels per height
	centre         point   // the affine map's image of the origin, pixels
	thickness      float64 // heights, negative for thinner strokes
	blur           int     // 0 … 256
	ink            int     // grey level of full ink, at most 255
}

// newDistortion draws a distortion.
func newDistortion(src source) *distortion {
	d := new(distortion)
	for i := range d.elastic {
		for j := range d.elastic[i] {
			d.elastic[i][j] = point{float64(glyphElastic * src.symmetric()), float64(glyphElastic * src.symmetric())}
		}
	}
	// tan(angle/2) gives sine and cosine without calling a function that
	// platforms compute differently.
	t := float64(glyphTurn * src.symmetric())
	t2 := float64(t * t)
	cos, sin := (1-t2)/(1+t2), float64(2*t)/(1+t2)
	shear := float64(glyphShear * src.symmetric())
	sx := glyphHeight * (1 + float64(glyphScale*src.symmetric()))
	sy := glyphHeight * (1 + float64(glyphScale*src.symmetric()))
	// The matrix shears first, then turns, then scales.
	d.xx, d.xy = float64(sx*cos), float64(sx*(float64(cos*shear)-sin))
	d.yx, d.yy = float64(sy*sin), float64(sy*(float64(sin*shear)+cos))
	d.centre.x = glyphsSide/2 + float64(glyphShift*src.symmetric())
	d.centre.y = glyphsSide/2 + float64(glyphShift*src.symmetric())
	d.thickness = float64(glyphThickness * src.symmetric())
	d.blur = src.intn(257)
	d.ink = glyphFaintest + src.intn(256-glyphFaintest)
	return d
}

// apply maps a point of an outline to the image, in pixels.
func (d *distortion) apply(p point) point {
	q := d.displaced(p)
	return point{
		d.centre.x + (float64(d.xx*q.x) + float64(d.xy*q.y)),
		d.centre.y + (float64(d.yx*q.x) + float64(d.yy*q.y)),
	}
}

// displaced adds the elastic displacement, a uniform cubic B-spline over the
// control points.
func (d *distortion) displaced(p point) point {
	i, bx := splineAt(p.x)
	j, by := splineAt(p.y)
	for a, wx := range bx {
		for b, wy := range by {
			w, c := float64(wx*wy), &d.elastic[i+a][j+b]
			p.x += float64(w * c.x)
			p.y += float64(w * c.y)
		}
	}
	return p
}

// splineAt returns the cell that a coordinate is in and the weights of the
// four control points around it.
func splineAt(x float64) (cell int, weights [4]float64) {
	u := (x - elasticLow) / elasticSide
	cell = min(max(int(u), 0), elasticCells-1)
	t := min(max(u-float64(cell), 0), 1)
	s := 1 - t
	t2, s2 := float64(t*t), float64(s*s)
	t3, s3 := float64(t2*t), float64(s2*s)
	weights[0] = s3 / 6
	weights[1] = (4 - float64(6*t2) + float64(3*t3)) / 6
	weights[2] = (4 - float64(6*s2) + float64(3*s3)) / 6
	weights[3] = t3 / 6
	return cell, weights
}
