package experiments

// A Run is one fully resolved training run: everything that determines its
// result and nothing else. Its ID is the hash of these fields.
type Run struct {
	Data       DataRef    `json:"data"`
	Task       string     `json:"task"`   // one of Tasks
	Method     string     `json:"method"` // one of Methods
	Params     Params     `json:"params"`
	Seed       uint64     `json:"seed"`    // of the order in which the stream visits the training set
	Samples    int        `json:"samples"` // training examples to process, counting every visit; a batch method's training set
	Evaluation Evaluation `json:"evaluation"`
}

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
	m := Method(r.Method)
	return m == nil || !m.Votes
}

// Batch reports whether the run's method trains on the whole training set at
// once, not on a stream.
func (r Run) Batch() bool {
	m := Method(r.Method)
	return m != nil && m.Batch
}

// Evaluation says when and on what a run is evaluated.
type Evaluation struct {
	Every      int `json:"every"`       // samples between two evaluations
	Tail       int `json:"tail"`        // evaluations spread over the last 5 % of the samples
	TrainLimit int `json:"train_limit"` // training risk is taken on the first this many training examples, 0 for all
}
