package csvc

import "math"

// PairStats tells how the problem of one pair of classes was solved. All of it
// but the kernel evaluations and the cache is LIBSVM's, to the tolerance.
type PairStats struct {
	Plus, Minus int // the classes that are +1 and −1; Minus is −1 for all the others
	N           int // points
	Iterations  int
	Restored    int // how often shrunk points were taken up again

	Objective  float64 // of the dual, ½ αᵀQα − eᵀα ≤ 0
	Rho        float64 // the decision value is Σ_j y_j α_j κ(x_j, x) − ρ
	SVs        int     // points with α > 0
	BoundedSVs int     // those with α = C

	// Violation is m − M over all points, below Config.Tolerance unless the
	// limit of 10⁷ iterations (100 a point, if that is more) was met; −Inf
	// where I_up or I_low is empty.
	Violation float64

	// Gap is the objective of the primal ½‖f‖² + C Σ max(0, 1 − y_i (f(x_i) − ρ))
	// less that of the dual to be maximized: the optimum is no farther from
	// either. It is 0 at the optimum, where −Objective is the value of both.
	Gap float64

	KernelEvals int64
	CacheBytes  int64 // most memory that kernel rows took
}

// stats fills in what the solver knows once it is finished.
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

// rho is the mean of −v over the points with 0 < α < C, where y_i (f(x_i) − ρ)
// is 1, and without any such point −(m + M)/2 (LIBSVM, section 4.1.5).
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
