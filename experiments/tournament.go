package experiments

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

// TournamentFile is the embedded tournament's file.
const TournamentFile = "pruning.yaml"

// A Tournament compares pruning heuristics on the same replicates of every field, each heuristic
// over a grid of its knob. It is made by FindTournament or ParseTournament and not changed.
type Tournament struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Reference   string   `json:"reference"`  // heuristic that the others are compared with
	Heuristics  []string `json:"heuristics"` // names, the reference first; all registered heuristics unless the spec or its user names others
	Fields      []Field  `json:"-"`

	root   *strictyaml.Node
	opened map[*strictyaml.Node]opened // files of the fields
}

// A Field is a data set with a task.
type Field struct {
	Name        string    `json:"name"` // name, such as multidist-ksvm
	Title       string    `json:"title"`
	Data        data.Ref  `json:"-"`
	Task        string    `json:"task"`
	StandsInFor string    `json:"stands_in_for"` // data set that this one replaces; empty if none
	Levels      []float64 `json:"levels"`        // model orders at which heuristics are compared, ascending

	drawn bool                 // every replicate has a draw of its own
	work  map[string]fieldWork // by profile; none that leaves the field out
	at    *strictyaml.Node
}

// fieldDoc is the layout of a field. The keys that specs have too are checked in the specs that
// the field expands into.
type fieldDoc struct {
	Field
	Data         asIs                 `json:"data"`
	Drawn        bool                 `json:"drawn"`
	Bandwidth    asIs                 `json:"bandwidth"`
	LearningRate asIs                 `json:"learning_rate"`
	Regularizer  asIs                 `json:"regularizer"`
	BatchSize    asIs                 `json:"batch_size"`
	Budgets      map[string][]float64 `json:"budgets"` // values of the knob by heuristic or knob
	Profiles     map[string]fieldWork `json:"profiles"`
}

// asIs is a value that is not looked at.
type asIs struct{}

// DecodeNode implements strictyaml.Decoder.
func (*asIs) DecodeNode(*strictyaml.Node, *strictyaml.Reporter) {}

// fieldWork is the work that a profile does on a field.
type fieldWork struct {
	Samples    int `json:"samples"`
	Replicates int `json:"replicates"`
	Every      int `json:"every"` // number of samples between evaluations
}

// A Contest is one run of a tournament.
type Contest struct {
	Planned
	Field     string
	Heuristic string
	Value     float64 // of the heuristic's knob; 0 if it has none
	Replicate int     // from 1
}

// The evaluations of a contest's run: the number of training examples for the
// training risk, which no comparison uses, and the number of evaluations that the
// final figures are averaged over.
const (
	contestTrainLimit = 500
	contestTail       = 5
)

// FindTournament returns the embedded tournament if the argument is empty, the
// tournament's name or its file's name, and otherwise the tournament in the file
// with the given path.
func FindTournament(nameOrPath string) (*Tournament, error) {
	switch nameOrPath {
	case "", "pruning", "experiments/" + TournamentFile:
		f, _ := openEmbedded("", TournamentFile) // a test reads it
		return ParseTournament(f.label, f.text)
	}
	src, err := readTournament(nameOrPath)
	if err != nil {
		return nil, err
	}
	return ParseTournament(nameOrPath, src)
}

func readTournament(path string) ([]byte, error) {
	src, err := files.ReadNamed(path, strictyaml.MaxSource)
	if err != nil {
		err = fmt.Errorf("can't read the tournament: %w", err)
	}
	return src, err
}

