// Package doc holds the layout of the YAML files of specs as Go
// types: what a key is called and what kind of value it takes. Its comments are
// the descriptions in spec/schema.json. Hyper-parameters are in the table of
// package spec.
package doc

import "polkrepro/internal/strictyaml"

// Spec is an experiment: data, task, methods with their hyper-parameters, and
// which table cells and figures the runs feed.
type Spec struct {
	// Files that this file builds on, with paths relative to it. They are merged in order, key by key, and this file is merged last; a list replaces a list.
	Include []string `json:"include,omitempty"`
	// The spec's name, as given on the command line: lower-case letters, digits and hyphens.
	Name string `json:"name,omitempty" jsonschema:"pattern=^[a-z0-9]+(-[a-z0-9]+)*$"`
	// Specs that differ from this one in the keys given, by name: each is a spec called after this one and the name, such as mnist-ksvm.
	Variants map[string]Variant `json:"variants,omitempty" jsonschema:"minProperties=1"`
	// Combinations of data and task, or methods of them, that are left out.
	Exclude []Exclusion `json:"exclude,omitempty"`
	// Title, on one line.
	Title string `json:"title,omitempty"`
	// Purpose of the experiment and source of its numbers.
	Description string `json:"description,omitempty"`
	// Task that is learned, or a list of tasks: each gives a spec of its own, without the methods that do not fit.
	Task string `json:"task,omitempty"`
	// Data that the task is learned from, or a list: each item gives a spec of its own.
	Data *Data `json:"data,omitempty"`
	// Data set that this one replaces: the spec is left out where that data set is available, unless the spec is named.
	StandsInFor string `json:"stands_in_for,omitempty"`
	// Supplementary table that shows the spec's runs. The spec is not part of the reproduction, and is run only when it is named.
	Supplement string `json:"supplement,omitempty" jsonschema:"enum=public-data,enum=equal-memory,enum=open-questions"`
	// Default kernel of the methods.
	Kernel *Kernel `json:"kernel,omitempty"`
	// Default λ of the methods.
	Regularizer *float64 `json:"regularizer,omitempty" jsonschema:"exclusiveMinimum=0"`
	// Comparison of pruning heuristics in place of methods, for "runall compare".
	Compare *Compare `json:"compare,omitempty"`
	// Defaults of the entries of methods, by method.
	Defaults map[string]Defaults `json:"defaults,omitempty"`
	// Methods to run.
	Methods []Method `json:"methods,omitempty" jsonschema:"minItems=1"`
	// Methods that are added to those of the included files, or to those that a variant builds on.
	AddMethods []Method `json:"add_methods,omitempty" jsonschema:"minItems=1"`
	// Order of the samples: the training set in one random order after another (epochs) or samples drawn uniformly with replacement; epochs if missing.
	Sampling string `json:"sampling,omitempty" jsonschema:"enum=epochs,enum=replacement"`
	// Draws of the data and seeds over which each method is repeated; once with seed 1 if missing.
	Repeats Repeats `json:"repeats,omitempty"`
	// When a run ends.
	Stopping *Stopping `json:"stopping,omitempty"`
	// When and on what a run is evaluated.
	Evaluation *Evaluation `json:"evaluation,omitempty"`
	// Differences in the profiles.
	Profiles *Profiles `json:"profiles,omitempty"`
}

// Compare says which pruning heuristics are compared, and how. Each runs POLK, with the settings under defaults, over a grid of its size parameter.
type Compare struct {
	// Heuristic that the others are compared with.
	Reference string `json:"reference,omitempty"`
	// Heuristics to compare; all if missing.
	Heuristics []string `json:"heuristics,omitempty"`
	// Commands, by name, of heuristics that run as separate processes.
	Commands map[string]string `json:"commands,omitempty"`
	// Model orders at which heuristics are compared, ascending.
	Orders []float64 `json:"orders,omitempty"`
	// Values of the size parameter, by heuristic or by size parameter; the values in its own list if missing.
	Values map[string][]float64 `json:"values,omitempty"`
}

