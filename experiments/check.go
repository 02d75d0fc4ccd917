package experiments

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"polkrepro/experiments/internal/doc"
	"polkrepro/internal/strictyaml"
)

// Bounds that keep a mistyped spec from planning more than anyone can mean.
const (
	maxIncludes = 32
	maxIncluded = 4 * strictyaml.MaxSource // bytes of a spec and what it includes
	maxSeries   = 200                      // bytes of a series' name
	maxVariants = 1000
	maxRuns     = 10_000
	maxSeeds    = 10_000
)

// MaxEvaluations bounds the evaluations of a run, which are all in memory when
// its record is read.
const MaxEvaluations = 50_000

// defaultOrder is the model order to expect where a spec says nothing.
const defaultOrder = 500

// An opener opens a file that the one with a certain id includes.
type opener func(from, name string) (source, error)

// parseSpec parses and checks a spec.
func parseSpec(f source, open opener) (*Spec, error) {
	r := new(strictyaml.Reporter)
	in := includer{open: open, r: r}
	root := in.load(f)
	if root == nil {
		return nil, r.Err()
	}
	root = withDefaults(root)
	var d doc.Spec
	strictyaml.Decode(root, &d, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	paper, err := Paper()
	if err != nil {
		return nil, err
	}
	c := checker{Reporter: r, root: root, doc: &d, paper: paper}
	s := c.spec()
	if err := r.Err(); err != nil {
		return nil, err
	}
	s.File = f.label
	return s, nil
}

// An includer loads a file and lays it over what it includes.
type includer struct {
	open  opener
	r     *strictyaml.Reporter
	stack []string // ids
	count int
	bytes int
}

func (in *includer) load(f source) *strictyaml.Node {
	in.bytes += len(f.text)
	root := strictyaml.Parse(f.label, f.text, in.r)
	if root == nil {
		return nil
	}
	list := root.Get("include")
	root = root.Without("include")
	if list == nil || !list.Want(strictyaml.Sequence, in.r) {
		return root
	}
	in.stack = append(in.stack, f.id)
	defer func() { in.stack = in.stack[:len(in.stack)-1] }()
	var base *strictyaml.Node
	for _, item := range list.Items {
		if !item.Want(strictyaml.String, in.r) {
			continue
		}
		if in.count++; in.count > maxIncludes {
			in.r.Errorf(item, "more than %d included files", maxIncludes)
			break
		}
		g, err := in.open(f.id, item.Text)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			in.r.Errorf(item, "there is no file %q to include", item.Text)
			continue
		case err != nil:
			in.r.Errorf(item, "can't include %q: %v", item.Text, err)
			continue
		case slices.Contains(in.stack, g.id):
			in.r.Errorf(item, "%q includes itself", item.Text)
			continue
		case in.bytes+len(g.text) > maxIncluded:
			in.r.Errorf(item, "with %q, the spec and what it includes have more than %d bytes", item.Text, maxIncluded)
			continue
		}
		base = strictyaml.Merge(base, in.load(g))
	}
	return strictyaml.Merge(base, root)
}

// withDefaults lays every entry of methods over its method's defaults, except
// for what the entry's grid varies.
func withDefaults(root *strictyaml.Node) *strictyaml.Node {
	defaults, entries := root.Get("defaults"), root.Get("methods")
	if defaults == nil || entries == nil {
		return root
	}
	merged := *entries
	merged.Items = slices.Clone(entries.Items)
	for i, entry := range merged.Items {
		name := entry.Get("method")
		if name == nil {
			continue
		}
		base := defaults.Get(name.Text)
		if base == nil || base.Kind != strictyaml.Mapping {
			continue
		}
		if grid := entry.Get("grid"); grid != nil {
			var keys []string
			for _, f := range grid.Fields {
				keys = append(keys, f.Key)
			}
			base = base.Without(keys...)
		}
		merged.Items[i] = strictyaml.Merge(base, entry)
	}
	out := *root
	out.Fields = slices.Clone(root.Fields)
	out.Field("methods").Value = &merged
	return &out
}

// A checker turns a decoded spec into a Spec and reports what makes no sense.
type checker struct {
	*strictyaml.Reporter
	root  *strictyaml.Node
	doc   *doc.Spec
	paper *PaperValues

	set     *dataSet // nil if it is not known
	out     *Spec    // its Task is empty if that is not known
	kernel  Kernel
	fed     map[string]string // table cell → grid point that feeds it
	series  map[string]bool
	groups  map[string]bool
	labels  map[string]bool
	ordered []string // labels
}

// samplingEpochs is what specs call the sampling of a run that has none.
const samplingEpochs = "epochs"

