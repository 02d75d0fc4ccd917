package spec

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"polkrepro/internal/lists"
	"polkrepro/internal/strictyaml"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
	"polkrepro/spec/internal/doc"
)

// Params are the hyper-parameters of a run. A field that a method does not use is zero. Each has
// a row in the table below, which describes it.
type Params struct {
	Kernel       Kernel  `json:"kernel"`
	Regularizer  float64 `json:"regularizer"`
	LearningRate float64 `json:"learning_rate"`
	Schedule     string  `json:"schedule"` // ScheduleConstant or ScheduleInverse
	Horizon      float64 `json:"horizon,omitempty"`
	BatchSize    int     `json:"batch_size"`
	Epsilon      string  `json:"epsilon,omitempty"` // empty for EpsilonParsimony
	Parsimony    float64 `json:"parsimony,omitempty"`
	Pruner       string  `json:"pruner,omitempty"` // empty for the paper's KOMP
	Budget       int     `json:"budget,omitempty"`
	Maintenance  string  `json:"maintenance,omitempty"`
	Cost         float64 `json:"cost,omitempty"`
	Multiclass   string  `json:"multiclass,omitempty"` // empty for MulticlassPairs
	Tolerance    float64 `json:"tolerance,omitempty"`
	Iterations   int     `json:"iterations,omitempty"`
	Candidates   int     `json:"candidates,omitempty"`

	PrunerParams prune.Params `json:"pruner_params,omitempty"` // all parameters of the pruner, by name

	// Own holds, by name, the hyper-parameters that no other method takes: see ParamInfo.
	Own prune.Params `json:"own,omitempty"`
}

// A Kernel is κ with its parameters.
type Kernel = kernel.Spec

// The names of learning-rate schedules.
const (
	ScheduleConstant = "constant" // η_t = η
	ScheduleInverse  = "inverse"  // η_t = 1/(λt) for BSGD, η₀/(1 + t/t₀) for POLK
)

// The names of approximation budgets.
const (
	EpsilonParsimony   = "parsimony"    // ε_t = K·η_t^{3/2}
	EpsilonSquaredRate = "squared-rate" // ε_t = η_t²
)

// The names of the multi-class schemes of C-SVC.
const (
	MulticlassPairs = "one-vs-one" // one problem for each pair of classes, and a vote
	MulticlassRest  = "one-vs-all" // one problem for each class against the others
)

// A ParamKind is the type of a hyper-parameter's value.
type ParamKind string

// The kinds. The settings of the last two are words: the name of the pruner, and
// the text of its prune.Params.
const (
	KindNumber       ParamKind = "number"
	KindInteger      ParamKind = "integer"
	KindChoice       ParamKind = "choice"
	KindPruner       ParamKind = "pruner"
	KindPrunerParams ParamKind = "parameters"
)

// A ParamInfo describes a hyper-parameter and the range of its values. Methods take the
// hyper-parameters that [Param] returns, which they may modify, and additional numbers with
// unique names, whose kind is KindNumber or KindInteger.
type ParamInfo struct {
	Name    string    `json:"name"`   // name, as in specs
	Symbol  string    `json:"symbol"` // symbol, as in legends; empty for a choice
	About   string    `json:"about"`
	Kind    ParamKind `json:"kind"`
	Choices []string  `json:"choices,omitempty"` // words that a choice can have
	Above   *float64  `json:"above,omitempty"`   // values are greater than this
	Least   *float64  `json:"least,omitempty"`   // values are at least this
	Most    *float64  `json:"most,omitempty"`    // values are at most this
	Default string    `json:"default,omitempty"` // default value; empty if the hyper-parameter must be given

	// Used, unless nil, reports whether a run with the parameters p uses this one, and
	// When states the condition in words.
	Used func(p Params) bool `json:"-"`
	When string              `json:"-"`

	// field returns where the value is stored; nil for a method's own.
	field func(p *Params) any

	// implied is a word that is stored as none: a run whose spec names it is the run
	// whose spec does not.
	implied string
}

// largest bounds counts, so that products of them stay exact.
const largest = 1_000_000_000