// Variant holds the keys in which a variant differs from its file's spec.
type Variant struct{}

// Exclusion matches specs by their data set and task, and methods by their label.
type Exclusion struct {
	// Name of the data set; any if missing.
	Data string `json:"data,omitempty"`
	// Task; any if missing.
	Task string `json:"task,omitempty"`
	// Label of the method that is left out; the whole spec if missing.
	Method string `json:"method,omitempty"`
}

// Data names a data set, or a user's files.
type Data struct {
	// The data set's name, one of those that "runall list datasets" prints; for files, a name for them, derived from the name of the training file if missing.
	Name string `json:"name,omitempty"`
	// The variant of a generated data set; the default variant if missing.
	Variant string `json:"variant,omitempty"`

	// The keys below are for files with examples. The contents of the files, not their names,
	// are part of the runs' identity. Paths are relative to the spec's folder.

	// The file with the training examples. Text, IDX and NPY files may be compressed by gzip. An array of an NPZ archive is named after a colon: digits.npz:x_train.
	Train string `json:"train,omitempty"`
	// The file with the labels of the training examples, for IDX, NPY and NPZ.
	TrainLabels string `json:"train_labels,omitempty"`
	// The file with the test examples, read like the training file.
	Test string `json:"test,omitempty"`
	// The file with the labels of the test examples, for IDX, NPY and NPZ.
	TestLabels string `json:"test_labels,omitempty"`
	// The files' format; implied by the ending of the training file's name if missing, LIBSVM if the ending implies none.
	Format string `json:"format,omitempty"`
	// The column of the labels in a CSV or TSV file: its name in the header, or its number, 1 for the first and -1 for the last.
	Label *Column `json:"label,omitempty"`
	// Columns to leave out, by name or number.
	Ignore []Column `json:"ignore,omitempty"`
	// Columns to use as features although they seem to number the rows, by name or number.
	Keep []Column `json:"keep,omitempty"`
	// Columns of words or codes, by name or number: each level becomes a feature, 1 in its rows and 0 in others.
	Categories []Column `json:"categories,omitempty"`
	// Character between the columns of a CSV file; if missing, a comma, or a semicolon if all lines agree.
	Delimiter string `json:"delimiter,omitempty"`
	// Decimal sign of the numbers in tables; if missing, a point, or a comma between semicolons if all lines agree.
	Decimal string `json:"decimal,omitempty" jsonschema:"enum=.,enum=\\,"`
	// Rows of tables in which a value is missing are refused, left out (drop), or filled in with the means of the columns in the training examples (mean); refused if missing.
	Missing string `json:"missing,omitempty"`
	// Whether the indices of LIBSVM files start at 0; at 1 if missing.
	ZeroBased bool `json:"zero_based,omitempty"`
	// Whether CSV and TSV files have a header; detected if missing.
	Header string `json:"header,omitempty"`
	// Scaling of the features, fitted on the training examples; none if missing.
	Scale string `json:"scale,omitempty"`
	// Fraction of the training file's rows that are held out for testing, in place of a test file.
	Holdout *float64 `json:"holdout,omitempty" jsonschema:"exclusiveMinimum=0"`
	// Seed of the rows that are held out; 1 if missing.
	SplitSeed *uint64 `json:"split_seed,omitempty" jsonschema:"minimum=1"`
	// Whether the rows are ordered by time: then the last ones are held out, also where settings are sought, not random ones.
	Ordered bool `json:"ordered,omitempty"`
}

// Column is a column of a table: its name in the header (text), or its number.
type Column struct {
	Name   string
	Number int
}

// DecodeNode implements strictyaml.Decoder.
func (c *Column) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	switch n.Kind {
	case strictyaml.String:
		if strictyaml.Decode(n, &c.Name, r); c.Name == "" {
			r.Errorf(n, "a column without a name is given by its number, 1 for the first or -1 for the last")
		}
	case strictyaml.Integer:
		if strictyaml.Decode(n, &c.Number, r); n.Text == "0" {
			r.Errorf(n, "columns are numbered from 1, or from the last by -1; quote the name of a column that is a number")
		}
	default:
		r.Errorf(n, "a column is its name in the header or its number")
	}
}

