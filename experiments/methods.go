package experiments

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// The tasks.
const (
	TaskKSVM = "ksvm" // multi-class kernel support vector machine
	TaskKLR  = "klr"  // multi-class kernel logistic regression
)

// The methods.
const (
	MethodPOLK = "polk"
	MethodBSGD = "bsgd"
	MethodFSGD = "fsgd"

	MethodCSVC    = "csvc"
	MethodLBFGS   = "lbfgs"
	MethodIVM     = "ivm"
	MethodNystrom = "nystrom"
	MethodRFF     = "rff"
)

// The values of hyper-parameters that are words.
const (
	ScheduleConstant      = "constant"
	ScheduleInverse       = "inverse"
	EpsilonParsimony      = "parsimony"
	EpsilonSquaredRate    = "squared-rate"
	MaintenanceRemoval    = "removal"
	MaintenanceProjection = "projection"
	MaintenanceMerging    = "merging"
	KernelGaussian        = "gaussian"
	KernelPolynomial      = "polynomial"
)

// A ParamKind is the type of a hyper-parameter's value.
type ParamKind string

// The kinds.
const (
	KindNumber  ParamKind = "number"
	KindInteger ParamKind = "integer"
	KindChoice  ParamKind = "choice"
)

// A MethodInfo describes a method that a spec can name.
type MethodInfo struct {
	Name     string      `json:"name"`
	Title    string      `json:"title"`
	About    string      `json:"about"`
	Tasks    []string    `json:"tasks"`
	Batch    bool        `json:"batch"`    // trains on the whole training set at once, not on a stream
	Seedless bool        `json:"seedless"` // depends on no seed, so that its runs on the same data are one
	Votes    bool        `json:"votes"`    // predicts by the votes of two-class models, so that it has no risk
	Row      string      `json:"-"`        // the tables' row, or its beginning, if it is not the name
	Params   []ParamInfo `json:"params"`
}

// row returns what the IDs of the method's rows in the tables begin with.
func (m *MethodInfo) row() string {
	if m.Row != "" {
		return m.Row
	}
	return m.Name
}

// A ParamInfo describes a hyper-parameter and the range of its values.
type ParamInfo struct {
	Name    string    `json:"name"`   // as in specs
	Symbol  string    `json:"symbol"` // as in legends; empty for a choice
	About   string    `json:"about"`
	Kind    ParamKind `json:"kind"`
	Choices []string  `json:"choices,omitempty"` // of a choice
	Above   *float64  `json:"above,omitempty"`   // values are greater than this
	Least   *float64  `json:"least,omitempty"`   // values are at least this
	Most    *float64  `json:"most,omitempty"`    // values are at most this
	Default string    `json:"default,omitempty"` // empty: must be given

	// unless it is nil, used says whether a run that has the parameters p
	// uses this one, and when words the condition.
	used func(p Params) bool
	when string
}

func bound(x float64) *float64 { return &x }

// largest bounds counts, so that products of them stay exact.
const largest = 1_000_000_000

var (
	paramLearningRate = ParamInfo{
		Name: "learning_rate", Symbol: "η", Kind: KindNumber, Above: bound(0),
		About: "η, or η₀ of the diminishing schedule; below 1/λ",
	}
	paramSchedule = ParamInfo{
		Name: "schedule", Kind: KindChoice, Choices: []string{ScheduleConstant, ScheduleInverse},
		Default: ScheduleConstant,
	}
	paramBatchSize = ParamInfo{
		Name: "batch_size", Symbol: "batch", Kind: KindInteger, Least: bound(1), Most: bound(largest),
		About: "samples a step",
	}
	paramRegularizer = ParamInfo{
		Name: "regularizer", Symbol: "λ", Kind: KindNumber, Above: bound(0),
		About: "λ; the spec's if not given",
	}
	paramBandwidth = ParamInfo{
		Name: "bandwidth", Symbol: "c", Kind: KindNumber, Above: bound(0),
		About: "c of the Gaussian kernel; the spec's if not given",
		used:  func(p Params) bool { return p.Kernel.Type == KernelGaussian },
		when:  "with a Gaussian kernel",
	}
)