// parameters is the table of all hyper-parameters that methods share. Decoding,
// ranges, grids, labels, answers of the ledgers and the schema are derived from it.
var parameters = []ParamInfo{
	{
		Name: "learning_rate", Symbol: "η", Kind: KindNumber, Above: prune.Bound(0),
		About: "η, or η₀ of the diminishing schedule; below 1/λ",
		field: func(p *Params) any { return &p.LearningRate },
	},
	{
		Name: "schedule", Kind: KindChoice, Choices: []string{ScheduleConstant, ScheduleInverse}, Default: ScheduleConstant,
		About: "how the learning rate develops",
		field: func(p *Params) any { return &p.Schedule },
	},
	{
		Name: "horizon", Symbol: "t₀", Kind: KindNumber, Above: prune.Bound(0),
		About: "t₀ of the diminishing schedule, in steps",
		Used:  func(p Params) bool { return p.Schedule == ScheduleInverse },
		When:  "with schedule: inverse",
		field: func(p *Params) any { return &p.Horizon },
	},
	{
		Name: "batch_size", Symbol: "batch", Kind: KindInteger, Least: prune.Bound(1), Most: prune.Bound(largest),
		About: "samples a step",
		field: func(p *Params) any { return &p.BatchSize },
	},
	{
		Name: "epsilon", Kind: KindChoice, Choices: []string{EpsilonParsimony, EpsilonSquaredRate}, Default: EpsilonParsimony,
		About: "approximation budget: ε_t = K·η_t^{3/2}, or η_t²",
		Used:  usesEpsilon,
		When:  "with a pruner that keeps to ε, as komp does",
		field: func(p *Params) any { return &p.Epsilon }, implied: EpsilonParsimony,
	},
	{
		Name: "parsimony", Symbol: "K", Kind: KindNumber, Above: prune.Bound(0),
		About: "K of the approximation budget ε = K·η^{3/2}",
		Used:  func(p Params) bool { return usesEpsilon(p) && p.Epsilon == "" },
		When:  "with a pruner that keeps to ε, as komp does, and epsilon: parsimony",
		field: func(p *Params) any { return &p.Parsimony },
	},
	{
		Name: "pruner", Kind: KindPruner, Default: prune.KOMP,
		About: "what keeps the dictionary small, one of those that \"runall list pruners\" prints",
		field: func(p *Params) any { return &p.Pruner }, implied: prune.KOMP,
	},
	{
		Name: "pruner_params", Kind: KindPrunerParams, Default: "{}",
		About: "what the pruner takes, by name",
		field: func(p *Params) any { return &p.PrunerParams },
	},
	{
		Name: "budget", Symbol: "M", Kind: KindInteger, Least: prune.Bound(1), Most: prune.Bound(largest),
		About: "the largest model order, or the model order of methods that fix it",
		field: func(p *Params) any { return &p.Budget },
	},
	{
		Name: "maintenance", Kind: KindChoice, Choices: []string{"removal", "projection", "merging", "keep-newest"},
		About: "what is done when the budget is exceeded; merging needs a Gaussian kernel",
		field: func(p *Params) any { return &p.Maintenance },
	},
	{
		Name: "cost", Symbol: "C", Kind: KindNumber, Above: prune.Bound(0),
		About: "C, the cost of a violated margin",
		field: func(p *Params) any { return &p.Cost },
	},
	{
		Name: "multiclass", Kind: KindChoice, Choices: []string{MulticlassPairs, MulticlassRest}, Default: MulticlassPairs,
		About: "one problem for each pair of classes and a vote, or one for each class against the others and the largest decision value",
		field: func(p *Params) any { return &p.Multiclass }, implied: MulticlassPairs,
	},
	{
		Name: "tolerance", Symbol: "ε", Kind: KindNumber, Above: prune.Bound(0),
		About: "of a batch method's stopping condition",
		field: func(p *Params) any { return &p.Tolerance },
	},
	{
		Name: "iterations", Symbol: "iterations", Kind: KindInteger, Least: prune.Bound(0), Most: prune.Bound(largest),
		About: "most iterations; 0 for as many as the tolerance asks for",
		field: func(p *Params) any { return &p.Iterations },
	},
	{
		Name: "candidates", Symbol: "candidates", Kind: KindInteger, Least: prune.Bound(0), Most: prune.Bound(largest),
		About: "points tried at each import, drawn at random; 0 for all",
		field: func(p *Params) any { return &p.Candidates },
	},
	{
		Name: "regularizer", Symbol: "λ", Kind: KindNumber, Above: prune.Bound(0),
		About: "λ; the spec's if not given",
		field: func(p *Params) any { return &p.Regularizer },
	},
	{
		Name: "bandwidth", Symbol: "c", Kind: KindNumber, Above: prune.Bound(0), Least: prune.Bound(1e-154), Most: prune.Bound(1e154), // so that 1/(2c²) is finite
		About: "c of the Gaussian kernel; the spec's if not given",
		Used:  func(p Params) bool { return slices.Contains(kernel.Takes(p.Kernel.Type), "bandwidth") },
		When:  "with a Gaussian kernel",
		field: func(p *Params) any { return &p.Kernel.Bandwidth },
	},
}

