package spec

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/internal/files"
	"polkrepro/internal/strictyaml"
	"polkrepro/polk/prune"
	"polkrepro/spec/internal/doc"
)

// ComparisonFile is the embedded comparison's file.
const ComparisonFile = "pruning.yaml"

// A Comparison compares pruning heuristics on the same replicates of every data set, each heuristic
// over a grid of its size parameter. It is the specs of a file that have the key compare. It is made
// by FindComparison or ParseComparison. Only Plan changes it: it describes data sets.
type Comparison struct {
	Name       string
	Title      string
	Reference  string   // heuristic that the others are compared with
	Heuristics []string // names, the reference first; all registered heuristics unless the spec or its user names others
	DataSets   []DataSet

	root   *strictyaml.Node
	checks checks
}

// A DataSet is a data set with a task.
type DataSet struct {
	Name        string // name, such as multidist-ksvm
	Title       string
	Data        data.Ref
	Task        string
	StandsInFor string    // data set that this one replaces; empty if none
	Orders      []float64 // model orders at which heuristics are compared, ascending

	values map[string]*strictyaml.Node // values of the size parameter by heuristic or size parameter
	root   *strictyaml.Node            // the spec without compare
	work   map[string]work             // by profile
}

// A ComparedRun is one run of a comparison.
type ComparedRun struct {
	Planned
	DataSet   string
	Heuristic string
	Value     float64 // of the heuristic's size parameter; 0 if it has none
	Replicate int     // from 1
}

// FindComparison returns the embedded comparison if the argument is empty, the
// comparison's name or its file's name, and otherwise the comparison in the file
// with the given path, with overrides.
func FindComparison(nameOrPath string, set ...Override) (*Comparison, error) {
	switch nameOrPath {
	case "", "pruning", experiments.Folder + ComparisonFile:
		f, err := openEmbedded("", ComparisonFile)
		if err != nil {
			return nil, err
		}
		return parseComparison(f, openEmbedded, set)
	}
	f, open, err := onDisk(nameOrPath)
	if err != nil {
		return nil, err
	}
	defer open.root.Close()
	return parseComparison(f, open.open, set)
}

// ComparisonCommands returns the commands, by name, of the heuristics in a comparison's file
// that run as separate processes. They must be known before the file is parsed.
func ComparisonCommands(path string) (map[string]string, error) {
	src, err := files.ReadNamed(path, strictyaml.MaxSource)
	if err != nil {
		return nil, err
	}
	commands := make(map[string]string)
	r := new(strictyaml.Reporter)
	if root := strictyaml.Parse(path, src, r); root != nil {
		for _, e := range (&expander{r, root}).specs() {
			var own map[string]string
			if n := e.root.Get("compare").Get("commands"); n != nil {
				strictyaml.Decode(n, &own, r)
			}
			maps.Copy(commands, own)
		}
	}
	return commands, r.Err()
}

// ParseComparison reads a comparison from memory. The filename is for messages.
// An invalid comparison is reported as Errors.
func ParseComparison(filename string, src []byte) (*Comparison, error) {
	return parseComparison(source{label: filename, id: filename, text: src}, openEmbedded, nil)
}

