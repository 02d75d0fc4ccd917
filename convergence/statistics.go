package convergence

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Floor returns the least ‖f_t − f*‖ of the points in the last half of the
// run: the lim inf as far as the run goes.
func (r *Record) Floor() float64 {
	least := math.Inf(1)
	for _, p := range r.between(0.5, 1) {
		least = min(least, p.Distance)
	}
	return least
}

// last returns the last point.
func (r *Record) last() Point { return r.Points[len(r.Points)-1] }

// between returns the points after a share from of the samples, up to a share
// to.
func (r *Record) between(from, to float64) []Point {
	var out []Point
	n := float64(r.Header.Run.Samples)
	for _, p := range r.Points {
		if s := float64(p.Samples); s >= from*n && s <= to*n {
			out = append(out, p)
		}
	}
	return out
}

// Exponent returns the slope of log ‖f_t − f*‖ over log t in the last decade.
func (r *Record) Exponent() float64 {
	var x, y []float64
	for _, p := range r.between(0.1, 1) {
		x = append(x, math.Log(float64(p.Samples)))
		y = append(y, math.Log(p.Distance))
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}

// OrderGrowth returns the mean model order over the steps of the last quarter
// of the run, relative to that of the quarter before.
func (r *Record) OrderGrowth() float64 {
	return meanOrder(r.between(0.75, 1)) / meanOrder(r.between(0.5, 0.75))
}

// DecadeGrowth returns the model order at the end, relative to that at the
// first point of the last decade.
func (r *Record) DecadeGrowth() float64 {
	return float64(r.last().Order) / float64(r.between(0.1, 1)[0].Order)
}

// meanOrder is the mean over the steps between the first of the points and the
// last.
func meanOrder(points []Point) float64 {
	var sum float64
	for i, p := range points[1:] {
		sum += p.MeanOrder * float64(p.Samples-points[i].Samples)
	}
	return sum / float64(points[len(points)-1].Samples-points[0].Samples)
}

// largest returns the largest value of a quantity at the points.
func (r *Record) largest(of func(Point) float64) float64 {
	most := math.Inf(-1)
	for _, p := range r.Points {
		most = max(most, of(p))
	}
	return most
}

// rateExponent returns the slope of log floor over log η.
func rateExponent(rates, floors []float64) float64 {
	x, y := make([]float64, len(rates)), make([]float64, len(floors))
	for i := range rates {
		x[i], y[i] = math.Log(rates[i]), math.Log(floors[i])
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}