// Param returns a hyper-parameter of the table, for a method to take. It panics
// if there is none of that name.
func Param(name string) ParamInfo {
	p := shared(name)
	if p == nil {
		panic("spec: no hyper-parameter " + name)
	}
	return *p
}

// shared returns a row of the table, nil if there is none of that name.
func shared(name string) *ParamInfo {
	return lists.Find(parameters, func(p *ParamInfo) bool { return p.Name == name })
}

// WithAbout returns the parameter with another description.
func (p ParamInfo) WithAbout(about string) ParamInfo { p.About = about; return p }

// WithSymbol returns the parameter with another symbol.
func (p ParamInfo) WithSymbol(symbol string) ParamInfo { p.Symbol = symbol; return p }

// WithDefault returns the parameter with a default.
func (p ParamInfo) WithDefault(value string) ParamInfo { p.Default = value; return p }

// UsedWhen returns the parameter with a condition under which a run uses it, given in
// words and as a function.
func (p ParamInfo) UsedWhen(when string, used func(Params) bool) ParamInfo {
	p.When, p.Used = when, used
	return p
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

// isNumber reports whether the values are numbers, not words.
func (p *ParamInfo) isNumber() bool { return p.Kind == KindNumber || p.Kind == KindInteger }

// read returns the value of a node of a spec. The node's type must have been checked.
func (p *ParamInfo) read(n *strictyaml.Node) setting {
	switch p.Kind {
	case KindNumber, KindInteger:
		x, _ := n.Float()
		return setting{number: x}
	case KindPrunerParams:
		params := make(prune.Params)
		for _, f := range n.Fields {
			if x, ok := f.Value.Float(); ok {
				params[f.Key] = x
			}
		}
		return setting{word: params.String()}
	}
	return setting{word: n.Text}
}

// fallback returns the default value, as if a spec had given it.
func (p *ParamInfo) fallback() setting {
	return p.read(&strictyaml.Node{Kind: strictyaml.Number, Text: p.Default})
}

// check returns why a value is invalid, or "".
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
	want := prune.CheckValue(prune.Param{Integer: p.Kind == KindInteger, Above: p.Above, Least: p.Least, Most: p.Most}, s.number)
	if want == "" {
		return ""
	}
	if p.Least != nil && p.Most != nil && *p.Least == *p.Most { // only one value is allowed, for the reason in About
		want = fmt.Sprintf("%v: %s", setting{number: *p.Least}, p.About)
	}
	return fmt.Sprintf("%s is %v, want %s", p.Name, s, want)
}

// store puts the value into p.
func (q *ParamInfo) store(p *Params, s setting) {
	if q.field == nil {
		p.Own = maps.Clone(p.Own) // other runs may share it
		if delete(p.Own, q.Name); s.number != 0 {
			if p.Own == nil {
				p.Own = make(prune.Params)
			}
			p.Own[q.Name] = s.number
		}
		if len(p.Own) == 0 {
			p.Own = nil
		}
		return
	}
	switch to := q.field(p).(type) {
	case *float64:
		*to = s.number
	case *int:
		*to = int(s.number)
	case *string:
		if *to = s.word; s.word == q.implied {
			*to = ""
		}
	case *prune.Params:
		all, err := prune.ParseParams(s.word)
		if err != nil {
			panic("spec: " + err.Error())
		}
		*to = all
	}
}

