package experiments

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/data"
	"polkrepro/experiments/internal/doc"
	"polkrepro/internal/files"
	"polkrepro/internal/portable"
	"polkrepro/internal/strictyaml"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// TournamentFile is the embedded tournament's file.
const TournamentFile = "pruning.yaml"

// A Tournament compares pruning heuristics: each of them over a grid of its
// knob, on every field, on the same replicates. It is made by FindTournament
// or ParseTournament and not changed.
type Tournament struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Reference   string   `json:"reference"`  // the heuristic that the others are compared with
	Heuristics  []string `json:"heuristics"` // by name, as of [prune.Variant], the reference first; all that are registered unless the spec or its user says otherwise
	Fields      []Field  `json:"-"`
}

// A Field is a data set with a task.
type Field struct {
	Name        string    `json:"name"` // multidist-ksvm
	Title       string    `json:"title"`
	Data        data.Ref  `json:"-"`
	Task        string    `json:"task"`
	StandsInFor string    `json:"stands_in_for"` // a data set in whose place this one's is used; empty if none
	Levels      []float64 `json:"levels"`        // model orders at which heuristics are compared, ascending

	drawn   bool // every replicate has a draw of its own
	params  Params
	dim     int
	budgets map[string][]float64 // by variant, heuristic or knob
	work    map[string]fieldWork // by profile; none that leaves the field out
}

// tournamentDoc is the layout of a tournament's file.
type tournamentDoc struct {
	Tournament
	Commands map[string]string `json:"commands"` // of TournamentCommands
	Fields   []fieldDoc        `json:"fields"`
}

// fieldDoc is the layout of a field, with the hyper-parameters of fieldParams.
type fieldDoc struct {
	Field
	doc.Settings
	Data     doc.Data             `json:"data"`
	Drawn    bool                 `json:"drawn"`
	Budgets  map[string][]float64 `json:"budgets"`
	Profiles struct {
		Smoke *fieldWork `json:"smoke"`
		Quick *fieldWork `json:"quick"`
		Full  *fieldWork `json:"full"`
	} `json:"profiles"`
}

// fieldParams are the hyper-parameters that a field has.
var fieldParams = []string{"bandwidth", "learning_rate", "regularizer", "batch_size"}

// fieldWork is what a profile does on a field.
type fieldWork struct {
	Samples    int `json:"samples"`
	Replicates int `json:"replicates"`
	Every      int `json:"every"`  // samples between evaluations
	Refine     int `json:"refine"` // values put between two of a knob's grid that is not of whole numbers
}

// A Contest is one run of a tournament.
type Contest struct {
	Planned
	Field     string
	Heuristic string
	Value     float64 // of the heuristic's knob; 0 if it has none
	Replicate int     // from 1
}

// The evaluations of a contest's run: on how many training examples the risk is
// taken, which no comparison looks at, and how many evaluations the final
// figures are means of.
const (
	contestTrainLimit = 500
	contestTail       = 5
)