var nameText = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// spec checks everything. What it returns is of use only if nothing was
// reported.
func (c *checker) spec() *Spec {
	c.fed, c.series = make(map[string]string), make(map[string]bool)
	c.groups, c.labels = make(map[string]bool), make(map[string]bool)
	d := c.doc
	s := &Spec{
		Name: d.Name, Title: d.Title, Description: strings.TrimSpace(d.Description), Task: d.Task,
		work: make(map[string]work),
	}
	c.out = s
	if c.given(c.root, "name") && !nameText.MatchString(d.Name) {
		c.Errorf(c.root.At("name"), "name is %q, want lower-case letters, digits and single hyphens", d.Name)
	}
	if c.given(c.root, "title") && (d.Title == "" || !showable(d.Title)) {
		c.Errorf(c.root.At("title"), "title is %q, want one line", d.Title)
	}
	if !printable(strings.NewReplacer("\n", "", "\t", "").Replace(d.Description)) {
		c.Errorf(c.root.At("description"), "description holds characters that are not printed")
	}
	if c.given(c.root, "task") && d.Task != TaskKSVM && d.Task != TaskKLR {
		c.Errorf(c.root.At("task"), "task is %q, want one of %s", d.Task, list([]string{TaskKSVM, TaskKLR}))
		s.Task = ""
	}
	if d.Sampling != "" && d.Sampling != samplingEpochs && d.Sampling != SamplingReplacement {
		c.Errorf(c.root.At("sampling"), "sampling is %q, want one of %s", d.Sampling, list([]string{samplingEpochs, SamplingReplacement}))
	}
	if d.Sampling == SamplingReplacement {
		s.sampling = d.Sampling
	}
	c.data()
	c.standsInFor()
	c.theKernel()
	c.defaults()
	if c.given(c.root, "methods") && len(d.Methods) == 0 {
		c.Errorf(c.root.At("methods"), "methods is empty")
	}
	for i := range d.Methods {
		c.method(i)
	}
	c.allWork()
	return s
}

// printable reports whether text is one line without control characters, which
// a terminal would obey.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// showable reports whether text is printable and begins like no formula, for
// which a spreadsheet would take it in an exported table.
func showable(text string) bool {
	return printable(text) && !strings.ContainsAny(text[:min(1, len(text))], "=+-@")
}

// given reports a missing key and returns whether it is there.
func (c *checker) given(n *strictyaml.Node, key string) bool {
	if n.Get(key) == nil {
		c.Errorf(n, "missing key %q", key)
		return false
	}
	return true
}

// data checks which data set is used.
func (c *checker) data() {
	if !c.given(c.root, "data") {
		return
	}
	n := c.root.At("data")
	if !c.given(n, "name") {
		return
	}
	set, names := lookupData(c.doc.Data.Name)
	if set == nil {
		c.Errorf(n.At("name"), "unknown data set %q%s (there are %s)", c.doc.Data.Name,
			strictyaml.Suggest(c.doc.Data.Name, names), list(names))
		return
	}
	ref, ok := set.resolve(c.doc.Data.Variant)
	switch {
	case !ok && len(set.variants) == 0:
		c.Errorf(n.At("variant"), "data set %s has no variants", set.name)
	case !ok:
		c.Errorf(n.At("variant"), "data set %s has no variant %q, want one of %s", set.name, c.doc.Data.Variant, list(set.variants))
	default:
		c.set, c.out.Data, c.out.dim, c.out.train = set, ref, set.dim, set.train
	}
}

// standsInFor checks the data set in whose place the spec's is shown.
func (c *checker) standsInFor() {
	name := c.doc.StandsInFor
	if name == "" {
		return
	}
	n := c.root.At("stands_in_for")
	if set, names := lookupData(name); set == nil {
		c.Errorf(n, "unknown data set %q%s (there are %s)", name, strictyaml.Suggest(name, names), list(names))
		return
	}
	if name == c.out.Data.Name {
		c.Errorf(n, "%s stands in for itself", name)
	}
	c.out.StandsInFor = name
}

// theKernel checks the spec's kernel.
func (c *checker) theKernel() {
	if !c.given(c.root, "kernel") {
		return
	}
	n, k := c.root.At("kernel"), c.doc.Kernel
	if !c.given(n, "type") {
		return
	}
	takes := map[string][]string{
		KernelGaussian:   {"type", "bandwidth"},
		KernelPolynomial: {"type", "offset", "degree"},
	}[k.Type]
	if takes == nil {
		c.Errorf(n.At("type"), "kernel is %q, want one of %s", k.Type, list([]string{KernelGaussian, KernelPolynomial}))
		return
	}
	for _, f := range n.Fields {
		if !slices.Contains(takes, f.Key) {
			c.Errorf(f.At, "a %s kernel takes no %s", k.Type, f.Key)
		}
	}
	c.kernel.Type = k.Type
	if k.Type == KernelPolynomial {
		if c.given(n, "offset") {
			c.kernel.Offset = *k.Offset
			if !(*k.Offset >= 0) || math.IsInf(*k.Offset, 0) {
				c.Errorf(n.At("offset"), "offset is %v, want a number of at least 0", *k.Offset)
			}
		}
		if c.given(n, "degree") {
			c.kernel.Degree = *k.Degree
			if *k.Degree < 1 || *k.Degree > maxDegree {
				c.Errorf(n.At("degree"), "degree is %d, want 1 to %d", *k.Degree, maxDegree)
			}
		}
	}
}