var (
	paramHorizon = ParamInfo{
		Name: "horizon", Symbol: "t₀", Kind: KindNumber, Above: bound(0),
		About: "t₀ of the diminishing schedule, in steps",
		used:  func(p Params) bool { return p.Schedule == ScheduleInverse },
		when:  "with schedule: inverse",
	}
	paramTolerance = ParamInfo{Name: "tolerance", Symbol: "ε", Kind: KindNumber, Above: bound(0)}
	paramModelSize = ParamInfo{Name: "budget", Symbol: "M", Kind: KindInteger, Least: bound(1), Most: bound(largest)}
)

var methods = []MethodInfo{
	{
		Name: MethodPOLK, Title: "POLK",
		About: "parsimonious online learning with kernels (the paper's Algorithm 2)",
		Tasks: []string{TaskKSVM, TaskKLR},
		Params: []ParamInfo{
			paramLearningRate,
			paramSchedule.about("η_t = η, or η₀/(1 + t/t₀)"),
			paramHorizon,
			paramBatchSize,
			{
				Name: "epsilon", Kind: KindChoice, Choices: []string{EpsilonParsimony, EpsilonSquaredRate},
				Default: EpsilonParsimony,
				About:   "approximation budget: ε_t = K·η_t^{3/2}, or η_t²",
				used:    usesEpsilon,
				when:    "with a pruner that keeps to ε, as komp does",
			},
			{
				Name: "parsimony", Symbol: "K", Kind: KindNumber, Above: bound(0),
				About: "K of the approximation budget ε = K·η^{3/2}",
				used:  func(p Params) bool { return usesEpsilon(p) && p.Epsilon == "" },
				when:  "with a pruner that keeps to ε, as komp does, and epsilon: parsimony",
			},
			paramPruner,
			paramPrunerParams,
			paramRegularizer,
			paramBandwidth,
		},
	},
	{
		Name: MethodBSGD, Title: "BSGD",
		About: "budgeted stochastic gradient descent (Wang, Crammer, Vucetic 2012)",
		Tasks: []string{TaskKSVM},
		Params: []ParamInfo{
			paramLearningRate.usedWhen("with schedule: constant", func(p Params) bool { return p.Schedule == ScheduleConstant }),
			paramSchedule.about("η_t = η, or 1/(λt)"),
			{
				Name: "batch_size", Symbol: "batch", Kind: KindInteger, Least: bound(1), Most: bound(1), Default: "1",
				About: "samples a step; BSGD is defined for one",
			},
			{
				Name: "budget", Symbol: "B", Kind: KindInteger, Least: bound(1), Most: bound(largest),
				About: "B, the largest model order",
			},
			{
				Name: "maintenance", Kind: KindChoice,
				Choices: []string{MaintenanceRemoval, MaintenanceProjection, MaintenanceMerging},
				About:   "what is done when the budget is exceeded; merging needs a Gaussian kernel",
			},
			paramRegularizer,
			paramBandwidth,
		},
	},
	{
		Name: MethodFSGD, Title: "FSGD",
		About: "functional stochastic gradient descent: POLK that prunes nothing",
		Tasks: []string{TaskKSVM, TaskKLR},
		Params: []ParamInfo{
			paramLearningRate,
			paramSchedule.about("η_t = η, or η₀/(1 + t/t₀)"),
			paramHorizon,
			{
				Name: "batch_size", Symbol: "batch", Kind: KindInteger, Least: bound(1), Most: bound(1), Default: "1",
				About: "samples a step; FSGD is defined for one",
			},
			paramRegularizer,
			paramBandwidth,
		},
	},
	{
		Name: MethodCSVC, Title: "C-SVC", Row: "libsvm", Batch: true, Seedless: true, Votes: true,
		About: "C-SVC as LIBSVM defines it, one-vs-one with voting",
		Tasks: []string{TaskKSVM},
		Params: []ParamInfo{
			{Name: "cost", Symbol: "C", Kind: KindNumber, Above: bound(0), Default: "1", About: "C, the cost of a violated margin"},
			paramTolerance.about("ε of the stopping condition, the largest violation of the optimality conditions").withDefault("0.001"),
			paramBandwidth,
		},
	},
	{
		Name: MethodLBFGS, Title: "L-BFGS", Batch: true, Seedless: true,
		About: "batch kernel machine over all training points by L-BFGS",
		Tasks: []string{TaskKSVM, TaskKLR},
		Params: []ParamInfo{
			paramTolerance.about("largest duality gap, relative to the objective").withDefault("0.001"),
			{Name: "iterations", Symbol: "iterations", Kind: KindInteger, Least: bound(0), Most: bound(largest), Default: "0", About: "most iterations; 0 for as many as the tolerance asks for, at most 10,000"},
			paramRegularizer,
			paramBandwidth,
		},
	},
	{
		Name: MethodIVM, Title: "IVM", Batch: true,
		About: "import vector machine (Zhu and Hastie 2005)",
		Tasks: []string{TaskKLR},
		Params: []ParamInfo{
			{Name: "candidates", Symbol: "candidates", Kind: KindInteger, Least: bound(0), Most: bound(largest), Default: "0", About: "points tried at each import, drawn at random; 0 for all"},
			paramModelSize.about("most import points").withDefault("1000"),
			paramTolerance.about("least relative decrease of the objective that an import must bring").withDefault("0.001"),
			paramRegularizer,
			paramBandwidth,
		},
	},
	{
		Name: MethodNystrom, Title: "Nyström", Batch: true,
		About: "linear model on Nyström features, a method of today",
		Tasks: []string{TaskKSVM, TaskKLR},
		Params: []ParamInfo{
			paramModelSize.about("M, the number of landmarks"),
			paramTolerance.about("largest duality gap, relative to the objective").withDefault("0.01"),
			paramRegularizer,
			paramBandwidth,
		},
	},
	{
		Name: MethodRFF, Title: "RFF", Batch: true,
		About: "linear model on random Fourier features, a method of today",
		Tasks: []string{TaskKSVM, TaskKLR},
		Params: []ParamInfo{
			paramModelSize.about("M, the number of frequencies"),
			paramTolerance.about("largest duality gap, relative to the objective").withDefault("0.01"),
			paramRegularizer,
			paramBandwidth,
		},
	},
}