// Kernel is a kernel with its parameters.
type Kernel struct {
	// The kind of kernel.
	Type string `json:"type,omitempty"`
	// c of exp(−‖x−x'‖²/(2c²)).
	Bandwidth float64 `json:"bandwidth,omitempty" jsonschema:"exclusiveMinimum=0"`
	// b of (xᵀx'+b)^c.
	Offset float64 `json:"offset,omitempty" jsonschema:"minimum=0"`
	// c of (xᵀx'+b)^c.
	Degree int `json:"degree,omitempty" jsonschema:"minimum=1"`
	// Parameters of any other kernel, by the names in its JSON.
	Params map[string]float64 `json:"params,omitempty"`
}

// Settings are hyper-parameters. Each method takes only some of them.
type Settings struct {
	strictyaml.Rest `json:"-"`
}

// Defaults holds default values for the entries of a method.
type Defaults struct {
	Settings
	// See Method.
	Series string `json:"series,omitempty"`
	// See Method.
	ExpectedOrder *float64 `json:"expected_order,omitempty" jsonschema:"exclusiveMinimum=0"`
}

// Method is a method to run, once for every combination in its grid.
type Method struct {
	// The method's name, one of those that "runall list methods" prints.
	Method string `json:"method" jsonschema:"required"`
	// Label that distinguishes two entries of the same method; the method's name if missing.
	Label string `json:"label,omitempty" jsonschema:"pattern=^[a-z0-9]+(-[a-z0-9]+)*$"`
	Settings
	// Values to combine, each with each.
	Grid *Grid `json:"grid,omitempty"`
	// Properties of some points of the grid.
	Points []Point `json:"points,omitempty" jsonschema:"minItems=1"`
	Feeds
}

// Feeds says what the results of a method or of a grid point are for.
type Feeds struct {
	// Name of the series in legends; a hyper-parameter in braces stands for its value. If missing, the method and the hyper-parameters that its grid varies.
	Series string `json:"series,omitempty"`
	// Table cells of the paper that the results feed. A spec that is not embedded feeds none.
	Cells []string `json:"cells,omitempty"`
	// Figures of the paper that the results feed. A spec that is not embedded feeds none.
	Figures []string `json:"figures,omitempty"`
	// Expected model order, used only to estimate how long a run takes.
	ExpectedOrder *float64 `json:"expected_order,omitempty" jsonschema:"exclusiveMinimum=0"`
}

// Grid holds the values that a method's runs combine.
type Grid Settings

// Point holds the properties of some points of a method's grid.
type Point struct {
	// Values that select the points.
	At *Settings `json:"at" jsonschema:"required"`
	Feeds
}

// Repeat says over which draws of the data and which seeds runs are repeated.
type Repeat struct {
	// Labels of the methods that are repeated this way; all if missing.
	Only []string `json:"only,omitempty" jsonschema:"minItems=1"`
	// Number of samples of a run, in place of stopping.
	Samples *int `json:"samples,omitempty" jsonschema:"minimum=1"`
	// Draws of a generated data set: their seeds, "calibrated" or "figure". For a file with a holdout, a list of split seeds.
	Draws *Draws `json:"draws,omitempty"`
	// Number of calibrated draws to use, from the first.
	Count *int `json:"count,omitempty" jsonschema:"minimum=1"`
	// Whether the first draw has seed 1, the second seed 2 and so on, in place of all seeds for each draw.
	Paired bool `json:"paired,omitempty"`
	// Seeds of the stream's order: a list, or n for 1 … n; 1 if missing. For a file with a holdout, the split differs with the seed unless split_seed, draws or ordered is given.
	Seeds *Seeds `json:"seeds,omitempty"`
	// Purpose of these runs. Grid points that feed no cell, or no figure, are left out accordingly. If missing, the runs are for both, and no grid point is left out.
	Feeds string `json:"feeds,omitempty" jsonschema:"enum=cells,enum=figures,enum=both"`
}