// defaults checks that defaults are for methods there are.
func (c *checker) defaults() {
	defaults := c.root.Get("defaults")
	if defaults == nil {
		return
	}
	for _, f := range defaults.Fields {
		if lookupMethod(f.Key) == nil {
			c.Errorf(f.At, "unknown method %q%s", f.Key, suggestMethod(f.Key))
		}
	}
}

func suggestMethod(name string) string {
	var names []string
	for _, m := range methods {
		names = append(names, m.Name)
	}
	if s := strictyaml.Suggest(name, names); s != "" {
		return s
	}
	return ", want one of " + list(names)
}

// A given value of a hyper-parameter.
type value struct {
	setting
	at *strictyaml.Node
}

// An axis is a hyper-parameter that a grid varies.
type axis struct {
	name   string
	values []value
}

// method checks an entry of methods and adds its variants.
func (c *checker) method(i int) {
	entry, m := c.root.At("methods", i), &c.doc.Methods[i]
	label, info := c.named(entry, m)
	if info == nil {
		return
	}
	before := c.Len()
	direct := c.settings(info, entry)
	axes := c.axes(info, entry, direct)
	if c.Len() > before {
		return
	}
	c.inherit(info, direct, axes)
	if c.Len() > before {
		return
	}
	combinations := c.combine(axes, entry)
	used := make(map[string]bool)
	var variants []variant
	for _, combination := range combinations {
		if p, ok := c.params(info, entry, direct, combination, used); ok {
			variants = append(variants, variant{method: info.Name, label: label, params: p})
		}
	}
	if len(variants) == len(combinations) && len(variants) > 0 {
		c.unused(info, entry, used)
	}
	if c.Len() > before {
		return
	}
	c.feeds(info, i, variants, combinations, axes)
	c.out.variants = append(c.out.variants, variants...)
}

// named returns the label of an entry and its method, nil if either is wrong.
func (c *checker) named(entry *strictyaml.Node, m *doc.Method) (label string, info *MethodInfo) {
	label = m.Label
	if label == "" {
		label = m.Method
	} else if !nameText.MatchString(label) {
		c.Errorf(entry.At("label"), "label is %q, want lower-case letters, digits and single hyphens", label)
	}
	if c.labels[label] {
		at := entry.Get("label")
		if at == nil {
			at = entry.At("method")
		}
		c.Errorf(at, "duplicate method %q; give one of them a label of its own", label)
		return "", nil
	}
	c.labels[label] = true
	c.ordered = append(c.ordered, label)
	if !c.given(entry, "method") {
		return "", nil
	}
	info = lookupMethod(m.Method)
	if info == nil {
		c.Errorf(entry.At("method"), "unknown method %q%s", m.Method, suggestMethod(m.Method))
		return "", nil
	}
	if t := c.out.Task; t != "" && !slices.Contains(info.Tasks, t) {
		c.Errorf(entry.At("method"), "%s does not fit task %s, only %s", info.Name, t, list(info.Tasks))
		return "", nil
	}
	return label, info
}

// inherit adds to a method's settings those of the whole spec that it takes and
// neither has nor varies.
func (c *checker) inherit(info *MethodInfo, direct map[string]value, axes []axis) {
	for name, spec := range map[string]*strictyaml.Node{
		"regularizer": c.root.Get("regularizer"),
		"bandwidth":   c.root.At("kernel").Get("bandwidth"),
	} {
		varied := slices.ContainsFunc(axes, func(a axis) bool { return a.name == name })
		if _, ok := direct[name]; ok || info.param(name) == nil || varied || spec == nil || name == "bandwidth" && c.root.Get("kernel") == nil {
			continue
		}
		if v, ok := c.value(info.param(name), spec); ok {
			direct[name] = v
		}
	}
}

// unused reports parameters that are given and that no variant uses.
func (c *checker) unused(info *MethodInfo, entry *strictyaml.Node, used map[string]bool) {
	for _, p := range info.Params {
		at := entry.Field(p.Name)
		if g := entry.Get("grid").Field(p.Name); g != nil {
			at = g
		}
		if at != nil && !used[p.Name] {
			c.Errorf(at.At, "%s uses %s only %s", info.Name, p.Name, p.when)
		}
	}
}