func (p ParamInfo) withDefault(s string) ParamInfo { p.Default = s; return p }

func (p ParamInfo) about(s string) ParamInfo { p.About = s; return p }

func (p ParamInfo) usedWhen(when string, used func(Params) bool) ParamInfo {
	p.when, p.used = when, used
	return p
}

// Methods returns the methods that specs can name.
func Methods() []MethodInfo { return slices.Clone(methods) }

// lookupMethod returns a method by name, or nil.
func lookupMethod(name string) *MethodInfo {
	i := slices.IndexFunc(methods, func(m MethodInfo) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &methods[i]
}

// param returns a method's hyper-parameter by name, or nil.
func (m *MethodInfo) param(name string) *ParamInfo {
	i := slices.IndexFunc(m.Params, func(p ParamInfo) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Params[i]
}

func (m *MethodInfo) paramNames() []string {
	var names []string
	for _, p := range m.Params {
		names = append(names, p.Name)
	}
	return names
}

// A setting is a hyper-parameter's value: a number, or a word for a choice.
type setting struct {
	number float64
	word   string
}

// String returns the value as it is shown: a number in its shortest form, an
// integer in digits.
func (s setting) String() string {
	if s.word != "" {
		return s.word
	}
	if s.number == math.Trunc(s.number) && math.Abs(s.number) < 1e15 {
		return strconv.FormatFloat(s.number, 'f', 0, 64)
	}
	return strconv.FormatFloat(s.number, 'g', -1, 64)
}

// check returns what is wrong with a value, or "".
func (p *ParamInfo) check(s setting) string {
	switch p.Kind {
	case KindPruner:
		return checkPruner(s.word)
	case KindPrunerParams: // checked with the pruner
		return ""
	case KindChoice:
		if !slices.Contains(p.Choices, s.word) {
			return fmt.Sprintf("%s is %q, want one of %s", p.Name, s.word, list(p.Choices))
		}
		return ""
	}
	bad := func(want string) string { return fmt.Sprintf("%s is %v, want %s", p.Name, s, want) }
	switch x := s.number; {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return bad("a finite number")
	case p.Above != nil && !(x > *p.Above):
		return bad(fmt.Sprintf("more than %v", setting{number: *p.Above}))
	case p.Least != nil && p.Most != nil && *p.Least == *p.Most && x != *p.Least:
		return bad(fmt.Sprintf("%v: %s", setting{number: *p.Least}, p.About))
	case p.Least != nil && !(x >= *p.Least):
		return bad(fmt.Sprintf("at least %v", setting{number: *p.Least}))
	case p.Most != nil && !(x <= *p.Most):
		return bad(fmt.Sprintf("at most %.0f", *p.Most))
	}
	return ""
}

// set stores a value under a hyper-parameter's name.
func (p *Params) set(name string, s setting) {
	switch name {
	case "learning_rate":
		p.LearningRate = s.number
	case "schedule":
		p.Schedule = s.word
	case "horizon":
		p.Horizon = s.number
	case "batch_size":
		p.BatchSize = int(s.number)
	case "epsilon":
		if p.Epsilon = s.word; p.Epsilon == EpsilonParsimony { // the paper's experiments' is not stored
			p.Epsilon = ""
		}
	case "parsimony":
		p.Parsimony = s.number
	case "pruner":
		p.setPruner(s)
	case "pruner_params":
		p.setPrunerParams(s)
	case "budget":
		p.Budget = int(s.number)
	case "maintenance":
		p.Maintenance = s.word
	case "cost":
		p.Cost = s.number
	case "tolerance":
		p.Tolerance = s.number
	case "iterations":
		p.Iterations = int(s.number)
	case "candidates":
		p.Candidates = int(s.number)
	case "regularizer":
		p.Regularizer = s.number
	case "bandwidth":
		p.Kernel.Bandwidth = s.number
	default:
		panic("experiments: no hyper-parameter " + name)
	}
}

// get returns the value under a hyper-parameter's name.
func (p *Params) get(name string) setting {
	switch name {
	case "learning_rate":
		return setting{number: p.LearningRate}
	case "schedule":
		return setting{word: p.Schedule}
	case "horizon":
		return setting{number: p.Horizon}
	case "batch_size":
		return setting{number: float64(p.BatchSize)}
	case "epsilon":
		return setting{word: cmp.Or(p.Epsilon, EpsilonParsimony)}
	case "parsimony":
		return setting{number: p.Parsimony}
	case "pruner":
		return setting{word: p.PrunerName()}
	case "pruner_params":
		return setting{word: p.PrunerParams.String()}
	case "budget":
		return setting{number: float64(p.Budget)}
	case "maintenance":
		return setting{word: p.Maintenance}
	case "cost":
		return setting{number: p.Cost}
	case "tolerance":
		return setting{number: p.Tolerance}
	case "iterations":
		return setting{number: float64(p.Iterations)}
	case "candidates":
		return setting{number: float64(p.Candidates)}
	case "regularizer":
		return setting{number: p.Regularizer}
	case "bandwidth":
		return setting{number: p.Kernel.Bandwidth}
	}
	panic("experiments: no hyper-parameter " + name)
}

// conflict returns which hyper-parameter of a run doesn't go with the others
// and why, or "". It completes the parameters of a pruner.
func (p *Params) conflict(method string) (param, why string) {
	if method == MethodPOLK {
		if param, why := p.completePruner(); why != "" {
			return param, why
		}
	}
	if rate := p.LearningRate; rate != 0 && !(rate*p.Regularizer < 1) {
		return "learning_rate", fmt.Sprintf("learning_rate is %v, want less than 1/λ = %v",
			setting{number: rate}, setting{number: 1 / p.Regularizer})
	}
	if method == MethodBSGD && p.Maintenance == MaintenanceMerging && p.Kernel.Type != KernelGaussian && p.Kernel.Type != "" {
		return "maintenance", fmt.Sprintf("merging is defined for the Gaussian kernel only, and the kernel is %s", p.Kernel.Type)
	}
	if method == MethodRFF && p.Kernel.Type == KernelPolynomial {
		return "budget", "random Fourier features are those of the Gaussian kernel, and the kernel is " + p.Kernel.Type
	}
	return "", ""
}

// list joins words for a message.
func list(words []string) string {
	out := ""
	for i, w := range words {
		if i > 0 {
			out += ", "
		}
		out += w
	}
	return out
}
