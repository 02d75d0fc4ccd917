package csvc

import "math"

// PairStats describes how the problem of one pair of classes was solved. All fields except
// KernelEvals and CacheBytes are LIBSVM's, to the tolerance.
type PairStats struct {
	Plus, Minus int // the classes labelled +1 and −1; Minus is −1 for all other classes
	N           int // points
	Iterations  int
	Restored    int // how often shrunk points were made active again

	Objective  float64 // of the dual, ½ αᵀQα − eᵀα ≤ 0
	Rho        float64 // the decision value is Σ_j y_j α_j κ(x_j, x) − ρ
	SVs        int     // points with α > 0
	BoundedSVs int     // points with α = C

	// Violation is m − M over all points. It is below Config.Tolerance unless the solver reached
	// its limit of 10⁷ iterations (100 per point, if that is more). It is −Inf where I_up or
	// I_low is empty.
	Violation float64

	// Gap is the primal objective ½‖f‖² + C Σ max(0, 1 − y_i (f(x_i) − ρ)) less the dual
	// objective to be maximized. The optimum is no farther than Gap from either. At the optimum
	// Gap is 0, and both objectives are −Objective.
	Gap float64

	KernelEvals int64
	CacheBytes  int64 // largest memory of the kernel rows
}

// stats returns the statistics of a finished solver; the caller fills in the classes.
func (s *solver) stats() PairStats {
	st := PairStats{
		N: s.n, Iterations: s.iteration, Restored: s.restored,
		Rho: s.rho(), Violation: s.m - s.least,
		KernelEvals: s.rows.evals, CacheBytes: s.rows.bytes(),
	}
	for i, b := range s.beta {
		alpha := math.Abs(b)
		st.Objective -= (alpha + float64(b*s.v[i])) / 2
		slack := max(0, s.label(i)*(s.v[i]+st.Rho))
		st.Gap += float64(s.c*slack) - float64(b*s.v[i])
		if b != 0 {
			st.SVs++
		}
		if alpha == s.c {
			st.BoundedSVs++
		}
	}
	return st
}

// rho returns the mean of −v over the points with 0 < α < C, where y_i (f(x_i) − ρ) is 1.
// Without such a point, it returns −(m + M)/2 (LIBSVM, section 4.1.5).
func (s *solver) rho() float64 {
	var sum float64
	free := 0
	for i, v := range s.v {
		if s.side[i] == up|low {
			sum -= v
			free++
		}
	}
	if free > 0 {
		return sum / float64(free)
	}
	return -(s.m + s.least) / 2
}