// TournamentCommands returns the commands, by name, of the heuristics in a tournament's file
// that run as separate processes. They must be known before the file is parsed.
func TournamentCommands(path string) (map[string]string, error) {
	src, err := readTournament(path)
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

// ParseTournament reads a tournament from memory. The filename is for messages.
// An invalid tournament is reported as Errors.
func ParseTournament(filename string, src []byte) (*Tournament, error) {
	r := new(strictyaml.Reporter)
	var d struct {
		Tournament
		Commands map[string]string `json:"commands"` // read by TournamentCommands
		Fields   []fieldDoc        `json:"fields"`
	}
	root := decodeFile(filename, src, &d, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	t, c := &d.Tournament, checks{Reporter: r}
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
	if len(d.Fields) == 0 {
		c.Errorf(root, "no fields")
	}
	for i := range d.Fields {
		f := c.field(root.At("fields", i), &d.Fields[i])
		if slices.ContainsFunc(t.Fields, func(g Field) bool { return g.Name == f.Name }) {
			c.Errorf(f.at, "duplicate field name %q", f.Name)
		}
		t.Fields = append(t.Fields, f)
	}
	runs := make(map[string]int)
	for f, h := range t.contestants() {
		if s := t.spec(f, h, r); s != nil {
			f.Data = s.Data
			for profile := range f.work {
				runs[profile] += s.count(s.work[profile])
			}
		}
	}
	for _, profile := range Profiles() {
		if n := runs[profile]; n > maxContests {
			c.Errorf(root, "profile %s has %d runs, more than %d", profile, n, maxContests)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// maxContests keeps a mistyped tournament from planning an absurd amount of
// work.
const maxContests = 100_000

// field checks the keys of a field that are not in the specs that it expands into.
func (c checks) field(n *strictyaml.Node, d *fieldDoc) Field {
	f := d.Field
	f.at, f.drawn, f.work = n, d.Drawn, d.Profiles
	if !nameText.MatchString(d.Name) {
		c.Errorf(n.At("name"), "field name %q: want lower-case letters, digits and single hyphens", d.Name)
	}
	if !ascendingPositive(d.Levels) {
		c.Errorf(n.At("levels"), "levels are %v, want model orders greater than 0, ascending", d.Levels)
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

// With returns the tournament with only the reference and the heuristics of the
// given names.
func (t *Tournament) With(names []string) (*Tournament, error) {
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

// Against returns the tournament with another reference.
func (t *Tournament) Against(name string) (*Tournament, error) {
	out := *t
	out.Reference = name
	return out.With(union([]string{name}, t.Heuristics))
}

// On returns the tournament with only the fields for which pass returns true.
func (t *Tournament) On(pass func(Field) bool) *Tournament {
	out := *t
	out.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(f Field) bool { return !pass(f) })
	return &out
}

// Replicates returns how many replicates a field has in a profile, 0 if the
// profile leaves it out.
func (f *Field) Replicates(profile string) int { return f.work[profile].Replicates }

// Samples returns how many training examples a run on a field processes.
func (f *Field) Samples(profile string) int { return f.work[profile].Samples }

// Plan returns the runs of a tournament in a profile: field after field,
// heuristic after heuristic.
func (t *Tournament) Plan(profile string) ([]Contest, error) {
	var plan []Contest
	r := new(strictyaml.Reporter)
	for f, h := range t.contestants() {
		s := t.spec(f, h, r)
		if s == nil {
			return nil, r.Err()
		}
		runs, err := s.Plan(profile, PlanOptions{})
		if err != nil {
			return nil, err
		}
		knob, ok := h.Knob()
		for _, p := range runs {
			c := Contest{Planned: p, Field: f.Name, Heuristic: h.Name, Replicate: int(p.Run.Seed)}
			c.Label, c.Series = "", h.Name
			if ok {
				c.Value = p.Run.Params.PrunerParams[knob.Name]
				if h.Epsilon {
					c.Value = p.Run.Params.Parsimony
				}
				c.Series += ", " + knob.Name + " = " + strconv.FormatFloat(c.Value, 'g', 4, 64)
			}
			c.Group = f.Name + " " + c.Series
			plan = append(plan, c)
		}
	}
	return plan, nil
}

// contestants yields each heuristic on each field. It skips unknown heuristics, which were
// reported earlier.
func (t *Tournament) contestants() iter.Seq2[*Field, prune.Heuristic] {
	return func(yield func(*Field, prune.Heuristic) bool) {
		for i := range t.Fields {
			for _, name := range t.Heuristics {
				if h, ok := prune.Lookup(name); ok && !yield(&t.Fields[i], h) {
					return
				}
			}
		}
	}
}

// spec returns the spec of a heuristic's runs on a field: POLK over a grid of the heuristic's
// knob. If the spec is invalid, it reports the errors and returns nil.
func (t *Tournament) spec(f *Field, h prune.Heuristic, r *strictyaml.Reporter) *Spec {
	n := f.at
	entry := keys{
		{"method", MethodPOLK}, {"pruner", h.Name}, {"learning_rate", n.Get("learning_rate")}, {"batch_size", n.Get("batch_size")},
		{"expected_order", float64(defaultOrder)},
	}
	knob, ok := h.Knob()
	var fixed keys // pruner parameters other than the knob, with their defaults
	for _, p := range h.Params {
		if p.Default != nil && p.Name != knob.Name {
			fixed = append(fixed, key{p.Name, *p.Default})
		}
	}
	switch values := f.values(h, knob); {
	case !ok:
		entry = append(entry, key{"pruner_params", fixed})
	case h.Epsilon:
		entry = append(entry, key{"pruner_params", fixed}, key{"grid", keys{{knob.Name, values}}})
	default:
		var points []any
		for _, v := range values.Items {
			points = append(points, tree(v, append(slices.Clip(fixed), key{knob.Name, v})))
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
		{"evaluation", keys{{"every", 1}, {"tail", contestTail}, {"train_limit", 0}}},
		{"profiles", profiles},
	}), checks{Reporter: r, opened: t.opened}, r.Len())
	if s == nil {
		return nil
	}
	for name, w := range s.work {
		w.evaluation.TrainLimit = contestTrainLimit // also for smaller data sets
		s.work[name] = w
	}
	return s
}

// values returns the values of a heuristic's knob on a field: the field's budgets for the
// heuristic, else for the knob. Without any, it returns the knob's Grid.
func (f *Field) values(h prune.Heuristic, knob prune.Param) *strictyaml.Node {
	for _, name := range []string{h.Name, knob.Name} {
		if given := f.at.Get("budgets").Get(name); given != nil {
			return given
		}
	}
	return tree(f.at, valuesOf(knob.Grid, func(v float64) any { return v }))
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
