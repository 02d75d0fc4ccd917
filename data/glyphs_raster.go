package data

import "math"

// The raster works in whole numbers: 256 subpixels across a pixel and
// rasterLines scan lines down one.
const (
	subpixels   = 256
	rasterLines = 8
	fullCover   = subpixels * rasterLines
)

// A raster computes how far closed polygons cover each pixel of a 28×28 image,
// by scan lines. (golang.org/x/image/vector sums float32 values, in assembly
// on some platforms, and promises no bits.)
type raster struct {
	// Each crossing of a scan line adds its direction, weighted by the cover,
	// to the pixel it is in and the one to the right; sums along a row then
	// give the cover of a pixel. A column more takes what lies to the right.
	steps [glyphsSide][glyphsSide + 2]int
}

// add adds a polygon, in pixels, y downwards.
func (r *raster) add(polygon []point) {
	x0, y0 := subpixel(polygon[len(polygon)-1])
	for _, p := range polygon {
		x1, y1 := subpixel(p)
		r.edge(x0, y0, x1, y1)
		x0, y0 = x1, y1
	}
}

// subpixel rounds a point to subpixels.
func subpixel(p point) (x, y int) {
	return int(math.Floor(float64(p.x*subpixels) + 0.5)), int(math.Floor(float64(p.y*subpixels) + 0.5))
}

// edge adds an edge's crossings of scan lines, which run through the middle of
// their share of a pixel.
func (r *raster) edge(x0, y0, x1, y1 int) {
	direction := 1
	if y0 > y1 {
		x0, y0, x1, y1, direction = x1, y1, x0, y0, -1
	}
	const pitch, half = subpixels / rasterLines, subpixels / rasterLines / 2
	first := max(ceilDiv(y0-half, pitch), 0)
	end := min(ceilDiv(y1-half, pitch), glyphsSide*rasterLines)
	for line := first; line < end; line++ {
		y := line*pitch + half
		x := x0 + floorDiv((x1-x0)*(y-y0), y1-y0)
		x = min(max(x, 0), glyphsSide*subpixels)
		row := &r.steps[line/rasterLines]
		right := x % subpixels
		row[x/subpixels] += direction * (subpixels - right)
		row[x/subpixels+1] += direction * right
	}
}

// floorDiv returns ⌊a/b⌋ for b > 0.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ceilDiv returns ⌈a/b⌉ for b > 0.
func ceilDiv(a, b int) int { return -floorDiv(-a, b) }

// write writes the image, row by row: the cover, blurred with the weights
// 1, 2, 1 in both directions by blur/256, times ink/255, in steps of 1/255.
func (r *raster) write(x []float32, blur, ink int) {
	// The cover of each pixel, 0 … fullCover, and around them a border of zeros.
	var cover [glyphsSide + 2][glyphsSide + 2]int
	for i := range r.steps {
		sum := 0
		for j := range glyphsSide {
			sum += r.steps[i][j]
			cover[i+1][j+1] = min(max(sum, -sum), fullCover)
		}
	}
	for i := range glyphsSide {
		above, row, below := &cover[i], &cover[i+1], &cover[i+2]
		left, here := 0, weigh(above[1], row[1], below[1]) // of columns
		for j := range glyphsSide {
			right := weigh(above[j+2], row[j+2], below[j+2])
			v := (256-blur)*16*row[j+1] + blur*weigh(left, here, right)
			const full = 256 * 16 * fullCover
			x[i*glyphsSide+j] = float32((v*ink+full/2)/full) / 255
			left, here = here, right
		}
	}
}

// weigh returns four times the mean of three neighbours, the middle one
// counted twice.
func weigh(a, b, c int) int { return a + 2*b + c }
