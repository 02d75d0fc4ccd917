package plot

import "slices"

// Marching squares trace a level set through a grid of n×n values, value (i, j) at index j·n + i.
// One or two lines cross each cell whose corners lie on both sides of the level. The lines of
// neighbouring cells end at the same point of their common edge, where they are joined. gonum's
// plotter.Contour only draws lines. Filling the region decided for a class takes the region's
// closed outline, also along the border.

// A Node is a point on a grid, in cells from the corner where i = j = 0.
type Node struct{ X, Y float64 }

// A tracer joins the crossings of a level. Edge 2·(j·n+i) leads from node (i, j) to (i+1, j), and
// the edge with the next number from (i, j) to (i, j+1).
type tracer struct {
	n     int
	v     []float64
	level float64
	next  []int32 // by edge: the edge at which the line that begins there ends; −1 if none begins
	begun []bool  // by edge: whether a line ends there
}

// Contours returns the lines on which the values equal level, each with the values above level on
// its left. A line that does not end at the grid's border is closed: its last node is its first.
// The lines that end at the border come first; otherwise the order is that of the grid.
func Contours(n int, v []float64, level float64) [][]Node {
	t := &tracer{n: n, v: v, level: level, next: make([]int32, 2*n*n), begun: make([]bool, 2*n*n)}
	for e := range t.next {
		t.next[e] = -1
	}
	for j := range n - 1 {
		for i := range n - 1 {
			t.cell(i, j)
		}
	}
	var lines [][]Node
	for _, open := range []bool{true, false} {
		for e := range t.next {
			if t.next[e] >= 0 && t.begun[e] != open {
				lines = append(lines, t.line(int32(e)))
			}
		}
	}
	return lines
}

// at returns the value at a node.
func (t *tracer) at(i, j int) float64 { return t.v[j*t.n+i] }

// cell adds the lines through the cell whose lower left node is (i, j).
func (t *tracer) cell(i, j int) {
	corners := [4][2]int{{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}}
	base := 2 * (j*t.n + i)
	edges := [4]int{base, base + 3, base + 2*t.n, base + 1}
	var falls, rises []int // sides, counterclockwise, on which the level is crossed downwards and upwards
	sum := 0.0
	for k, c := range corners {
		d := corners[(k+1)%4]
		from, to := t.at(c[0], c[1]) > t.level, t.at(d[0], d[1]) > t.level
		if from && !to {
			falls = append(falls, k)
		} else if to && !from {
			rises = append(rises, k)
		}
		sum += t.at(c[0], c[1]) - t.level
	}
	for _, f := range falls {
		r := rises[0]
		if len(rises) == 2 && (rises[1] == (f+1)%4) == (sum > 0) { // a saddle: the value in the middle decides which corners are joined
			r = rises[1]
		}
		t.next[edges[f]] = int32(edges[r])
		t.begun[edges[r]] = true
	}
}

// line follows a line from an edge and removes it from next.
func (t *tracer) line(from int32) []Node {
	line := []Node{t.crossing(from)}
	for e := from; t.next[e] >= 0; {
		to := t.next[e]
		t.next[e] = -1
		line = append(line, t.crossing(to))
		e = to
	}
	return line
}

// crossing returns the point where an edge crosses the level, by linear interpolation.
func (t *tracer) crossing(edge int32) Node {
	k := int(edge) / 2
	i, j := k%t.n, k/t.n
	if edge%2 == 0 {
		return Node{float64(i) + t.share(t.at(i, j), t.at(i+1, j)), float64(j)}
	}
	return Node{float64(i), float64(j) + t.share(t.at(i, j), t.at(i, j+1))}
}

// share returns the position of the level between two values, as a fraction.
func (t *tracer) share(a, b float64) float64 { return (t.level - a) / (b - a) }

// farBelow is below every value that is drawn, yet not so far that differences
// overflow.
const farBelow = -1e200

// Regions returns the outlines of the regions with positive values. The outlines are closed, also
// along the grid's border, and have the region on their left.
func Regions(n int, v []float64) [][]Node {
	walled := slices.Repeat([]float64{farBelow}, (n+2)*(n+2))
	for j := range n {
		copy(walled[(j+1)*(n+2)+1:], v[j*n:(j+1)*n])
	}
	lines := Contours(n+2, walled, 0)
	for _, line := range lines {
		for i := range line {
			line[i].X--
			line[i].Y--
		}
	}
	return lines
}