// FindTournament returns the embedded tournament, if the name is its name, its
// file's or empty, or else the one in the file of that name.
func FindTournament(nameOrPath string) (*Tournament, error) {
	switch nameOrPath {
	case "", "pruning", "experiments/" + TournamentFile:
		src, err := embedded.ReadFile(TournamentFile)
		if err != nil {
			return nil, err
		}
		return ParseTournament("experiments/"+TournamentFile, src)
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
// that are processes of their own: they have to be known before the file is parsed.
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
// What is wrong with it is returned as Errors.
func ParseTournament(filename string, src []byte) (*Tournament, error) {
	r := new(strictyaml.Reporter)
	root := strictyaml.Parse(filename, src, r)
	if root == nil {
		return nil, r.Err()
	}
	var d tournamentDoc
	strictyaml.Decode(root, &d, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	c := tournamentChecker{checks: checks{r}, root: root, doc: &d}
	t := c.tournament()
	if err := r.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// With returns a tournament of the reference and the heuristics of the given
// names, as of [prune.Variant].
func (t *Tournament) With(names []string) (*Tournament, error) {
	out := *t
	out.Heuristics = []string{t.Reference}
	for _, name := range names {
		if why := checkVariant(name); why != "" {
			return nil, errors.New(why)
		}
		out.Heuristics = union(out.Heuristics, []string{name})
	}
	return &out, nil
}

// Against returns the tournament with another reference.
func (t *Tournament) Against(name string) (*Tournament, error) {
	if why := checkVariant(name); why != "" {
		return nil, errors.New(why)
	}
	out := *t
	out.Reference, out.Heuristics = name, union([]string{name}, t.Heuristics)
	return &out, nil
}

// checkVariant says what is wrong with the name of a heuristic or a variant of one.
func checkVariant(name string) string {
	base, _, _ := strings.Cut(name, ":")
	if why := checkPruner(base); why != "" {
		return why
	}
	if _, err := prune.Variant(name); err != nil {
		return err.Error()
	}
	return ""
}

// On returns a tournament on those of the fields that pass.
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
// heuristic after heuristic. Heuristics that do not fit a field's kernel do not
// take part in it.
func (t *Tournament) Plan(profile string) ([]Contest, error) {
	if !slices.Contains(Profiles(), profile) {
		return nil, unknownProfile(profile)
	}
	var plan []Contest
	for i := range t.Fields {
		f := &t.Fields[i]
		w, ok := f.work[profile]
		if !ok {
			continue
		}
		for _, name := range t.Heuristics {
			contests, err := f.contests(t.Name, name, w)
			if err != nil {
				return nil, err
			}
			plan = append(plan, contests...)
		}
	}
	return plan, nil
}

// contests returns the runs of a heuristic on a field.
func (f *Field) contests(tournament, name string, w fieldWork) ([]Contest, error) {
	h, err := prune.Variant(name)
	if err != nil {
		return nil, err
	}
	var out []Contest
	for _, value := range f.grid(h, w.Refine) {
		params, err := f.with(h, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		for replicate := 1; replicate <= w.Replicates; replicate++ {
			run := Run{
				Data: f.Data, Task: f.Task, Method: MethodPOLK, Params: params, Seed: uint64(replicate), Samples: w.Samples,
				Evaluation: Evaluation{Every: w.Every, Tail: contestTail, TrainLimit: contestTrainLimit},
			}
			if f.drawn {
				run.Data.Draw = calibratedDraws()[replicate-1]
			}
			run.Code = run.PresentCode()
			id := ID(run)
			series := name
			if knob, ok := h.Knob(); ok {
				series += ", " + knob.Name + " = " + strconv.FormatFloat(value, 'g', 4, 64)
			}
			out = append(out, Contest{
				Planned: Planned{Run: run, ID: id, Spec: tournament, Series: series, Group: f.Name + " " + series,
					Cells: []string{}, Figures: []string{}, Cost: float64(run.Samples) * float64(f.dim) * defaultOrder},
				Field: f.Name, Heuristic: name, Value: value, Replicate: replicate,
			})
		}
	}
	return out, nil
}

// grid returns the values of a heuristic's knob on a field, a single 0 if it has
// no knob. What a knob that is no model order will lead to is not known
// beforehand, so further values are put evenly between the logarithms of two.
func (f *Field) grid(h prune.Heuristic, refine int) []float64 {
	knob, ok := h.Knob()
	if !ok {
		return []float64{0}
	}
	values, refined := f.values(h, knob)
	if !refined {
		return values
	}
	out := values[:1:1]
	for i := 1; i < len(values); i++ {
		a, b := values[i-1], values[i]
		for k := 1; k <= refine; k++ {
			out = append(out, a*portable.Pow(b/a, float64(k)/float64(refine+1)))
		}
		out = append(out, b)
	}
	return out
}

// values returns the values of a heuristic's knob that are given, and whether
// there may be others between them.
func (f *Field) values(h prune.Heuristic, knob prune.Param) (values []float64, refined bool) {
	values = knob.Grid
	for _, key := range []string{knob.Name, h.Base(), h.Name} {
		if given := f.budgets[key]; given != nil {
			values = given
		}
	}
	return values, !knob.Integer && !slices.ContainsFunc(values, func(x float64) bool { return !(x > 0) })
}

// count returns how many runs of a heuristic there are on a field.
func (f *Field) count(name string, w fieldWork) int {
	h, _ := prune.Variant(name)
	knob, ok := h.Knob()
	if !ok {
		return w.Replicates
	}
	values, refined := f.values(h, knob)
	n := len(values)
	if refined {
		n += (n - 1) * w.Refine
	}
	return n * w.Replicates
}

// with returns a field's parameters with a heuristic at a value of its knob.
func (f *Field) with(h prune.Heuristic, value float64) (Params, error) {
	p := f.params
	shared("pruner").store(&p, setting{word: h.Base()})
	given := make(prune.Params)
	if h.Epsilon {
		p.Parsimony = value
	} else if knob, ok := h.Knob(); ok {
		given[knob.Name] = value
	}
	var err error
	if p.PrunerParams, err = h.Complete(given); err != nil { // also what a variant fixes
		return p, err
	}
	if param, why := p.completePruner(); why != "" {
		return p, fmt.Errorf("%s: %s", param, why)
	}
	return p, nil
}

// A tournamentChecker turns a decoded file into a Tournament and reports what
// makes no sense.
type tournamentChecker struct {
	checks
	root *strictyaml.Node
	doc  *tournamentDoc
}

// tournament checks everything. What it returns is of use only if nothing was
// reported.
func (c *tournamentChecker) tournament() *Tournament {
	d := c.doc
	t := &d.Tournament
	if !nameText.MatchString(d.Name) {
		c.Errorf(c.root, "name is %q, want lower-case letters, digits and single hyphens", d.Name)
	}
	if d.Title == "" || !showable(d.Title) {
		c.Errorf(c.root, "title is %q, want one line", d.Title)
	}
	if why := checkPruner(d.Reference); why != "" {
		c.Errorf(c.root, "reference: %s", why)
	}
	others := d.Heuristics
	if len(others) == 0 {
		others = prune.Names()
	}
	for i, name := range d.Heuristics {
		if why := checkVariant(name); why != "" {
			c.Errorf(c.root.At("heuristics", i), "%s", why)
		}
	}
	t.Heuristics = union([]string{d.Reference}, others)
	if len(d.Fields) == 0 {
		c.Errorf(c.root, "no fields")
	}
	for i := range d.Fields {
		f := c.field(c.root.At("fields", i), &d.Fields[i])
		if slices.ContainsFunc(t.Fields, func(g Field) bool { return g.Name == f.Name }) {
			c.Errorf(c.root.At("fields", i), "duplicate field name %q", f.Name)
		}
		t.Fields = append(t.Fields, f)
	}
	for _, profile := range Profiles() {
		if n := t.count(profile); n > maxContests {
			c.Errorf(c.root, "profile %s has %d runs, more than %d", profile, n, maxContests)
		}
	}
	return t
}

// maxContests keeps a mistyped tournament from planning more than anyone can
// mean.
const maxContests = 100_000

// count returns how many runs there are in a profile.
func (t *Tournament) count(profile string) int {
	n := 0
	for i := range t.Fields {
		if w, ok := t.Fields[i].work[profile]; ok {
			for _, name := range t.Heuristics {
				n += t.Fields[i].count(name, w)
			}
		}
	}
	return n
}

// field checks a field.
func (c *tournamentChecker) field(n *strictyaml.Node, d *fieldDoc) Field {
	f := d.Field
	f.drawn, f.budgets, f.work = d.Drawn, d.Budgets, make(map[string]fieldWork)
	f.params = Params{Kernel: Kernel{Type: kernel.Gaussian{}.Name()}, Schedule: ScheduleConstant}
	c.fieldData(n, d, &f)
	if !nameText.MatchString(d.Name) || d.Title == "" || !showable(d.Title) {
		c.Errorf(n, "want a title of one line, and a name of lower-case letters, digits and single hyphens, not %q", d.Name)
	}
	if _, err := TaskLoss(d.Task); err != nil {
		c.Errorf(n, "%v", err)
	}
	c.fieldNumbers(n, d, &f)
	for i, w := range []*fieldWork{d.Profiles.Smoke, d.Profiles.Quick, d.Profiles.Full} {
		if name := Profiles()[i]; w != nil {
			c.work(n.At("profiles", name), w, f.drawn)
			f.work[name] = *w
		}
	}
	return f
}

// fieldNumbers checks a field's hyper-parameters, levels and budgets.
func (c *tournamentChecker) fieldNumbers(n *strictyaml.Node, d *fieldDoc, f *Field) {
	for _, g := range d.Rest.Fields {
		if !slices.Contains(fieldParams, g.Key) {
			c.UnknownKey(g, slices.Concat(d.Known, fieldParams))
		}
	}
	for _, name := range fieldParams {
		if !c.given(n, name) {
			continue
		}
		p, at, before := shared(name), n.Get(name), c.Len()
		if strictyaml.Decode(at, p.typed(), c.Reporter); c.Len() > before {
			continue
		}
		v, _ := p.read(at)
		if why := p.check(v); why != "" {
			c.Errorf(at, "%s", why)
		}
		p.store(&f.params, v)
	}
	if why := f.params.steep(); why != "" {
		c.Errorf(n.At("learning_rate"), "%s", why)
	}
	if !ascendingPositive(d.Levels) {
		c.Errorf(n.At("levels"), "levels are %v, want model orders greater than 0, ascending", d.Levels)
	}
	for _, knob := range slices.Sorted(maps.Keys(d.Budgets)) {
		if values := d.Budgets[knob]; len(values) == 0 || slices.ContainsFunc(values, func(x float64) bool { return !(x > 0) || math.IsInf(x, 0) }) {
			c.Errorf(n.At("budgets", knob), "budgets of %s are %v, want numbers greater than 0", knob, values)
		}
	}
}

// fieldData checks which data a field is on.
func (c *tournamentChecker) fieldData(n *strictyaml.Node, d *fieldDoc, f *Field) {
	if at := n.At("data"); c.hasFiles(at) {
		var set *data.Info
		if f.Data, set = c.files(at, &d.Data, d.Task); set != nil {
			f.dim = set.Dim
		}
		if d.Drawn {
			c.Errorf(n, "files have no draws")
		}
		return
	}
	set := c.dataSet(n, d.Data.Name)
	if set == nil {
		return
	}
	c.classes(n.At("task"), set, d.Task)
	var ok bool
	if f.Data, ok = reference(set, d.Data.Variant); !ok {
		c.Errorf(n, "data set %s has no variant %q", set.Name, d.Data.Variant)
	}
	if _, err := (data.Ref{Name: set.Name, Draw: 1}).Resolve(); d.Drawn && err != nil {
		c.Errorf(n, "data set %s has no draws", set.Name)
	}
	if d.StandsInFor != "" {
		c.dataSet(n.At("stands_in_for"), d.StandsInFor)
	}
	f.dim = set.Dim
}

// ascendingPositive reports whether there are numbers, all positive, in
// ascending order.
func ascendingPositive(x []float64) bool {
	for i, v := range x {
		if !(v > 0) || math.IsInf(v, 0) || i > 0 && v <= x[i-1] {
			return false
		}
	}
	return len(x) > 0
}

// work checks what a profile does on a field.
func (c *tournamentChecker) work(n *strictyaml.Node, d *fieldWork, drawn bool) {
	most := 1000
	if drawn {
		most = len(calibratedDraws())
	}
	if d.Samples < 1 || d.Samples > largest {
		c.Errorf(n, "samples is %d, want 1 to %d", d.Samples, largest)
	}
	if d.Replicates < 1 || d.Replicates > most {
		c.Errorf(n, "replicates is %d, want 1 to %d", d.Replicates, most)
	}
	if d.Every < 1 || d.Refine < 0 || d.Refine > 100 {
		c.Errorf(n, "every is %d and refine is %d, want at least 1 and 0 to 100", d.Every, d.Refine)
	}
	if d.Every >= 1 && evaluations(d.Samples, d.Every, contestTail) > MaxEvaluations {
		c.Errorf(n, "%d samples evaluated every %d are more than %d times in all", d.Samples, d.Every, MaxEvaluations)
	}
}
