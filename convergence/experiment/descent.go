package experiment

import (
	"polkrepro/convergence"
	"polkrepro/internal/gemm"
	"polkrepro/polk"
)

// descent is functional stochastic gradient descent without projection (eq.
// sgd_hilbert). Its samples are training points, so that a weight for each of
// these holds all that the ever longer dictionary of the paper would: the
// weights of a point that is drawn twice add up.
type descent struct {
	*problem
	schedule polk.Schedule
	t        int
	shrink   float64   // f = shrink·Σ w_i κ(x_i, ·): saves a pass over w a step
	w        []float64 // C×N
	visited  []bool
	count    int // of the points visited
	scores   []float64
	grad     []float64
}

func newDescent(run convergence.Run, p *problem) *descent {
	n, c := p.split.N, p.classes
	return &descent{
		problem: p, schedule: run.Schedule(), shrink: 1,
		w: make([]float64, c*n), visited: make([]bool, n),
		scores: make([]float64, c), grad: make([]float64, c),
	}
}

func (d *descent) order() int { return d.count }

func (d *descent) step(i int) error {
	n, c := d.split.N, d.classes
	row := d.gram[i*n : (i+1)*n]
	for q := range d.scores {
		d.scores[q] = d.shrink * gemm.Dot(row, d.w[q*n:(q+1)*n])
	}
	value := d.loss.Gradient(d.grad, d.scores, d.split.Y[i])
	if value-value != 0 {
		return polk.ErrDiverged
	}
	rate := d.schedule.Rate(d.t)
	d.shrink *= 1 - rate*d.lambda
	d.normalize()
	for q := range c {
		d.w[q*n+i] -= rate * d.grad[q] / d.shrink
	}
	if !d.visited[i] {
		d.visited[i] = true
		d.count++
	}
	d.t++
	return nil
}

// normalize keeps shrink from underflow.
func (d *descent) normalize() {
	if d.shrink > 1e-100 {
		return
	}
	for i := range d.w {
		d.w[i] *= d.shrink
	}
	d.shrink = 1
}

func (d *descent) measure() convergence.Point {
	n, c := d.split.N, d.classes
	values := make([]float64, n*c)
	gemm.MulABT(n, c, n, d.shrink, d.gram, n, d.w, n, 0, values, c, 1)
	var normSq float64
	for q := range c {
		for i, w := range d.w[q*n : (q+1)*n] {
			normSq += d.shrink * w * values[i*c+q]
		}
	}
	point := d.problem.measure(values, max(0, normSq))
	point.Order = d.count
	return point
}

func (d *descent) summarize(s *convergence.Summary) { s.MaxOrder = d.count }