// isParam returns whether a key names a hyper-parameter of any method.
func isParam(key string) bool {
	return slices.ContainsFunc(methods, func(m MethodInfo) bool { return m.param(key) != nil })
}

// settings returns the hyper-parameters that an entry gives outside its grid.
func (c *checker) settings(info *MethodInfo, entry *strictyaml.Node) map[string]value {
	out := make(map[string]value)
	for _, f := range entry.Fields {
		if !isParam(f.Key) || !c.takes(info, f) {
			continue
		}
		if v, ok := c.value(info.param(f.Key), f.Value); ok {
			out[f.Key] = v
		}
	}
	return out
}

// axes returns what an entry's grid varies.
func (c *checker) axes(info *MethodInfo, entry *strictyaml.Node, direct map[string]value) []axis {
	grid := entry.Get("grid")
	if grid == nil {
		return nil
	}
	if len(grid.Fields) == 0 {
		c.Errorf(grid, "the grid is empty")
	}
	var out []axis
	for _, f := range grid.Fields {
		if !c.takes(info, f) {
			continue
		}
		if _, ok := direct[f.Key]; ok {
			c.Errorf(f.At, "%s is given both in the grid and beside it", f.Key)
			continue
		}
		if len(f.Value.Items) == 0 {
			c.Errorf(f.Value, "the grid of %s is empty", f.Key)
			continue
		}
		a := axis{name: f.Key}
		for _, item := range f.Value.Items {
			v, ok := c.value(info.param(f.Key), item)
			if !ok {
				continue
			}
			if slices.ContainsFunc(a.values, func(w value) bool { return w.setting == v.setting }) {
				c.Errorf(item, "%v is twice in the grid of %s", v.setting, f.Key)
				continue
			}
			a.values = append(a.values, v)
		}
		out = append(out, a)
	}
	return out
}

// takes reports a hyper-parameter that a method doesn't take.
func (c *checker) takes(info *MethodInfo, f strictyaml.Field) bool {
	if info.param(f.Key) != nil {
		return true
	}
	c.Errorf(f.At, "%s takes no %s (it takes %s)", info.Name, f.Key, list(info.paramNames()))
	return false
}

// value reads a hyper-parameter and reports one that is out of range.
func (c *checker) value(p *ParamInfo, n *strictyaml.Node) (value, bool) {
	s := setting{word: n.Text}
	switch p.Kind {
	case KindPruner, KindPrunerParams:
		s = prunerSetting(p.Kind, n)
	case KindNumber, KindInteger:
		x, ok := n.Float()
		if !ok {
			return value{}, false
		}
		s = setting{number: x}
	}
	if why := p.check(s); why != "" {
		c.Errorf(n, "%s", why)
		return value{}, false
	}
	return value{s, n}, true
}

// combine returns each combination of the axes' values, the last axis fastest.
func (c *checker) combine(axes []axis, entry *strictyaml.Node) [][]value {
	out := [][]value{nil}
	for _, a := range axes {
		if len(out)*len(a.values) > maxVariants {
			c.Errorf(entry.At("grid"), "the grid has more than %d points", maxVariants)
			return nil
		}
		var next [][]value
		for _, head := range out {
			for _, v := range a.values {
				combination := make([]value, len(axes))
				copy(combination, head)
				combination[len(head)] = v
				next = append(next, combination[:len(head)+1])
			}
		}
		out = next
	}
	return out
}

// params makes the hyper-parameters of one grid point and marks which of them
// it uses.
func (c *checker) params(info *MethodInfo, entry *strictyaml.Node, direct map[string]value, combination []value, used map[string]bool) (Params, bool) {
	values := make(map[string]value)
	for name, v := range direct {
		values[name] = v
	}
	grid := entry.Get("grid")
	for i, v := range combination {
		values[grid.Fields[i].Key] = v
	}
	p := Params{Kernel: c.kernel}
	for _, q := range info.Params {
		v, ok := values[q.Name]
		if !ok && q.Default != "" {
			v, ok = value{setting: q.fallback()}, true
		}
		if ok {
			p.set(q.Name, v.setting)
		}
	}
	ok := true
	for _, q := range info.Params {
		if q.used != nil && !q.used(p) {
			p.set(q.Name, setting{})
			continue
		}
		used[q.Name] = true
		if _, given := values[q.Name]; !given && q.Default == "" {
			ok = false
			switch {
			case q.Name == "bandwidth" && c.kernel.Type == "": // reported with the kernel
			case q.Name == "bandwidth":
				c.Errorf(c.root.At("kernel"), "missing key %q", q.Name)
			case q.Name == "regularizer":
				c.Errorf(c.root, "missing key %q", q.Name)
			default:
				c.Errorf(entry, "%s needs %s", info.Name, q.Name)
			}
		}
	}
	if !ok {
		return p, false
	}
	if name, why := p.conflict(info.Name); why != "" {
		at := entry
		if v, ok := values[name]; ok && v.at != nil {
			at = v.at
		}
		c.Errorf(at, "%s", why)
		return p, false
	}
	return p, true
}

