package lbfgs

import "math"

// The strong Wolfe conditions, φ(t) ≤ φ(0) + 1e-4·t·φ'(0) and |φ'(t)| ≤ 0.1·|φ'(0)|. A trial is
// so cheap that a tight second condition pays.
const (
	decrease      = 1e-4
	slopeFraction = 0.1
	weakFraction  = 0.9 // slope fraction of the weak conditions, in bisect
	maxTrials     = 40

	// roundoff is the relative rounding error of φ.
	roundoff = 1e-15
)

// A line is φ(t), the smoothed objective at f + t·d. Scores are linear in t, so a trial costs
// O(N·C), which is negligible beside the product with K that every iteration takes.
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
	// ‖f + t·d‖² = ‖f‖² + 2t⟨f, d⟩ + t²‖d‖², so that a trial computes no norm.
	value = s.smooth/n + float64(l.lambda/2*(l.normSq+float64(2*t*l.fd)+float64(t*t*l.ddd)))
	return value, s.slope/n + float64(l.lambda*(l.fd+float64(t*l.ddd)))
}

// search returns a step that satisfies the strong Wolfe conditions. φ is convex: the sign of φ'
// tells on which side of the minimum t is, and regula falsi (Illinois) on φ' finds the minimum.
// Where φ' turns so sharply that the trials run out, search returns the longest step tried that
// satisfies the first condition short of the minimum, or 0 if rounding leaves no such step.
func (l *line) search() float64 {
	value0, slope0 := l.at(0)
	// Rounding can make ‖d‖² negative if K is singular and in float32: φ has no minimum then.
	if !(slope0 < 0) || !(l.ddd > 0) {
		return 0
	}
	// Invariant: lo satisfies the first condition and φ'(lo) < 0; hi is beyond the minimum, or so
	// far that the first condition fails. t = 1, the quasi-Newton step, is tried first.
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
			slopeHi /= 2 // Illinois: the end that stays loses weight, otherwise it would never move
		default:
			hi, slopeHi = t, max(0, slope)
			slopeLo /= 2
		}
		t = between(lo, slopeLo, hi, slopeHi)
	}
	return lo
}

// bisect returns a step that satisfies the weak Wolfe conditions, φ(t) ≤ φ(0) + 1e-4·t·φ'(0) and
// φ'(t) ≥ 0.9·φ'(0), and the number of steps tried, at most most. The step is 0 if no trial
// succeeds. It is found by doubling and bisection, as Lewis and Overton do for functions with
// kinks ("Nonsmooth optimization via quasi-Newton methods", 2013). value0 and slope0 are φ(0) and
// φ'(0); at returns φ(t) and φ'(t).
func bisect(value0, slope0 float64, most int, at func(t float64) (value, slope float64)) (step float64, trials int) {
	if !(slope0 < 0) {
		return 0, 0
	}
	// Invariant: lo satisfies the first condition but not the second, hi violates the first, so
	// that a step that satisfies both is between them.
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
		t = 2 * lo
		if !math.IsInf(hi, 1) {
			t = lo + (hi-lo)/2
		}
	}
	return 0, most
}

// between returns the next trial in (lo, hi): the root of the chord of φ', kept away from the
// ends.
func between(lo, slopeLo, hi, slopeHi float64) float64 {
	if math.IsInf(hi, 1) { // no right end yet
		return 4 * lo
	}
	t := lo + (hi-lo)*slopeLo/(slopeLo-slopeHi)
	margin := float64(0.05 * (hi - lo))
	return min(max(t, lo+margin), hi-margin)
}