// Repeats are one or several ways to repeat runs.
type Repeats []Repeat

// DecodeNode implements strictyaml.Decoder.
func (s *Repeats) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	if n.Kind == strictyaml.Mapping {
		*s = make(Repeats, 1)
		strictyaml.Decode(n, &(*s)[0], r)
		return
	}
	strictyaml.Decode(n, (*[]Repeat)(s), r)
}

// Stopping says when a run ends. Exactly one of its keys is given.
type Stopping struct {
	// Number of samples as a multiple of the training set's size.
	Epochs *float64 `json:"epochs,omitempty" jsonschema:"exclusiveMinimum=0"`
	// Number of samples.
	Samples *int `json:"samples,omitempty" jsonschema:"minimum=1"`
}

// Evaluation says when and on what a run is evaluated.
type Evaluation struct {
	// Number of samples between two evaluations; a twentieth of a run's samples if missing.
	Every *int `json:"every,omitempty" jsonschema:"minimum=1"`
	// Number of evaluations spread over the last 5 % of the samples; 5 if missing.
	Tail *int `json:"tail,omitempty" jsonschema:"minimum=1"`
	// Number of first training examples on which the training risk is computed; 0 for all. If missing, 10,000, or all if there are fewer.
	TrainLimit *int `json:"train_limit,omitempty" jsonschema:"minimum=0"`
	// Whether runs are measured against the minimizer of the training risk, at points evenly spaced on a logarithmic scale and over the last half of the run, in place of every and tail.
	Minimizer bool `json:"minimizer,omitempty"`
}

// Profiles are the named amounts of work.
type Profiles struct {
	// A few minutes: shows that everything runs.
	Smoke *Profile `json:"smoke,omitempty"`
	// The main job.
	Quick *Profile `json:"quick,omitempty"`
	// With repetitions wherever they are informative.
	Full *Profile `json:"full,omitempty"`
}

// Profile holds the differences of a profile from the spec.
type Profile struct {
	// Whether the profile skips the spec.
	Skip bool `json:"skip,omitempty"`
	// Labels of the methods to run; all if missing.
	Only []string `json:"only,omitempty" jsonschema:"minItems=1"`
	// Repeats in place of the spec's.
	Repeats Repeats `json:"repeats,omitempty"`
	// Stopping in place of the spec's.
	Stopping *Stopping `json:"stopping,omitempty"`
	// Keys that override those of the spec's evaluation.
	Evaluation *Evaluation `json:"evaluation,omitempty"`
}

// Draws are draws of a generated data set.
type Draws struct {
	Named string   // calibrated or figure, or empty
	Seeds []uint64 // if not named
}

// The names that Draws can have.
const (
	DrawsCalibrated = "calibrated"
	DrawsFigure     = "figure"
)

// DecodeNode implements strictyaml.Decoder.
func (d *Draws) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	switch {
	case n.Kind == strictyaml.Sequence:
		strictyaml.Decode(n, &d.Seeds, r)
	case n.Kind == strictyaml.String && (n.Text == DrawsCalibrated || n.Text == DrawsFigure):
		d.Named = n.Text
	default:
		r.Errorf(n, "draws are a list of integers, %q or %q", DrawsCalibrated, DrawsFigure)
	}
}

// Seeds are seeds of the order in which a stream visits the training set.
type Seeds struct {
	N    int      // 1 … N, or 0
	List []uint64 // if N is 0
}

// DecodeNode implements strictyaml.Decoder.
func (s *Seeds) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	switch n.Kind {
	case strictyaml.Sequence:
		strictyaml.Decode(n, &s.List, r)
	case strictyaml.Integer:
		strictyaml.Decode(n, &s.N, r)
	default:
		r.Errorf(n, "seeds are a list of integers, or an integer n for 1 … n")
	}
}
