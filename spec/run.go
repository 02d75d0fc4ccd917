package spec

import (
	"fmt"
	"math"

	"polkrepro/data"
	"polkrepro/internal/lists"
	"polkrepro/polk"
)

// A Run is one fully resolved training run: everything that determines its
// result and nothing else. Its ID is the hash of these fields.
type Run struct {
	Data       data.Ref   `json:"data"`
	Task       string     `json:"task"`   // one of Tasks
	Method     string     `json:"method"` // one of Methods
	Params     Params     `json:"params"`
	Seed       uint64     `json:"seed"`               // seed of the order in which the stream visits the training set
	Sampling   string     `json:"sampling,omitempty"` // SamplingReplacement; empty if the stream visits the training set in one order after another
	Samples    int        `json:"samples"`            // number of training examples to process, counting every visit; for a batch method, the size of its training set
	Evaluation Evaluation `json:"evaluation"`

	// Code is [Run.PresentCode] of the program that planned the run.
	Code string `json:"code,omitempty"`
}

// SamplingReplacement is the Sampling of a run whose samples are drawn from the
// training set uniformly and with replacement.
const SamplingReplacement = "replacement"

// HasRisk reports whether the run's model has scores, and therefore a risk.
// Methods that predict by the votes of two-class models have neither.
func (r Run) HasRisk() bool {
	m := Method(r.Method)
	return m == nil || !m.Votes
}

// Batch reports whether the run's method trains on the whole training set at
// once, not on a stream.
func (r Run) Batch() bool {
	m := Method(r.Method)
	return m != nil && m.Batch
}

// Numbers returns how many numbers the run's learner keeps from one sample to the next
// at a model order ([MethodInfo.Numbers]). It is NaN for batch methods. facts, from
// [data.Set], has the number of features and classes of a user's files.
func (r Run) Numbers(order float64, facts map[string]float64) float64 {
	m := Method(r.Method)
	if m == nil || m.Numbers == nil {
		return math.NaN()
	}
	if dim, ok := facts["features"]; ok {
		return m.Numbers(r.Params, order, dim, facts["classes"])
	}
	set := lists.Find(data.List(), func(s *data.Info) bool { return s.Name == r.Data.Name })
	if set == nil {
		return math.NaN()
	}
	return m.Numbers(r.Params, order, float64(set.Dim), float64(set.Classes))
}

// Rates returns the learning rates η_t of POLK and FSGD.
func (p Params) Rates() (polk.Schedule, error) {
	switch p.Schedule {
	case ScheduleConstant:
		return polk.Constant(p.LearningRate), nil
	case ScheduleInverse:
		return polk.InverseTime{Initial: p.LearningRate, Horizon: p.Horizon}, nil
	}
	return nil, fmt.Errorf("unknown learning-rate schedule %q", p.Schedule)
}

// Budgets returns the approximation budgets ε_t of POLK. FSGD's are 0.
func (p Params) Budgets() polk.BudgetRule {
	if p.Epsilon == EpsilonSquaredRate {
		return polk.SquaredRate{}
	}
	return polk.Parsimony(p.Parsimony)
}

// Evaluation says when and on what a run is evaluated.
type Evaluation struct {
	Every      int `json:"every"`       // samples between two evaluations
	Tail       int `json:"tail"`        // number of evaluations spread over the last 5 % of the samples
	TrainLimit int `json:"train_limit"` // number of first training examples on which the training risk is computed; 0 for all

	// Minimizer says that the run is measured against f*, the minimizer of the training risk.
	// The points are evenly spaced on a logarithmic scale and over the last half of the run, and
	// replace Every and Tail.
	Minimizer bool `json:"minimizer,omitempty"`
}