// Set sets a numeric hyper-parameter by its name in specs. Some method must take it.
func (p *Params) Set(name string, v float64) { known(name).store(p, setting{number: v}) }

// load returns the value in p.
func (q *ParamInfo) load(p *Params) setting {
	if q.field == nil {
		return setting{number: p.Own[q.Name]}
	}
	switch from := q.field(p).(type) {
	case *float64:
		return setting{number: *from}
	case *int:
		return setting{number: float64(*from)}
	case *string:
		if q.implied != "" {
			return setting{word: cmp.Or(*from, q.implied)}
		}
		return setting{word: *from}
	default:
		return setting{word: p.PrunerParams.String()}
	}
}

// known returns the hyper-parameter with the given name, or nil if no method takes it.
func known(name string) *ParamInfo {
	if p := shared(name); p != nil {
		return p
	}
	for i := range methods {
		if p := methods[i].param(name); p != nil {
			return p
		}
	}
	return nil
}

// knownNames returns the names of all hyper-parameters: first those of the table,
// then those that methods have of their own.
func knownNames() []string {
	names := valuesOf(parameters, func(p ParamInfo) string { return p.Name })
	for i := range methods {
		names = union(names, methods[i].paramNames())
	}
	return names
}

// typed returns a pointer to a variable of the type that values have in a spec.
func (p *ParamInfo) typed() any {
	switch {
	case p.field != nil:
		return p.field(new(Params))
	case p.Kind == KindInteger:
		return new(int)
	}
	return new(float64)
}

// PrunerName returns the name of the run's pruner.
func (p *Params) PrunerName() string { return cmp.Or(p.Pruner, prune.KOMP) }

// heuristic returns the pruner of a run.
func (p *Params) heuristic() prune.Heuristic {
	h, _ := prune.Lookup(p.PrunerName())
	return h
}

// usesEpsilon reports whether the run's pruner keeps to the budget ε.
func usesEpsilon(p Params) bool { return p.heuristic().Epsilon }

// checkPruner returns why the name of a pruner is invalid, or "".
func checkPruner(name string) string {
	if _, ok := prune.Lookup(name); ok {
		return ""
	}
	return fmt.Sprintf("unknown pruner %q, want one of %s (for your own, see docs/adding-a-pruner.md)", name, list(prune.Names()))
}

// completePruner fills in the defaults of the pruner's parameters. It returns a
// hyper-parameter that is incompatible with the others, and the reason, or "".
func (p *Params) completePruner() (param, why string) {
	h := p.heuristic()
	all, err := h.Complete(p.PrunerParams)
	if err != nil {
		return "pruner_params", err.Error()
	}
	if p.PrunerParams = all; len(all) == 0 {
		p.PrunerParams = nil
	}
	if h.Gaussian && !slices.Contains([]string{"", kernel.Gaussian{}.Name()}, p.Kernel.Type) {
		return "pruner", fmt.Sprintf("pruner %s is defined for the Gaussian kernel only, and the kernel is %s", h.Name, p.Kernel.Type)
	}
	return "", ""
}

// A Point holds some hyper-parameters of a run by name, as they are shown.
type Point map[string]string

// DecodeNode implements strictyaml.Decoder.
func (p *Point) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	var at doc.Settings
	strictyaml.Decode(n, &at, r)
	before := r.Len()
	if settingsOf(at.Rest, false, r); r.Len() > before {
		return
	}
	*p = make(Point)
	for _, f := range at.Fields {
		(*p)[f.Key] = known(f.Key).read(f.Value).String()
	}
}

// Matches reports whether a run's hyper-parameters are those of the point.
func (p Point) Matches(params *Params) bool {
	for name, value := range p {
		if known(name).load(params).String() != value {
			return false
		}
	}
	return true
}