// fallback returns the default value.
func (p *ParamInfo) fallback() setting {
	switch p.Kind {
	case KindChoice:
		return setting{word: p.Default}
	case KindPruner:
		return setting{word: p.Default}
	case KindPrunerParams:
		return setting{}
	}
	x, _ := (&strictyaml.Node{Kind: strictyaml.Number, Text: p.Default}).Float()
	return setting{number: x}
}

// A feeding is what the variants of one entry of methods feed.
type feeding struct {
	*checker
	info         *MethodInfo
	entry        *strictyaml.Node
	variants     []variant
	combinations [][]value
	axes         []axis
	orders       []*float64         // expected ones, by variant
	templates    []*strictyaml.Node // of the series' names, by variant
}

// feeds checks what an entry and its points say of the variants: the cells and
// figures that they feed, their expected order, and how their series is called.
func (c *checker) feeds(info *MethodInfo, i int, variants []variant, combinations [][]value, axes []axis) {
	f := feeding{
		checker: c, info: info, entry: c.root.At("methods", i), variants: variants, combinations: combinations, axes: axes,
		orders: make([]*float64, len(variants)), templates: make([]*strictyaml.Node, len(variants)),
	}
	all := make([]int, len(variants))
	for j := range variants {
		all[j] = j
		v := &variants[j]
		v.group = c.group(info, v)
		if c.groups[v.group] {
			c.Errorf(f.entry, "the grid has two points that make the same run: %s", v.group)
		}
		c.groups[v.group] = true
	}
	m := &c.doc.Methods[i]
	f.apply(&m.Feeds, f.entry, all)
	for k := range m.Points {
		n := f.entry.At("points", k)
		if which := c.match(n, combinations, axes); len(which) > 0 {
			f.apply(&m.Points[k].Feeds, n, which)
		}
	}
	for j := range variants {
		f.complete(j, m.Label)
	}
}

// apply gives the variants of the indexes what a node says.
func (f *feeding) apply(feeds *doc.Feeds, n *strictyaml.Node, which []int) {
	if o := feeds.ExpectedOrder; o != nil && !(*o > 0 && *o <= largest) {
		f.Errorf(n.At("expected_order"), "expected_order is %v, want more than 0", *o)
	}
	for k, id := range feeds.Cells {
		f.giveCell(id, n.At("cells", k), which)
	}
	for k, id := range feeds.Figures {
		at := n.At("figures", k)
		if !f.figure(id, at) {
			continue
		}
		if slices.Contains(feeds.Figures[:k], id) {
			f.Errorf(at, "figure %q is listed twice", id)
		}
		for _, j := range which {
			f.variants[j].figures = union(f.variants[j].figures, []string{id})
		}
	}
	for _, j := range which {
		if feeds.ExpectedOrder != nil {
			f.orders[j] = feeds.ExpectedOrder
		}
		if t := n.Get("series"); t != nil {
			f.templates[j] = t
		}
	}
}

// giveCell gives the variants of the indexes a cell, which one alone may feed.
func (f *feeding) giveCell(id string, at *strictyaml.Node, which []int) {
	if !f.cell(id, f.info, at) {
		return
	}
	for _, j := range which {
		v := &f.variants[j]
		if other, ok := f.fed[id]; ok {
			f.Errorf(at, "cell %q is fed twice: by %s and by %s", id, other, point(v, f.axes))
			return
		}
		f.fed[id] = point(v, f.axes)
		v.cells = append(v.cells, id)
	}
}

// complete gives a variant its expected order and the name of its series.
func (f *feeding) complete(j int, label string) {
	v := &f.variants[j]
	switch {
	case f.orders[j] != nil:
		v.order = *f.orders[j]
	case v.params.Budget > 0:
		v.order = float64(v.params.Budget)
	case v.params.PrunerParams["order"] > 0:
		v.order = v.params.PrunerParams["order"]
	default:
		v.order = defaultOrder
	}
	at, before := f.entry, f.Len()
	if t := f.templates[j]; t != nil {
		at = t
		v.series = f.expand(f.info, v, t)
	} else {
		v.series = automatic(f.info, v, label, f.axes)
	}
	if f.series[v.series] && f.Len() == before {
		f.Errorf(at, "two series are called %q", v.series)
	}
	f.series[v.series] = true
}

// point names a grid point in messages.
func point(v *variant, axes []axis) string {
	parts := []string{v.label}
	for _, a := range axes {
		parts = append(parts, a.name+"="+v.params.get(a.name).String())
	}
	return strings.Join(parts, " ")
}

