package convergence

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/kernel"
	"polkrepro/polk"
)

// resultVersion is part of every run's identity. Raise it whenever a change
// makes a run's result differ from what it was.
const resultVersion = 1

// Methods of a run.
const (
	POLK = "polk" // Algorithm 2
	FSGD = "fsgd" // the same without projection: functional stochastic gradient descent (eq. sgd_hilbert)
)

// Regimes of a run: the columns of Table 1.
const (
	Diminishing = "diminishing" // η_t = η₀/(1 + t/t₀), ε_t = η_t²
	Constant    = "constant"    // η_t = η, ε = K·η^{3/2}
)

// The study's problem; see the package comment.
const (
	Regularizer = 0.01
	Bandwidth   = 0.6
)

// leastSamples is the least length of a run. Shorter ones say nothing, and
// their statistics would have no points.
const leastSamples = 1000

// A Run is all that determines the result of one run.
type Run struct {
	Method      string  `json:"method"` // POLK or FSGD
	Regime      string  `json:"regime"` // Diminishing or Constant
	Draw        uint64  `json:"draw"`   // of multidist's means and points
	Regularizer float64 `json:"regularizer"`
	Bandwidth   float64 `json:"bandwidth"`
	Rate        float64 `json:"rate"`                // η, or η₀
	Horizon     float64 `json:"horizon,omitempty"`   // t₀ of the diminishing regime
	Parsimony   float64 `json:"parsimony,omitempty"` // K of POLK in the constant regime
	Samples     int     `json:"samples"`
	Seed        uint64  `json:"seed"` // of the samples drawn: runs of one seed see the same ones
}