func parseComparison(f source, open opener, set Overrides) (*Comparison, error) {
	r := new(strictyaml.Reporter)
	in := includer{open: open, r: r}
	t := &Comparison{root: in.load(f), checks: checks{Reporter: r, own: true}}
	if t.root == nil {
		return nil, r.Err()
	}
	t.Name, t.Title = textOf(t.root.Get("name")), textOf(t.root.Get("title"))
	for _, e := range set.expand(t.root, "", r) {
		if r.Len() == 0 {
			t.add(e)
		}
	}
	if r.Len() == 0 {
		t.check()
	}
	t.Name += set.String()
	if err := r.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// add adds the data set of one of the file's specs. The first one says which heuristics are compared.
func (t *Comparison) add(e expansion) {
	n := e.root.Get("compare")
	if n == nil {
		t.checks.Errorf(e.root, "missing key %q: this is no comparison of pruning heuristics", "compare")
		return
	}
	var d doc.Spec
	if strictyaml.Decode(e.root, &d, t.checks.Reporter); t.checks.Len() > 0 {
		return
	}
	c := d.Compare
	if m := e.root.Get("methods"); m != nil {
		t.checks.Errorf(m, "a comparison has no methods: the heuristics run POLK with the settings under defaults")
	}
	if !ascendingPositive(c.Orders) {
		t.checks.Errorf(n.At("orders"), "orders are %v, want model orders greater than 0, ascending", c.Orders)
	}
	if len(t.DataSets) == 0 {
		t.heuristics(n, c)
	}
	f := DataSet{Name: strings.TrimPrefix(d.Name, t.Name+"-"), Title: e.title(), StandsInFor: d.StandsInFor, Task: d.Task, Orders: c.Orders}
	if f.Name == d.Name { // the only one
		f.Name = itemName("data", e.root.At("data"))
		f.Title = f.Name + ", " + LossOf(d.Task)
	}
	f.values, f.root = make(map[string]*strictyaml.Node), e.root.Without("compare")
	for name := range c.Values {
		at := n.Get("values").Field(name)
		if names := sizeParams(); !slices.Contains(names, name) && checkPruner(name) != "" {
			t.checks.Errorf(at.At, "values of %q: want a heuristic, or a size parameter: %s", name, list(names))
		}
		f.values[name] = at.Value
	}
	t.DataSets = append(t.DataSets, f)
}

// sizeParams returns the names of the size parameters of all heuristics.
func sizeParams() (names []string) {
	for _, h := range prune.All() {
		if param, ok := h.SizeParam(); ok {
			names = union(names, []string{param.Name})
		}
	}
	return names
}

// heuristics sets the heuristics of a comparison.
func (t *Comparison) heuristics(n *strictyaml.Node, c *doc.Compare) {
	if t.Reference = c.Reference; t.checks.given(n, "reference") {
		if why := checkPruner(t.Reference); why != "" {
			t.checks.Errorf(n.At("reference"), "reference: %s", why)
		}
	}
	for i, name := range c.Heuristics {
		if why := checkPruner(name); why != "" {
			t.checks.Errorf(n.At("heuristics", i), "%s", why)
		}
	}
	t.Heuristics = union([]string{t.Reference}, c.Heuristics)
	if len(c.Heuristics) == 0 {
		t.Heuristics = union([]string{t.Reference}, prune.Names())
	}
}

// check checks the specs of all heuristics, and the number of runs.
func (t *Comparison) check() {
	runs := make(map[string]int)
	for f, h := range t.entries() {
		if s := t.checks.compared(f, h); s != nil {
			f.Data, f.work = s.Data, s.work
			for profile, w := range s.work {
				if !w.skip {
					runs[profile] += s.count(w)
				}
			}
		}
	}
	for _, profile := range Profiles() {
		if n := runs[profile]; n > maxCompared {
			t.checks.Errorf(t.root, "profile %s has %d runs, more than %d", profile, n, maxCompared)
		}
	}
}

// maxCompared keeps a mistyped comparison from planning an absurd amount of
// work.
const maxCompared = 100_000

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
func (f *DataSet) Replicates(profile string) (n int) {
	w := f.work[profile]
	for _, r := range w.repeats {
		if !w.skip {
			n += r.count()
		}
	}
	return n
}

// Samples returns how many training examples a run on a data set processes.
func (f *DataSet) Samples(profile string) int { return f.work[profile].samples }

// Plan returns the runs of a comparison in a profile: data set after data set,
// heuristic after heuristic. It describes a user's data files, as [Spec.Plan] does.
func (t *Comparison) Plan(profile string) ([]ComparedRun, error) {
	var plan []ComparedRun
	c := t.checks
	c.Reporter, c.describe = new(strictyaml.Reporter), true
	for f, h := range t.entries() {
		s := c.compared(f, h)
		if s == nil {
			return nil, c.Err()
		}
		if s.Data.Own() {
			f.Data, f.work = s.Data, s.work
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
			c.Spec, c.Group = t.Name, f.Name+" "+c.Series
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

// compared returns the spec of a heuristic's runs on a data set: POLK over a grid of the heuristic's
// size parameter. If the spec is invalid, it reports the errors and returns nil.
func (c checks) compared(f *DataSet, h prune.Heuristic) *Spec {
	entry := keys{{"method", MethodPOLK}, {"pruner", h.Name}, {"expected_order", float64(defaultOrder)}}
	param, ok := h.SizeParam()
	var fixed keys // pruner parameters other than the size parameter, with their defaults
	for _, p := range h.Params {
		if p.Default != nil && p.Name != param.Name {
			fixed = append(fixed, key{p.Name, *p.Default})
		}
	}
	switch values := f.grid(h, param); {
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
	root := strictyaml.Merge(f.root, tree(f.root, keys{{"methods", []any{entry}}}))
	return specOf(withDefaults(root), c, c.Len())
}

// grid returns the values of a heuristic's size parameter on a data set: those that the spec gives for
// the heuristic, else for the size parameter. Without any, it returns the size parameter's Grid.
func (f *DataSet) grid(h prune.Heuristic, param prune.Param) *strictyaml.Node {
	for _, name := range []string{h.Name, param.Name} {
		if given := f.values[name]; given != nil {
			return given
		}
	}
	return tree(f.root, valuesOf(param.Grid, func(v float64) any { return v }))
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
