package convergence

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"polkrepro/evidence/stats"
)

// A Claim is what Table 1, or a proposition that it rests on, says, with the
// tests that records answer it by. Targets and margins follow from the paper's
// words and from the theory's rates, not from the runs.
type Claim struct {
	ID      string
	Section string
	Quote   string // in the paper's words
	tests   func(*Study) []Test
}

// A Test compares a statistic of runs with the interval in which it must lie.
type Test struct {
	ID       string
	Of       string // what the statistic is
	Low      float64
	High     float64
	Reason   string // of the target
	Estimate stats.Estimate
	Runs     int
	Verdict  stats.Verdict
	Note     string
}

// An Assessed is a claim with its tests' outcome: its verdict is the worst of
// theirs.
type Assessed struct {
	Claim
	Tests   []Test
	Verdict stats.Verdict
}

// Classes is the number of classes of multidist, and of functions f_c.
const Classes = 5

// Margins.
const (
	// near is a share of ‖f*‖, the distance of f_0: what the rate 1/√t from t₀
	// on leaves after 25,000 samples, the shortest run that is judged, is
	// √(200/25000) = 9 %.
	near = 0.1
	// nearRisk is a share of R(0) − R(f*): R is quadratic at f*.
	nearRisk = near * near
	// flat is a growth of the model order that is none: two elements of the
	// smallest dictionaries, of about 40.
	flat = 1.05
	// leastExponent in η counts as √η: 0.5 less what a floor that is measured
	// at finitely many points may miss.
	leastExponent = 0.4
	// rounding is what float64 may add to the ratio of an error to its budget,
	// both of them square roots of sums of squares.
	rounding = 1e-6
)

// claims lists all claims in the order of Table 1.
var claims = []Claim{
	{"table1.diminishing.convergence", "Table 1; Theorem theorem_diminishing",
		"f_t → f* a.s.", diminishingDistance},
	{"table1.diminishing.risk", "Theorem theorem_diminishing",
		"the objective function error sequence converges to null in infimum almost surely", diminishingRisk},
	{"table1.diminishing.order", "Table 1; section Iterate Convergence",
		"Model Order Guarantee: None; […] the model order of the resulting function sequence may grow arbitrarily", diminishingOrder},
	{"table1.constant.radius", "Theorem theorem_constant",
		"lim inf ‖f_t − f*‖ ≤ (√η/λ)(K + √(K² + λσ²)) a.s.", constantRadius},
	{"table1.constant.rate", "Table 1; Theorem theorem_constant",
		"lim inf ‖f_t − f*‖ = O(√η) a.s.", constantRate},
	{"table1.constant.order", "Table 1; Theorem theorem_model_order",
		"Model Order Guarantee: Finite; […] there exists a finite upper bound M^∞ such that, for all t ≥ 0, M_t ≤ M^∞", constantOrder},
	{"table1.constant.separation", "Proof of Theorem theorem_model_order",
		"for distinct dictionary points d_k and d_j, ‖φ(d_j) − φ(d_k)‖ > K√η/C", constantSeparation},
	{"table1.gradient", "Proposition prop1",
		"the difference between the projected stochastic functional gradient and the stochastic functional gradient of the regularized instantaneous risk […] is bounded for all t as ‖∇̃ − ∇̂‖ ≤ ε_t/η_t", gradientBound},
	{"table1.iterates", "Proposition prop_bounded",
		"‖f_t‖ ≤ CX/λ", iterateBound},
}

// assess judges all claims.
func assess(s *Study) []Assessed {
	var out []Assessed
	for _, c := range claims {
		a := Assessed{Claim: c, Tests: c.tests(s)}
		if len(a.Tests) == 0 {
			a.Verdict = stats.NotRun
		}
		for _, t := range a.Tests {
			a.Verdict = max(a.Verdict, t.Verdict)
		}
		out = append(out, a)
	}
	return out
}

// of returns the series of a method and regime.
func (s *Study) of(method, regime string) []Series {
	var out []Series
	for _, x := range s.Series {
		if x.Run.Method == method && x.Run.Regime == regime {
			out = append(out, x)
		}
	}
	return out
}

// settled reports whether runs of the series are long enough to say anything
// of t → ∞: 4/(ηλ) samples forget all but 2 % of the start; a diminishing rate
// has to have diminished, to a twentieth at least.
func (x Series) settled() bool {
	t := float64(x.Run.Samples)
	if x.Run.Regime == Diminishing {
		return t >= 20*x.Run.Horizon
	}
	return x.Run.Rate*x.Run.Regularizer*t >= 4
}