// ID returns the identity of the run: 16 bytes, in hexadecimal, of the SHA-256
// of its canonical JSON. It panics if a parameter is not a finite number.
func (r Run) ID() string {
	b, err := experiments.CanonicalJSON(struct {
		Version int `json:"version"`
		Run     Run `json:"run"`
	}{resultVersion, r})
	if err != nil {
		panic("convergence: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Series names the run without its seed.
func (r Run) Series() string {
	name := map[string]string{POLK: "POLK", FSGD: "FSGD"}[r.Method]
	switch {
	case r.Regime == Diminishing:
		return name + ", diminishing"
	case r.Method == FSGD:
		return fmt.Sprintf("%s, η = %g", name, r.Rate)
	}
	return fmt.Sprintf("%s, η = %g, K = %g", name, r.Rate, r.Parsimony)
}

// Kernel returns κ.
func (r Run) Kernel() kernel.Kernel { return kernel.Gaussian{Bandwidth: r.Bandwidth} }

// Schedule returns the learning rates η_t.
func (r Run) Schedule() polk.Schedule {
	if r.Regime == Diminishing {
		return polk.Inverse{Initial: r.Rate, Horizon: r.Horizon}
	}
	return polk.Constant(r.Rate)
}

// Budget returns the rule for ε_t; nothing is approximated by FSGD.
func (r Run) Budget() polk.BudgetRule {
	switch {
	case r.Method == FSGD:
		return polk.Parsimony(0)
	case r.Regime == Diminishing:
		return polk.SquaredRate{}
	}
	return polk.Parsimony(r.Parsimony)
}

// Ratio returns ε_t/η_t, the bound of Proposition prop1.
func (r Run) Ratio(t int) float64 {
	rate := r.Schedule().Rate(t)
	return r.Budget().Epsilon(rate) / rate
}

// Validate reports parameters that are not those of a run, among them learning
// rates that are not below 1/λ, the table's regularization condition.
func (r Run) Validate() error {
	switch {
	case r.Method != POLK && r.Method != FSGD:
		return fmt.Errorf("convergence: unknown method %q", r.Method)
	case r.Regime != Diminishing && r.Regime != Constant:
		return fmt.Errorf("convergence: unknown regime %q", r.Regime)
	case r.Samples < leastSamples:
		return fmt.Errorf("convergence: %d samples, want at least %d", r.Samples, leastSamples)
	case r.Method == POLK && r.Regime == Constant && !(r.Parsimony > 0):
		return fmt.Errorf("convergence: parsimony constant %v is not a number > 0", r.Parsimony)
	case !(r.Regularizer > 0) || math.IsInf(r.Regularizer, 1):
		return fmt.Errorf("convergence: regularizer %v is not a number > 0", r.Regularizer)
	}
	if err := r.Schedule().Validate(r.Regularizer); err != nil {
		return fmt.Errorf("convergence: %w", err)
	}
	if err := r.Budget().Validate(); err != nil {
		return fmt.Errorf("convergence: %w", err)
	}
	return r.Kernel().Validate()
}

// Marks returns when a run is measured, in samples: eight times a decade from
// ten on, and twenty times, evenly spread, in the last half.
func (r Run) Marks() []int {
	marks := []int{r.Samples}
	for i := 8; ; i++ {
		m := int(math.Round(math.Pow(10, float64(i)/8)))
		if m >= r.Samples {
			break
		}
		marks = append(marks, m)
	}
	for i := range 21 {
		marks = append(marks, r.Samples-r.Samples/40*i)
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// A share is a part of a profile's plan.
type share struct {
	method, regime string
	rates          []float64
	parsimony      float64
	samples, seeds int
}

// The learning rates are half a decade apart, and the two K a decade. The
// larger K makes small dictionaries; with the smaller, that of the paper's
// Multi-Logistic task on multidist, Δ is below ‖f*‖ and so says something.
// η₀·t₀ = 2/λ: twice what strongly convex descent needs for the rate 1/√t.
const (
	largeK, smallK = 0.3, 0.03
	initialRate    = 1
	initialHorizon = 2 / Regularizer
)

var profiles = map[string][]share{
	experiments.ProfileSmoke: {
		{POLK, Diminishing, nil, 0, 3000, 1},
		{POLK, Constant, []float64{0.3, 0.1}, largeK, 3000, 1},
		{FSGD, Diminishing, nil, 0, 3000, 1},
	},
	experiments.ProfileQuick: {
		{POLK, Diminishing, nil, 0, 25_000, 3},
		{POLK, Constant, []float64{0.3, 0.1, 0.03}, largeK, 40_000, 3},
		{POLK, Constant, []float64{0.3, 0.1, 0.03}, smallK, 30_000, 3},
		{FSGD, Diminishing, nil, 0, 25_000, 1},
		{FSGD, Constant, []float64{0.3, 0.1, 0.03}, 0, 30_000, 1},
	},
	experiments.ProfileFull: {
		{POLK, Diminishing, nil, 0, 1_000_000, 3},
		{POLK, Constant, []float64{0.3, 0.1, 0.03}, largeK, 1_000_000, 5},
		{POLK, Constant, []float64{0.3, 0.1, 0.03}, smallK, 200_000, 5},
		{FSGD, Diminishing, nil, 0, 1_000_000, 3},
		{FSGD, Constant, []float64{0.3, 0.1, 0.03}, 0, 200_000, 5},
	},
}

// Plan returns the runs of a profile.
func Plan(profile string) ([]Run, error) {
	shares, ok := profiles[profile]
	if !ok {
		return nil, fmt.Errorf("convergence: unknown profile %q", profile)
	}
	var plan []Run
	for _, s := range shares {
		plan = append(plan, s.runs()...)
	}
	return plan, nil
}

// runs returns the runs of the share, by rate and seed.
func (s share) runs() []Run {
	run := Run{
		Method: s.method, Regime: s.regime, Draw: data.FigureDraw().Seed,
		Regularizer: Regularizer, Bandwidth: Bandwidth, Parsimony: s.parsimony, Samples: s.samples,
	}
	rates := s.rates
	if s.regime == Diminishing {
		rates, run.Horizon = []float64{initialRate}, initialHorizon
	}
	var out []Run
	for _, rate := range rates {
		for seed := range s.seeds {
			run.Rate, run.Seed = rate, uint64(seed+1)
			out = append(out, run)
		}
	}
	return out
}
