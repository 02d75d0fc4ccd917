package paper

// The quantities that tests can ask of runs that are measured against the minimizer
// f*. Package evidence/theory computes them.
const (
	MeasuredSlope        = "slope"
	MeasuredDistance     = "distance"
	MeasuredExcess       = "excess"
	MeasuredDecadeGrowth = "decade-growth"
	MeasuredFloor        = "floor"
	MeasuredFloorRadius  = "floor-to-radius"
	MeasuredGrowth       = "growth"
	MeasuredOrder        = "order-to-bound"
	MeasuredSeparation   = "separation"
	MeasuredRatio        = "ratio"
	MeasuredDirect       = "direct-ratio"
	MeasuredNorm         = "norm"
)

// Measured has the definition of each of these quantities.
var Measured = map[string]string{
	MeasuredSlope:        "slope of log ‖f_t − f*‖ over log t in the last decade",
	MeasuredDistance:     "‖f_T − f*‖/‖f*‖ at the end",
	MeasuredExcess:       "(R(f_T) − R(f*))/(R(0) − R(f*)) at the end",
	MeasuredDecadeGrowth: "M_T/M_{T/10}",
	MeasuredFloor:        "least ‖f_t − f*‖ in the last half",
	MeasuredFloorRadius:  "least ‖f_t − f*‖ in the last half relative to Δ (with σ² as measured)",
	MeasuredGrowth:       "mean model order of the last quarter relative to the quarter before",
	MeasuredOrder:        "largest M_t of all steps relative to M^∞ (the packing bound of the points' rectangle)",
	MeasuredSeparation:   "least ‖φ(d_j) − φ(d_k)‖ of any dictionary at a point relative to K√η/C",
	MeasuredRatio:        "largest ‖∇̃ − ∇̂‖/(ε_t/η_t) of all steps (by the projection's own account)",
	MeasuredDirect:       "largest ‖∇̃ − ∇̂‖/(ε_t/η_t) of one step in 499 and the first 500 (computed from f̃ and f alone)",
	MeasuredNorm:         "largest ‖f_t‖ of all points relative to CX/λ",
}
