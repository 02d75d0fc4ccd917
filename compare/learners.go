package compare

import "cmp"

// A method is a method of the comparison, with the hyper-parameters to search.
type method struct {
	name   string
	label  string   // label in the spec; empty: the name
	pruner string   // POLK's pruner
	fixed  []string // further settings as keys and values; %rows stands for the number of rows, %small for the small order
	axes   []axis
	work   float64 // multiply-adds of a sample for each number that its learner keeps; 0: one
	drawn  bool    // its elements are frequencies, which a step uses and the seed gives, so that they are not counted as kept

	// cost returns the multiply-adds of a batch method; nil for other methods.
	cost func(z *sizes) float64
}

// The axes that methods share. The bandwidth is relative to the median distance between
// rows.
var (
	width  = axis{"bandwidth", 0.5, 2}
	lambda = axis{"regularizer", 1e-6, 100}

	inverse = []string{"schedule", "inverse", "horizon", "%rows"}
)

func rate(start float64) axis { return axis{"learning_rate", start, 4} }

const squaredRate = 1.0 / 64 // factor of learning rates for the squared error, whose curvature is 1

// methods holds all methods; those that fit the task take part. POLK comes first, with KOMP and
// with merging KOMP. Both stop at a model order, because an error budget leads to an order that
// depends on the length of the stream.
var methods = []method{
	{name: "polk", pruner: "komp-order", axes: []axis{width, rate(8), lambda}},
	{name: "polk", label: "komp-merge", pruner: "komp-merge-order", axes: []axis{width, rate(8), lambda}},
	{name: "bsgd", fixed: []string{"maintenance", "merging"}, axes: []axis{width, rate(0.5), lambda}},
	{name: "krls", axes: []axis{width, {"noise", 0.01, 10}}, work: 6},
	{name: "norma", axes: []axis{width, rate(2), lambda}},
	{name: "forgetron", axes: []axis{width}},
	{name: "projectron", axes: []axis{width, {"projection_error", 0.1, 4}}},
	{name: "fogd", drawn: true, axes: []axis{width, rate(0.5)}},
	{name: "rff-sgd", drawn: true, fixed: inverse, axes: []axis{width, rate(4), lambda}},
	{name: "nogd", fixed: []string{"rank", "%small"}, axes: []axis{width, rate(0.5)}},
	{name: "nystrom-sgd", fixed: inverse, axes: []axis{width, rate(8), lambda}},
	{name: "nystrom", axes: []axis{width, {"regularizer", 1e-5, 10}}, cost: (*sizes).features},
	{name: "csvc", axes: []axis{width, {"cost", 8, 8}}, cost: func(z *sizes) float64 { return float64(z.rows) * float64(z.rows) * float64(z.dim+16) / 2 }},
	{name: "lbfgs", fixed: []string{"tolerance", "0.01"}, axes: []axis{width, {"regularizer", 1e-5, 10}}, cost: func(z *sizes) float64 { return float64(z.rows) * float64(z.rows) * float64(z.dim+16+1000*z.classes) }},
}

// features returns the multiply-adds of a batch method that is linear in as many features as the
// model order. Batch methods make hundreds of iterations, L-BFGS on the whole kernel matrix a
// thousand.
func (z *sizes) features() float64 {
	m := float64(z.order)
	return float64(z.rows)*m*float64(z.dim+300*z.classes) + float64(z.rows)*m*m
}

func (m *method) batch() bool { return m.cost != nil }

// called returns the label of the method in a spec.
func (m *method) called() string { return cmp.Or(m.label, m.name) }
