package prune

import "math"

// axpy adds alpha·x to y.
func axpy(alpha float64, x, y []float64) {
	for i, v := range x {
		y[i] += float64(alpha * v)
	}
}

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

// shortlist returns the n present elements of s with the least scores, in the order of their scores,
// the first of equals first. A NaN score counts as +Inf.
func shortlist(s Elements, n int, score func(j int) float64) []int {
	var list []int
	var scores []float64
	for j := range s.Total() {
		if !s.Present(j) {
			continue
		}
		v := score(j)
		if math.IsNaN(v) {
			v = math.Inf(1)
		}
		if len(list) == n && !(v < scores[n-1]) {
			continue
		}
		list, scores = append(list, j), append(scores, v)
		for i := len(list) - 1; i > 0 && scores[i] < scores[i-1]; i-- {
			list[i], list[i-1] = list[i-1], list[i]
			scores[i], scores[i-1] = scores[i-1], scores[i]
		}
		list, scores = list[:min(len(list), n)], scores[:min(len(list), n)]
	}
	return list
}
