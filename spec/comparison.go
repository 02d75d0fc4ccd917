package spec

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"polkrepro/data"
	"polkrepro/internal/files"
	"polkrepro/internal/strictyaml"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// ComparisonFile is the embedded comparison's file.
const ComparisonFile = "pruning.yaml"

// A Comparison compares pruning heuristics on the same replicates of every data set, each heuristic
// over a grid of its size parameter. It is made by FindComparison or ParseComparison and not changed.
type Comparison struct {
	Name        string    `json:"name"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Reference   string    `json:"reference"`  // heuristic that the others are compared with
	Heuristics  []string  `json:"heuristics"` // names, the reference first; all registered heuristics unless the spec or its user names others
	DataSets    []DataSet `json:"-"`

	root   *strictyaml.Node
	opened map[*strictyaml.Node]opened // files of the data sets
}

// A DataSet is a data set with a task.
type DataSet struct {
	Name        string    `json:"name"` // name, such as multidist-ksvm
	Title       string    `json:"title"`
	Data        data.Ref  `json:"-"`
	Task        string    `json:"task"`
	StandsInFor string    `json:"stands_in_for"` // data set that this one replaces; empty if none
	Orders      []float64 `json:"orders"`        // model orders at which heuristics are compared, ascending

	drawn bool              // every replicate has a draw of its own
	work  map[string]amount // by profile; none that leaves the data set out
	at    *strictyaml.Node
}

// dataSetDoc is the layout of a data set. The keys that specs have too are checked in the specs that
// the data set expands into.
type dataSetDoc struct {
	DataSet
	Data         unread               `json:"data"`
	Drawn        bool                 `json:"drawn"`
	Bandwidth    unread               `json:"bandwidth"`
	LearningRate unread               `json:"learning_rate"`
	Regularizer  unread               `json:"regularizer"`
	BatchSize    unread               `json:"batch_size"`
	Budgets      map[string][]float64 `json:"budgets"` // values of the size parameter by heuristic or size parameter
	Profiles     map[string]amount    `json:"profiles"`
}

// unread is a value that is not looked at.
type unread struct{}

// DecodeNode implements strictyaml.Decoder.
func (*unread) DecodeNode(*strictyaml.Node, *strictyaml.Reporter) {}

// amount is the work that a profile does on a data set.
type amount struct {
	Samples    int `json:"samples"`
	Replicates int `json:"replicates"`
	Every      int `json:"every"` // number of samples between evaluations
}

// A ComparedRun is one run of a comparison.
type ComparedRun struct {
	Planned
	DataSet   string
	Heuristic string
	Value     float64 // of the heuristic's size parameter; 0 if it has none
	Replicate int     // from 1
}

// The evaluations of a run: the number of training examples for the
// training risk, which no comparison uses, and the number of evaluations that the
// final figures are averaged over.
const (
	comparisonTrainLimit = 500
	comparisonTail       = 5
)

// FindComparison returns the embedded comparison if the argument is empty, the
// comparison's name or its file's name, and otherwise the comparison in the file
// with the given path.
func FindComparison(nameOrPath string) (*Comparison, error) {
	switch nameOrPath {
	case "", "pruning", "experiments/" + ComparisonFile:
		f, _ := openEmbedded("", ComparisonFile) // a test reads it
		return ParseComparison(f.label, f.text)
	}
	src, err := readComparison(nameOrPath)
	if err != nil {
		return nil, err
	}
	return ParseComparison(nameOrPath, src)
}

func readComparison(path string) ([]byte, error) {
	src, err := files.ReadNamed(path, strictyaml.MaxSource)
	if err != nil {
		err = fmt.Errorf("can't read the comparison: %w", err)
	}
	return src, err
}

// ComparisonCommands returns the commands, by name, of the heuristics in a comparison's file
// that run as separate processes. They must be known before the file is parsed.
func ComparisonCommands(path string) (map[string]string, error) {
	src, err := readComparison(path)
	if err != nil {
		return nil, err
	}
	var commands map[string]string
	r := new(strictyaml.Reporter)
	if root := strictyaml.Parse(path, src, r); root != nil {
		if n := root.Get("commands"); n != nil {
			strictyaml.Decode(n, &commands, r)
		}
	}
	return commands, r.Err()
}

// ParseComparison reads a comparison from memory. The filename is for messages.
// An invalid comparison is reported as Errors.
func ParseComparison(filename string, src []byte) (*Comparison, error) {
	r := new(strictyaml.Reporter)
	var d struct {
		Comparison
		Commands map[string]string `json:"commands"` // read by ComparisonCommands
		DataSets []dataSetDoc      `json:"data_sets"`
	}
	root := strictyaml.DecodeFile(filename, src, &d, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	t, c := &d.Comparison, checks{Reporter: r}
	t.root, t.opened = root, make(map[*strictyaml.Node]opened)
	if why := checkPruner(t.Reference); why != "" {
		c.Errorf(root.At("reference"), "reference: %s", why)
	}
	for i, name := range t.Heuristics {
		if why := checkPruner(name); why != "" {
			c.Errorf(root.At("heuristics", i), "%s", why)
		}
	}
	if len(t.Heuristics) == 0 {
		t.Heuristics = prune.Names()
	}
	t.Heuristics = union([]string{t.Reference}, t.Heuristics)
	if len(d.DataSets) == 0 {
		c.Errorf(root, "no data sets")
	}
	for i := range d.DataSets {
		f := c.dataSet(root.At("data_sets", i), &d.DataSets[i])
		if slices.ContainsFunc(t.DataSets, func(g DataSet) bool { return g.Name == f.Name }) {
			c.Errorf(f.at, "duplicate data set name %q", f.Name)
		}
		t.DataSets = append(t.DataSets, f)
	}
	runs := make(map[string]int)
	for f, h := range t.entries() {
		if s := t.spec(f, h, r); s != nil {
			f.Data = s.Data
			for profile := range f.work {
				runs[profile] += s.count(s.work[profile])
			}
		}
	}
	for _, profile := range Profiles() {
		if n := runs[profile]; n > maxCompared {
			c.Errorf(root, "profile %s has %d runs, more than %d", profile, n, maxCompared)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// maxCompared keeps a mistyped comparison from planning an absurd amount of
// work.
const maxCompared = 100_000

// data set checks the keys of a data set that are not in the specs that it expands into.
func (c checks) dataSet(n *strictyaml.Node, d *dataSetDoc) DataSet {
	f := d.DataSet
	f.at, f.drawn, f.work = n, d.Drawn, d.Profiles
	if !nameText.MatchString(d.Name) {
		c.Errorf(n.At("name"), "data set name %q: want lower-case letters, digits and single hyphens", d.Name)
	}
	if !ascendingPositive(d.Orders) {
		c.Errorf(n.At("orders"), "orders are %v, want model orders greater than 0, ascending", d.Orders)
	}
	if d.Drawn && n.At("data").Get("train") != nil {
		c.Errorf(n.At("drawn"), "files have no draws")
	}
	most := 1000
	if d.Drawn {
		most = len(calibratedDraws())
	}
	if !c.given(n, "profiles") {
		return f
	}
	for _, p := range n.Get("profiles").Fields {
		if !slices.Contains(Profiles(), p.Key) {
			c.UnknownKey(p, Profiles())
		}
		if c.given(p.Value, "samples") && c.given(p.Value, "every") && c.given(p.Value, "replicates") {
			c.between(p.Value, "replicates", f.work[p.Key].Replicates, 1, most)
		}
	}
	return f
}

// ascendingPositive reports whether x is not empty and its numbers are positive,
// finite and in ascending order.
func ascendingPositive(x []float64) bool {
	for i, v := range x {
		if !(v > 0) || math.IsInf(v, 0) || i > 0 && v <= x[i-1] {
			return false
		}
	}
	return len(x) > 0
}

// With returns the comparison with only the reference and the heuristics of the
// given names.
func (t *Comparison) With(names []string) (*Comparison, error) {
	out := *t
	out.Heuristics = []string{t.Reference}
	for _, name := range names {
		if why := checkPruner(name); why != "" {
			return nil, errors.New(why)
		}
		out.Heuristics = union(out.Heuristics, []string{name})
	}
	return &out, nil
}

// Against returns the comparison with another reference.
func (t *Comparison) Against(name string) (*Comparison, error) {
	out := *t
	out.Reference = name
	return out.With(union([]string{name}, t.Heuristics))
}

// On returns the comparison with only the data sets for which pass returns true.
func (t *Comparison) On(pass func(DataSet) bool) *Comparison {
	out := *t
	out.DataSets = slices.DeleteFunc(slices.Clone(t.DataSets), func(f DataSet) bool { return !pass(f) })
	return &out
}

// Replicates returns how many replicates a data set has in a profile, 0 if the
// profile leaves it out.
func (f *DataSet) Replicates(profile string) int { return f.work[profile].Replicates }

// Samples returns how many training examples a run on a data set processes.
func (f *DataSet) Samples(profile string) int { return f.work[profile].Samples }

// Plan returns the runs of a comparison in a profile: data set after data set,
// heuristic after heuristic.
func (t *Comparison) Plan(profile string) ([]ComparedRun, error) {
	var plan []ComparedRun
	r := new(strictyaml.Reporter)
	for f, h := range t.entries() {
		s := t.spec(f, h, r)
		if s == nil {
			return nil, r.Err()
		}
		runs, err := s.Plan(profile, PlanOptions{})
		if err != nil {
			return nil, err
		}
		param, ok := h.SizeParam()
		for _, p := range runs {
			c := ComparedRun{Planned: p, DataSet: f.Name, Heuristic: h.Name, Replicate: int(p.Run.Seed)}
			c.Label, c.Series = "", h.Name
			if ok {
				c.Value = p.Run.Params.PrunerParams[param.Name]
				if h.Epsilon {
					c.Value = p.Run.Params.Parsimony
				}
				c.Series += ", " + param.Name + " = " + strconv.FormatFloat(c.Value, 'g', 4, 64)
			}
			c.Group = f.Name + " " + c.Series
			plan = append(plan, c)
		}
	}
	return plan, nil
}

// entries yields each heuristic on each data set. It skips unknown heuristics, which were
// reported earlier.
func (t *Comparison) entries() iter.Seq2[*DataSet, prune.Heuristic] {
	return func(yield func(*DataSet, prune.Heuristic) bool) {
		for i := range t.DataSets {
			for _, name := range t.Heuristics {
				if h, ok := prune.Lookup(name); ok && !yield(&t.DataSets[i], h) {
					return
				}
			}
		}
	}
}

// spec returns the spec of a heuristic's runs on a data set: POLK over a grid of the heuristic's
// size parameter. If the spec is invalid, it reports the errors and returns nil.
func (t *Comparison) spec(f *DataSet, h prune.Heuristic, r *strictyaml.Reporter) *Spec {
	n := f.at
	entry := keys{
		{"method", MethodPOLK}, {"pruner", h.Name}, {"learning_rate", n.Get("learning_rate")}, {"batch_size", n.Get("batch_size")},
		{"expected_order", float64(defaultOrder)},
	}
	param, ok := h.SizeParam()
	var fixed keys // pruner parameters other than the size parameter, with their defaults
	for _, p := range h.Params {
		if p.Default != nil && p.Name != param.Name {
			fixed = append(fixed, key{p.Name, *p.Default})
		}
	}
	switch values := f.values(h, param); {
	case !ok:
		entry = append(entry, key{"pruner_params", fixed})
	case h.Epsilon:
		entry = append(entry, key{"pruner_params", fixed}, key{"grid", keys{{param.Name, values}}})
	default:
		var points []any
		for _, v := range values.Items {
			points = append(points, tree(v, append(slices.Clip(fixed), key{param.Name, v})))
		}
		entry = append(entry, key{"grid", keys{{"pruner_params", tree(values, points)}}})
	}
	var profiles keys
	for _, name := range Profiles() {
		w, ok := f.work[name]
		if !ok {
			profiles = append(profiles, key{name, keys{{"skip", true}}})
			continue
		}
		at := n.At("profiles", name)
		repeats := []any{keys{{"seeds", at.Get("replicates")}}}
		if f.drawn {
			repeats = nil
			draws := calibratedDraws()
			for i, draw := range draws[:min(max(w.Replicates, 0), len(draws))] {
				repeats = append(repeats, keys{{"draws", []any{draw}}, {"seeds", []any{uint64(i + 1)}}})
			}
		}
		profiles = append(profiles, key{name, keys{
			{"stopping", keys{{"samples", at.Get("samples")}}}, {"evaluation", keys{{"every", at.Get("every")}}}, {"repeats", repeats},
		}})
	}
	s := specOf(tree(n, keys{
		{"name", t.root.Get("name")}, {"title", n.Get("title")}, {"task", n.Get("task")}, {"data", n.Get("data")},
		{"stands_in_for", n.Get("stands_in_for")}, {"regularizer", n.Get("regularizer")},
		{"kernel", keys{{"type", kernel.Gaussian{}.Name()}, {"bandwidth", n.Get("bandwidth")}}},
		{"methods", []any{entry}},
		{"stopping", keys{{"samples", 1}}}, // profiles have their own
		{"evaluation", keys{{"every", 1}, {"tail", comparisonTail}, {"train_limit", 0}}},
		{"profiles", profiles},
	}), checks{Reporter: r, opened: t.opened}, r.Len())
	if s == nil {
		return nil
	}
	for name, w := range s.work {
		w.evaluation.TrainLimit = comparisonTrainLimit // also for smaller data sets
		s.work[name] = w
	}
	return s
}

// values returns the values of a heuristic's size parameter on a data set: the data set's budgets for the
// heuristic, else for the size parameter. Without any, it returns the size parameter's Grid.
func (f *DataSet) values(h prune.Heuristic, param prune.Param) *strictyaml.Node {
	for _, name := range []string{h.Name, param.Name} {
		if given := f.at.Get("budgets").Get(name); given != nil {
			return given
		}
	}
	return tree(f.at, valuesOf(param.Grid, func(v float64) any { return v }))
}

// keys are the keys of a mapping, in order. A key whose value is a nil node is left out.
type keys []key

type key struct {
	name  string
	value any
}

// tree returns a value as a node with the position of at. Nodes within the value keep their
// own positions.
func tree(at *strictyaml.Node, value any) *strictyaml.Node {
	n := *at
	n.Text, n.Items, n.Fields = fmt.Sprint(value), nil, nil
	switch v := value.(type) {
	case *strictyaml.Node:
		return v
	case string:
		n.Kind = strictyaml.String
	case bool:
		n.Kind = strictyaml.Bool
	case int, uint64:
		n.Kind = strictyaml.Integer
	case float64:
		n.Kind = strictyaml.Number
	case []any:
		n.Kind = strictyaml.Sequence
		for _, item := range v {
			n.Items = append(n.Items, tree(at, item))
		}
	case keys:
		n.Kind = strictyaml.Mapping
		for _, k := range v {
			if child := tree(at, k.value); child != nil {
				n.Fields = append(n.Fields, strictyaml.Field{Key: k.name, At: at, Value: child})
			}
		}
	}
	return &n
}
