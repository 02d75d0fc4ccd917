package bench

import (
	"slices"

	"polkrepro/experiments"
	"polkrepro/harness"
)

// A method is one that takes part, with what is tried of it.
type method struct {
	name   string
	label  string   // if it is not the name
	pruner string   // of POLK
	fixed  string   // further settings, as in a spec; %rows stands for the number of rows, %small for the small order
	grid   string   // settings that are tried, as in a spec, of at most three digits
	found  []string // the names of these

	// cost is that of a batch method, in multiply-adds.
	cost func(z *sizes) float64
}

// The grids of POLK, whose bandwidth is the others': factors of the median distance between
// rows, and learning rates, which are smaller of the squared error, whose curvature is 1.
var (
	bandwidths = []float64{1.0 / 8, 1.0 / 4, 1.0 / 2, 1, 2}
	rates      = []float64{2, 8, 32, 128}
)

const squaredRate = 1.0 / 64 // over those of the other losses

// methods are those that take part where they fit the task. POLK comes first, with KOMP
// and with KOMP that merges: its K is found, not tried.
var methods = []method{
	{name: "polk"},
	{name: "polk", label: "komp-merge", pruner: "komp-merge"},
	{name: "bsgd", fixed: "maintenance: merging", grid: "learning_rate: [0.03, 0.125, 0.5, 2, 8]", found: []string{"learning_rate"}},
	{name: "norma", grid: "learning_rate: [0.125, 0.5, 2, 8], regularizer: [1e-6, 1e-3]", found: []string{"learning_rate", "regularizer"}},
	{name: "forgetron"},
	{name: "projectron", grid: "projection_error: [0.01, 0.03, 0.1, 0.3, 1]", found: []string{"projection_error"}},
	{name: "fogd", grid: "learning_rate: [0.03, 0.125, 0.5, 2]", found: []string{"learning_rate"}},
	{name: "rff-sgd", fixed: "schedule: inverse, horizon: %rows", grid: "learning_rate: [0.25, 1, 4, 16]", found: []string{"learning_rate"}},
	{name: "nogd", fixed: "rank: %small", grid: "learning_rate: [0.03, 0.125, 0.5, 2, 8]", found: []string{"learning_rate"}},
	{name: "nystrom-sgd", fixed: "schedule: inverse, horizon: %rows", grid: "learning_rate: [2, 8, 32, 128]", found: []string{"learning_rate"}},
	{name: "nystrom", cost: func(z *sizes) float64 { return z.features(1) }},
	{name: "rff", cost: func(z *sizes) float64 { return z.features(2) }},
	{name: "csvc", cost: func(z *sizes) float64 { return float64(z.rows) * float64(z.rows) * float64(z.dim+16) / 2 }},
	{name: "lbfgs", fixed: "tolerance: 0.01", cost: func(z *sizes) float64 { return float64(z.rows) * float64(z.rows) * float64(z.dim+16+1000*z.classes) }},
}

// features is what a batch method costs that is linear in so many features an order. Batch
// methods make hundreds of iterations, L-BFGS on the whole kernel matrix a thousand.
func (z *sizes) features(each float64) float64 {
	m := each * float64(z.order)
	return float64(z.rows)*m*float64(z.dim+300*z.classes) + float64(z.rows)*m*m
}

func (m *method) batch() bool { return m.cost != nil }

// fits reports whether a method learns a task.
func (m *method) fits(task string) bool {
	info, ok := harness.Methods()[m.name]
	return ok && slices.Contains(info.Tasks, task)
}

// called is what a spec calls the method.
func (m *method) called() string {
	if m.label != "" {
		return m.label
	}
	return m.name
}

// tries is about how many runs the search makes of a method.
func (m *method) tries() int {
	if m.name == experiments.MethodPOLK {
		return mostParsimony
	}
	return 2 * 5 // bandwidths and rates
}