// match returns the indices of the grid points that an entry of points is
// about.
func (c *checker) match(n *strictyaml.Node, combinations [][]value, axes []axis) []int {
	at := n.Get("at")
	if at == nil || len(at.Fields) == 0 {
		c.Errorf(n, "missing key %q, which says what points of the grid are meant", "at")
		return nil
	}
	var which []int
	for j := range combinations {
		which = append(which, j)
	}
	for _, f := range at.Fields {
		k := slices.IndexFunc(axes, func(a axis) bool { return a.name == f.Key })
		if k < 0 {
			c.Errorf(f.At, "the grid does not vary %s", f.Key)
			return nil
		}
		want := setting{word: f.Value.Text}
		if x, ok := f.Value.Float(); ok {
			want = setting{number: x}
		} else if f.Value.Kind == strictyaml.Mapping {
			want = prunerSetting(KindPrunerParams, f.Value)
		}
		which = slices.DeleteFunc(which, func(j int) bool { return combinations[j][k].setting != want })
	}
	if len(which) == 0 {
		c.Errorf(at, "no point of the grid is there")
	}
	return which
}

// cell reports a table cell that a method's runs can't feed.
func (c *checker) cell(id string, info *MethodInfo, at *strictyaml.Node) bool {
	cell, ok := c.paper.Cells[id]
	if !ok {
		var ids []string
		for id := range c.paper.Cells {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		c.Errorf(at, "unknown table cell %q%s", id, strictyaml.Suggest(id, ids))
		return false
	}
	row, _, _ := strings.Cut(cell.Row, "-")
	if c.set == nil || c.out.Task == "" {
		return true // reported already
	}
	if cell.Data != c.set.name || cell.Task != c.out.Task || row != info.row() {
		c.Errorf(at, "cell %q is not of %s on %s for %s", id, info.Name, c.set.name, c.out.Task)
		return false
	}
	return true
}

// figure reports a figure that the spec's runs can't feed.
func (c *checker) figure(id string, at *strictyaml.Node) bool {
	var ids []string
	for _, f := range c.paper.Figures {
		if f.ID == id {
			if c.set == nil || c.out.Task == "" {
				return true // reported already
			}
			if !f.shows(c.set.name, c.out.Task) {
				c.Errorf(at, "figure %s does not show %s on %s", id, c.out.Task, c.set.name)
				return false
			}
			return true
		}
		ids = append(ids, f.ID)
	}
	c.Errorf(at, "unknown figure %q, want one of %s", id, list(ids))
	return false
}

// group returns a variant's key: the spec, the label and every
// hyper-parameter.
func (c *checker) group(info *MethodInfo, v *variant) string {
	parts := []string{"kernel=" + v.params.Kernel.Type}
	if v.params.Kernel.Type == KernelPolynomial {
		parts = append(parts, fmt.Sprintf("offset=%v,degree=%d", v.params.Kernel.Offset, v.params.Kernel.Degree))
	}
	for _, p := range info.Params {
		if v.params.Pruner == "" && (p.Kind == KindPruner || p.Kind == KindPrunerParams) || v.params.Epsilon == "" && p.Name == "epsilon" {
			continue // the paper's own
		}
		if p.used == nil || p.used(v.params) {
			parts = append(parts, p.Name+"="+v.params.get(p.Name).String())
		}
	}
	return c.doc.Name + "/" + v.label + "/" + strings.Join(parts, ",")
}

// automatic returns the series name of a variant for which the spec gives none:
// the method and what its grid varies.
func automatic(info *MethodInfo, v *variant, label string, axes []axis) string {
	parts := []string{info.Title}
	if label != "" {
		parts[0] += " (" + label + ")"
	}
	for _, a := range axes {
		p := info.param(a.name)
		s := v.params.get(a.name)
		switch {
		case s == setting{}: // not used at this point
		case p.Symbol == "":
			parts = append(parts, s.String())
		default:
			parts = append(parts, p.Symbol+" = "+s.String())
		}
	}
	return strings.Join(parts, ", ")
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// expand replaces the placeholders in a series name.
func (c *checker) expand(info *MethodInfo, v *variant, t *strictyaml.Node) string {
	if strings.TrimSpace(t.Text) == "" {
		c.Errorf(t, "series is empty")
	}
	if len(t.Text) > maxSeries || !showable(t.Text) {
		c.Errorf(t, "series is not one line of at most %d bytes that begins like no formula", maxSeries)
		return ""
	}
	return placeholder.ReplaceAllStringFunc(t.Text, func(s string) string {
		name := s[1 : len(s)-1]
		if info.param(name) == nil {
			c.Errorf(t, "%s takes no %q, so the series can't name it", info.Name, name)
			return s
		}
		return v.params.get(name).String()
	})
}

// allWork checks stopping, evaluation, repeats and what the profiles change.
func (c *checker) allWork() {
	d := c.doc
	samples := 0
	if c.given(c.root, "stopping") {
		samples = c.stopping(d.Stopping, c.root.At("stopping"))
	}
	var evaluation Evaluation
	if c.given(c.root, "evaluation") {
		n := c.root.At("evaluation")
		c.given(n, "train_limit")
		if !d.Evaluation.Minimizer {
			c.given(n, "every")
			c.given(n, "tail")
		}
		c.evaluation(d.Evaluation, n, &evaluation)
	}
	repeats := c.repeats(d.Repeats, c.root)
	for _, name := range Profiles() {
		w := work{samples: samples, evaluation: evaluation, repeats: repeats}
		n := c.root.At("profiles")
		if n = n.Get(name); n != nil {
			p := map[string]*doc.Profile{
				ProfileSmoke: d.Profiles.Smoke, ProfileQuick: d.Profiles.Quick, ProfileFull: d.Profiles.Full,
			}[name]
			w.skip = p.Skip
			if p.Stopping != nil {
				w.samples = c.stopping(p.Stopping, n.At("stopping"))
			}
			if p.Evaluation != nil {
				c.evaluation(p.Evaluation, n.At("evaluation"), &w.evaluation)
			}
			if n.Get("repeats") != nil {
				w.repeats = c.repeats(p.Repeats, n)
			}
			if only := n.Get("only"); only != nil {
				w.only = c.only(p.Only, only)
			}
		}
		if runs := c.count(w); runs > maxRuns {
			c.Errorf(c.root, "profile %s has %d runs, more than %d", name, runs, maxRuns)
		}
		c.minimizer(w.evaluation)
		for _, r := range append(w.repeats, repeat{}) {
			samples := cmp.Or(r.samples, w.samples)
			if e := w.evaluation; e.Every > 0 && evaluations(samples, e.Every, e.Tail) > MaxEvaluations {
				c.Errorf(c.root.At("evaluation", "every"), "profile %s evaluates %d samples every %d and %d times at their end, more than %d times in all",
					name, samples, e.Every, e.Tail, MaxEvaluations)
				break
			}
		}
		c.out.work[name] = w
	}
}

// minimizer reports runs that can't be measured against the minimizer.
func (c *checker) minimizer(e Evaluation) {
	if !e.Minimizer || c.Len() > 0 {
		return
	}
	n := c.root.At("evaluation")
	if e.Every+e.Tail > 0 {
		c.Errorf(n.At("minimizer"), "runs measured against the minimizer take neither every nor tail")
	}
	for _, v := range c.out.variants {
		if why := minimizerConflict(c.out.Task, v.method, v.params); why != "" {
			c.Errorf(n.At("minimizer"), "%s can't be measured against the minimizer: %s", v.label, why)
		}
	}
}

// evaluations returns how often a run is evaluated at most.
func evaluations(samples, every, tail int) int { return samples/every + tail + 2 }

// count returns how many runs there are at most.
func (c *checker) count(w work) int {
	runs := 0
	for _, r := range w.repeats {
		runs += len(c.out.variants) * len(r.draws) * len(r.seeds)
	}
	return runs
}

func (c *checker) only(labels []string, n *strictyaml.Node) []string {
	if len(labels) == 0 {
		c.Errorf(n, "only is empty; skip: true leaves out everything")
	}
	for i, l := range labels {
		if !c.labels[l] && !c.labels[""] { // "" is an entry without a method, reported already
			c.Errorf(n.At(i), "no method of the spec is labelled %q, want one of %s", l, list(c.ordered))
		}
	}
	return slices.Concat([]string{}, labels)
}

// stopping returns the number of samples of a run.
func (c *checker) stopping(s *doc.Stopping, n *strictyaml.Node) int {
	switch {
	case s.Epochs == nil && s.Samples == nil:
		c.Errorf(n, "missing key %q or %q", "epochs", "samples")
	case s.Epochs != nil && s.Samples != nil:
		c.Errorf(n.At("samples"), "both epochs and samples are given")
	case s.Samples != nil:
		return c.samples(*s.Samples, n)
	case c.set != nil:
		x := math.Round(*s.Epochs * float64(c.set.train))
		if !(x >= 1 && x <= largest) {
			c.Errorf(n.At("epochs"), "epochs is %v, which makes %v samples of %s, want 1 to %d", *s.Epochs, x, c.set.name, largest)
			return 0
		}
		return int(x)
	}
	return 0
}

// samples checks a number of samples under a node.
func (c *checker) samples(x int, n *strictyaml.Node) int {
	if x < 1 || x > largest {
		c.Errorf(n.At("samples"), "samples is %d, want 1 to %d", x, largest)
	}
	return x
}

// evaluation lays what is given over e.
func (c *checker) evaluation(d *doc.Evaluation, n *strictyaml.Node, e *Evaluation) {
	lay := func(key string, x *int, least, most int, to *int) {
		if x == nil {
			return
		}
		if *x < least || *x > most {
			c.Errorf(n.At(key), "%s is %d, want %d to %d", key, *x, least, most)
		}
		*to = *x
	}
	lay("every", d.Every, 1, largest, &e.Every)
	lay("tail", d.Tail, 1, largest, &e.Tail)
	most := largest
	if c.set != nil {
		most = c.set.train
	}
	lay("train_limit", d.TrainLimit, 0, most, &e.TrainLimit)
	e.Minimizer = e.Minimizer || d.Minimizer
}

// repeats checks the repeats of the node above them.
func (c *checker) repeats(list []doc.Repeat, above *strictyaml.Node) []repeat {
	if above.Get("repeats") == nil {
		list = []doc.Repeat{{}}
	} else if len(list) == 0 {
		c.Errorf(above.At("repeats"), "repeats is empty")
	}
	var out []repeat
	for i := range list {
		d, n := &list[i], above.At("repeats", i)
		r := repeat{draws: c.draws(d, n), seeds: []uint64{1}}
		if d.Seeds != nil {
			r.seeds = c.seeds(d.Seeds, n.At("seeds"))
		}
		if only := n.Get("only"); only != nil {
			r.only = c.only(d.Only, only)
		}
		if d.Samples != nil {
			r.samples = c.samples(*d.Samples, n)
		}
		switch d.Feeds {
		case "", "both":
			r.cells, r.figures, r.all = true, true, true
		case "cells":
			r.cells = true
		case "figures":
			r.figures = true
		default:
			c.Errorf(n.At("feeds"), "feeds is %q, want one of cells, figures, both", d.Feeds)
		}
		if n.Get("feeds") != nil && d.Feeds == "" {
			c.Errorf(n.At("feeds"), "feeds is %q, want one of cells, figures, both", d.Feeds)
		}
		out = append(out, r)
	}
	return out
}

// draws returns the draws of a repeat.
func (c *checker) draws(d *doc.Repeat, n *strictyaml.Node) []uint64 {
	if c.set == nil {
		return nil
	}
	at := n.At("draws")
	if !c.set.drawn {
		for _, key := range []string{"draws", "count"} {
			if f := n.Field(key); f != nil && (d.Draws != nil || d.Count != nil) {
				c.Errorf(f.At, "data set %s is not drawn, it has no %s", c.set.name, key)
			}
		}
		return []uint64{0}
	}
	if d.Count != nil && (d.Draws == nil || d.Draws.Named != doc.DrawsCalibrated) {
		c.Errorf(n.Field("count").At, "count goes with draws: calibrated only")
	}
	if d.Draws == nil || d.Draws.Named != "" {
		if d.Draws != nil && c.out.Data.Variant != calibratedVariant {
			c.Errorf(at, "these are draws of variant %s, not of %s; list the draws' seeds", calibratedVariant, c.out.Data.Variant)
		}
		if d.Draws == nil || d.Draws.Named == doc.DrawsFigure {
			return []uint64{figureDraw()}
		}
		draws := calibratedDraws()
		if d.Count == nil {
			return draws
		}
		if *d.Count < 1 || *d.Count > len(draws) {
			c.Errorf(n.At("count"), "count is %d, want 1 to %d", *d.Count, len(draws))
			return nil
		}
		return draws[:*d.Count]
	}
	c.distinct(d.Draws.Seeds, at, "draws")
	if i := slices.Index(d.Draws.Seeds, 0); i >= 0 {
		c.Errorf(at.At(i), "draws start at 1")
	}
	return d.Draws.Seeds
}

// seeds returns the seeds of a repeat.
func (c *checker) seeds(s *doc.Seeds, n *strictyaml.Node) []uint64 {
	if n.Kind != strictyaml.Sequence {
		if s.N < 1 || s.N > maxSeeds {
			c.Errorf(n, "seeds is %d, want 1 to %d", s.N, maxSeeds)
			return nil
		}
		return upTo(s.N)
	}
	c.distinct(s.List, n, "seeds")
	return s.List
}

// distinct reports an empty list and what is in it twice.
func (c *checker) distinct(list []uint64, n *strictyaml.Node, what string) {
	if len(list) == 0 {
		c.Errorf(n, "%s is empty", what)
	}
	seen := make(map[uint64]bool)
	for i, x := range list {
		if seen[x] {
			c.Errorf(n.At(i), "%d is twice in %s", x, what)
		}
		seen[x] = true
	}
}

// upTo returns 1 … n.
func upTo(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i + 1)
	}
	return out
}