// judge completes a test by the mean of a statistic over the series' runs.
func (x Series) judge(t Test, of func(*Record) float64) Test {
	t.ID += "[" + x.Name + "]"
	switch {
	case len(x.Records) == 0:
		t.Verdict = stats.NotRun
		return t
	case !x.settled():
		t.Verdict, t.Note = stats.NotRun, fmt.Sprintf("%d samples are too few", x.Run.Samples)
		return t
	}
	return t.judge(x.Values(of))
}

// judge completes a test by the mean of one value a run.
func (t Test) judge(values []float64) Test {
	t.Runs, t.Estimate = len(values), stats.Mean(values)
	t.Verdict = stats.Judge(t.Estimate, t.Low, t.High)
	if t.Estimate.Basis == stats.Point {
		t.Note = "too few runs for an interval"
	}
	return t
}

// judgeAll completes a test of what must hold for every run, at every step or
// point, by its worst value.
func (x Series) judgeAll(t Test, worst func(...float64) float64, of func(*Record) float64) Test {
	t.ID += "[" + x.Name + "]"
	if len(x.Records) == 0 {
		t.Verdict = stats.NotRun
		return t
	}
	values := x.Values(of)
	v := worst(values...)
	t.Runs, t.Note = len(values), "the worst of all runs"
	t.Estimate = stats.Single(v)
	t.Verdict = stats.Judge(t.Estimate, t.Low, t.High)
	return t
}

func greatest(v ...float64) float64 { return slices.Max(v) }
func least(v ...float64) float64    { return slices.Min(v) }

func diminishingDistance(s *Study) []Test {
	var out []Test
	for _, x := range s.of(POLK, Diminishing) {
		out = append(out,
			x.judge(Test{ID: "slope", Of: "slope of log ‖f_t − f*‖ over log t in the last decade", Low: math.Inf(-1), High: 0,
				Reason: "the distance falls and goes on falling"}, (*Record).Exponent),
			x.judge(Test{ID: "final", Of: "‖f_T − f*‖/‖f*‖ at the end", High: near,
				Reason: "f_0 = 0 is at ‖f*‖"},
				func(r *Record) float64 { return r.last().Distance / r.Header.Problem.Norm }))
	}
	return out
}

func diminishingRisk(s *Study) []Test {
	var out []Test
	for _, x := range s.of(POLK, Diminishing) {
		out = append(out, x.judge(Test{ID: "final", Of: "(R(f_T) − R(f*))/(R(0) − R(f*)) at the end", Low: math.Inf(-1), High: nearRisk,
			Reason: "R is quadratic near f*: a share of the distance is less than that share of the risk"},
			func(r *Record) float64 {
				return r.last().Excess / (r.Header.Problem.Start - r.Header.Problem.Objective)
			}))
	}
	return out
}

func diminishingOrder(s *Study) []Test {
	var out []Test
	for _, x := range s.of(POLK, Diminishing) {
		out = append(out, x.judge(Test{ID: "growth", Of: "M_T/M_{T/10}", Low: flat, High: math.Inf(1),
			Reason: "what has no guarantee need not grow; that it does on a problem whose f* is not sparse shows that there is none"},
			(*Record).DecadeGrowth))
	}
	return out
}

// Radius returns Δ of the record's run, with σ² as measured.
func (r *Record) Radius() float64 {
	run := r.Header.Run
	return Radius(run.Rate, run.Parsimony, run.Regularizer, r.Variance(Classes))
}

func constantRadius(s *Study) []Test {
	var out []Test
	for _, x := range s.of(POLK, Constant) {
		t := x.judge(Test{ID: "floor", Of: "least ‖f_t − f*‖ in the last half, relative to Δ with σ² as measured", High: 1,
			Reason: "the bound itself"}, func(r *Record) float64 { return r.Floor() / r.Radius() })
		if len(x.Records) > 0 && x.Records[0].Radius() >= s.Problem.Norm {
			t.Note = "Δ is above ‖f*‖: f = 0 would pass"
		}
		out = append(out, t)
	}
	return out
}

