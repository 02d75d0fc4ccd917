package data

import "math"

// The raster works in integers: a pixel is 256 subpixels wide and rasterLines scan lines
// high.
const (
	subpixels   = 256
	rasterLines = 8
	fullCover   = subpixels * rasterLines
)

// A raster computes how much of each pixel of a 28×28 image closed polygons cover, by
// scan lines. (golang.org/x/image/vector sums float32 values, in assembly on some
// platforms, and does not promise the same bits everywhere.)
type raster struct {
	// Each crossing of a scan line adds its direction, weighted by the cover, to its
	// pixel and the next pixel to the right. Running sums along a row then give the
	// cover of each pixel. The extra columns take crossings at or beyond the right border.
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

// edge adds an edge's crossings of scan lines. A scan line runs through the middle of
// its strip of a pixel row.
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

// write writes the image to x, row by row. A share blur/256 of the cover is smoothed
// with the weights 1, 2, 1 in both directions. The result is multiplied by ink/255 and
// rounded to a multiple of 1/255.
func (r *raster) write(x []float32, blur, ink int) {
	// The cover of each pixel, 0 … fullCover, with a border of zeros around the image.
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
		left, here := 0, weigh(above[1], row[1], below[1]) // weighted sums of columns j−1 and j
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
