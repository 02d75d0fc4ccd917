package csvc

import (
	"context"
	"math"
)

const (
	// tau replaces a second-order term that is not positive (Fan, Chen, Lin
	// 2005, Algorithm 2).
	tau = 1e-12

	// shrinkPeriod is the largest number of iterations between two shrinkings.
	shrinkPeriod = 1000

	// leastLimit is LIBSVM's limit of iterations for up to 100,000 points; for more points the
	// limit is 100 per point.
	leastLimit = 10_000_000
)

// Directions in which a point's β can move.
const (
	up  = 1 << iota // I_up
	low             // I_low
)

// solver runs sequential minimal optimization on one pair of classes. The first plus points are
// those of class +1.
type solver struct {
	rows      *rows
	n, plus   int
	c         float64
	tolerance float64

	beta   []float64 // y_i α_i
	v      []float64 // y_i − Σ_j β_j κ(x_i, x_j); out of date where not active
	diag   []float64 // κ(x_i, x_i)
	side   []uint8   // up, low or both
	active []int32   // points not shrunk, ascending

	top      int     // the last i of I_up with v_i = m; −1 if there is none
	m        float64 // max of v over I_up, active points
	least    float64 // M: min of v over I_low, active points
	unshrunk bool    // all points were made active near the end, which happens once
	restored int     // how often shrunk points were restored

	iteration   int
	limit       int // of iterations
	untilShrink int

	likely []int
	scores []float64
}

func newSolver(r *rows, c, tolerance float64) *solver {
	n := r.n
	s := &solver{
		rows: r, n: n, plus: r.sets[0].Len(), c: c, tolerance: tolerance,
		beta: make([]float64, n), v: make([]float64, n), diag: make([]float64, n),
		side: make([]uint8, n), active: make([]int32, 0, n),
		limit: max(leastLimit, 100*n),
	}
	for i := range n {
		s.v[i] = s.label(i)
		s.diag[i] = r.kernel.Self(r.point(i))
		s.place(i)
	}
	s.activateAll()
	s.findExtremes()
	return s
}

func (s *solver) label(i int) float64 {
	if i < s.plus {
		return 1
	}
	return -1
}

// bounds returns the interval of β_i.
func (s *solver) bounds(i int) (lo, hi float64) {
	if i < s.plus {
		return 0, s.c
	}
	return -s.c, 0
}

// place sets the sides of point i from its β.
func (s *solver) place(i int) {
	lo, hi := s.bounds(i)
	s.side[i] = 0
	if s.beta[i] < hi {
		s.side[i] |= up
	}
	if s.beta[i] > lo {
		s.side[i] |= low
	}
}

func (s *solver) activateAll() {
	s.active = s.active[:0]
	for i := range s.n {
		s.active = append(s.active, int32(i))
	}
}

// solve iterates until m − M < ε over all points or the limit of iterations is
// reached. When it returns nil, v, m and least are those of all points.
func (s *solver) solve(ctx context.Context) error {
	s.untilShrink = min(s.n, shrinkPeriod) + 1
	for ; s.iteration < s.limit; s.iteration++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.untilShrink--
		if s.untilShrink == 0 {
			s.untilShrink = min(s.n, shrinkPeriod)
			s.shrink()
		}
		i, j := s.next()
		if j < 0 {
			break
		}
		s.step(i, j)
	}
	s.restore()
	s.findExtremes()
	return nil
}

// next chooses among the active points and, if those are optimal, among all.
func (s *solver) next() (i, j int) {
	i, j = s.choose()
	if j < 0 && len(s.active) < s.n {
		s.restore()
		s.untilShrink = 1
		return s.choose()
	}
	return i, j
}

// findExtremes sets m, top and least.
func (s *solver) findExtremes() {
	s.top, s.m, s.least = -1, math.Inf(-1), math.Inf(1)
	for _, t := range s.active {
		v := s.v[t]
		if s.side[t]&up != 0 && v >= s.m {
			s.m, s.top = v, int(t)
		}
		if s.side[t]&low != 0 {
			s.least = min(s.least, v)
		}
	}
}

// choose selects i and j by WSS 2: i is the largest violator in I_up, and j is the point with
// which the dual falls most on the line, ignoring bounds. j is −1 if m − M < ε.
func (s *solver) choose() (i, j int) {
	i, j = s.top, -1
	if i < 0 {
		return i, j
	}
	row := s.rows.get(i, s.violators)
	best, least := math.Inf(-1), math.Inf(1)
	m, di := s.m, s.diag[i]
	// Along β_i + δ, β_t − δ the dual falls at the rate b = v_i − v_t at δ = 0 and has the
	// curvature a, so its minimum lies b²/(2a) lower. The factor 1/2 is common to all points.
	// Ties go to the last point (>=), to follow LIBSVM's path.
	for _, t := range s.active {
		if s.side[t]&low == 0 {
			continue
		}
		v := s.v[t]
		least = min(least, v)
		if b := m - v; b > 0 {
			if gain := b * b / curvature(di, s.diag[t], row[t]); gain >= best {
				best, j = gain, int(t)
			}
		}
	}
	s.least = least
	if m-least < s.tolerance {
		j = -1
	}
	return i, j
}

// curvature is the second derivative of the dual along β_i + δ, β_j − δ.
func curvature(di, dj float64, k float32) float64 {
	if a := di + dj - 2*float64(k); a > 0 {
		return a
	}
	return tau
}

// step minimizes the dual over β_i and β_j, and finds the next i.
func (s *solver) step(i, j int) {
	ki, kj := s.rows.get(i, s.violators), s.rows.get(j, s.violators)
	// The unconstrained minimum on the line is at slope/curvature; move clips it.
	delta := s.move(i, j, (s.v[i]-s.v[j])/curvature(s.diag[i], s.diag[j], ki[j]))
	top, m := -1, math.Inf(-1)
	// v_t falls by δκ(x_t, x_i) and rises by δκ(x_t, x_j). The same pass finds the
	// next i, so that choose has only j left to find.
	for _, t := range s.active {
		v := s.v[t] - float64(delta*(float64(ki[t])-float64(kj[t])))
		s.v[t] = v
		if s.side[t]&up != 0 && v >= m {
			m, top = v, int(t)
		}
	}
	s.top, s.m = top, m
}

// move raises β_i and lowers β_j by delta or as far as their bounds allow, and returns the
// change. A β that reaches its bound is set to it, because β + (C − β) may round to a neighbour
// of C.
func (s *solver) move(i, j int, delta float64) float64 {
	_, hi := s.bounds(i)
	lo, _ := s.bounds(j)
	roomI, roomJ := hi-s.beta[i], s.beta[j]-lo
	delta = min(delta, roomI, roomJ)
	s.beta[i] += delta
	s.beta[j] -= delta
	if delta == roomI {
		s.beta[i] = hi
	}
	if delta == roomJ {
		s.beta[j] = lo
	}
	s.place(i)
	s.place(j)
	return delta
}