func constantRate(s *Study) []Test {
	byK := map[float64][]Series{}
	var ks []float64
	for _, x := range s.of(POLK, Constant) {
		k := x.Run.Parsimony
		if byK[k] == nil {
			ks = append(ks, k)
		}
		byK[k] = append(byK[k], x)
	}
	var out []Test
	for _, k := range ks {
		out = append(out, rateTest(k, byK[k]))
	}
	return out
}

// rateTest fits an exponent to the floors of each seed at all rates.
func rateTest(k float64, series []Series) Test {
	t := Test{
		ID: "exponent[K = " + strconv.FormatFloat(k, 'g', -1, 64) + "]",
		Of: "slope of log (least ‖f_t − f*‖ in the last half) over log η", Low: leastExponent, High: math.Inf(1),
		Reason: "a floor of O(√η) falls at least as the root of η; 0.1 of the exponent is left to noise",
	}
	floors := map[uint64][]float64{}
	var rates []float64
	for _, x := range series {
		if !x.settled() {
			t.Verdict, t.Note = stats.NotRun, fmt.Sprintf("%d samples are too few for η = %g", x.Run.Samples, x.Run.Rate)
			return t
		}
		rates = append(rates, x.Run.Rate)
		for _, r := range x.Records {
			floors[r.Header.Run.Seed] = append(floors[r.Header.Run.Seed], r.Floor())
		}
	}
	var values []float64
	for seed := range uint64(series[0].Planned) {
		if v := floors[seed+1]; len(v) == len(rates) && len(v) > 1 {
			values = append(values, rateExponent(rates, v))
		}
	}
	if len(values) == 0 {
		t.Verdict = stats.NotRun
		return t
	}
	return t.judge(values)
}

func constantOrder(s *Study) []Test {
	var out []Test
	for _, x := range s.of(POLK, Constant) {
		out = append(out,
			x.judge(Test{ID: "growth", Of: "mean model order of the last quarter relative to the quarter before", High: flat,
				Reason: "a bounded order stops growing; five per cent are two elements of the smallest dictionary"}, (*Record).OrderGrowth),
			x.judgeAll(Test{ID: "bound", Of: "largest M_t of all steps relative to M^∞, the packing bound of the points' rectangle", High: 1,
				Reason: "the bound itself"}, greatest,
				func(r *Record) float64 {
					return float64(r.Summary.MaxOrder) / r.Header.Run.OrderBound(r.Header.Problem.Width, r.Header.Problem.Height)
				}))
	}
	return out
}

func constantSeparation(s *Study) []Test {
	var out []Test
	for _, x := range s.of(POLK, Constant) {
		out = append(out, x.judgeAll(Test{ID: "least", Of: "least ‖φ(d_j) − φ(d_k)‖ of any dictionary at a point, relative to K√η/C", Low: 1, High: math.Inf(1),
			Reason: "the bound itself"}, least,
			func(r *Record) float64 {
				return -r.largest(func(p Point) float64 {
					if p.Separation == 0 {
						return math.Inf(-1)
					}
					return -p.Separation
				}) / r.Header.Run.Separation()
			}))
	}
	return out
}

func gradientBound(s *Study) []Test {
	var out []Test
	for _, regime := range []string{Diminishing, Constant} {
		for _, x := range s.of(POLK, regime) {
			out = append(out,
				x.judgeAll(Test{ID: "steps", Of: "largest ‖∇̃ − ∇̂‖/(ε_t/η_t) of all steps, by the projection's own account", High: 1 + rounding,
					Reason: "the bound, and rounding"}, greatest, func(r *Record) float64 { return r.Summary.Ratio }),
				x.judgeAll(Test{ID: "direct", Of: "the same, computed from f̃ and f alone, of one step in 499 and the first 500", High: 1 + rounding,
					Reason: "the bound, and rounding"}, greatest, func(r *Record) float64 { return r.Summary.Direct }))
		}
	}
	return out
}

func iterateBound(s *Study) []Test {
	var out []Test
	for _, x := range append(s.of(POLK, Diminishing), s.of(POLK, Constant)...) {
		out = append(out, x.judgeAll(Test{ID: "norm", Of: "largest ‖f_t‖ of all points relative to CX/λ", High: 1, Reason: "the bound itself"}, greatest,
			func(r *Record) float64 {
				return r.largest(func(p Point) float64 { return p.Norm }) / r.Header.Run.IterateBound()
			}))
	}
	return out
}
