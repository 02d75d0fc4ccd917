package experiments

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"polkrepro/data"
	"polkrepro/polk"
)

// A Run is one fully resolved training run: everything that determines its
// result and nothing else. Its ID is the hash of these fields.
type Run struct {
	Data       data.Ref   `json:"data"`
	Task       string     `json:"task"`   // one of Tasks
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

// HasRisk reports whether the run's model has scores, and so a risk. It does
// not where the method predicts by the votes of two-class models.
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

// Rates returns the learning rates η_t of POLK and FSGD.
func (p Params) Rates() (polk.Schedule, error) {
	switch p.Schedule {
	case ScheduleConstant:
		return polk.Constant(p.LearningRate), nil
	case ScheduleInverse:
		return polk.Inverse{Initial: p.LearningRate, Horizon: p.Horizon}, nil
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
	Tail       int `json:"tail"`        // evaluations spread over the last 5 % of the samples
	TrainLimit int `json:"train_limit"` // training risk is taken on the first this many training examples, 0 for all

	// Minimizer says that the run is measured against f*, the minimizer of the
	// training risk, at points that are evenly spaced on a logarithmic scale and
	// over the last half, in the place of Every and Tail.
	Minimizer bool `json:"minimizer,omitempty"`
}

// ResultVersion is part of every run's identity. Raise it whenever a change
// makes a run's result differ from what it was (an algorithm, a generator, the
// order of the stream, what an evaluation computes), so that older records are
// no longer taken for the same run.
const ResultVersion = 2

// ID returns the identity of a run: the first 16 bytes, in lower-case
// hexadecimal, of the SHA-256 of the canonical JSON of the run and
// ResultVersion. It panics if a parameter is not a finite number.
func ID(run Run) string {
	b, err := CanonicalJSON(struct {
		ResultVersion int `json:"result_version"`
		Run           Run `json:"run"`
	}{ResultVersion, run})
	if err != nil {
		panic("experiments: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// CanonicalJSON returns the JSON of v in a form that depends on its contents
// only: no white space, the keys of every object sorted, numbers as
// encoding/json writes them, no HTML escapes. Reordering the fields of a struct
// does not change it.
func CanonicalJSON(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
