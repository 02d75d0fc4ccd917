package portable

import "math"

// Sum returns Σx in the order of gonum's floats.Sum on amd64: eight lanes, which are added in halves.
// After each halving every lane left takes one of the remaining elements of x, if there are enough.
func Sum(x []float64) float64 {
	var lane [8]float64
	for ; len(x) >= 8; x = x[8:] {
		for i := range lane {
			lane[i] += x[i]
		}
	}
	a, b, c, d := lane[0]+lane[6], lane[1]+lane[7], lane[2]+lane[4], lane[3]+lane[5]
	if len(x) >= 4 {
		a, b, c, d = a+x[0], b+x[1], c+x[2], d+x[3]
		x = x[4:]
	}
	a, b = a+c, b+d
	if len(x) >= 2 {
		a, b = a+x[0], b+x[1]
		x = x[2:]
	}
	sum := a + b
	if len(x) == 1 {
		sum += x[0]
	}
	return sum
}

// MeanDeviation returns the mean of x and its population standard deviation (divisor len(x)),
// as gonum's stat.PopMeanStdDev on amd64. Values whose sum or squares exceed the range of
// float64 are scaled first, so the deviation of finite values is 0 only if all are equal.
func MeanDeviation(x []float64) (mean, deviation float64) {
	mean, squares := spread(x)
	deviation = math.Sqrt(squares / float64(len(x)))
	if deviation > 0 && !math.IsInf(deviation, 1) {
		return mean, deviation
	}
	var largest float64
	differ := false
	for _, v := range x {
		largest = max(largest, math.Abs(v))
		differ = differ || v != x[0]
	}
	if !differ || math.IsInf(largest, 1) || math.IsNaN(largest) {
		return mean, deviation
	}
	// Scaling by a power of two is exact.
	_, exp := math.Frexp(largest)
	scaled := make([]float64, len(x))
	for i, v := range x {
		scaled[i] = math.Ldexp(v, -exp)
	}
	mean, squares = spread(scaled)
	return math.Ldexp(mean, exp), math.Ldexp(math.Sqrt(squares/float64(len(x))), exp)
}

// spread returns the mean of x and Σ(x − mean)², corrected for the mean's rounding (Chan,
// Golub and LeVeque, "Algorithms for computing the sample variance", equation 1.7).
func spread(x []float64) (mean, squares float64) {
	mean = Sum(x) / float64(len(x))
	var rest float64
	for _, v := range x {
		d := v - mean
		squares += float64(d * d)
		rest += d
	}
	return mean, squares - float64(rest*rest)/float64(len(x))
}

// Slope returns the slope of the least-squares line of y over x, as gonum's
// stat.LinearRegression on amd64.
func Slope(x, y []float64) float64 {
	n := float64(len(x))
	xMean, xSquares := spread(x)
	yMean := Sum(y) / n
	var products, xRest, yRest float64
	for i := range x {
		dx, dy := x[i]-xMean, y[i]-yMean
		products += float64(dx * dy)
		xRest += dx
		yRest += dy
	}
	covariance := (products - float64(xRest*yRest)/n) / (n - 1)
	return covariance / (xSquares / (n - 1))
}
