package doc

// Tournament is a comparison of pruning heuristics.
type Tournament struct {
	// The tournament's name: lower-case letters, digits and hyphens.
	Name string `json:"name"`
	// One line that says what it is.
	Title string `json:"title"`
	// What it is for.
	Description string `json:"description,omitempty"`
	// The heuristic that the others are compared with.
	Reference string `json:"reference"`
	// The heuristics that take part; all that are registered if missing.
	Heuristics []string `json:"heuristics,omitempty"`
	// Data sets with tasks.
	Fields []Field `json:"fields"`
}

// Field is a data set with a task.
type Field struct {
	// The field's name, such as multidist-ksvm.
	Name string `json:"name"`
	// One line that says what it is.
	Title string `json:"title"`
	// What is learned from.
	Data Data `json:"data"`
	// Whether every replicate has a calibrated draw of the data of its own.
	Drawn bool `json:"drawn,omitempty"`
	// A data set in whose place this one is used: the field is left out where that one is available.
	StandsInFor string `json:"stands_in_for,omitempty"`
	// What is learned.
	Task string `json:"task"`
	// c of the Gaussian kernel.
	Bandwidth float64 `json:"bandwidth"`
	// η.
	LearningRate float64 `json:"learning_rate"`
	// λ.
	Regularizer float64 `json:"regularizer"`
	// Samples a step.
	BatchSize int `json:"batch_size"`
	// Model orders at which heuristics are compared, ascending.
	Levels []float64 `json:"levels"`
	// Values of knobs for these data in place of the heuristics' own grids, by the name of a heuristic or of its knob.
	Budgets map[string][]float64 `json:"budgets,omitempty"`
	// What is run in which profile; one that is missing leaves the field out.
	Profiles FieldProfiles `json:"profiles"`
}

// FieldProfiles says what is run in which profile.
type FieldProfiles struct {
	Smoke *FieldProfile `json:"smoke,omitempty"`
	Quick *FieldProfile `json:"quick,omitempty"`
	Full  *FieldProfile `json:"full,omitempty"`
}

// FieldProfile is what is run on a field.
type FieldProfile struct {
	// Training examples that a run processes.
	Samples int `json:"samples"`
	// How many seeds, from 1 on.
	Replicates int `json:"replicates"`
	// Samples between evaluations.
	Every int `json:"every"`
	// How many values are put between two of a knob's grid, unless they are whole numbers.
	Refine int `json:"refine,omitempty"`
}
