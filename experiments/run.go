package experiments

import (
	"fmt"

	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// A Run is one fully resolved training run: everything that determines its
// result and nothing else. Its ID is the hash of these fields.
type Run struct {
	Data       DataRef    `json:"data"`
	Task       string     `json:"task"`   // ksvm or klr
	Method     string     `json:"method"` // one of Methods
	Params     Params     `json:"params"`
	Seed       uint64     `json:"seed"`               // of the order in which the stream visits the training set
	Sampling   string     `json:"sampling,omitempty"` // SamplingReplacement, or empty: the training set in one order after another
	Samples    int        `json:"samples"`            // training examples to process, counting every visit; a batch method's training set
	Evaluation Evaluation `json:"evaluation"`
}

// SamplingReplacement is the Sampling of a run whose samples are drawn from the
// training set uniformly and with replacement.
const SamplingReplacement = "replacement"

// A DataRef names a data set and, for the generated ones, its variant and the
// seed of the draw.
type DataRef struct {
	Name    string `json:"name"`
	Variant string `json:"variant,omitempty"`
	Draw    uint64 `json:"draw,omitempty"`
}

// HasRisk reports whether the run's model has scores, and so a risk. It does
// not where the method predicts by the votes of two-class models.
func (r Run) HasRisk() bool {
	m := lookupMethod(r.Method)
	return m == nil || !m.Votes
}

// Batch reports whether the run's method trains on the whole training set at
// once, not on a stream.
func (r Run) Batch() bool {
	m := lookupMethod(r.Method)
	return m != nil && m.Batch
}

// Params are the hyper-parameters of a run. A field that a method does not
// use is zero.
type Params struct {
	Kernel       Kernel  `json:"kernel"`
	Regularizer  float64 `json:"regularizer"`           // λ
	LearningRate float64 `json:"learning_rate"`         // η, or η₀ of the diminishing schedule
	Schedule     string  `json:"schedule"`              // constant, or inverse: η_t = 1/(λt) for BSGD, η₀/(1 + t/t₀) for POLK
	Horizon      float64 `json:"horizon,omitempty"`     // t₀ of the diminishing schedule, in steps
	BatchSize    int     `json:"batch_size"`            // samples a step
	Epsilon      string  `json:"epsilon,omitempty"`     // squared-rate for ε_t = η_t², or empty for K·η_t^{3/2} (POLK)
	Parsimony    float64 `json:"parsimony,omitempty"`   // K of ε = K·η^{3/2} (POLK)
	Pruner       string  `json:"pruner,omitempty"`      // name of a heuristic; empty for the paper's KOMP (POLK)
	Budget       int     `json:"budget,omitempty"`      // the largest model order (BSGD, IVM), or the model order (Nyström, RFF)
	Maintenance  string  `json:"maintenance,omitempty"` // removal, projection or merging (BSGD)
	Cost         float64 `json:"cost,omitempty"`        // C (C-SVC)
	Tolerance    float64 `json:"tolerance,omitempty"`   // of the batch methods' stopping conditions
	Iterations   int     `json:"iterations,omitempty"`  // most iterations, 0 for as many as the tolerance asks for (L-BFGS)
	Candidates   int     `json:"candidates,omitempty"`  // points tried at each import, 0 for all (IVM)

	PrunerParams prune.Params `json:"pruner_params,omitempty"` // all that the pruner takes, by name (POLK)
}

// Rates returns the learning rates η_t of POLK and FSGD.
func (p Params) Rates() (polk.Schedule, error) {
	switch p.Schedule {
	case ScheduleConstant:
		return polk.Constant(p.LearningRate), nil
	case ScheduleInverse:
		return polk.Inverse{Initial: p.LearningRate, Horizon: p.Horizon}, nil
	}
	return nil, fmt.Errorf("no learning-rate schedule %q", p.Schedule)
}

// Budgets returns the approximation budgets ε_t of POLK. FSGD's are 0.
func (p Params) Budgets() polk.BudgetRule {
	if p.Epsilon == EpsilonSquaredRate {
		return polk.SquaredRate{}
	}
	return polk.Parsimony(p.Parsimony)
}

// A Kernel is κ with its parameters.
type Kernel struct {
	Type      string  `json:"type"`                // gaussian or polynomial
	Bandwidth float64 `json:"bandwidth,omitempty"` // c of exp(−‖x−x'‖²/(2c²))
	Offset    float64 `json:"offset,omitempty"`    // b of (xᵀx'+b)^c
	Degree    int     `json:"degree,omitempty"`    // c of (xᵀx'+b)^c
}

// Evaluation says when and on what a run is evaluated.
type Evaluation struct {
	Every      int `json:"every"`       // samples between two evaluations
	Tail       int `json:"tail"`        // evaluations spread over the last 5 % of the samples
	TrainLimit int `json:"train_limit"` // training risk is taken on the first this many training examples, 0 for all

	// Minimizer says that the run is measured against f*, the minimizer of the
	// training risk, at points that are evenly spaced on a logarithmic scale and
	// over the last half, in the place of Every and Tail.
	Minimizer bool `json:"minimizer,omitempty"`
}
