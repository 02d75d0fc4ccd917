package data

import "math"

// thread is the width of a thread of the cloths, in pixels.
const thread = 6

// cloth returns a weave of crossing threads. The upright thread is on top where
// uprightOnTop returns true for its column and row. Threads bulge and differ in tone.
func cloth(src source, uprightOnTop func(column, row int) bool) weave {
	bend := newWarp(src, 24, 3)
	tones := newNoise(src, 1, 1)
	return bend.apply(func(x, y int) int {
		across, along, id := mod(x, thread), mod(y, thread), mod(x, weavesSide)/thread
		if !uprightOnTop(mod(x, weavesSide)/thread, mod(y, weavesSide)/thread) {
			across, along, id = along, across, 64+mod(y, weavesSide)/thread
		}
		v := 96 + bulge(across)/2 + bulge(along)/6
		return v - tones.at(id, 0)/4
	})
}

// bulge is a parabola over a thread's width, 0 at its edges and 255 within.
func bulge(i int) int { return 255 * 4 * (i + 1) * (thread - i) / ((thread + 1) * (thread + 1)) }

func plainWeave(src source) weave {
	return cloth(src, func(c, r int) bool { return (c+r)%2 == 0 })
}

func twill(src source) weave {
	return cloth(src, func(c, r int) bool { return (c+r)%4 < 2 })
}

func basketWeave(src source) weave {
	return cloth(src, func(c, r int) bool { return (c/2+r/2)%2 == 0 })
}

func herringbone(src source) weave {
	return cloth(src, func(c, r int) bool {
		if c%8 >= 4 {
			c = 7 - c%8
		}
		return (c+r)%4 < 2
	})
}

// stripes are waves that lean and sway.
func stripes(src source) weave {
	return newWarp(src, 40, 8).apply(func(x, y int) int { return wave(2*x+y, 20) })
}

// wave is a triangle of the given period, 0 … 255.
func wave(x, period int) int {
	x = mod(x, period) * 2
	return 255 * min(x, 2*period-x) / period
}

func checks(src source) weave {
	return newWarp(src, 32, 5).apply(func(x, y int) int {
		if (mod(x, weavesSide)/8+mod(y, weavesSide)/8)%2 == 0 {
			return 208
		}
		return 48
	})
}

// grid is dark lines on a bright ground.
func grid(src source) weave {
	return newWarp(src, 32, 5).apply(func(x, y int) int {
		if mod(x, 8) < 2 || mod(y, 8) < 2 {
			return 40
		}
		return 200
	})
}

// blobs are the high places of a noise.
func blobs(src source) weave {
	n := newNoise(src, 7, 7)
	return func(x, y int) int {
		return min(max((n.at(x, y)-128)*4+128, 0), 255)
	}
}

// pebbles are round and bright, dark between them.
func pebbles(src source) weave {
	c := newCells(src, 10)
	return func(x, y int) int {
		first, _ := c.distances(x, y)
		return max(255-first*30, 0)
	}
}

// cracks are dark where two cells meet.
func cracks(src source) weave {
	c := newCells(src, 12)
	return func(x, y int) int {
		first, second := c.distances(x, y)
		return min(40+(second-first)*60, 216)
	}
}

// cells are the squares of a lattice, each with a random centre in it.
type cells struct {
	side   int
	dx, dy *noise
}

func newCells(src source, side int) cells {
	return cells{side, newNoise(src, 1, 1), newNoise(src, 1, 1)}
}

// distances returns the distances of a pixel from the two nearest centres, rounded down.
func (c cells) distances(x, y int) (first, second int) {
	const far = 1 << 20
	first, second = far, far
	for row := y/c.side - 1; row <= y/c.side+1; row++ {
		for column := x/c.side - 1; column <= x/c.side+1; column++ {
			dx := column*c.side + c.dx.at(column, row)*c.side/256 - x
			dy := row*c.side + c.dy.at(column, row)*c.side/256 - y
			d := dx*dx + dy*dy
			if d < first {
				first, d = d, first
			}
			second = min(second, d)
		}
	}
	return int(math.Sqrt(float64(first))), int(math.Sqrt(float64(second)))
}

// straw is noise stretched in one direction and bent.
func straw(src source) weave {
	n := newNoise(src, 3, 32)
	return newWarp(src, 40, 10).apply(n.at)
}

// grain is noise with cells of two pixels.
func grain(src source) weave {
	n := newNoise(src, 2, 2)
	return n.at
}

// clouds are a mixture of noise at three scales.
func clouds(src source) weave {
	large, middle, small := newNoise(src, 24, 24), newNoise(src, 10, 10), newNoise(src, 4, 4)
	return func(x, y int) int {
		return (2*large.at(x, y) + middle.at(x, y) + small.at(x, y)) / 4
	}
}
