package lbfgs

import "math"

// The strong Wolfe conditions, φ(t) ≤ φ(0) + 1e-4·t·φ'(0) and
// |φ'(t)| ≤ 0.1·|φ'(0)|. A trial costs so little that a tight one pays.
const (
	decrease      = 1e-4
	slopeFraction = 0.1
	weakFraction  = 0.9 // of bisect
	maxTrials     = 40

	// rounding of φ, relative.
	roundoff = 1e-15
)

// A line is φ(t) = the smoothed objective at f + t·d. Scores are linear in t:
// a trial costs O(N·C), next to nothing beside the product with K that every
// iteration takes.
type line struct {
	*problem
	f, d            element
	normSq, fd, ddd float64 // ‖f‖², ⟨f, d⟩, ‖d‖²
}

// lineFrom returns the line from x along d.
func (p *problem) lineFrom(x *iterate, d element) *line {
	return &line{problem: p, f: x.f, d: d, normSq: x.normSq, fd: p.inner(d, x.f), ddd: p.inner(d, d)}
}

// at returns φ(t) and φ'(t).
func (l *line) at(t float64) (value, slope float64) {
	s := l.along(l.f.kw, t, l.d.kw)
	n := l.total
	// ‖f + t·d‖² = ‖f‖² + 2t⟨f, d⟩ + t²‖d‖², so that no norm is taken in a trial.
	value = s.smooth/n + float64(l.lambda/2*(l.normSq+float64(2*t*l.fd)+float64(t*t*l.ddd)))
	return value, s.slope/n + float64(l.lambda*(l.fd+float64(t*l.ddd)))
}

// search returns a step that satisfies the strong Wolfe conditions. φ is
// convex: φ' tells on which side of the minimum t is, and regula falsi
// (Illinois) on φ' finds it. Where φ' turns so sharply that trials end before,
// the step is the longest that was tried and satisfies the first condition
// short of the minimum; it is 0 if rounding leaves none to be found.
func (l *line) search() float64 {
	value0, slope0 := l.at(0)
	// Rounding can make ‖d‖² negative if K is singular and in float32: φ has no minimum then.
	if !(slope0 < 0) || !(l.ddd > 0) {
		return 0
	}
	// Invariant: lo satisfies the first condition and φ'(lo) < 0; hi is beyond the
	// minimum, or so far that the first condition fails. t = 1 first: it is the
	// quasi-Newton step.
	lo, slopeLo := 0.0, slope0
	hi, slopeHi := math.Inf(1), 0.0
	t := 1.0
	for range maxTrials {
		value, slope := l.at(t)
		enough := value <= value0+float64(decrease*t*slope0)+float64(roundoff*math.Abs(value0))
		switch {
		case enough && math.Abs(slope) <= slopeFraction*-slope0:
			return t
		case enough && slope < 0:
			lo, slopeLo = t, slope
			slopeHi /= 2 // Illinois: the end that stays loses weight, or it would stay for good
		default:
			hi, slopeHi = t, max(0, slope)
			slopeLo /= 2
		}
		t = between(lo, slopeLo, hi, slopeHi)
	}
	return lo
}

// bisect returns a step that satisfies the weak Wolfe conditions,
// φ(t) ≤ φ(0) + 1e-4·t·φ'(0) and φ'(t) ≥ 0.9·φ'(0), by doubling and bisection as
// Lewis and Overton do it for functions with kinks ("Nonsmooth optimization via
// quasi-Newton methods", 2013), and how many steps it tried; 0 if none of the most that
// it may try was one. value0 and slope0 are φ(0) and φ'(0), at returns φ(t) and φ'(t).
func bisect(value0, slope0 float64, most int, at func(t float64) (value, slope float64)) (step float64, trials int) {
	if !(slope0 < 0) {
		return 0, 0
	}
	// Invariant: lo satisfies the first condition but not the second, hi not the first,
	// so that a step that satisfies both is between them.
	lo, hi, t := 0.0, math.Inf(1), 1.0
	for trials = 1; trials <= most; trials++ {
		value, slope := at(t)
		switch {
		case !(value <= value0+float64(decrease*t*slope0)):
			hi = t
		case slope < weakFraction*slope0:
			lo = t
		default:
			return t, trials
		}
		if t = 2 * lo; !math.IsInf(hi, 1) {
			t = lo + (hi-lo)/2
		}
	}
	return 0, most
}

// between returns the next trial in (lo, hi): the root of the chord of φ',
// kept from the ends.
func between(lo, slopeLo, hi, slopeHi float64) float64 {
	if math.IsInf(hi, 1) { // no end on the right yet
		return 4 * lo
	}
	t := lo + (hi-lo)*slopeLo/(slopeLo-slopeHi)
	margin := float64(0.05 * (hi - lo))
	return min(max(t, lo+margin), hi-margin)
}
