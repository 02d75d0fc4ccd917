package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Ranks returns the rank of each value, 1 for the least, which is the best;
// equal values share the mean of their ranks.
func Ranks(values []float64) []float64 {
	ranks := make([]float64, len(values))
	for i, v := range values {
		less, equal := 0, 0
		for _, w := range values {
			if w < v {
				less++
			} else if w == v {
				equal++
			}
		}
		ranks[i] = float64(2*less+equal+1) / 2
	}
	return ranks
}

// A Ranking compares k heuristics over n blocks by their mean ranks.
type Ranking struct {
	Mean []float64 // mean rank of each, 1 is the best
	F, P float64   // Iman and Davenport's statistic of no difference at all, and its p-value
	CD   float64   // Nemenyi's critical difference of mean ranks at Level
}

// Rank compares heuristics by Friedman's test in the form of Iman and Davenport (1980) and by
// Nemenyi's critical difference, after Demšar (JMLR 7, 2006). values has a row for each block and a
// column for each heuristic; less is better. Rank panics if there are fewer than two blocks or
// heuristics, or if rows differ in length.
func Rank(values [][]float64) Ranking {
	n := len(values)
	if n < 2 || len(values[0]) < 2 {
		panic("stats: ranking needs two blocks and two heuristics")
	}
	k := len(values[0])
	mean := make([]float64, k)
	for _, row := range values {
		if len(row) != k {
			panic("stats: blocks of different lengths")
		}
		for j, r := range Ranks(row) {
			mean[j] += r / float64(n)
		}
	}
	r := Ranking{Mean: mean, CD: Nemenyi(k, n)}
	r.F, r.P = Friedman(mean, n)
	return r
}

// Friedman returns Iman and Davenport's F of mean ranks over n blocks, and its p-value. If all
// blocks rank alike, F is infinite and p is 0.
func Friedman(mean []float64, n int) (f, p float64) {
	k := float64(len(mean))
	sum := 0.0
	for _, r := range mean {
		sum += r * r
	}
	blocks := float64(n)
	chi2 := max(0, 12*blocks/(k*(k+1))*(sum-k*(k+1)*(k+1)/4))
	rest := blocks*(k-1) - chi2
	if rest <= 1e-9*blocks*(k-1) {
		return math.Inf(1), 0
	}
	f = (blocks - 1) * chi2 / rest
	return f, distuv.F{D1: k - 1, D2: (k - 1) * (blocks - 1)}.Survival(f)
}

// Nemenyi returns the critical difference of mean ranks for k heuristics over n blocks. If the
// heuristics do not differ, the probability that some two mean ranks differ by more is Level. The
// critical difference is q·√(k(k+1)/(6n)), where q is the quantile of the studentised range divided
// by √2.
func Nemenyi(k, n int) float64 {
	q := rangeQuantile(k, 1-Level) / math.Sqrt2
	return q * math.Sqrt(float64(k*(k+1))/float64(6*n))
}

// rangeQuantile returns the quantile of the range of k standard normal values,
// by bisection to more digits than a figure shows.
func rangeQuantile(k int, p float64) float64 {
	low, high := 0.0, 20.0
	for range 45 {
		if m := (low + high) / 2; rangeCDF(k, m) < p {
			low = m
		} else {
			high = m
		}
	}
	return (low + high) / 2
}

// rangeCDF returns the probability that the range of k standard normal values is at most w:
// k ∫ φ(z) (Φ(z) − Φ(z−w))^(k−1) dz, by the trapezoidal rule, which converges faster than any power
// for an integrand that vanishes at both ends.
func rangeCDF(k int, w float64) float64 {
	const limit, step = 8.0, 1.0 / 8
	normal := distuv.UnitNormal
	sum := 0.0
	for z := -limit; z <= limit+w; z += step {
		sum += normal.Prob(z) * math.Pow(normal.CDF(z)-normal.CDF(z-w), float64(k-1))
	}
	return float64(k) * sum * step
}

// Cliques returns the largest groups of heuristics whose mean ranks lie within the critical
// difference, each as its first and last index. The mean ranks must ascend. Groups of one are left
// out.
func Cliques(ascending []float64, cd float64) [][2]int {
	var out [][2]int
	last := -1
	for i := range ascending {
		j := i
		for j+1 < len(ascending) && ascending[j+1]-ascending[i] <= cd {
			j++
		}
		if j > i && j > last {
			out = append(out, [2]int{i, j})
			last = j
		}
	}
	return out
}
